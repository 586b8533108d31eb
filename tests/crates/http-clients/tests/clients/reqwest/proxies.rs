//! Between the client and the dependency.

use std::time::Duration;

use reqwest::{Client, Proxy};

use super::counted_at;
use crate::server::{Reply, Server};
use crate::verdict::{Counted, of_status};

/// Asks a dependency that only its proxy can find.
async fn counted_through(proxy: &str) -> Counted {
    let client = Client::builder()
        .proxy(Proxy::all(proxy).unwrap())
        .timeout(Duration::from_secs(60))
        .build()
        .unwrap();
    counted_at(&client, "http://pms.invalid/").await
}

/// It answers in the dependency's place, and so is taken for it.
#[tokio::test]
async fn an_answer_of_a_proxy_is_an_answer() {
    let _scope = breakerbox::test::scope();
    for status in [403, 407, 502, 504] {
        let proxy = Server::new(Reply::new(&format!("{status} No"), ""));
        let counted = counted_through(&proxy.url("")).await;
        assert_eq!(counted, of_status(status), "{status}");
        assert_eq!(proxy.requests(), 2);
    }
}

#[tokio::test]
async fn a_proxy_that_is_gone_or_breaks_is_a_failure() {
    let _scope = breakerbox::test::scope();
    assert_eq!(counted_through(&Server::gone()).await, Counted::Failure);
    for reply in [Reply::Reset, Reply::raw(""), Reply::raw("gopher\r\n\r\n")] {
        let proxy = Server::new(reply.clone());
        let counted = counted_through(&proxy.url("")).await;
        assert_eq!(counted, Counted::Failure, "{reply:?}");
    }
}
