//! Nothing that Redis says is trusted: neither that of a server that is none, nor what others have put
//! into a real one. It is refused, told once, costs little memory, and changes no circuit.

use std::thread;
use std::time::{Duration, Instant};

use test_fleet::fleet::{Fleet, Settings, name, program};
use test_fleet::hostile::{Hostile, Nonsense};
use test_fleet::instance::{Instance, Seen};
use test_fleet::plan::{Answer, Order};
use test_fleet::server::{self, Server};
use test_fleet::service::{Health, Service};
use test_fleet::wait;

const TOO_LONG: Duration = Duration::from_secs(4);

/// More than this nonsense may not cost, in bytes.
const MOST_MEMORY: u64 = 64 << 20;

/// Between two calls of an instance, in microseconds.
const PAUSE: u64 = 8_000;

/// How long each stranger is listened to at least.
const WHILE: Duration = Duration::from_millis(1_500);

fn says(text: &str) -> Nonsense {
    Nonsense::Says(text.into())
}

fn floods(first: &[u8], then: &[u8]) -> Nonsense {
    let times = 64 * 1024 / then.len().max(1) + 1;
    Nonsense::Floods(first.into(), then.repeat(times))
}

/// Bytes that are the same in each run.
fn noise(length: usize) -> Vec<u8> {
    let mut word = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = || {
        word ^= word << 13;
        word ^= word >> 7;
        word ^= word << 17;
        word.to_le_bytes()[3]
    };
    (0..length).map(|_| next()).collect()
}

/// What a Redis answers to `HELLO 3`, as far as clients look at it.
const HELLO: &str = "%2\r\n$6\r\nserver\r\n$5\r\nredis\r\n$5\r\nproto\r\n:3\r\n";

/// Told this by a server that is none, an instance guards its calls as if there were none at all.
fn is_a_local_one_beside(nonsense: Nonsense, what: &str) {
    let service = Service::start();
    let hostile = Hostile::says(nonsense);
    let mut settings = Settings::default();
    settings.circuit.reset = 300;
    let mut plan = settings.plan(&name(0), service.address());
    plan.redis = Some(server::url(hostile.address()));
    let mut instance = Instance::start(&program(), &plan, None);
    let before = instance.most_memory();
    instance.order(&Order::Go { pause: PAUSE });
    let start = Instant::now();
    wait::until_so("the stranger to be met", || {
        hostile.connections() > 0 && start.elapsed() > WHILE && instance.called() > 50
    });
    instance.seen(|seen| {
        assert_eq!(seen.changes, [], "{what}");
        assert!(
            seen.calls.iter().all(|call| call.result == Answer::Good),
            "{what}"
        );
    });
    service.turns(Health::Down);
    instance.until("to open by itself", |seen| {
        let mut changes = seen.changes.iter();
        changes
            .find(|change| change.to == "open")
            .map(|change| assert_eq!(change.by, "failures"))
    });
    service.turns(Health::Up);
    instance.until("to close by itself", |seen| {
        (seen.state() == "closed").then_some(())
    });
    let more = instance.most_memory().saturating_sub(before);
    let looks = instance.look();
    instance.end();
    let seen = instance.seen(Seen::clone);
    eprintln!(
        "{what}: {} connections, {} kB more, {:?}",
        hostile.connections(),
        more >> 10,
        looks.trouble
    );
    assert!(more < MOST_MEMORY, "{what}: {more} bytes");
    assert!(seen.calls.iter().all(|call| call.took < TOO_LONG), "{what}");
    assert!(seen.losses.len() <= 1, "{what}: {:?}", seen.losses);
    assert_eq!(seen.output, "", "{what}");
    // One that can't be talked to is not asked without a pause.
    assert!(
        hostile.connections() < 100,
        "{what}: {} connections",
        hostile.connections()
    );
}

/// Plays cases four at a time: they wait for most of it.
fn several_at_once<T: Sync>(cases: &[T], play: impl Fn(&T) + Sync) {
    const AT_ONCE: usize = 4;
    thread::scope(|scope| {
        for first in 0..AT_ONCE {
            let some = cases.iter().skip(first).step_by(AT_ONCE);
            scope.spawn(|| some.for_each(&play));
        }
    });
}

