//! What an operator can do by a request, and what becomes of it.

use crate::{Service, refusal};
use breakerbox::link::{Link, Linked};
use breakerbox::observe::{self, Observer, Operated, Reconfigured};
use breakerbox::{Breaker, Change, Config, Effect, Generation, Outcome, Overrides, State};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use test_status_page::circuits::Command;

/// An order for a circuit as it is.
async fn order(service: &Service, name: &str, action: &str) -> Value {
    let document = service.json("/ops").await;
    let generation = breakerbox::find(name).unwrap().generation().get();
    let is_now = |it: &Value| it["generation"] == generation;
    let circuit = service.sees("/ops", name, is_now).await;
    json!({
        "action": action,
        "circuit": circuit["id"],
        "process": document["process"],
        "generation": circuit["generation"],
    })
}

#[derive(Default)]
struct Log(Mutex<Vec<String>>);

impl Observer for Log {
    fn operated(&self, event: &Operated<'_>) {
        self.0.lock().unwrap().push(event.to_string());
    }
}

#[tokio::test]
async fn each_action_is_done_and_told_with_who_did_it() {
    let service = Service::start().await;
    let log = Arc::new(Log::default());
    let _installed = observe::install(Arc::clone(&log));
    service.make("operated");
    for (action, state) in [
        ("force_open", "forced_open"),
        ("close", "closed"),
        ("disable", "disabled"),
        ("shadow", "shadow"),
        ("clear", "closed"),
    ] {
        let order = order(&service, "operated", action).await;
        let response = service.acted("ann", &order).await;
        assert_eq!(response.status(), 200, "{action}");
        let done: Value = response.json().await.unwrap();
        assert_eq!(done["circuit"]["state"], state, "{action}");
        assert_eq!(done["circuit"]["by"], "ann", "{action}");
        assert_eq!(
            breakerbox::find("operated").unwrap().state().as_str(),
            state
        );
    }
    let mut open_for = order(&service, "operated", "open_for").await;
    open_for["seconds"] = json!(90);
    let response = service.acted("anonymous", &open_for).await;
    let done: Value = response.json().await.unwrap();
    assert_eq!(done["circuit"]["state"], "open");
    assert_eq!(done["circuit"]["by"], Value::Null);
    assert_eq!(done["history"].as_array().unwrap().len(), 6);
    assert_eq!(done["history"][5]["wait_ms"], 90_000);
    let told = log.0.lock().unwrap();
    let told: Vec<&str> = told
        .iter()
        .map(String::as_str)
        .filter(|it| it.contains("`operated`"))
        .collect();
    assert_eq!(
        told,
        [
            "circuit `operated` went from closed to forced_open by `ann`, who called force_open",
            "circuit `operated` went from forced_open to closed by `ann`, who called close",
            "circuit `operated` went from closed to disabled by `ann`, who called disable",
            "circuit `operated` went from disabled to shadow by `ann`, who called shadow",
            "circuit `operated` went from shadow to closed by `ann`, who called clear",
            "circuit `operated` went from closed to open by somebody, who called open_for, for 90s",
        ]
    );
}

#[tokio::test]
async fn the_guard_decides_on_each() {
    let service = Service::start().await;
    service.make("guarded");
    let force_open = order(&service, "guarded", "force_open").await;
    for (user, message) in [("trainee", "this isn't allowed to you"), ("", "")] {
        let response = service.acted(user, &force_open).await;
        if user.is_empty() {
            // An empty name is one, to this service.
            assert_eq!(response.status(), 200);
            continue;
        }
        let (status, error, said) = refusal(response).await;
        assert_eq!((status, error.as_str()), (403, "denied"), "{user}");
        assert_eq!(said["message"], message);
        assert_eq!(
            breakerbox::find("guarded").unwrap().state().as_str(),
            "closed"
        );
    }
    let close = order(&service, "guarded", "close").await;
    let response = service.acted("trainee", &close).await;
    assert_eq!(response.status(), 200);
}

/// Writes down the changes of which those who share the circuit hear.
#[derive(Default)]
struct Shared(Mutex<Vec<String>>);

impl Link for Shared {
    fn changed(&self, _: &Linked<'_>, change: &Change) {
        let line = format!("{} -> {}: {}", change.from, change.to, change.trigger);
        self.0.lock().unwrap().push(line);
    }

