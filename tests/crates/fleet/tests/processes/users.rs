//! TLS, and users who may do just what is needed. What is secret is never told.

use std::path::PathBuf;

use tempfile::TempDir;
use test_fleet::certificates::{Authority, Files, Good};
use test_fleet::fleet::{Settings, name, program};
use test_fleet::instance::{Instance, Looks, Seen};
use test_fleet::plan::Order;
use test_fleet::server::{self, Server};
use test_fleet::service::{Health, Service};
use test_fleet::wait;

const HOST: &str = "127.0.0.1";

/// All that a user needs: what the guide says.
pub(crate) const RIGHTS: [&str; 14] = [
    "+evalsha",
    "+script|load",
    "+time",
    "+exists",
    "+hmget",
    "+hset",
    "+hdel",
    "+hscan",
    "+pttl",
    "+pexpire",
    "+publish",
    "+subscribe",
    "+unsubscribe",
    "+ping",
];

fn with_tls(files: &Files) -> Server {
    Server::with(server::Settings {
        tls: Some(files.clone()),
        ..server::Settings::default()
    })
}

/// Starts an instance, all that it does being traced, and lets it call.
fn instance(service: &Service, url: String, authority: Option<PathBuf>) -> Instance {
    let mut settings = Settings {
        trace: true,
        ..Settings::default()
    };
    settings.circuit.reset = 300;
    settings.sharing.counted = true;
    let mut plan = settings.plan(&name(0), service.address());
    plan.redis = Some(url);
    plan.authority = authority;
    let mut instance = Instance::start(&program(), &plan, None);
    instance.order(&Order::Go { pause: 3_000 });
    instance
}

/// Has Redis.
pub(crate) fn has_redis(instance: &mut Instance) {
    let had = wait::within(wait::LIMIT, || instance.look().connected.then_some(()));
    assert!(had.is_some(), "redis can't be had: {:?}", instance.look());
}

/// Hasn't Redis, because of this.
fn has_not(instance: &mut Instance, because: &[&str]) {
    let trouble = wait::until("trouble", || {
        let Looks {
            trouble, connected, ..
        } = instance.look();
        assert!(!connected);
        trouble
    });
    eprintln!("{trouble}");
    let is_said = because.iter().any(|because| trouble.contains(because));
    assert!(is_said, "expected one of {because:?}: {trouble}");
    let called = instance.called();
    wait::until_so("calls to go on", || instance.called() > called + 20);
}

/// Ends it, and returns all that it said.
fn all_said(mut instance: Instance) -> String {
    instance.end();
    let seen = instance.seen(Seen::clone);
    assert!(!seen.output.is_empty(), "it traces");
    format!(
        "{} {:?} {:?} {:?}",
        seen.output, seen.losses, seen.looks, seen.changes
    )
}

#[test]
fn tls_with_a_certificate_of_ones_own() {
    let folder = TempDir::new().unwrap();
    let (ours, others) = (Authority::new(), Authority::new());
    let service = Service::start();
    let files = ours.sign(folder.path(), "ours", &[HOST], Good::Now);
    let strange = others.sign(folder.path(), "others", &[HOST], Good::Now);
    let server = with_tls(&files);
    let address = server.address();
    let url = format!("rediss://{address}/");

    let mut good = instance(&service, url.clone(), Some(files.authority.clone()));
    has_redis(&mut good);
    good.order(&Order::Operate {
        what: "force_open".into(),
    });
    wait::until_so("the record", || {
        server.keys().contains(&"test:pms".to_owned())
    });
    drop(good);

    let wrong_authority = instance(&service, url.clone(), Some(strange.authority));
    let unknown_authority = instance(&service, url, None);
    for mut instance in [wrong_authority, unknown_authority] {
        has_not(
            &mut instance,
            &["UnknownIssuer", "unknown issuer", "certificate"],
        );
    }
    let mut without = instance(&service, server::url(address), None);
    has_not(
        &mut without,
        &["ended the connection", "RESP3", "no sense", "TLS", "answer"],
    );
}

#[test]
fn tls_with_certificates_that_are_not_good() {
    let folder = TempDir::new().unwrap();
    let ours = Authority::new();
    let service = Service::start();
    for (name, hosts, good, because) in [
        ("expired", [HOST], Good::Expired, "xpired"),
        ("another", ["redis.example"], Good::Now, "another host's"),
    ] {
        let files = ours.sign(folder.path(), name, &hosts, good);
        let server = with_tls(&files);
        let url = format!("rediss://{}/", server.address());
        let mut refused = instance(&service, url, Some(files.authority));
        has_not(&mut refused, &[because]);
        assert!(server.keys().is_empty());
    }
    // TLS with who doesn't speak it.
    let server = Server::start();
    let url = format!("rediss://{}/", server.address());
    let files = ours.sign(folder.path(), "good", &[HOST], Good::Now);
    let mut refused = instance(&service, url, Some(files.authority));
    has_not(&mut refused, &["TLS", "didn't answer"]);
    // What is no certificate is refused at once.
    let nonsense = folder.path().join("nonsense");
    std::fs::write(&nonsense, "hello").unwrap();
    let mut plan = Settings::default().plan("i0", service.address());
    plan.redis = Some("rediss://127.0.0.1:1/".into());
    plan.authority = Some(nonsense);
    let refused = Instance::spawn(&program(), &plan, None);
    let error = refused.until("to be refused", |seen| seen.refused.clone());
    assert!(error.contains("TLS"), "{error}");
}

#[test]
fn a_socket_of_the_same_machine() {
    let server = Server::start();
    let service = Service::start();
    let mut instance = instance(&service, server.socket_url(), None);
    has_redis(&mut instance);
    does_everything(&mut instance, &service);
    wait::until_so("the record", || {
        server.keys().contains(&"test:pms".to_owned())
    });
    instance.end();
}