#[test]
fn a_server_that_floods() {
    let endless = "a".repeat(1 << 10);
    let of_a_message = ">3\r\n$7\r\nmessage\r\n$8\r\ntest:pms\r\n$5\r\nhello\r\n";
    let cases = [
        ("a line without an end", floods(b"+", endless.as_bytes())),
        ("a string of 2 GB", floods(b"$2147483647\r\n", &[0])),
        (
            "an array of a thousand million",
            floods(b"*1000000000\r\n", b":1\r\n"),
        ),
        ("arrays in arrays", floods(b"", b"*1\r\n")),
        ("maps in maps", floods(b"%2147483647\r\n", b"%9\r\n")),
        ("random bytes", floods(&noise(1_000), &noise(4_000))),
        (
            "messages that nobody asked for",
            floods(HELLO.as_bytes(), of_a_message.as_bytes()),
        ),
        (
            "a large message",
            floods(
                HELLO.as_bytes(),
                b">3\r\n$7\r\nmessage\r\n$8\r\ntest:pms\r\n$900000000\r\n",
            ),
        ),
    ];
    several_at_once(&cases, |(what, nonsense)| {
        is_a_local_one_beside(nonsense.clone(), what);
    });
}

#[test]
fn a_server_that_speaks_nonsense() {
    let cases = [
        ("negative lengths", says("$-5\r\n*-7\r\n%-3\r\n>-1\r\n")),
        (
            "lengths beyond all numbers",
            says("$99999999999999999999\r\n"),
        ),
        ("a map beyond all numbers", says("%9223372036854775807\r\n")),
        (
            "an attribute beyond all numbers",
            says("|9223372036854775807\r\n"),
        ),
        (
            "a web server",
            says("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n"),
        ),
        ("a number", says(&":1\r\n".repeat(20))),
        ("fine, whatever was asked", says(&"+OK\r\n".repeat(20))),
        ("a greeting, whatever was asked", says(HELLO)),
        ("errors", says(&"-ERR no\r\n".repeat(20))),
        ("an error without words", says("-\r\n-\r\n-\r\n-\r\n")),
        (
            "somebody with a password",
            says(&"-NOAUTH Authentication required.\r\n".repeat(20)),
        ),
        ("nothing", Nonsense::Nothing),
        ("nobody", Nonsense::HangsUp),
    ];
    several_at_once(&cases, |(what, nonsense)| {
        is_a_local_one_beside(nonsense.clone(), what);
    });
}

fn pair() -> Fleet {
    let mut settings = Settings {
        instances: 2,
        ..Settings::default()
    };
    settings.circuit.reset = 300;
    let mut fleet = Fleet::start(settings, Server::start());
    fleet.connected();
    fleet.go(PAUSE);
    fleet.call_on(20);
    fleet
}

fn operate(fleet: &mut Fleet, number: usize, what: &str) {
    fleet.instances[number].order(&Order::Operate { what: what.into() });
}

/// Nothing came of it but that it was told: the two are closed, and one.
fn is_one_still(fleet: &mut Fleet, memory: u64, what: &str) {
    operate(fleet, 0, "force_open");
    fleet.all_become("forced_open");
    operate(fleet, 1, "close");
    fleet.all_become("closed");
    for instance in &mut fleet.instances {
        let more = instance.most_memory().saturating_sub(memory);
        assert!(more < MOST_MEMORY, "{what}: {more} bytes");
        let losses = instance.seen(|seen| seen.losses.clone());
        assert!(losses.len() <= 1, "{what}: {losses:?}");
        instance.seen(|seen| {
            let mut changes = seen.changes.iter();
            let expected = |to: &str| to == "forced_open" || to == "closed";
            assert!(
                changes.all(|change| expected(&change.to)),
                "{what}: {:?}",
                seen.changes
            );
            assert!(
                seen.calls.iter().all(|call| call.result != Answer::Failed),
                "{what}"
            );
        });
    }
}

#[test]
fn messages_of_others() {
    let mut fleet = pair();
    let memory = fleet.instances[0].most_memory();
    let channel = "test:pms";
    let publish = |message: &[u8]| {
        let mut publish = redis::cmd("PUBLISH");
        fleet.server.ask::<usize>(publish.arg(channel).arg(message))
    };
    for message in [
        "",
        "-",
        "1",
        "2 - x",
        "[key] 1",
        "- 1 closed",
        "\r\n",
        "{\"state\":\"open\"}",
    ] {
        assert_eq!(publish(message.as_bytes()), 2, "both listen to it");
    }
    // What all the fields may be, at their largest and beyond.
    for version in [
        "0.0",
        "-1.-1",
        "9e9.1",
        "18446744073709551616.1",
        "1",
        ".",
        "nan.nan",
    ] {
        publish(
            format!("- 1 {version} open 99999999999999999999 9 999 - tripped 5 - -").as_bytes(),
        );
    }
    publish(&noise(4_000));
    publish(&vec![b'9'; 8 << 20]);
    publish(&[0xff; 300]);
    for part in noise(60_000).chunks(3) {
        publish(part);
    }
    fleet.call_on(20);
    // The largest of them costs a connection.
    fleet.connected();
    is_one_still(&mut fleet, memory, "messages");
    let looks = fleet.instances[0].look();
    assert!(looks.nonsense > 0, "{looks:?}");
    fleet.end(TOO_LONG);
}

