//! A Redis that asks over TLS who connects, and whom it lets do what: certificates of clients, and a user.

use std::fs;
use std::path::PathBuf;

use tempfile::TempDir;
use test_fleet::certificates::{Authority, Files, Good};
use test_fleet::fleet::{Settings, name, program};
use test_fleet::instance::{Instance, Seen};
use test_fleet::network::Network;
use test_fleet::plan::{Answer, Order};
use test_fleet::server::{self, Server};
use test_fleet::service::{Health, Service};
use test_fleet::wait;

use crate::outages::{PAUSE, TOO_LONG};
use crate::users::{RIGHTS, does_everything, has_redis};

const HOST: &str = "127.0.0.1";
const USER: &str = "fleet-of-shop";
const PASSWORD: &str = "sesame-4c7e";

/// A Redis that talks to who has a certificate of its authority, as a user with just what is needed.
struct Place {
    folder: TempDir,
    authority: Authority,
    files: Files,
    server: Server,
    service: Service,
}

impl Place {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let authority = Authority::new();
        let files = authority.sign(folder.path(), "redis", &[HOST], Good::Now);
        let server = Server::with(server::Settings {
            tls: Some(files.clone()),
            asks_clients: true,
            ..server::Settings::default()
        });
        let mut words = vec!["ACL", "SETUSER", USER, "reset", "on", ">sesame-4c7e"];
        words.extend(["~test:*", "resetchannels", "&test:*"]);
        words.extend(RIGHTS);
        server.say(&words);
        Self {
            folder,
            authority,
            files,
            server,
            service: Service::start(),
        }
    }

    fn certificate(&self, name: &str, authority: &Authority, good: Good) -> (PathBuf, PathBuf) {
        let files = authority.sign(self.folder.path(), name, &["shop.example"], good);
        (files.certificate, files.key)
    }

    /// An instance that calls; Redis is at this port for it.
    fn instance(&self, number: usize, port: u16, who: Option<(PathBuf, PathBuf)>) -> Instance {
        let mut settings = Settings {
            trace: true,
            ..Settings::default()
        };
        settings.circuit.reset = 300;
        let mut plan = settings.plan(&name(number), self.service.address());
        plan.redis = Some(format!("rediss://{HOST}:{port}/"));
        plan.authority = Some(self.files.authority.clone());
        plan.certificate = who;
        plan.login = Some((USER.into(), PASSWORD.into()));
        let mut instance = Instance::start(&program(), &plan, None);
        instance.order(&Order::Go { pause: PAUSE });
        instance
    }

    fn port(&self) -> u16 {
        self.server.address().port()
    }
}

fn becomes(instance: &Instance, state: &str) {
    instance.until(&format!("to become {state}"), |seen| {
        (seen.state() == state).then_some(())
    });
}

fn operate(instance: &mut Instance, what: &str) {
    instance.order(&Order::Operate { what: what.into() });
}

/// Ends it; none of its calls was lost, or waited, and it has told no secret.
fn ends_well(instance: &mut Instance, secrets: &[String]) {
    instance.end();
    let seen = instance.seen(Seen::clone);
    assert!(seen.calls.iter().all(|call| call.took < TOO_LONG));
    let told = format!("{} {:?} {:?}", seen.output, seen.losses, seen.looks);
    assert!(!seen.output.is_empty(), "it traces");
    for secret in secrets.iter().map(String::as_str).chain([USER, PASSWORD]) {
        assert!(!told.contains(secret), "{secret} is told");
    }
}

/// Lines of a private key.
fn secrets(key: &PathBuf) -> Vec<String> {
    let text = fs::read_to_string(key).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with("-----"));
    lines.map(String::from).collect()
}

#[test]
fn who_has_a_certificate_and_a_user_is_let_in() {
    let place = Place::new();
    let who = [0, 1].map(|number| {
        let name = format!("client-{number}");
        place.certificate(&name, &place.authority, Good::Now)
    });
    let mut instances = [0, 1].map(|number| {
        let mut instance = place.instance(number, place.port(), Some(who[number].clone()));
        has_redis(&mut instance);
        instance
    });
    does_everything(&mut instances[0], &place.service);
    // Its last word, which it hadn't said before.
    operate(&mut instances[0], "disable");
    becomes(&instances[1], "disabled");
    operate(&mut instances[1], "close");
    becomes(&instances[0], "closed");
    assert!(place.server.keys().contains(&"test:pms".to_owned()));
    for (instance, (_, key)) in instances.iter_mut().zip(&who) {
        instance.seen(|seen| assert_eq!(seen.losses, [""; 0]));
        ends_well(instance, &secrets(key));
    }
}

