//! What the other tests rely on.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use test_fleet::clock::Clock;
use test_fleet::fleet::{Fleet, Settings};
use test_fleet::network::{Network, Weather};
use test_fleet::plan::{Answer, Order};
use test_fleet::server::{self, Server};
use test_fleet::service::Health;
use test_fleet::wait;

fn ping(mut stream: &TcpStream) -> std::io::Result<String> {
    stream.write_all(b"PING\r\n")?;
    let mut answer = [0; 7];
    stream.read_exact(&mut answer)?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

#[test]
fn a_server_is_emptied_and_brought_back_to_what_it_held() {
    let mut server = Server::start();
    server.say(&["SET", "a", "1"]);
    let backup = server.backup();
    server.say(&["SET", "b", "1"]);
    assert_eq!(server.keys(), ["a", "b"]);
    let address = server.address();
    server.kill();
    assert!(TcpStream::connect(address).is_err());
    server.run();
    assert_eq!(
        server.keys(),
        ["a"],
        "it starts with the dump that lies there"
    );
    server.restart_with(None);
    assert!(server.keys().is_empty());
    server.restart_with(Some(&backup));
    assert_eq!(server.keys(), ["a"]);
    assert_eq!(server.address(), address);
}

#[test]
fn a_stopped_server_keeps_its_connections_and_answers_later() {
    let server = Server::start();
    let stream = TcpStream::connect(server.address()).unwrap();
    assert_eq!(ping(&stream).unwrap(), "+PONG\r\n");
    server.pause();
    stream
        .set_read_timeout(Some(Duration::from_millis(200)))
        .unwrap();
    assert!(ping(&stream).is_err());
    server.go_on();
    stream.set_read_timeout(Some(wait::LIMIT)).unwrap();
    let mut answer = [0; 7];
    (&stream).read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"+PONG\r\n");
}

#[test]
fn a_network_is_as_it_is_told() {
    let server = Server::start();
    let network = Network::to(server.address());
    let connect = || {
        let stream = TcpStream::connect(network.address()).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(5)))
            .unwrap();
        stream
    };
    let stream = connect();
    assert_eq!(ping(&stream).unwrap(), "+PONG\r\n");

    network.turns(Weather::Slow(Duration::from_millis(200)));
    let start = Instant::now();
    assert_eq!(ping(&stream).unwrap(), "+PONG\r\n");
    assert!(start.elapsed() >= Duration::from_millis(400));

    network.turns(Weather::Trickle(Duration::from_millis(10)));
    let start = Instant::now();
    assert_eq!(ping(&stream).unwrap(), "+PONG\r\n");
    assert!(start.elapsed() >= Duration::from_millis(60));

    network.turns(Weather::Corrupt);
    assert_ne!(ping(&stream).unwrap(), "+PONG\r\n");

    network.turns(Weather::ResetAfter(4));
    let stream = connect();
    stream.set_nodelay(true).unwrap();
    assert!(ping(&stream).is_err(), "reset in the middle of the answer");

    network.turns(Weather::Fair);
    let stream = connect();
    assert_eq!(ping(&stream).unwrap(), "+PONG\r\n");
    network.turns(Weather::Silent);
    stream
        .set_read_timeout(Some(Duration::from_millis(200)))
        .unwrap();
    assert!(ping(&stream).is_err());
    network.turns(Weather::Reset);
    assert!(ping(&stream).is_err());
    assert!(network.connections() >= 3);
}

#[test]
fn a_server_with_another_clock_tells_its_time() {
    let Some(clock) = Clock::off_by("+5h") else {
        return skipped("faketime");
    };
    let clock = std::sync::Arc::new(clock);
    let server = Server::with(server::Settings {
        clock: Some(clock.clone()),
        ..server::Settings::default()
    });
    let seconds = |server: &Server| -> u64 {
        let (seconds, _): (String, String) = server.ask(&redis::cmd("TIME"));
        seconds.parse().unwrap()
    };
    let here = std::time::UNIX_EPOCH.elapsed().unwrap().as_secs();
    let hours = |seconds: u64| seconds.abs_diff(here) / 60;
    assert!((299..302).contains(&hours(seconds(&server))));
    clock.jumps_to("-2h");
    wait::until_so("the clock to jump", || {
        (118..122).contains(&hours(seconds(&server)))
    });
}

/// Says so where the build server would have it.
pub(crate) fn skipped(package: &str) {
    assert!(std::env::var_os("CI").is_none(), "install {package}");
    eprintln!("skipped: install {package}");
}

#[test]
fn an_instance_alone_calls_trips_and_recovers() {
    let mut settings = Settings {
        instances: 1,
        shared: false,
        ..Settings::default()
    };
    settings.circuit.reset = 200;
    let mut fleet = Fleet::start(settings, Server::stopped(server::Settings::default()));
    fleet.go(1_000);
    fleet.call_on(5);
    fleet.service.turns(Health::Down);
    fleet.all_become("open");
    fleet.service.turns(Health::Up);
    fleet.all_become("closed");
    fleet.order(&Order::Stand);
    fleet.service.turns_for("i0", Health::Hanging);
    let before = fleet.service.requests_of("i0");
    fleet.order(&Order::Call { times: 1 });
    wait::until_so("the call to hang", || {
        fleet.service.requests_of("i0") > before
    });
    fleet.service.turns(Health::Up);
    fleet.end(Duration::from_secs(15));

    let seen = fleet.instances[0].seen(Clone::clone);
    let count = |result| {
        seen.calls
            .iter()
            .filter(|call| call.result == result)
            .count()
    };
    assert!(count(Answer::Good) > 5);
    assert!(count(Answer::Failed) >= 3);
    assert!(count(Answer::Refused) > 0);
    let reached = seen
        .calls
        .iter()
        .filter(|call| call.result.reached_out())
        .count();
    assert_eq!(reached, fleet.service.requests());
    assert_eq!(seen.losses, [""; 0]);
    let changes = seen.changes.iter().map(|change| (&*change.to, &*change.by));
    let changes: Vec<_> = changes.collect();
    assert_eq!(changes[0], ("open", "failures"));
    assert_eq!(changes[changes.len() - 1], ("closed", "recovered"));
    assert!(fleet.server.url().starts_with("redis://127.0.0.1:"));
}
