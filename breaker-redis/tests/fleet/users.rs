//! Users of Redis: what they need, and what is told of one who lacks it.

use crate::server::Server;
use crate::support::{Instance, LONG, Lines, builder, name, until};
use breaker_redis::{Fleet, FleetBreaker, SharedFleetBreaker, Sharing, Trouble};
use breakerbox::{Breaker, Settings, State};
use std::sync::Arc;

/// Sets a user, whose password is `hush`.
fn set_user(server: &Server, name: &str, may: &[&str]) {
    let mut command = redis::cmd("ACL");
    // Before Redis 7 a user may use all channels, unless they are taken from him.
    command
        .arg("SETUSER")
        .arg(name)
        .arg("on")
        .arg(">hush")
        .arg("resetchannels");
    let set: String = command.arg(may).query(&mut server.connect()).unwrap();
    assert_eq!(set, "OK");
}

/// What is told where a right is missing.
fn refused(fleet: &Fleet) -> String {
    let error = || fleet.status().last_error;
    until("it to be refused", || {
        error().is_some_and(|error| matches!(error.trouble, Trouble::Forbidden(_)))
    });
    let text = error().unwrap().to_string();
    assert!(
        text.contains("refuses commands: the user may not"),
        "{text}"
    );
    assert!(text.contains("`FleetBuilder::login`"), "{text}");
    assert!(!text.contains("hush"), "{text}");
    text
}

/// What the docs of `FleetBuilder::login` say that a user needs.
pub(crate) const NEEDED: &str = "-@all +evalsha +script|load +time +exists +hmget +hset +hdel +hscan +pttl \
                      +pexpire +publish +subscribe +unsubscribe +ping";

#[test]
fn a_user_who_may_what_the_docs_say_needs_no_more() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    let user = |name: &str, may: &[&str]| set_user(&server, name, may);
    let needed: Vec<&str> = NEEDED.split_whitespace().collect();
    let mine = ["~shop:*", "&shop:*"];
    user("shop", &[&mine[..], &needed].concat());
    let of = |name: &str| builder(&server).prefix("shop").login(name, "hush");
    let (name, config) = (name("of-a-user"), Settings::new().threshold(1).must());
    let [a, b] = std::array::from_fn(|_| {
        Instance::new(
            of("shop"),
            name,
            config,
            Sharing::new().counting().quorum_share(0.1),
        )
    });
    a.fail();
    b.fail();
    a.breaker.force_open();
    until("an operator's word", || {
        b.breaker.state() == State::ForcedOpen
    });
    let status = b.fleet.status();
    assert_eq!((status.lost, status.nonsense), (0, 0), "{status:?}");
    // A database has to be chosen.
    let url = format!("{}?db=1", server.url());
    let fleet = Fleet::builder(url).prefix("shop").login("shop", "hush");
    let fleet = fleet.start().expect("a fleet");
    until("it to be refused", || fleet.status().last_error.is_some());
    let text = fleet.status().last_error.unwrap().to_string();
    assert!(
        text.contains("refuses commands") && text.contains("`+select`"),
        "{text}"
    );
    // Of others' keys and channels, or without one of the commands, it is said at once.
    for (name, may) in [
        ("no-keys", [&["~other:*", "&shop:*"][..], &needed].concat()),
        (
            "no-channels",
            [&["~shop:*", "&other:*"][..], &needed].concat(),
        ),
        ("no-script", [&mine[..], &needed, &["-script"]].concat()),
    ] {
        user(name, &may);
        let text = refused(&of(name).start().expect("a fleet"));
        assert!(!text.contains(name), "{text}");
    }
    // Also what the script does but rarely, which some versions of Redis don't name from there.
    for command in [
        "time", "exists", "hmget", "hset", "hdel", "hscan", "pttl", "pexpire", "publish",
    ] {
        let (name, taken) = (format!("less-{command}"), format!("-{command}"));
        user(&name, &[&mine[..], &needed, &[&taken]].concat());
        let text = refused(&of(&name).start().expect("a fleet"));
        assert!(text.contains(&format!("give it `+{command}`")), "{text}");
    }
}

/// Prefixes in which nothing, or something, has to be written otherwise in a rule.
const PREFIXES: [&str; 6] = [
    "shop",
    "shop:breakers",
    "{shop}",
    "(a)\"'b]",
    r"*?[x]\y\\",
    r"[^a-z]*\",
];

