//! Requests to act that another site's page can have a browser send, with its user's cookies.

use crate::{Service, refusal};
use reqwest::Method;
use serde_json::{Value, json};

/// Headers that are changed of what the page sends; empty: not sent.
type Changed<'a> = &'a [(&'a str, &'a str)];

async fn sent(service: &Service, path: &str, order: &Value, changed: Changed<'_>) -> u16 {
    let own = format!("http://{}", service.running.address);
    let mut headers = vec![
        ("origin", own.as_str()),
        ("sec-fetch-site", "same-origin"),
        ("sec-fetch-mode", "cors"),
        ("content-type", "application/json"),
        ("x-breakerbox-action", "1"),
        ("cookie", "user=ann"),
    ];
    for &(name, value) in changed {
        headers.retain(|(other, _)| *other != name);
        if !value.is_empty() {
            headers.push((name, value));
        }
    }
    let url = service.running.url(path);
    let mut request = service.client.post(url).body(order.to_string());
    for (name, value) in headers {
        request = request.header(name, value);
    }
    let response = request.send().await.unwrap();
    let status = response.status();
    assert!(
        response
            .headers()
            .get("access-control-allow-origin")
            .is_none()
            || path.starts_with("/cors")
    );
    if status == 200 {
        return 200;
    }
    refusal(response).await.0
}

async fn order(service: &Service, path: &str, name: &str) -> Value {
    let document = service.json(path).await;
    // The page may have looked at it before the test closed it.
    let generation = breakerbox::find(name).unwrap().generation().get();
    let is_now = |it: &Value| it["generation"] == generation;
    let circuit = service.sees(path, name, is_now).await;
    json!({
        "action": "force_open",
        "circuit": circuit["id"],
        "process": document["process"],
        "generation": circuit["generation"],
    })
}

#[tokio::test]
async fn none_of_them_acts() {
    let service = Service::start().await;
    service.make("foreign");
    let other_port = format!("http://127.0.0.1:{}", service.running.address.port() ^ 1);
    let localhost = format!("http://localhost:{}", service.running.address.port());
    let cases: &[(u16, Changed<'_>)] = &[
        (415, &[("content-type", "")]),
        (415, &[("content-type", "text/plain")]),
        (
            415,
            &[("content-type", "application/x-www-form-urlencoded")],
        ),
        (415, &[("content-type", "multipart/form-data; boundary=x")]),
        (403, &[("x-breakerbox-action", "")]),
        (403, &[("sec-fetch-site", "cross-site")]),
        (403, &[("sec-fetch-site", "same-site")]),
        (403, &[("origin", "https://evil.example")]),
        (
            403,
            &[("origin", "https://evil.example"), ("sec-fetch-site", "")],
        ),
        (403, &[("origin", "null")]),
        (403, &[("origin", &other_port)]),
        (403, &[("origin", &localhost)]),
        // DNS rebinding: all in order, but the name is theirs.
        (
            403,
            &[("host", "evil.example"), ("origin", "http://evil.example")],
        ),
        (
            403,
            &[
                ("host", "evil.example"),
                ("origin", ""),
                ("sec-fetch-site", ""),
            ],
        ),
        // Headers that other frameworks believe.
        (
            403,
            &[
                ("origin", "https://evil.example"),
                ("x-forwarded-host", "evil.example"),
            ],
        ),
        (
            403,
            &[
                ("origin", "https://evil.example"),
                ("forwarded", "host=evil.example"),
            ],
        ),
    ];
    for path in ["/ops", "/cors"] {
        let order = order(&service, path, "foreign").await;
        for (status, changed) in cases {
            let answered = sent(&service, &format!("{path}/actions"), &order, changed).await;
            assert_eq!(answered, *status, "{path} {changed:?}");
            let found = breakerbox::find("foreign").unwrap();
            assert_eq!(found.state().as_str(), "closed", "{path} {changed:?}");
        }
    }
    // The page's own, in each browser, and a program's.
    let own: [Changed<'_>; 3] = [
        &[],
        &[("sec-fetch-site", ""), ("sec-fetch-mode", "")],
        &[
            ("sec-fetch-site", ""),
            ("sec-fetch-mode", ""),
            ("origin", ""),
        ],
    ];
    for changed in own {
        breakerbox::find("foreign").unwrap().close();
        let order = order(&service, "/ops", "foreign").await;
        assert_eq!(
            sent(&service, "/ops/actions", &order, changed).await,
            200,
            "{changed:?}"
        );
        let found = breakerbox::find("foreign").unwrap();
        assert_eq!(found.state().as_str(), "forced_open", "{changed:?}");
    }
}

#[tokio::test]
async fn a_page_with_a_name_acts_under_it() {
    let service = Service::start().await;
    service.make("named");
    for (status, changed) in [
        (
            200,
            &[
                ("host", "ops.example.com"),
                ("origin", "https://ops.example.com"),
            ][..],
        ),
        // Behind a proxy that changes `Host`.
        (200, &[("origin", "https://ops.example.com")][..]),
        (403, &[("origin", "http://ops.example.com")][..]),
        (
            403,
            &[
                ("host", "ops.example.net"),
                ("origin", "https://ops.example.net"),
            ][..],
        ),
    ] {
        breakerbox::find("named").unwrap().close();
        let order = order(&service, "/named", "named").await;
        let answered = sent(&service, "/named/actions", &order, changed).await;
        assert_eq!(answered, status, "{changed:?}");
        let state = if status == 200 {
            "forced_open"
        } else {
            "closed"
        };
        assert_eq!(breakerbox::find("named").unwrap().state().as_str(), state);
    }
}

#[tokio::test]
async fn nothing_but_post_acts_and_nobody_is_allowed_to_ask() {
    let service = Service::start().await;
    service.make("by-post");
    let order = order(&service, "/ops", "by-post").await;
    for method in [
        "GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "QUERY",
    ] {
        let method = Method::from_bytes(method.as_bytes()).unwrap();
        for overriding in [
            "x-http-method-override",
            "x-http-method",
            "x-method-override",
        ] {
            let url = service
                .running
                .url("/ops/actions?_method=POST&action=force_open");
            let request = service.client.request(method.clone(), url);
            let request = request
                .header(overriding, "POST")
                .header("x-breakerbox-action", "1")
                .header("cookie", "user=ann")
                .header("origin", "https://evil.example")
                .header("access-control-request-method", "POST")
                .header("access-control-request-headers", "x-breakerbox-action")
                .json(&order);
            let response = request.send().await.unwrap();
            assert_eq!(response.status(), 405, "{method}");
            assert!(
                response
                    .headers()
                    .get("access-control-allow-origin")
                    .is_none()
            );
            assert!(
                response
                    .headers()
                    .get("access-control-allow-headers")
                    .is_none()
            );
        }
    }
    assert_eq!(
        breakerbox::find("by-post").unwrap().state().as_str(),
        "closed"
    );
}
