//! What goes wrong on the way.

use std::time::Duration;

use breakerbox::CallError;
use reqwest::Client;

use super::{client, counted_at, counted_from, response, rooms};
use crate::server::{Reply, Server};
use crate::verdict::{Counted, counted, prepare};

const FULL: &str = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n";
const CHUNKED: &str = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";

#[tokio::test]
async fn a_port_that_refuses_is_a_failure() {
    let _scope = breakerbox::test::scope();
    let url = Server::gone();
    assert_eq!(counted_at(&client(), &url).await, Counted::Failure);
    let answer = response(&client(), client().get(url).build()).await;
    assert!(matches!(answer, Err(CallError::Open(_))), "{answer:?}");
}

#[tokio::test]
async fn a_connection_that_ends_before_the_answer_is_a_failure() {
    let _scope = breakerbox::test::scope();
    for reply in [
        Reply::Reset,
        Reply::raw(""),
        Reply::raw("HTTP/1.1 200 OK\r\nContent-Le"),
    ] {
        let server = Server::new(reply.clone());
        assert_eq!(counted_from(&server).await, Counted::Failure, "{reply:?}");
        assert!(server.requests() >= 2);
    }
}

#[tokio::test]
async fn a_head_that_is_garbage_is_a_failure() {
    let _scope = breakerbox::test::scope();
    for text in [
        "SSH-2.0-OpenSSH_9.2\r\n",
        "HTTP/1.1 OK\r\n\r\n",
        "HTTP/1.1 99 Low\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n",
        "HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
        "\u{16}\u{3}\u{1}",
    ] {
        let server = Server::new(Reply::raw(text));
        assert_eq!(counted_from(&server).await, Counted::Failure, "{text:?}");
    }
}

#[tokio::test]
async fn a_body_that_is_cut_short_is_a_failure() {
    let _scope = breakerbox::test::scope();
    for text in [
        FULL.to_owned(),
        format!("{FULL}{{\"free\""),
        // All of the JSON, and not all of the body.
        format!("{FULL}{{\"free\":3}}").replace("10", "11"),
        format!("{CHUNKED}4\r\n{{\"fr\r\n"),
        format!("{CHUNKED}a\r\n{{\"free\":3}}\r\n"),
        format!("{CHUNKED}a\r\n{{\"fr"),
        format!("{CHUNKED}many\r\n"),
        // Of no length: it ends with the connection, and JSON knows that it is cut.
        "HTTP/1.1 200 OK\r\n\r\n{\"free\"".to_owned(),
    ] {
        let server = Server::new(Reply::raw(&text));
        assert_eq!(counted_from(&server).await, Counted::Failure, "{text:?}");
    }
    let server = Server::new(Reply::raw(&format!(
        "{CHUNKED}a\r\n{{\"free\":3}}\r\n0\r\n\r\n"
    )));
    assert_eq!(counted_from(&server).await, Counted::Success);
}

#[tokio::test]
async fn a_body_that_can_t_be_decompressed_is_a_failure() {
    let _scope = breakerbox::test::scope();
    let server = Server::new(Reply::new(
        "200 OK\r\nContent-Encoding: gzip",
        "{\"free\":3}",
    ));
    assert_eq!(counted_from(&server).await, Counted::Failure);
}

/// Each limit that reqwest has, before the answer's head and in its body.
#[tokio::test]
async fn a_timeout_of_the_client_is_a_failure() {
    const SOON: Duration = Duration::from_millis(50);
    let _scope = breakerbox::test::scope();
    let builder = || Client::builder().no_proxy();
    for begun in [
        "",
        "HTTP/1.1 200 OK\r\n",
        FULL,
        &format!("{FULL}{{\"free\""),
    ] {
        let server = Server::new(Reply::AnswerAndHang(begun.into()));
        for client in [builder().timeout(SOON), builder().read_timeout(SOON)] {
            let client = client.build().unwrap();
            let counted = counted_at(&client, &server.url("")).await;
            assert_eq!(counted, Counted::Failure, "{begun:?}");
        }
        prepare();
        let request = client().get(server.url("")).timeout(SOON).build();
        let Err(CallError::Call(error)) = rooms(&client(), request).await else {
            panic!("{begun:?}");
        };
        assert!(error.error().is_timeout());
        assert_eq!(counted(), Counted::Failure, "{begun:?}");
    }
}
