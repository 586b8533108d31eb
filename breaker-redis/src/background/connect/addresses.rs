//! A connection to one of the addresses that a name leads to: of IPv6 and IPv4, or of several hosts.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::timeout;

/// So long an address has before the next is tried beside it (RFC 8305): one to which nothing leads may say
/// nothing for as long as all of them have.
const NEXT: Duration = Duration::from_millis(250);

/// The first to answer. `Err`: what the last one said.
pub(super) async fn connect_to(addresses: &[SocketAddr]) -> io::Result<TcpStream> {
    let mut attempts = JoinSet::new();
    let mut error = io::Error::new(io::ErrorKind::AddrNotAvailable, "no address");
    let mut addresses = addresses.iter().copied();
    let mut next = addresses.next();
    loop {
        if let Some(address) = next.take() {
            attempts.spawn(TcpStream::connect(address));
        }
        let ended = match addresses.len() {
            0 => attempts.join_next().await,
            _ => match timeout(NEXT, attempts.join_next()).await {
                Ok(ended) => ended,
                Err(_) => {
                    next = addresses.next();
                    continue;
                }
            },
        };
        match ended {
            Some(Ok(Ok(stream))) => return Ok(stream),
            Some(Ok(Err(failed))) => error = failed,
            Some(Err(_)) => {}
            None => return Err(error),
        }
        next = addresses.next();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{Ipv4Addr, TcpListener};
    #[cfg(target_os = "linux")]
    use tokio::net::TcpSocket;
    use tokio::runtime;

    fn runtime() -> runtime::Runtime {
        let runtime = runtime::Builder::new_current_thread();
        { runtime }.enable_all().build().expect("a runtime")
    }

    fn listener() -> (TcpListener, SocketAddr) {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
        let address = listener.local_addr().expect("an address");
        (listener, address)
    }

    fn refusing() -> SocketAddr {
        listener().1
    }

    #[test]
    fn addresses_that_refuse_are_passed_over_and_the_last_one_is_told() {
        let (_listener, there) = listener();
        let (a, b) = (refusing(), refusing());
        let connect = |addresses: &[SocketAddr]| runtime().block_on(connect_to(addresses));
        for addresses in [&[there][..], &[a, there], &[a, b, there], &[there, a]] {
            let connected = connect(addresses).and_then(|stream| stream.peer_addr());
            assert_eq!(connected.ok(), Some(there), "{addresses:?}");
        }
        for addresses in [&[a][..], &[a, b]] {
            let error = connect(addresses).expect_err("nobody is there");
            assert_eq!(error.kind(), io::ErrorKind::ConnectionRefused);
        }
        assert!(connect(&[]).is_err());
    }

    /// As one to which nothing leads. (A system that drops what there is no room for.)
    #[cfg(target_os = "linux")]
    #[test]
    fn an_address_that_says_nothing_holds_up_no_other() {
        let (_listener, there) = listener();
        runtime().block_on(async {
            let socket = TcpSocket::new_v4().expect("a socket");
            let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
            socket.bind(any).expect("a port");
            let full = socket.listen(1).expect("to listen");
            let mute = full.local_addr().expect("an address");
            // Nobody takes them: there is room for two.
            let mut waiting = Vec::new();
            for _ in 0..2 {
                waiting.push(TcpStream::connect(mute).await.expect("room"));
            }
            // Also where all of the others refuse.
            for addresses in [&[mute, there][..], &[mute, refusing(), mute, there]] {
                let connected = connect_to(addresses).await;
                let connected = connected.and_then(|stream| stream.peer_addr());
                assert_eq!(connected.ok(), Some(there));
            }
            // One that hangs is still waited for.
            let hangs = timeout(2 * NEXT, connect_to(&[mute, refusing()])).await;
            assert!(hangs.is_err(), "{hangs:?}");
        });
    }
}
