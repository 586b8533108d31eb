pub async fn rooms(hotel: &str, stay: &Stay) -> Result<Vec<Room>, PmsError> {
    let path = format!("/hotels/{hotel}/rooms?from={}&to={}", stay.from, stay.to);
    let answer = get(&path).await?;
    if answer.status != 200 {
        return Err(PmsError::Status(answer.status));
    }
    let number: u32 = answer.body.trim().parse()?;
    let details = get(&format!("/rooms/{number}")).await?;
    let price = details.body.trim().parse()?;
    Ok(vec![Room { number, price }])
}
