//! The program of an operator's, `breaker-redis/examples/operate.rs`: a process that says a word and ends.

use std::process::{Command, Output, Stdio};
use std::time::Duration;

use test_fleet::fleet::{Fleet, Settings};
use test_fleet::plan::Order;
use test_fleet::server::{self, Server};

use crate::outages::PAUSE;

/// What came of it, which fleet it is of, and where its Redis is.
fn operate(url: &str, arguments: &[&str]) -> Output {
    let mut program = Command::new(env!("CARGO_BIN_EXE_operate"));
    program
        .env_clear()
        .env("REDIS_URL", url)
        .env("FLEET", "test");
    program.args(arguments).stdin(Stdio::null());
    program.output().expect("to start it")
}

/// What it prints.
fn prints(server: &Server, arguments: &[&str]) -> String {
    let output = operate(&server.url(), arguments);
    let [said, wrong] = [&output.stdout, &output.stderr].map(|it| String::from_utf8_lossy(it));
    let is_well = output.status.success() && wrong.is_empty();
    assert!(is_well, "{arguments:?}: {said}{wrong}");
    said.trim_end().to_owned()
}

#[test]
fn a_word_that_nobody_hears_is_done_and_said_to_be_so() {
    let mut fleet = Fleet::start(Settings::default(), Server::start());
    fleet.connected();
    for (arguments, name) in [
        (&["open", "pns"][..], "pns"),
        (&["open", "hosts", "adlon"], "hosts"),
        // The others share it, and have no keys of it.
        (&["open", "pms", "adlon"], "pms"),
    ] {
        let output = operate(&fleet.server.url(), arguments);
        let [said, wrong] = [&output.stdout, &output.stderr].map(|it| String::from_utf8_lossy(it));
        assert!(
            output.status.success() && said == "forced_open\n",
            "{said}{wrong}"
        );
        let expected = format!("no other process shares `{name}` now: ");
        assert!(
            wrong.starts_with(&expected) && wrong.lines().count() == 1,
            "{wrong}"
        );
    }
    // To look at it changes nothing, and it stands there for who comes.
    assert_eq!(prints(&fleet.server, &["show", "pns"]), "forced_open");
}

#[test]
fn a_word_of_a_process_that_ends_at_once_reaches_all() {
    let mut fleet = Fleet::start(Settings::default(), Server::start());
    fleet.connected();
    fleet.go(PAUSE);
    assert_eq!(prints(&fleet.server, &["show", "pms"]), "closed");
    for (word, state) in [
        ("open", "forced_open"),
        ("disable", "disabled"),
        ("shadow", "shadow"),
        ("close", "closed"),
    ] {
        assert_eq!(prints(&fleet.server, &[word, "pms"]), state);
        fleet.all_become(state);
        assert_eq!(prints(&fleet.server, &["show", "pms"]), state);
    }
}

#[test]
fn one_key_is_opened_and_no_other() {
    let mut settings = Settings::default();
    settings.circuit.name = "hosts".into();
    settings.circuit.keys = Some(1_000);
    let mut fleet = Fleet::start(settings, Server::start());
    fleet.connected();
    for number in 0..fleet.instances.len() {
        for key in ["adlon", "ritz"] {
            fleet.order_of(number, key, Order::Go { pause: PAUSE });
        }
    }
    let said = prints(&fleet.server, &["open", "hosts", "adlon"]);
    assert_eq!(said, "forced_open");
    for instance in &fleet.instances {
        instance.until("the key to be open", |seen| {
            (seen.state_of("adlon") == "forced_open").then_some(())
        });
        instance.seen(|seen| assert_eq!(seen.state_of("ritz"), "closed"));
    }
    // One that nobody has used yet.
    assert_eq!(
        prints(&fleet.server, &["open", "hosts", "sacher"]),
        "forced_open"
    );
    assert_eq!(
        prints(&fleet.server, &["show", "hosts", "sacher"]),
        "forced_open"
    );
    assert_eq!(prints(&fleet.server, &["show", "hosts", "ritz"]), "closed");
}

#[test]
fn an_open_circuit_is_shown_with_what_is_left() {
    let mut settings = Settings::default();
    settings.circuit.reset = Duration::from_secs(600).as_millis() as u64;
    let mut fleet = Fleet::start(settings, Server::start());
    fleet.connected();
    fleet.service.turns(test_fleet::service::Health::Down);
    fleet.go(PAUSE);
    fleet.all_become("open");
    let said = prints(&fleet.server, &["show", "pms"]);
    assert!(said.starts_with("open, until 5"), "{said}");
}

#[test]
fn what_can_not_be_done_is_an_error() {
    let nobody = server::url(([127, 0, 0, 1], 1).into());
    for (url, arguments, wrong) in [
        (&*nobody, &["open", "pms"][..], "127.0.0.1:1"),
        (&nobody, &["open"], "usage: "),
        (&nobody, &["burn", "pms"], "usage: "),
        (&nobody, &[], "usage: "),
        (&nobody, &["open", "hosts[adlon]"], "`hosts adlon`"),
        (&nobody, &["open", ""], "without a name"),
        (&nobody, &["open", "hosts", ""], "without a name"),
        ("http://localhost", &["show", "pms"], "redis://"),
    ] {
        let output = operate(url, arguments);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(
            !output.status.success() && output.stdout.is_empty(),
            "{said}"
        );
        assert!(said.contains(wrong), "{arguments:?}: {said}");
    }
}
