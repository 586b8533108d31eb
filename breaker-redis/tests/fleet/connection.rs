//! What becomes of a fleet whose Redis isn't there, isn't one, or won't.

use crate::server::Server;
#[cfg(feature = "tls")]
use crate::support::ROOT;
use crate::support::{Instance, LONG, Lines, builder, instances, name, until};
use breaker_redis::protocol::Unusable;
use breaker_redis::{Fleet, Sharing, Trouble};
use breakerbox::{Settings, State};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

/// A server that does this with each connection.
pub(crate) fn server_that(serve: impl Fn(TcpStream) + Send + Sync + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("redis://somebody:hush@{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            serve(stream);
        }
    });
    url
}

/// What the first attempt to connect to this ends with.
fn trouble(url: &str) -> (Trouble, String) {
    let short = Duration::from_millis(300);
    let fleet = Fleet::builder(url).connect(short).answer(short);
    let fleet = fleet.start().expect("a fleet");
    until("an error", || fleet.status().last_error.is_some());
    let status = fleet.status();
    assert!(!status.is_connected);
    let error = status.last_error.unwrap();
    let late = fleet.ready(Duration::from_millis(1)).unwrap_err();
    for text in [
        error.to_string(),
        format!("{error:?}"),
        late.to_string(),
        format!("{fleet:?}"),
    ] {
        assert!(
            !text.contains("hush") && !text.contains("somebody"),
            "{text}"
        );
    }
    (error.trouble.clone(), error.to_string())
}

#[test]
fn where_nobody_listens_breakers_are_local_and_it_is_told_once() {
    let fleet_name = name("nobody");
    let lines = Lines::of(fleet_name);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let fleet = Fleet::builder(format!("redis://{address}")).prefix(fleet_name);
    let fleet = fleet.start().expect("a fleet");
    let config = Settings::new()
        .threshold(1)
        .reset(Duration::from_millis(1))
        .must();
    let breaker = breaker_redis::FleetBreaker::shared(name("local"), config, Sharing::new());
    let breaker = breaker.expect("a breaker");
    fleet.share(&breaker).expect("to be shared");
    let late = fleet.ready(Duration::from_millis(300)).unwrap_err();
    let refused = format!("redis at {address} can't be reached: Connection refused (os error 111)");
    assert_eq!(
        late.to_string(),
        format!("the fleet is not ready after 300ms: {refused}")
    );
    assert!(breaker.call_sync(|| Err::<(), _>("no answer")).is_err());
    assert_eq!(breaker.state(), State::Open);
    until("a probe of its own", || {
        breaker.call_sync(|| Ok::<_, ()>(())).is_ok()
    });
    assert_eq!(breaker.state(), State::Closed);
    assert_eq!(
        lines.all(),
        [format!(
            "fleet `{fleet_name}` can't be reached, each process is on its own: {refused}"
        )]
    );
    assert_eq!(fleet.status().lost, 0, "it never had it");
}

#[test]
fn what_is_no_redis_is_said_in_words_of_ours() {
    let url = server_that(|mut stream| {
        let _ = stream.write_all(b"HTTP/1.1 400 Bad Request somebody hush\r\n\r\n");
    });
    let (trouble_found, text) = trouble(&url);
    assert!(matches!(trouble_found, Trouble::Nonsense(_)), "{text}");
    let url = server_that(|mut stream| {
        let _ = stream.write_all(b"-ERR somebody's password is hush\r\n");
        let _ = stream.read(&mut [0; 1000]);
    });
    let (trouble_found, text) = trouble(&url);
    assert!(
        matches!(trouble_found, Trouble::Refuses(_) | Trouble::Login(_)),
        "{text}"
    );
    let url = server_that(|stream| {
        // It never says anything, and is held open.
        std::mem::forget(stream);
    });
    let (trouble_found, text) = trouble(&url);
    assert_eq!(
        trouble_found,
        Trouble::Silent(Duration::from_millis(300)),
        "{text}"
    );
    let url = server_that(drop);
    let (trouble_found, text) = trouble(&url);
    assert!(matches!(trouble_found, Trouble::Ended(_)), "{text}");
    assert!(
        text.ends_with("if this port is one for TLS, write `rediss://`"),
        "{text}"
    );
    // A protocol's own words: an alert of TLS.
    let url = server_that(|mut stream| {
        let _ = stream.write_all(&[0x15, 3, 1, 0, 2, 2, 70]);
    });
    let (trouble_found, text) = trouble(&url);
    assert_eq!(trouble_found, Trouble::SpeaksTls);
    assert!(
        text.contains(": write `rediss://` instead of `redis://`"),
        "{text}"
    );
    assert_eq!(
        text.contains("the feature `tls`"),
        !cfg!(feature = "tls"),
        "{text}"
    );
}

