//! Which form is answered, and with which headers.

use crate::Service;
use reqwest::header::{ACCEPT, ETAG, IF_NONE_MATCH};
use reqwest::{Method, Response};

fn header<'a>(response: &'a Response, name: &str) -> &'a str {
    let value = response.headers().get(name);
    value.map_or("", |value| value.to_str().unwrap())
}

#[tokio::test]
async fn the_same_address_is_a_page_and_json() {
    let service = Service::start().await;
    let browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
    for (accept, media_type) in [
        (None, "text/html; charset=utf-8"),
        (Some("*/*"), "text/html; charset=utf-8"),
        (Some(browser), "text/html; charset=utf-8"),
        (Some("application/json"), "application/json"),
        (
            Some("application/json, text/html;q=0.9"),
            "application/json",
        ),
        (
            Some("application/json;q=0.1, text/html;q=0.9"),
            "text/html; charset=utf-8",
        ),
        (Some("text/html;q=0, */*;q=0.1"), "application/json"),
    ] {
        for method in [Method::GET, Method::HEAD] {
            let url = service.running.url("/circuits");
            let mut request = service.client.request(method.clone(), url);
            if let Some(accept) = accept {
                request = request.header(ACCEPT, accept);
            }
            let response = request.send().await.unwrap();
            assert_eq!(response.status(), 200, "{method} {accept:?}");
            assert_eq!(header(&response, "content-type"), media_type, "{accept:?}");
            assert_eq!(header(&response, "vary"), "Accept", "{accept:?}");
            let body = response.bytes().await.unwrap();
            assert_eq!(body.is_empty(), method == Method::HEAD, "{accept:?}");
        }
    }
    for accept in [
        "image/png",
        "text/plain",
        "text/html;q=0, application/json;q=0",
    ] {
        let request = service.get("/circuits").header(ACCEPT, accept);
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), 406, "{accept}");
        assert_eq!(header(&response, "vary"), "Accept");
        let said = response.text().await.unwrap();
        assert!(
            said.contains("text/html") && said.contains("application/json"),
            "{said}"
        );
    }
}

#[tokio::test]
async fn nothing_from_elsewhere_and_nothing_inline() {
    let service = Service::start().await;
    let page = service.get("/circuits").send().await.unwrap();
    let html = page.text().await.unwrap();
    let mut paths = vec!["/circuits".to_owned()];
    for (place, _) in html.match_indices("=\"./circuits/") {
        let path = &html[place + 3..];
        paths.push(path[..path.find('"').unwrap()].to_owned());
    }
    assert!(paths.len() >= 4, "{paths:?}");
    for path in &paths {
        let response = service.get(path).send().await.unwrap();
        assert_eq!(response.status(), 200, "{path}");
        let policy = header(&response, "content-security-policy");
        for part in [
            "default-src 'none'",
            "script-src 'self'",
            "style-src 'self'",
            "frame-ancestors 'none'",
            "base-uri 'none'",
            "form-action 'none'",
            "require-trusted-types-for 'script'",
        ] {
            assert!(policy.contains(part), "{path}: {part}");
        }
        assert!(!policy.contains("unsafe"), "{path}");
        assert_eq!(header(&response, "x-content-type-options"), "nosniff");
        assert_eq!(header(&response, "x-frame-options"), "DENY");
        assert_eq!(header(&response, "referrer-policy"), "no-referrer");
        assert_eq!(
            header(&response, "cross-origin-resource-policy"),
            "same-origin"
        );
        assert_eq!(header(&response, "cache-control"), "private, no-cache");
        assert_eq!(header(&response, "access-control-allow-origin"), "");
        let text = response.text().await.unwrap();
        let foreign = ["https://", "http://"].iter().any(|scheme| {
            let links = text.match_indices(scheme);
            links
                .into_iter()
                .any(|(at, _)| !text[at..].starts_with("http://www.w3.org/"))
        });
        assert!(!foreign, "{path} names another place");
    }
}

#[tokio::test]
async fn files_are_kept_and_asked_about() {
    let service = Service::start().await;
    let url = "/circuits/files/main.js";
    let response = service.get(url).send().await.unwrap();
    assert_eq!(
        header(&response, "content-type"),
        "text/javascript; charset=utf-8"
    );
    let tag = response.headers()[ETAG].clone();
    let again = service.get(url).header(IF_NONE_MATCH, tag);
    let again = again.send().await.unwrap();
    assert_eq!(again.status(), 304);
    assert!(again.bytes().await.unwrap().is_empty());
    for missing in [
        "nothing.js",
        "page.html",
        "..%2fpage.rs",
        "main.js%00",
        "%ff",
        "Main.js",
    ] {
        let url = format!("/circuits/files/{missing}");
        let response = service.get(&url).send().await.unwrap();
        assert_eq!(response.status(), 404, "{missing}");
    }
}

#[tokio::test]
async fn the_page_finds_its_files_wherever_it_is() {
    let service = Service::start().await;
    for (path, files) in [
        ("/circuits", "./circuits/files/main.js"),
        ("/circuits?a=b", "./circuits/files/main.js"),
        ("/a/%22%3E%3Cb%3E/circuits/", "./files/main.js"),
        ("/service", "./service/files/main.js"),
        ("/service/", "./files/main.js"),
    ] {
        let html = service
            .get(path)
            .send()
            .await
            .unwrap()
            .text()
            .await
            .unwrap();
        assert!(html.contains(&format!("src=\"{files}\"")), "{path}: {html}");
        let base = reqwest::Url::parse(&service.running.url(path)).unwrap();
        let response = service.client.get(base.join(files).unwrap()).send().await;
        assert_eq!(response.unwrap().status(), 200, "{path}");
    }
}

#[tokio::test]
async fn only_what_is_there_is_there() {
    let service = Service::start().await;
    for (method, path, status) in [
        (Method::POST, "/circuits", 405),
        (Method::PUT, "/circuits", 405),
        (Method::DELETE, "/circuits/circuits/1", 405),
        (Method::OPTIONS, "/circuits", 405),
        // There is no guard here, so there is nothing to act with.
        (Method::POST, "/circuits/actions", 404),
        (Method::GET, "/circuits/actions", 404),
        (Method::OPTIONS, "/circuits/actions", 404),
        // Here there is, and reading never acts.
        (Method::GET, "/ops/actions", 405),
        (Method::HEAD, "/ops/actions", 405),
        (Method::PUT, "/ops/actions", 405),
        (Method::OPTIONS, "/ops/actions", 405),
        (Method::GET, "/circuits/circuits/0", 404),
        (
            Method::GET,
            "/circuits/circuits/99999999999999999999999999",
            404,
        ),
        (Method::GET, "/circuits/circuits/-1", 404),
        (Method::GET, "/circuits/circuits/a%20b", 404),
        (Method::GET, "/circuits/circuits/%ff", 404),
        (Method::GET, "/circuits/other", 404),
    ] {
        let url = service.running.url(path);
        let response = service.client.request(method.clone(), url).send().await;
        assert_eq!(response.unwrap().status(), status, "{method} {path}");
    }
}