/// A fleet of this user that shares a circuit, whatever it may.
fn of_user(server: &Server, prefix: &str, user: &str) -> (Fleet, Arc<SharedFleetBreaker>) {
    let fleet = builder(server).prefix(prefix).login(user, "hush");
    let fleet = fleet.start().expect("a fleet");
    let breaker = Breaker::new(name("ruled"), Settings::new().threshold(1).must());
    let breaker = Arc::new(FleetBreaker::of(Arc::new(breaker), Sharing::new()));
    fleet.share(&breaker).expect("to be shared");
    (fleet, breaker)
}

/// Gives a user what is told to be missing, until nothing is, and returns what that was.
fn give_what_is_missing(server: &Server, fleet: &Fleet, user: &str) -> Vec<String> {
    let mut given: Vec<String> = Vec::new();
    loop {
        let rule = || match fleet.status().last_error?.trouble {
            Trouble::Forbidden(right) => {
                let text = right.to_string();
                let (_, rule) = text.split_once(": give it `").expect("a rule");
                let rule = rule.strip_suffix('`').expect("its end").to_owned();
                Some(rule).filter(|rule| !given.contains(rule))
            }
            _ => None,
        };
        until("a rule, or to be ready", || {
            rule().is_some() || fleet.ready(LONG / 600).is_ok()
        });
        match rule() {
            Some(rule) => {
                refused(fleet);
                give(server, user, &rule);
                given.push(rule);
            }
            None => break,
        }
    }
    fleet.ready(LONG).expect("to be ready");
    given
}

/// Whoever gives what is told to be missing ends with a user who may all that is needed, and no more.
#[test]
fn the_rule_that_is_told_is_the_one_that_is_missing() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    let needed: Vec<&str> = NEEDED.split_whitespace().collect();
    for (number, prefix) in PREFIXES.into_iter().enumerate() {
        let user = format!("user-{number}");
        set_user(&server, &user, &needed);
        let (fleet, _breaker) = of_user(&server, prefix, &user);
        let given = give_what_is_missing(&server, &fleet, &user);
        assert!(
            given[0].starts_with('~') && given[1].starts_with('&'),
            "{given:?}"
        );
        assert_eq!(given.len(), 2, "{given:?}");
        assert!(may_use(&server, &user, &format!("{prefix}:a")), "{given:?}");
        // What the prefix would match as a pattern is another's.
        for of_others in ["shoq:a", "aaxy\\:a", "abx\\y\\\\:a", "Zz\\:a", "Z:a", "b:a"] {
            assert!(
                !may_use(&server, &user, of_others),
                "{of_others}: {given:?}"
            );
        }
    }
    for (number, missing) in needed.iter().enumerate() {
        // Those that are of use only in a fleet that has grown and shrunk, or without which it works, and
        // those of the script, of which Redis says what before 7.2 only to its own log.
        let Some(command) = missing.strip_prefix('+') else {
            continue;
        };
        let at_once = [
            "evalsha",
            "script|load",
            "hset",
            "pexpire",
            "publish",
            "subscribe",
        ];
        if !at_once.contains(&command) {
            continue;
        }
        let user = format!("without-{number}");
        let rest = needed.iter().filter(|right| *right != missing);
        let rest: Vec<&str> = ["~shop:*", "&shop:*"]
            .into_iter()
            .chain(rest.copied())
            .collect();
        set_user(&server, &user, &rest);
        let (fleet, _breaker) = of_user(&server, "shop", &user);
        assert_eq!(give_what_is_missing(&server, &fleet, &user), [*missing]);
    }
}

/// One more right.
fn give(server: &Server, user: &str, rule: &str) {
    let mut command = redis::cmd("ACL");
    command.arg("SETUSER").arg(user).arg(rule);
    let given: String = command.query(&mut server.connect()).unwrap();
    assert_eq!(given, "OK");
}

/// Whether a user may write a key, and publish to a channel of the same name.
fn may_use(server: &Server, user: &str, place: &str) -> bool {
    let mut connection = server.connect();
    let logged_in: String = redis::cmd("AUTH")
        .arg(user)
        .arg("hush")
        .query(&mut connection)
        .unwrap();
    assert_eq!(logged_in, "OK");
    let mut hset = redis::cmd("HSET");
    let written = hset
        .arg(place)
        .arg("a")
        .arg("b")
        .query::<u32>(&mut connection);
    let mut publish = redis::cmd("PUBLISH");
    let published = publish.arg(place).arg("").query::<u32>(&mut connection);
    assert_eq!(
        written.is_ok(),
        published.is_ok(),
        "{written:?} {published:?}"
    );
    written.is_ok()
}

