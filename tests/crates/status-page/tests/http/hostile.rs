//! Input that nobody should send.

use crate::{Service, refusal};
use serde_json::{Value, json};

#[tokio::test]
async fn orders_that_are_none_are_refused_with_what_is_wrong() {
    let service = Service::start().await;
    service.make("unordered");
    let document = service.json("/ops").await;
    let circuit = service.sees("/ops", "unordered", |_| true).await;
    let good = json!({
        "action": "force_open",
        "circuit": circuit["id"],
        "process": document["process"],
        "generation": circuit["generation"],
    });
    let changed = |field: &str, value: Value| {
        let mut order = good.clone();
        order[field] = value;
        order.to_string()
    };
    let without = |field: &str| {
        let mut order = good.clone();
        order.as_object_mut().unwrap().remove(field);
        order.to_string()
    };
    let deep = "[".repeat(4000);
    for body in [
        String::new(),
        "null".to_owned(),
        "[]".to_owned(),
        "{".to_owned(),
        deep,
        "{} {}".to_owned(),
        changed("action", json!("explode")),
        changed("action", json!(7)),
        changed("action", json!("FORCE_OPEN")),
        changed("circuit", json!("")),
        changed("circuit", json!("one")),
        changed("circuit", json!("-1")),
        changed("circuit", json!(1)),
        changed("circuit", json!("99999999999999999999999999")),
        changed("generation", json!(-1)),
        changed("generation", json!(1.5)),
        changed("generation", json!("3")),
        changed("generation", json!(u64::MAX)),
        changed("seconds", json!(5)),
        changed("other", json!(true)),
        without("action"),
        without("circuit"),
        without("process"),
        without("generation"),
        changed("action", json!("open_for")),
    ] {
        let request = service.act("ann", &Value::Null).body(body.clone());
        let (status, error, _) = refusal(request.send().await.unwrap()).await;
        assert_eq!((status, error.as_str()), (400, "malformed"), "{body}");
    }
    for seconds in [
        json!(0),
        json!(-1),
        json!(0.5),
        json!(604_801),
        json!(u64::MAX),
    ] {
        let mut order = good.clone();
        order["action"] = json!("open_for");
        order["seconds"] = seconds.clone();
        let response = service.acted("ann", &order).await;
        let (status, error, _) = refusal(response).await;
        assert_eq!((status, error.as_str()), (400, "malformed"), "{seconds}");
    }
    let mut unknown = good.clone();
    unknown["circuit"] = json!("18446744073709551615");
    let response = service.acted("ann", &unknown).await;
    let (status, error, _) = refusal(response).await;
    assert_eq!((status, error.as_str()), (404, "unknown_circuit"));
    assert_eq!(
        breakerbox::find("unordered").unwrap().state().as_str(),
        "closed"
    );
}

#[tokio::test]
async fn a_body_without_end_is_not_read() {
    let service = Service::start().await;
    for size in [4097, 100_000, 10_000_000] {
        let request = service.act("ann", &Value::Null);
        let response = request.body(vec![b' '; size]).send().await;
        // What is too large may be cut off while it is still being sent.
        if let Ok(response) = response {
            let (status, error, _) = refusal(response).await;
            assert_eq!((status, error.as_str()), (413, "too_large"), "{size}");
        }
    }
}

#[tokio::test]
async fn odd_queries_and_headers_are_answered() {
    let service = Service::start().await;
    for query in [
        "?",
        "?&&&",
        "?since",
        "?since=%00",
        "?since=%ff.%ff",
        "?since=a.1&since=b.2",
    ] {
        let document = service.json(&format!("/circuits{query}")).await;
        assert_eq!(document["complete"], true, "{query}");
    }
    let long = format!("?since={}", "a".repeat(5000));
    assert_eq!(
        service.json(&format!("/circuits{long}")).await["complete"],
        true
    );
    for accept in [&b"\xff"[..], b"json", b";;;", b"text/html;q=x", b"*/json"] {
        let value = reqwest::header::HeaderValue::from_bytes(accept).unwrap();
        let request = service.get("/circuits").header("accept", value);
        let response = request.send().await.unwrap();
        assert!(
            [200, 406].contains(&response.status().as_u16()),
            "{accept:?}"
        );
    }
}
