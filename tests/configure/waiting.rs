//! Settings of breakers that are not there yet.

use breakerbox::registry::{self, Happened, configure, configure_from_toml, overrides, problems};
use breakerbox::{
    Breaker, CallError, Config, DefaultClock, KeyedBreakers, Overrides, Settings, Sliding, State,
    Window, breaker, circuit_breaker, test,
};
use std::sync::Arc;

fn by_rate(name: &str) -> Arc<Breaker<DefaultClock, Sliding<8>>> {
    let settings = Settings::new()
        .failure_rate(0.5)
        .window(Window::calls(20))
        .min_calls(10);
    Breaker::shared_by_rate(name, settings.build_rate().unwrap()).unwrap()
}

#[test]
fn a_breaker_takes_its_settings_before_its_first_call() {
    #[circuit_breaker(name = "waits-generated")]
    fn call() -> Result<(), CallError<&'static str>> {
        Err(CallError::Call("no answer"))
    }
    breaker! { static WAITS = { name: "waits-declared" } }
    // Those of the process wait for its first call as well: this is it.
    let report = configure("waits-declared", Overrides::new().threshold(1)).unwrap();
    assert_eq!(report.waiting, ["waits-declared"]);
    assert_eq!(WAITS.config().threshold(), 5, "it was not called yet");
    let _ = WAITS.call_sync(|| Err::<(), _>("no answer"));
    assert_eq!(WAITS.state(), State::Open);

    let _scope = test::scope();
    configure_from_toml(
        "[breakers.waits-generated]\nthreshold = 1\n[breakers.shared]\nthreshold = 2",
    )
    .unwrap();
    assert_eq!(overrides("shared").len(), 1, "what waits can be seen");
    let _ = call();
    assert!(matches!(call(), Err(CallError::Open(_))));
    // One for each client: each time anew.
    for _ in 0..3 {
        let shared = Breaker::shared("shared", Config::DEFAULT);
        assert_eq!(shared.config().threshold(), 2);
    }
}

#[test]
fn what_is_wrong_only_for_what_comes_later_is_told_then() {
    let _scope = test::scope();
    let text = "[breakers.rate]\nthreshold = 3\nreset = '1s'\n[breakers.rates]\nfailure_rate = 0.9";
    configure_from_toml(text).unwrap();
    configure("rate", Overrides::new().probes(2)).unwrap();
    assert!(problems().is_empty());
    let mut watch = registry::watch();
    let rate = by_rate("rate");
    let rates = by_rate("rates");
    assert_eq!(
        rate.config().reset(),
        Config::DEFAULT.reset(),
        "nothing of what the file says"
    );
    assert_eq!(rate.config().probes(), 2, "but what code says");
    let told: Vec<_> = problems().iter().map(ToString::to_string).collect();
    assert_eq!(
        told,
        ["circuit `rate` does not take `threshold` from file: \
          `threshold` counts failures in a row, and this breaker trips by rate: \
          set `failure_rate` and `min_calls`"]
    );
    let heard = watch.try_changed().unwrap();
    let heard: Vec<_> = heard
        .news
        .iter()
        .map(|news| (&*news.breaker, news.what))
        .collect();
    assert_eq!(
        heard,
        [
            ("rate", Happened::Entered),
            ("rate", Happened::Problem),
            ("rates", Happened::Entered),
        ]
    );

    // A better file takes the problem away, also while nothing else is known of it.
    configure_from_toml("[breakers.rate]\nreset = '1s'").unwrap();
    assert_eq!(problems(), []);
    assert_eq!(rate.config().reset().as_secs(), 1);
    drop(rates);
}

#[test]
fn problems_of_many_clients_are_as_many_as_their_causes() {
    let _scope = test::scope();
    configure_from_toml("[breakers.client]\nfailure_rate = 0.5\nslow_rate = 0.5").unwrap();
    configure("by-key", Overrides::new().min_calls(7)).unwrap();
    for _ in 0..100 {
        let client = Breaker::shared("client", Config::DEFAULT);
        let keyed = KeyedBreakers::<u64>::shared("by-key", Config::DEFAULT, 9).unwrap();
        assert_eq!(client.config(), Config::DEFAULT);
        assert_eq!(keyed.config(), Config::DEFAULT);
    }
    let told: Vec<_> = problems().iter().map(ToString::to_string).collect();
    assert_eq!(told.len(), 3, "{told:#?}");
    assert!(told[0].starts_with("circuit `by-key` does not take `min_calls` from code: "));
    assert!(told[1].starts_with("circuit `client` does not take `failure_rate` from file: "));
    assert!(told[2].starts_with("circuit `client` does not take `slow_rate` from file: "));
    configure("by-key", Overrides::new()).unwrap();
    assert_eq!(problems().len(), 2);
    configure_from_toml("").unwrap();
    assert_eq!(problems(), []);
}
