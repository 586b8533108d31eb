//! Keys may be anything: what users type, what attackers send, of any length.

use std::iter;

use test_fleet::fleet::Fleet;
use test_fleet::plan::{Answer, Order};
use test_fleet::server::Server;
use test_fleet::service::Health;

use super::{FOR_EVER, all_become, ends, entered, history, operate, records, settings};

/// No two of them may be taken for each other, nor for anything else.
fn keys() -> Vec<String> {
    let long = "x".repeat(10_000);
    let few = [
        "",
        " ",
        "a",
        "A",
        "a ",
        " a",
        "a]",
        "[a",
        "[a]",
        "a][b",
        "a]\0",
        "\0",
        "*",
        "?",
        "a*",
        "-",
        "%",
        "%61",
        "~",
        ":",
        "a:b",
        "{a}",
        "{",
        "}",
        "hosts",
        "hosts[a]",
        "test:hosts[a]",
        "\r\n",
        "a\r\nFLUSHALL\r\n",
        // As logs show the one, the other is.
        "a\n",
        "a\\n",
        "\u{202e}",
        "\\u{202e}",
        "\\u{202E}",
        "$6\r\n",
        "\"",
        "'",
        "\\",
        "\u{1b}[2J",
        "\u{202e}a",
        "\u{fe0f}",
        "\u{1f4a3}",
        "e\u{301}",
        "\u{e9}",
        "../../etc/passwd",
        "'; DROP TABLE hosts; --",
        "1 done",
        "\u{10ffff}",
    ];
    let few = few.into_iter().map(String::from);
    let long = [
        format!("{long}a"),
        format!("{long}b"),
        format!("{long}{long}"),
        "\u{1f4a3}".repeat(3_000),
        "]".repeat(200),
        // As what is too long is written: cut, and with a sum.
        format!("{}~{}", "x".repeat(48), "0".repeat(64)),
        "x".repeat(48),
        "x".repeat(128),
        "x".repeat(129),
    ];
    few.chain(long).collect()
}

#[test]
fn keys_with_any_characters_and_of_any_length_are_told_apart() {
    let keys = keys();
    let mut settings = settings(2, FOR_EVER);
    settings.circuit.timeout = 60_000;
    let mut fleet = Fleet::start(settings, Server::start());
    fleet.connected();
    call_all(&mut fleet, &keys, 1);
    // Every second one is set by an operator.
    let halves = || keys.iter().zip(iter::repeat([true, false]).flatten());
    let set: Vec<_> = halves().filter(|half| half.1).map(|half| half.0).collect();
    let left: Vec<_> = halves().filter(|half| !half.1).map(|half| half.0).collect();
    for key in &set {
        operate(&mut fleet, 0, key, "force_open");
    }
    for key in &set {
        all_become(&fleet, key, "forced_open");
    }
    let written = records(&fleet.server);
    assert_eq!(written.len(), set.len());
    for record in &written {
        let inner = record.strip_prefix("test:hosts[");
        let inner = inner.and_then(|rest| rest.strip_suffix(']')).unwrap();
        assert!(inner.len() <= 128, "{record}");
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.%~".contains(&byte);
        assert!(inner.bytes().all(is_plain), "{record}");
    }
    call_all(&mut fleet, &keys, 2);
    for instance in &fleet.instances {
        for key in &set {
            assert_eq!(
                last(&fleet, instance.name(), key),
                Answer::Refused,
                "{key:?}"
            );
        }
        for key in &left {
            assert_eq!(history(instance, key), [], "{key:?}");
            assert_eq!(last(&fleet, instance.name(), key), Answer::Good, "{key:?}");
        }
    }
    // Every fourth trips, at one: the others of what is left stay as they are.
    fleet.service.turns(Health::Down);
    let (tripped, untouched): (Vec<_>, Vec<_>) =
        left.into_iter().partition(|key| key.len() % 2 == 0);
    assert!(tripped.len() > 5 && untouched.len() > 5);
    for key in &tripped {
        fleet.order_of(0, key, Order::Call { times: 3 });
    }
    for key in &tripped {
        all_become(&fleet, key, "open");
        assert_eq!(
            history(&fleet.instances[1], key),
            [entered("open", "fleet")]
        );
    }
    for key in &untouched {
        operate(&mut fleet, 1, key, "shadow");
    }
    for key in &untouched {
        all_become(&fleet, key, "shadow");
        assert_eq!(
            history(&fleet.instances[0], key),
            [entered("shadow", "fleet")]
        );
    }
    assert_eq!(records(&fleet.server).len(), keys.len());
    for instance in &mut fleet.instances {
        assert_eq!(instance.look().nonsense, 0);
    }
    ends(&mut fleet);
}

/// Both instances, once with each key; each has then called so often.
fn call_all(fleet: &mut Fleet, keys: &[String], called: usize) {
    for number in 0..2 {
        for key in keys {
            fleet.order_of(number, key, Order::Call { times: 1 });
        }
    }
    for instance in &fleet.instances {
        instance.until("to have called", |seen| {
            (seen.calls.len() == called * keys.len()).then_some(())
        });
    }
}

fn last(fleet: &Fleet, instance: &str, key: &str) -> Answer {
    let mut instances = fleet.instances.iter();
    let instance = instances.find(|one| one.name() == instance).unwrap();
    instance.seen(|seen| seen.calls_of(key).last().unwrap().result)
}
