//! What lies over what.

use breakerbox::registry::{Layer, configure, configure_from_toml, configure_from_vars, overrides};
use breakerbox::{
    Breaker, CallError, Config, KeyedBreakers, Overrides, Setting, SettingValue, Settings, State,
    circuit_breaker, find, test,
};
use std::time::Duration;

fn from_where(name: &str) -> Vec<(&'static str, Option<&'static str>)> {
    let all = overrides(name).into_iter();
    all.map(|it| (it.setting.name(), it.layer.map(Layer::as_str)))
        .collect()
}

#[test]
fn code_lies_over_the_environment_and_that_over_the_file() {
    let _scope = test::scope();
    let pms = Breaker::shared("pms", Config::DEFAULT);
    let seconds = Duration::from_secs;
    configure("pms", Overrides::new().threshold(30)).unwrap();
    configure_from_toml("[breakers.pms]\nthreshold = 10\nreset = '10s'\nprobes = 10").unwrap();
    configure_from_vars([
        ("BREAKERBOX__PMS__THRESHOLD", "20"),
        ("BREAKERBOX__PMS__RESET", "20s"),
    ])
    .unwrap();
    let now = || {
        let config = pms.config();
        (config.threshold(), config.reset(), config.probes())
    };
    assert_eq!(now(), (30, seconds(20), 10));
    assert_eq!(
        from_where("pms"),
        [
            ("threshold", Some("code")),
            ("reset", Some("environment")),
            ("probes", Some("file")),
        ]
    );
    assert_eq!(
        overrides("pms")[1].value,
        SettingValue::Duration(seconds(20))
    );
    assert_eq!(overrides("pms")[1].setting, Setting::Reset);

    configure("pms", Overrides::new()).unwrap();
    assert_eq!(now(), (20, seconds(20), 10));
    let nothing: [(&str, &str); 0] = [];
    configure_from_vars(nothing).unwrap();
    assert_eq!(now(), (10, seconds(10), 10));
    let report = configure_from_toml("").unwrap();
    assert_eq!(now(), (5, seconds(30), 1));
    assert_eq!(
        (report.withdrawn, report.applied),
        (vec!["pms".to_owned()], Vec::new())
    );
    assert_eq!(pms.config(), *pms.declared());
    assert!(overrides("pms").is_empty());
}

#[test]
fn a_file_that_is_read_again_comes_instead_of_itself() {
    let _scope = test::scope();
    let (a, b) = (
        Breaker::shared("a", Config::DEFAULT),
        Breaker::shared("b", Config::DEFAULT),
    );
    let read = |text| configure_from_toml(text).unwrap();
    let report = read("[breakers.a]\nthreshold = 2\nprobes = 2\n[breakers.c]\nthreshold = 9");
    assert_eq!(
        (report.applied, report.waiting),
        (vec!["a".to_owned()], vec!["c".to_owned()])
    );
    let report = read("[breakers.b]\nthreshold = 3\n[breakers.a]\nprobes = 4");
    assert_eq!(
        (report.applied, report.withdrawn),
        (vec!["a".into(), "b".into()], Vec::<String>::new())
    );
    assert_eq!((a.config().threshold(), a.config().probes()), (5, 4));
    assert_eq!(b.config().threshold(), 3);
    let report = read("[breakers.b]\n");
    assert_eq!(
        (report.withdrawn, report.applied),
        (vec!["a".into(), "b".into()], Vec::<String>::new())
    );
    assert_eq!((a.config(), b.config()), (Config::DEFAULT, Config::DEFAULT));
    let c = Breaker::shared("c", Config::DEFAULT);
    assert_eq!(c.config(), Config::DEFAULT, "what waited is gone as well");
}

#[test]
fn clear_goes_back_to_what_was_declared_until_the_next_configuration() {
    let _scope = test::scope();
    let pms = Breaker::shared("cleared", Config::DEFAULT);
    let other = Breaker::shared("other", Config::DEFAULT);
    let text = "[breakers.cleared]\nthreshold = 2";
    configure_from_toml(text).unwrap();
    pms.clear();
    assert_eq!(pms.config(), Config::DEFAULT);
    assert!(overrides("cleared").is_empty(), "nothing is in force");
    configure("other", Overrides::new().threshold(7)).unwrap();
    assert_eq!(pms.config(), Config::DEFAULT, "not of this one");
    assert_eq!(other.config().threshold(), 7);
    configure_from_toml(text).unwrap();
    assert_eq!(pms.config().threshold(), 2, "read again");
}