/// Where the record of the circuit is.
const KEY: &str = "test:pms";

#[test]
fn keys_of_others() {
    let key = KEY;
    let large = "9".repeat(4 << 20);
    // After each of them a circuit is left alone for some seconds.
    let cases: [(&str, &[&str]); 7] = [
        ("a large text", &["SETRANGE", key, "33554432", "x"]),
        ("a list", &["RPUSH", key, "a", "b"]),
        (
            "another hash",
            &["HSET", key, "state", "open", "until", "never"],
        ),
        (
            "a later format",
            &["HSET", key, "format", "2", "record", "open"],
        ),
        (
            "a large record",
            &["HSET", key, "format", "1", "record", &large],
        ),
        (
            "half a record",
            &["HSET", key, "format", "1", "record", "1.1 open 5"],
        ),
        (
            "large sums",
            &[
                "HSET", key, "format", &large, "ticks", &large, "slice0", &large,
            ],
        ),
    ];
    several_at_once(&cases, |(what, command)| finds_instead(what, command));
}

/// Somebody else's, at the place of the record of a circuit.
fn finds_instead(what: &str, command: &[&str]) {
    let mut fleet = pair();
    let memory = fleet.instances[0].most_memory();
    operate(&mut fleet, 0, "force_open");
    fleet.all_become("forced_open");
    operate(&mut fleet, 1, "close");
    fleet.all_become("closed");
    assert!(fleet.server.keys().contains(&KEY.to_owned()));
    let fields: Vec<String> = fleet.server.ask(redis::cmd("HKEYS").arg(KEY));
    assert!(fields.contains(&"record".to_owned()) && fields.contains(&"format".to_owned()));

    fleet.server.say(&["DEL", KEY]);
    fleet.server.say(command);
    for instance in &mut fleet.instances {
        let told = instance.until("to be told", |seen| seen.losses.first().cloned());
        let wrong = format!("can't be used for `{KEY}`: the key holds ");
        assert!(told.contains(&wrong), "{what}: {told}");
        let looks = instance.look();
        assert!(!looks.connected && looks.trouble == Some(told), "{looks:?}");
    }
    // All go on as they are, and an operator's word is done where it is said.
    fleet.call_on(20);
    for (word, state) in [("force_open", "forced_open"), ("close", "closed")] {
        operate(&mut fleet, 0, word);
        fleet.instances[0].until("to do so", |seen| (seen.state() == state).then_some(()));
    }
    fleet.call_on(20);
    fleet.server.say(&["DEL", KEY]);
    fleet.connected();
    for instance in &mut fleet.instances {
        let is_restored = |seen: &Seen| (seen.restorations == 1).then_some(());
        instance.until("to be told that it is mended", is_restored);
    }
    eprintln!("after {what}: {:?}", fleet.instances[0].look());
    is_one_still(&mut fleet, memory, what);
    fleet.end(TOO_LONG);
}

#[test]
fn fleets_with_other_prefixes_share_a_redis_and_nothing_else() {
    let mut fleet = pair();
    let mut settings = Settings::default();
    settings.sharing.prefix = "test:pms".into();
    let mut plan = settings.plan(&name(0), fleet.service.address());
    plan.redis = Some(fleet.server.url());
    let mut other = Instance::start(&program(), &plan, None);
    wait::until_so("redis", || other.look().connected);
    operate(&mut fleet, 0, "force_open");
    fleet.all_become("forced_open");
    other.order(&Order::Operate {
        what: "disable".into(),
    });
    other.until("to be disabled", |seen| {
        (seen.state() == "disabled").then_some(())
    });
    wait::until_so("both records", || {
        let keys = fleet.server.keys();
        ["test:pms", "test:pms:pms"]
            .iter()
            .all(|key| keys.contains(&(*key).to_owned()))
    });
    fleet.call_on(50);
    assert_eq!(fleet.states(), ["forced_open", "forced_open"]);
    assert_eq!(other.state(), "disabled");
    other.end();
    fleet.end(TOO_LONG);
}