#[test]
fn who_has_none_or_a_bad_one_is_told_so_once_and_calls_go_on() {
    let place = Place::new();
    let good = place.certificate("good", &place.authority, Good::Now);
    let mut other = place.instance(0, place.port(), Some(good.clone()));
    has_redis(&mut other);
    let strange = Authority::new();
    let of_strangers = place.certificate("strange", &strange, Good::Now);
    let expired = place.certificate("expired", &place.authority, Good::Expired);
    for (number, who, because) in [
        (1, None, "asks for a client certificate"),
        (
            2,
            Some(of_strangers),
            "doesn't trust the client certificate",
        ),
        (3, Some(expired), "the client certificate has expired"),
    ] {
        place.service.turns(Health::Up);
        operate(&mut other, "close");
        becomes(&other, "closed");
        let network = Network::to(place.server.address());
        let mut refused = place.instance(number, network.address().port(), who.clone());
        let loss = refused.until("to be refused", |seen| seen.losses.first().cloned());
        eprintln!("{loss}");
        assert!(loss.contains(because), "{loss}");
        assert!(loss.contains("over TLS"), "{loss}");
        assert!(
            loss.contains("client_certificate"),
            "what to set is named: {loss}"
        );
        // Again and again, and that isn't told again.
        wait::until_so("other attempts", || network.connections() >= 4);
        // It is a local breaker: it has nothing of what the fleet says.
        operate(&mut other, "force_open");
        becomes(&other, "forced_open");
        let called = refused.called();
        wait::until_so("calls to go on", || refused.called() > called + 50);
        refused.seen(|seen| {
            assert_eq!(seen.changes, []);
            assert!(seen.calls.iter().all(|call| call.result == Answer::Good));
        });
        place.service.turns_for(&name(number), Health::Down);
        refused.until("to open by itself", |seen| {
            let mut changes = seen.changes.iter();
            changes.find(|change| change.by == "failures").map(drop)
        });
        place.service.turns(Health::Up);
        becomes(&refused, "closed");
        refused.seen(|seen| assert_eq!(seen.losses.len(), 1, "{:?}", seen.losses));
        let secret = who.map(|(_, key)| secrets(&key)).unwrap_or_default();
        ends_well(&mut refused, &secret);

        // Put right, and started again.
        let mut again = place.instance(number, network.address().port(), Some(good.clone()));
        becomes(&again, "forced_open");
        operate(&mut again, "close");
        becomes(&other, "closed");
        again.seen(|seen| assert_eq!(seen.losses, [""; 0]));
        ends_well(&mut again, &secrets(&good.1));
    }
    other.seen(|seen| assert_eq!(seen.losses, [""; 0]));
    ends_well(&mut other, &secrets(&good.1));
}

#[test]
fn what_is_no_certificate_or_not_of_this_key_is_refused_at_once() {
    let place = Place::new();
    let good = place.certificate("good", &place.authority, Good::Now);
    let another = place.certificate("another", &place.authority, Good::Now);
    let nonsense = place.folder.path().join("nonsense");
    fs::write(&nonsense, "hello").unwrap();
    for (certificate, key, because) in [
        (&nonsense, &good.1, "no certificate in PEM"),
        (&good.0, &nonsense, "no private key in PEM"),
        (&good.0, &another.1, "don't belong together"),
    ] {
        let mut plan = Settings::default().plan("i0", place.service.address());
        plan.redis = Some(format!("rediss://{HOST}:{}/", place.port()));
        plan.authority = Some(place.files.authority.clone());
        plan.certificate = Some((certificate.clone(), key.clone()));
        let refused = Instance::spawn(&program(), &plan, None);
        let error = refused.until("to be refused", |seen| seen.refused.clone());
        assert!(error.contains(because), "{error}");
        for secret in secrets(&good.1).iter().chain(&secrets(&another.1)) {
            assert!(!error.contains(secret.as_str()), "{error}");
        }
    }
}