const USER: &str = "fleet-of-shop";
const PASSWORD: &str = "sesame-9f3b";

fn user(server: &Server, rights: &[&str]) {
    let mut words = vec!["ACL", "SETUSER", USER, "reset", "on", ">sesame-9f3b"];
    // Before Redis 7 a user may use all channels, unless they are taken from him.
    words.extend(["~test:*", "resetchannels", "&test:*"]);
    words.extend(rights);
    server.say(&words);
}

fn as_user(server: &Server, password: &str) -> String {
    format!("redis://{USER}:{password}@{}/", server.address())
}

/// Does all that needs a right: trips, probes, recovers, is operated.
pub(crate) fn does_everything(instance: &mut Instance, service: &Service) {
    service.turns(Health::Down);
    instance.until("to open", |seen| {
        seen.changes
            .iter()
            .any(|change| change.to == "open")
            .then_some(())
    });
    service.turns(Health::Up);
    for (what, state) in [("force_open", "forced_open"), ("close", "closed")] {
        instance.order(&Order::Operate { what: what.into() });
        instance.until("to do so", |seen| (seen.state() == state).then_some(()));
    }
}

#[test]
fn a_user_who_may_do_just_what_is_needed() {
    let server = Server::start();
    let service = Service::start();
    user(&server, &RIGHTS);
    let mut instance = instance(&service, as_user(&server, PASSWORD), None);
    has_redis(&mut instance);
    does_everything(&mut instance, &service);
    wait::until_so("the record", || {
        server.keys().contains(&"test:pms".to_owned())
    });
    let looks = instance.look();
    assert!(looks.connected, "{looks:?}");
    instance.seen(|seen| assert_eq!(seen.losses, [""; 0]));
    let said = all_said(instance);
    for secret in [PASSWORD, USER] {
        assert!(!said.contains(secret), "{secret} is told: {said}");
    }
}

#[test]
fn what_a_user_needs_is_documented() {
    let docs = include_str!("../../../../../breaker-redis/src/settings.rs");
    let documented = docs
        .split_once("ACL SETUSER")
        .and_then(|(_, rest)| rest.split_once("```"));
    let (line, _) = documented.unwrap();
    let rights: Vec<&str> = line
        .split_whitespace()
        .filter(|word| word.starts_with('+'))
        .collect();
    assert_eq!(rights, RIGHTS);
    let places: Vec<&str> = line
        .split_whitespace()
        .filter(|word| word.ends_with(":*"))
        .collect();
    assert_eq!(places, ["~breakerbox:*", "&breakerbox:*"]);
}

#[test]
fn a_user_who_may_not_is_told_what_is_missing() {
    let server = Server::start();
    let service = Service::start();
    // Those that are of use only in a fleet that has grown and shrunk, or without which it works.
    let rare = ["+unsubscribe", "+hscan", "+hdel", "+pttl", "+ping"];
    for missing in RIGHTS.iter().filter(|right| !rare.contains(right)) {
        server.say(&["FLUSHALL"]);
        server.say(&["SCRIPT", "FLUSH"]);
        service.turns(Health::Up);
        let rest: Vec<&str> = RIGHTS
            .into_iter()
            .filter(|right| right != missing)
            .collect();
        user(&server, &rest);
        let mut instance = instance(&service, as_user(&server, PASSWORD), None);
        does_everything(&mut instance, &service);
        let loss = instance.until(&format!("to miss {missing}"), |seen| {
            seen.losses.first().cloned()
        });
        eprintln!("without {missing}: {loss}");
        let command = format!("may not run `{}`", &missing[1..]);
        let of_script = "may not run a command that the script runs";
        let is_named = loss.contains(&command) || loss.contains(of_script);
        assert!(is_named, "without {missing}: {loss}");
        let tells = ["refuses commands", "FleetBuilder::login"];
        assert!(
            tells.iter().all(|tells| loss.contains(tells)),
            "without {missing}: {loss}"
        );
        let said = all_said(instance);
        assert!(!said.contains(PASSWORD) && !said.contains(USER), "{said}");
    }
    // Neither another's keys nor channels.
    for (keys, channels) in [("~other:*", "&test:*"), ("~test:*", "&other:*")] {
        server.say(&["FLUSHALL"]);
        service.turns(Health::Up);
        user(&server, &RIGHTS);
        server.say(&[
            "ACL",
            "SETUSER",
            USER,
            "resetkeys",
            "resetchannels",
            keys,
            channels,
        ]);
        let mut instance = instance(&service, as_user(&server, PASSWORD), None);
        does_everything(&mut instance, &service);
        let loss = instance.until("to miss a right", |seen| seen.losses.first().cloned());
        assert!(loss.contains("that begin with the prefix"), "{loss}");
        eprintln!("with {keys} {channels}: {loss}");
        assert!(loss.contains("refuses"), "{loss}");
        instance.end();
    }
}

#[test]
fn a_wrong_password_is_told_and_not_repeated() {
    let server = Server::start();
    let service = Service::start();
    user(&server, &RIGHTS);
    let no_user = format!("redis://:sesame-wrong@{}/", server.address());
    let no_password = server::url(server.address());
    server.say(&["CONFIG", "SET", "requirepass", PASSWORD]);
    for url in [as_user(&server, "sesame-wrong"), no_user, no_password] {
        let mut instance = instance(&service, url, None);
        has_not(&mut instance, &["refused the login"]);
        let said = all_said(instance);
        assert!(!said.contains("sesame") && !said.contains(USER), "{said}");
    }
}