    fn settled(&self, _: &Linked<'_>, _: Generation, _: &Outcome, _: &Effect) {}

    fn may_probe(&self, _: &Linked<'_>) -> Result<(), Duration> {
        Ok(())
    }

    fn key_added(&self, _: &Linked<'_>) {}
}

#[tokio::test]
async fn who_shares_the_circuit_hears_of_each_action_once() {
    let service = Service::start().await;
    let (linked, told) = (
        Breaker::shared("linked", Config::DEFAULT),
        Arc::new(Shared::default()),
    );
    linked.link(told.clone()).unwrap();
    let mut from = "closed";
    for (action, to) in [
        ("force_open", "forced_open"),
        ("disable", "disabled"),
        ("clear", "closed"),
    ] {
        let order = order(&service, "linked", action).await;
        let act = service.act("ann", &order);
        assert_eq!(act.send().await.unwrap().status(), 200);
        // What was done is not done again, and so not told.
        let act = service.act("ann", &order);
        assert_eq!(act.send().await.unwrap().status(), 409);
        let told = std::mem::take(&mut *told.0.lock().unwrap());
        assert_eq!(told, [format!("{from} -> {to}: operator")]);
        from = to;
    }
}

#[tokio::test]
async fn what_was_not_seen_is_not_acted_on() {
    let service = Service::start().await;
    service.make("moved");
    let mut order = order(&service, "moved", "disable").await;
    service.fail("moved", 3);
    let response = service.acted("ann", &order).await;
    let (status, error, said) = refusal(response).await;
    assert_eq!((status, error.as_str()), (409, "changed"));
    assert_eq!(said["now"]["circuit"]["state"], "open");
    assert_eq!(breakerbox::find("moved").unwrap().state().as_str(), "open");
    // The way to go on: what it is now was seen.
    order["generation"] = said["now"]["circuit"]["generation"].clone();
    let response = service.acted("ann", &order).await;
    assert_eq!(response.status(), 200);

    order["generation"] = json!(order["generation"].as_u64().unwrap() + 1);
    order["process"] = json!("another");
    let response = service.acted("ann", &order).await;
    let (status, error, _) = refusal(response).await;
    assert_eq!((status, error.as_str()), (409, "restarted"));
}

#[tokio::test]
async fn a_change_while_the_guard_thinks_is_noticed() {
    let service = Service::start().await;
    service.make("thinking");
    let order = order(&service, "thinking", "force_open").await;
    let response = service.acted("slow", &order).await;
    let (status, error, said) = refusal(response).await;
    assert_eq!((status, error.as_str()), (409, "changed"));
    assert_eq!(said["now"]["circuit"]["state"], "disabled");
    assert_eq!(
        breakerbox::find("thinking").unwrap().state().as_str(),
        "disabled"
    );
}

#[tokio::test]
async fn what_is_gone_is_not_another_of_the_same_name() {
    let service = Service::start().await;
    service.make("gone");
    let order = order(&service, "gone", "force_open").await;
    service.tell(Command::Drop("gone".to_owned()));
    service.make("gone");
    let response = service.acted("ann", &order).await;
    let (status, error, _) = refusal(response).await;
    assert_eq!((status, error.as_str()), (404, "unknown_circuit"));
    let found = breakerbox::find("gone").unwrap();
    assert_eq!(found.state().as_str(), "closed");
}

/// Of circuits that were reconfigured: the threshold from now on.
#[derive(Default)]
struct Thresholds(Mutex<Vec<u32>>);

impl Observer for Thresholds {
    fn reconfigured(&self, event: &Reconfigured<'_>) {
        if event.breaker == "cleared" {
            self.0.lock().unwrap().push(event.change.to.threshold());
        }
    }
}

#[tokio::test]
async fn a_configuration_is_cleared_with_the_circuit_that_was_seen_and_not_else() {
    let service = Service::start().await;
    let thresholds = Arc::new(Thresholds::default());
    let _installed = observe::install(Arc::clone(&thresholds));
    service.make("cleared");
    let found = breakerbox::find("cleared").unwrap();
    let threshold = || found.config().threshold();
    let overrides = Overrides::new().threshold(7);
    found.reconfigure(&overrides).unwrap();
    let mut order = order(&service, "cleared", "clear").await;
    found.force_open();
    let send = async |order: &Value| service.acted("ann", order).await;
    let (status, error, said) = refusal(send(&order).await).await;
    assert_eq!((status, error.as_str()), (409, "changed"));
    assert_eq!((threshold(), found.overrides()), (7, overrides));
    assert_eq!(found.state(), State::ForcedOpen);

    order["generation"] = said["now"]["circuit"]["generation"].clone();
    assert_eq!(send(&order).await.status(), 200);
    assert_eq!((threshold(), found.overrides()), (3, Overrides::new()));
    assert_eq!(found.state(), State::Closed);
    assert_eq!(*thresholds.0.lock().unwrap(), [7, 3]);

    // Closing leaves it as it is.
    found.reconfigure(&overrides).unwrap();
    order["action"] = json!("close");
    order["generation"] = json!(found.generation().get());
    assert_eq!(send(&order).await.status(), 200);
    assert_eq!(threshold(), 7);
}