/// A password that is changed while a process runs: its connection is cut, and the next says why.
#[test]
fn a_loss_is_told_with_what_the_next_login_says() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    let fleet_name = name("changed");
    let lines = Lines::of(fleet_name);
    let pattern = format!("{fleet_name}:*");
    let places = [format!("~{pattern}"), format!("&{pattern}")];
    let places = places.each_ref().map(String::as_str);
    let needed: Vec<&str> = NEEDED.split_whitespace().collect();
    set_user(&server, "shop", &[&places[..], &needed].concat());
    let fleet = builder(&server).prefix(fleet_name).login("shop", "hush");
    let config = Settings::new().must();
    let instance = Instance::new(fleet, name("a"), config, Sharing::new());
    let do_all = |commands: &[&[&str]]| {
        let mut connection = server.connect();
        for words in commands {
            let mut command = redis::cmd(words[0]);
            command.arg(&words[1..]).exec(&mut connection).unwrap();
        }
    };
    do_all(&[
        &["ACL", "SETUSER", "shop", "resetpass", ">another"],
        &["CLIENT", "KILL", "USER", "shop"],
    ]);
    until("it to be told", || !lines.all().is_empty());
    let told = lines.all();
    let [lost] = told.as_slice() else {
        panic!("{told:?}");
    };
    assert!(
        lost.contains("refused the login") && lost.contains("(WRONGPASS)"),
        "{lost}"
    );
    assert!(lost.contains("give both in the address, or by"), "{lost}");
    assert!(!lost.contains("hush") && !lost.contains("shop"), "{lost}");
    assert_eq!(instance.fleet.status().lost, 1);
    do_all(&[&["ACL", "SETUSER", "shop", "resetpass", ">hush"]]);
    until("it to be found again", || lines.all().len() == 2);
    assert_eq!(lines.all()[1], "restored");
    // Cut off, and let in at once: within a minute of the other nothing is told of it.
    do_all(&[&["CLIENT", "KILL", "USER", "shop"]]);
    until("it to be lost", || instance.fleet.status().lost == 2);
    instance.fleet.ready(LONG).expect("to be ready");
    assert_eq!(lines.all().len(), 2);
}

/// The same of one that is let in again: told as what it is, and at once.
#[test]
fn a_connection_that_is_cut_once_is_told_before_it_is_found_again() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    let fleet_name = name("cut");
    let lines = Lines::of(fleet_name);
    let fleet = builder(&server).prefix(fleet_name);
    let config = Settings::new().must();
    let instance = Instance::new(fleet, name("a"), config, Sharing::new());
    let mut kill = redis::cmd("CLIENT");
    kill.arg("KILL").arg("TYPE").arg("pubsub");
    until("its connection to be cut", || {
        kill.query::<u32>(&mut server.connect()).unwrap() > 0
    });
    until("it to be found again", || lines.all().len() == 2);
    let told = lines.all();
    assert!(told[0].contains("ended the connection"), "{told:?}");
    assert_eq!(told[1], "restored");
    drop(instance);
}

/// A right that is taken away later, without which no circuit is told to others.
#[test]
fn a_circuit_that_may_not_be_published_any_more_is_said_with_the_rule() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    let needed: Vec<&str> = NEEDED.split_whitespace().collect();
    set_user(
        &server,
        "shop",
        &[&["~a*b:*", "&a*b:*"][..], &needed].concat(),
    );
    let fleet = builder(&server).prefix("a*b").login("shop", "hush");
    let config = Settings::new().threshold(1).must();
    let instance = Instance::new(fleet, name("mute"), config, Sharing::new());
    give(&server, "shop", "-publish");
    instance.fail();
    until("it to be refused", || instance.fleet.status().nonsense > 0);
    let said = instance
        .fleet
        .status()
        .last_nonsense
        .expect("why")
        .to_string();
    let rule =
        r"the user may not publish to the circuit's channel: give it `+publish` and `&a\*b:*`";
    assert!(
        said.starts_with("a*b:mute") && said.ends_with(rule),
        "{said}"
    );
}
