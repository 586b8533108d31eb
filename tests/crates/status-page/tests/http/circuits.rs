//! What the JSON says of a circuit.

use crate::{Service, circuit};
use serde_json::{Value, json};
use std::time::UNIX_EPOCH;
use test_status_page::circuits::{Circuits, Command, Which};

#[tokio::test]
async fn a_circuit_from_its_first_call_to_its_recovery() {
    let service = Service::start().await;
    service.make("life");
    let first = service.sees("/circuits", "life", |_| true).await;
    assert_eq!(first["state"], "closed");
    assert_eq!(first["since"], Value::Null);
    assert_eq!(first["why"], Value::Null);
    assert_eq!(first["key"], Value::Null);
    assert_eq!(first["next_probe"], Value::Null);
    assert_eq!(
        first["rates"],
        json!({"calls": 0, "failed": 0, "refused": 0, "stale": 0})
    );
    assert_eq!(first["recent"].as_array().unwrap().len(), 1);
    assert_eq!(first["recent"][0][1], "closed");

    service.fail("life", 2);
    let failing = service.sees("/circuits", "life", |it| it["failures"] == 2);
    assert_eq!(failing.await["state"], "closed");

    service.fail("life", 1);
    let open = service
        .sees("/circuits", "life", |it| it["state"] == "open")
        .await;
    assert_eq!(open["why"], "opened after 3 failures, for 30s");
    assert_eq!(open["trigger"], "failures");
    assert_eq!(open["id"], first["id"]);
    assert_eq!(open["by"], Value::Null);
    let (since, probe) = (
        open["since"].as_u64().unwrap(),
        open["next_probe"].as_u64().unwrap(),
    );
    // The page's own clock goes on while the circuit's stands still.
    let wait = probe - since;
    assert!((29_500..60_000).contains(&wait), "{wait}");
    assert!(open["generation"].as_u64() > first["generation"].as_u64());

    service.tell(Command::Pass(30_000));
    service.tell(Command::Succeed(Which::Of("life".to_owned())));
    let closed = service
        .sees("/circuits", "life", |it| it["state"] == "closed")
        .await;
    assert_eq!(closed["why"], "closed: its probes succeeded");
    let states: Vec<&str> = closed["recent"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entered| entered[1].as_str().unwrap())
        .collect();
    assert_eq!(states, ["closed", "open", "half_open", "closed"]);

    let id = first["id"].as_str().unwrap();
    let detail = service.json(&format!("/circuits/circuits/{id}")).await;
    assert_eq!(detail["circuit"]["breaker"], "life");
    let history = detail["history"].as_array().unwrap();
    let told: Vec<&str> = history
        .iter()
        .map(|it| it["why"].as_str().unwrap())
        .collect();
    assert_eq!(
        told,
        [
            "opened after 3 failures, for 30s",
            "probes: its wait is over",
            "closed: its probes succeeded"
        ]
    );
    assert_eq!(history[0]["wait_ms"], 30_000);
    assert_eq!(history[0]["from"], "closed");
    assert_eq!(history[0]["failures"], 3);
}

#[tokio::test]
async fn breakers_have_their_settings_and_keys_their_labels() {
    let service = Service::start().await;
    service.make("settings");
    service.tell(Command::Keys("settings-of-keys".to_owned(), 2));
    let document = service.json("/circuits").await;
    assert_eq!(document["format"], 1);
    assert_eq!(document["title"], "booking <only shows>");
    assert_eq!(document["complete"], true);
    assert_eq!(document["refresh_ms"], 50);
    assert_eq!(document["actions"], json!([]));
    let breakers = document["breakers"].as_array().unwrap();
    let named = |name: &str| breakers.iter().find(|it| it["name"] == name).unwrap();
    let settings = &named("settings")["settings"];
    assert_eq!(settings["threshold"], 3);
    assert_eq!(settings["reset_ms"], 30_000);
    assert_eq!(settings["max_reset_ms"], Value::Null);
    assert_eq!(settings["on_cancel"], "ignore");
    assert_eq!(named("settings")["max_keys"], Value::Null);
    assert_eq!(named("settings")["declared"], Value::Null);
    let place = named("settings")["place"].as_str().unwrap();
    assert!(place.contains("circuits.rs:"), "{place}");
    assert_eq!(named("settings-of-keys")["max_keys"], 20_000);
    for key in ["key-0", "key-1"] {
        let found = circuit(&document, "settings-of-keys", Some(key)).unwrap();
        assert_eq!(found["state"], "closed");
    }
    assert!(circuit(&document, "settings-of-keys", None).is_none());
}

#[tokio::test]
async fn what_a_circuit_is_since_before_there_was_a_page() {
    let circuits = Circuits::default();
    let tell = |command| circuits.obey(command).unwrap();
    let of = |name: &str| Which::Of(name.to_owned());
    for name in ["earlier", "earlier_closed"] {
        tell(Command::Make(name.to_owned()));
    }
    tell(Command::Fail(of("earlier"), 3));
    let service = Service::of(circuits).await;
    let open = service.sees("/circuits", "earlier", |_| true).await;
    assert_eq!(open["why"], "opened after 3 failures");
    assert_eq!(open["trigger"], "failures");
    assert_eq!(open["by"], Value::Null);
    let since = open["since"].as_u64().unwrap();
    let now = UNIX_EPOCH.elapsed().unwrap().as_millis() as u64;
    assert!(since <= now && since > now - 3_600_000, "{since} at {now}");
    assert_eq!(open["recent"], json!([[since, "open"]]));

    let unchanged = service.sees("/circuits", "earlier_closed", |_| true).await;
    assert_eq!(unchanged["since"], Value::Null);
    assert_eq!(unchanged["why"], Value::Null);
    assert_eq!(unchanged["trigger"], Value::Null);

    service.tell(Command::ForceOpen(of("earlier")));
    let forced = service
        .sees("/circuits", "earlier", |it| it["state"] == "forced_open")
        .await;
    assert_eq!(forced["why"], "was set by an operator: forced_open");
    assert!(forced["since"].as_u64().unwrap() > since);
}