#[test]
fn a_name_that_leads_nowhere_is_said_to() {
    // Longer than a name's parts may be: nobody need be asked.
    let url = format!("redis://somebody:hush@{}.invalid", "x".repeat(64));
    let fleet = Fleet::builder(url).connect(LONG).start().expect("a fleet");
    until("an error", || fleet.status().last_error.is_some());
    let text = fleet.status().last_error.unwrap().to_string();
    let (_, why) = text.split_once("can't be reached: ").expect(&text);
    assert!(why.starts_with("its name can't be resolved ("), "{text}");
    assert!(!why.contains("uncategorized"), "{text}");
    assert!(
        !text.contains("hush") && !text.contains("somebody"),
        "{text}"
    );
}

#[test]
#[cfg(feature = "tls")]
fn a_port_that_says_nothing_to_a_handshake_may_be_one_without_tls() {
    let url = server_that(std::mem::forget).replace("redis:", "rediss:");
    let short = Duration::from_millis(300);
    let fleet = Fleet::builder(url).root_certificates(ROOT).connect(short);
    let fleet = fleet.start().expect("a fleet");
    until("an error", || fleet.status().last_error.is_some());
    let text = fleet.status().last_error.unwrap().to_string();
    assert!(
        text.ends_with(
            "can't be spoken to over TLS: no answer to the handshake within 300ms: if this port is one \
             without TLS, write `redis://`"
        ),
        "{text}"
    );
}

#[test]
fn a_connection_that_ends_is_noticed_while_nothing_is_asked() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    let hours = |so_many: u64| Duration::from_secs(3600 * so_many);
    let fleet = Fleet::builder(server.url()).poll(hours(1)).alive(hours(3));
    let config = Settings::new().must();
    let Instance { fleet, breaker } = Instance::new(fleet, name("idle"), config, Sharing::new());
    assert_eq!(fleet.status().lost, 0);
    drop(server);
    until("it to be lost", || fleet.status().lost == 1);
    let error = fleet.status().last_error.unwrap();
    assert!(
        matches!(error.trouble, Trouble::Ended(_) | Trouble::Unreachable(_)),
        "{error}"
    );
    assert!(!fleet.status().is_connected);
    drop(breaker);
}

#[test]
fn an_answer_without_end_is_not_kept() {
    for begin in ["$9000000000000\r\n", "*1000000000\r\n$9000000\r\n", "+"] {
        let url = server_that(move |mut stream| {
            let _ = stream.write_all(begin.as_bytes());
            std::thread::spawn(move || while stream.write_all(&[b'x'; 65536]).is_ok() {});
        });
        let fleet = Fleet::builder(url).connect(LONG).lease(LONG).answer(LONG);
        let fleet = fleet.start().expect("a fleet");
        until("it to be refused", || fleet.status().last_error.is_some());
        assert_eq!(
            fleet.status().last_error.unwrap().trouble,
            Trouble::Nonsense("an answer of more than 1 MiB".to_owned()),
            "{begin:?}"
        );
    }
}

#[test]
fn a_login_that_is_refused_is_said_without_it() {
    let Some(server) = Server::start(&["--requirepass", "hush"]) else {
        return;
    };
    let (_, text) = trouble(&server.url());
    assert!(
        text.contains("refused the login: it asks for a password (NOAUTH): give "),
        "{text}"
    );
    let (_, text) = trouble(&format!("{}?user=somebody&pass=hushed", server.url()));
    let wrong =
        "refused the login: user or password is wrong, or the user is off (WRONGPASS): give ";
    assert!(text.contains(wrong), "{text}");
    assert!(
        text.ends_with("in the address, or by `FleetBuilder::login`"),
        "{text}"
    );
    let fleet = builder(&server)
        .login("default", "hush")
        .start()
        .expect("a fleet");
    fleet.ready(LONG).expect("to be ready");
}

/// By default it takes 10,000.
#[test]
fn a_redis_that_takes_no_more_connections_is_told_as_such() {
    let Some(server) = Server::start(&["--maxclients", "2"]) else {
        return;
    };
    let [first, second] = [(); 2].map(|()| builder(&server).start().expect("a fleet"));
    for fleet in [&first, &second] {
        fleet.ready(LONG).expect("to be ready");
    }
    let third = builder(&server).start().expect("a fleet");
    // The system may be quicker to say that the connection has ended.
    until("to be told why", || {
        let error = third.status().last_error;
        error.is_some_and(|error| error.to_string().contains("set its `maxclients`"))
    });
    assert!(first.status().is_connected && second.status().is_connected);
    drop(first);
    third.ready(LONG).expect("to be ready");
}