#[test]
fn what_is_set_on_a_breaker_itself_stays_until_it_is_configured() {
    let _scope = test::scope();
    let pms = Breaker::shared("by-itself", Config::DEFAULT);
    pms.reconfigure(&Overrides::new().threshold(3).probes(3))
        .unwrap();
    assert_eq!(
        from_where("by-itself"),
        [("threshold", None), ("probes", None)]
    );
    configure_from_toml("[breakers.another]\nthreshold = 2").unwrap();
    assert_eq!(pms.config().threshold(), 3, "the file says nothing of it");
    configure_from_toml("[breakers.by-itself]\nthreshold = 2").unwrap();
    assert_eq!((pms.config().threshold(), pms.config().probes()), (2, 1));
    assert_eq!(from_where("by-itself"), [("threshold", Some("file"))]);
}

#[test]
fn breakers_by_key_are_configured_together() {
    #[circuit_breaker(name = "by-key", key = host)]
    fn call(host: &str) -> Result<(), CallError<&'static str>> {
        let _ = host;
        Err(CallError::Call("no answer"))
    }
    let _scope = test::scope();
    let _ = call("a");
    let report = configure_from_toml("[breakers.by-key]\nthreshold = 2").unwrap();
    assert_eq!(report.applied, ["by-key"]);
    let _ = (call("a"), call("b"), call("b"));
    for host in ["a", "b"] {
        let key = find(&format!("by-key[{host}]")).unwrap();
        assert_eq!(
            (key.config().threshold(), key.state()),
            (2, State::Open),
            "{host}"
        );
    }
    assert_eq!(from_where("by-key"), [("threshold", Some("file"))]);

    // Also where they come only later.
    configure_from_toml("[breakers.later-by-key]\nthreshold = 1").unwrap();
    let later = KeyedBreakers::<u64>::shared("later-by-key", Config::DEFAULT, 9).unwrap();
    let key = later.get(&1_u64);
    let _ = key.call_sync(|| Err::<(), _>("no answer"));
    assert_eq!(key.state(), State::Open);
}

#[test]
fn a_name_that_was_taken_is_configured_by_what_it_asked_for_or_by_its_own() {
    let _scope = test::scope();
    let (first, second) = (
        Breaker::shared("twice", Config::DEFAULT),
        Breaker::shared("twice", Config::DEFAULT),
    );
    assert!(second.name().starts_with("twice@"));
    let report = configure("twice", Overrides::new().threshold(2)).unwrap();
    assert_eq!(report.applied, ["twice", second.name()]);
    configure_from_toml(&format!("[breakers.\"{}\"]\nprobes = 3", second.name())).unwrap();
    let now = |breaker: &Breaker| (breaker.config().threshold(), breaker.config().probes());
    assert_eq!(
        (now(&first), now(&second)),
        ((2, 1), (2, 3)),
        "each layer for itself"
    );
    configure(second.name(), Overrides::new().threshold(4)).unwrap();
    assert_eq!(
        (now(&first), now(&second)),
        ((2, 1), (4, 3)),
        "its own name wins"
    );
    configure(second.name(), Overrides::new()).unwrap();
    assert_eq!((now(&first), now(&second)), ((2, 1), (2, 3)));
}

#[test]
fn a_scope_has_a_configuration_of_its_own() {
    let outside = Breaker::shared("in-a-scope", Config::DEFAULT);
    {
        let _scope = test::scope();
        configure("in-a-scope", Overrides::new().threshold(2)).unwrap();
        assert_eq!(
            outside.config().threshold(),
            5,
            "it was not called here yet"
        );
        drop(outside.admit());
        assert_eq!(outside.config().threshold(), 2);
        let inside = Breaker::shared("in-a-scope", Settings::new().probes(2).must());
        assert_eq!(
            (inside.config().threshold(), inside.config().probes()),
            (2, 2)
        );
    }
    assert_eq!(outside.config().threshold(), 5);
    assert!(overrides("in-a-scope").is_empty());
}
