//! The word that was probably meant.

/// The word at the smallest edit distance from `word`, if it is near enough to be meant.
///
/// ```
/// use breaker_text::nearest;
///
/// assert_eq!(nearest("treshold", ["reset", "threshold"]), Some("threshold"));
/// assert_eq!(nearest("colour", ["reset", "threshold"]), None);
/// ```
#[must_use]
pub fn nearest<'w>(word: &str, words: impl IntoIterator<Item = &'w str>) -> Option<&'w str> {
    let allowed = (word.chars().count() / 3).max(1);
    words
        .into_iter()
        .map(|candidate| (strsim::osa_distance(word, candidate), candidate))
        .filter(|(distance, _)| *distance <= allowed)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}