#[test]
fn a_redis_that_takes_no_changes_counts_as_gone() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    let [a, b] = instances(&server, Settings::new().threshold(1).must(), Sharing::new());
    let replica_of = |host: &str, port: &str| {
        let mut command = redis::cmd("REPLICAOF");
        let answer: String = command
            .arg(host)
            .arg(port)
            .query(&mut server.connect())
            .unwrap();
        assert_eq!(answer, "OK");
    };
    replica_of("127.0.0.1", "1");
    a.fail();
    until("it to count as gone", || a.fleet.status().lost > 0);
    let error = a.fleet.status().last_error.expect("an error");
    assert!(matches!(error.trouble, Trouble::Refuses(_)), "{error}");
    assert_eq!(a.breaker.state(), State::Open);
    replica_of("no", "one");
    // What happened meanwhile is told once it is back.
    until("the trip to be known", || b.breaker.state() == State::Open);
    a.fleet.ready(LONG).expect("to be ready");
    assert!(a.fleet.status().is_connected);
}

#[test]
fn scripts_that_were_flushed_are_loaded_again() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    let [a, b] = instances(&server, Settings::new().threshold(1).must(), Sharing::new());
    let flushed: String = redis::cmd("SCRIPT")
        .arg("FLUSH")
        .query(&mut server.connect())
        .unwrap();
    assert_eq!(flushed, "OK");
    a.fail();
    until("the trip to be known", || b.breaker.state() == State::Open);
    assert_eq!((a.fleet.status().lost, a.fleet.status().nonsense), (0, 0));
}

#[test]
fn a_key_of_somebody_elses_is_a_matter_of_one_circuit() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    let (bad, good) = (name("bad"), name("good"));
    let set: String = redis::cmd("SET")
        .arg(format!("breakerbox:{bad}"))
        .arg("mine")
        .query(&mut server.connect())
        .unwrap();
    assert_eq!(set, "OK");
    let config = Settings::new().threshold(1).must();
    let [a, b] =
        std::array::from_fn(|_| Instance::new(builder(&server), good, config, Sharing::new()));
    let local = breakerbox::Breaker::shared(bad, config);
    let local = breaker_redis::FleetBreaker::of(local, Sharing::new());
    a.fleet.share(&local).expect("to be shared");
    until("it to be refused", || a.fleet.status().nonsense > 0);
    let why = a.fleet.status().last_nonsense.expect("why it was refused");
    assert_eq!(why.of, format!("breakerbox:{bad}"));
    assert_eq!(why.why, Unusable::Foreign);
    assert!(!why.to_string().contains("mine"), "{why}");
    let failed = local.call_sync(|| Err::<(), _>("no answer"));
    assert!(failed.is_err());
    assert_eq!(local.state(), State::Open);
    a.fail();
    until("the other circuit's trip", || {
        b.breaker.state() == State::Open
    });
    assert_eq!(a.fleet.status().lost, 0);
    let kept: String = redis::cmd("GET")
        .arg(format!("breakerbox:{bad}"))
        .query(&mut server.connect())
        .unwrap();
    assert_eq!(kept, "mine");
}

#[test]
fn more_messages_than_can_be_heard_are_made_up_for() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    // Only messages tell anything, and what is asked because some were dropped. A busy machine takes its time.
    let hours = |so_many: u64| Duration::from_secs(3600 * so_many);
    let fleet = || {
        let fleet = builder(&server).poll(hours(1)).alive(hours(3));
        fleet.lease(LONG).answer(LONG)
    };
    let (name, config) = (name("flooded"), Settings::new().threshold(1).must());
    let [a, b] = std::array::from_fn(|_| Instance::new(fleet(), name, config, Sharing::new()));
    let mut connection = server.connect();
    let channel = format!("breakerbox:{name}");
    let mut flood = redis::pipe();
    for _ in 0..20_000 {
        flood.cmd("PUBLISH").arg(&channel).arg("nonsense").ignore();
    }
    flood.query::<()>(&mut connection).unwrap();
    a.fail();
    until("the trip to be known", || b.breaker.state() == State::Open);
    // What else was sent is looked at by and by.
    until("nonsense to be refused", || b.fleet.status().nonsense > 0);
    let status = b.fleet.status();
    let why = status.last_nonsense.expect("why it was refused");
    assert_eq!((why.of, why.why), (channel, Unusable::OtherFormat));
    assert_eq!(status.lost, 0);
}
