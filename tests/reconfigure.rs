//! What an operator changes of a breaker's configuration at run time. What each setting then does
//! is tested in `breaker-core/tests/reconfigure.rs`; here, whose configuration it is.

use breakerbox::{
    AnyBreaker, Breaker, CallError, Change, CircuitOpenError, Config, ConfigError, KeyedBreakers,
    OnCancel, Overrides, ReconfigureError, Setting, SettingValue, Settings, Sliding, State, Window,
    circuit_breaker, find, find_keyed, registry, test,
};
use std::sync::Arc;
use std::time::Duration;

type Answer = Result<u32, CallError<&'static str>>;

const DOWN: Answer = Err(CallError::Call("no answer"));

const fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn fail(breaker: &Breaker) {
    let _ = breaker.call_sync(|| Err::<(), _>("no answer"));
}

fn fail_key(breakers: &KeyedBreakers<String>, key: &str) {
    let _ = breakers.get(key).call_sync(|| Err::<(), _>("no answer"));
}

fn retry_after(refused: Result<impl Sized, CircuitOpenError>) -> Duration {
    refused.err().unwrap().retry_after().unwrap()
}

/// A value of each setting that differs from what is declared here.
const EACH: Overrides = Overrides::new()
    .reset(seconds(7))
    .backoff(2.0)
    .max_reset(seconds(70))
    .jitter(0.0)
    .probes(3)
    .close_after(2)
    .probe_timeout(seconds(9))
    .on_cancel(OnCancel::Failure);

#[test]
fn each_setting_is_changed_read_and_given_back() {
    let _scope = test::scope();
    let in_a_row = Breaker::new("in-a-row", Config::DEFAULT);
    let window = Window::calls(20);
    let settings = Settings::new()
        .failure_rate(0.5)
        .window(window)
        .min_calls(10);
    let settings = settings.slow(seconds(1)).slow_rate(0.5).must_rate();
    let by_rate = Breaker::<_, Sliding<2>>::by_rate("by-rate", settings).unwrap();
    let share = Breaker::new("share", Settings::new().probes(2).close_rate(0.5).must());

    let every: [(&dyn AnyBreaker, Overrides); 3] = [
        (&in_a_row, EACH.threshold(3)),
        (
            &by_rate,
            EACH.failure_rate(0.25)
                .min_calls(5)
                .slow(seconds(2))
                .slow_rate(0.75),
        ),
        (&share, EACH.without(Setting::CloseAfter).close_rate(0.25)),
    ];
    let mut changed: Vec<_> = Setting::OVERRIDABLE.into();
    for (breaker, overrides) in every {
        let declared = breaker.config();
        for (setting, value) in overrides.iter() {
            let one = Overrides::new().set(setting, value).unwrap();
            let told = breaker.reconfigure(&one).unwrap();
            assert_eq!(breaker.config().get(setting), Some(value), "{setting}");
            assert_eq!(told.to, breaker.config());
            assert_ne!(
                declared.get(setting),
                Some(value),
                "{setting} was it already"
            );
            assert_eq!(breaker.overrides(), one);
            assert_eq!(*breaker.declared(), declared);
            changed.retain(|left| *left != setting);
        }
        let told = breaker.reconfigure(&overrides).unwrap();
        for (setting, value) in overrides.iter() {
            assert_eq!(told.to.get(setting), Some(value), "{setting}");
        }
        breaker.clear();
        assert_eq!(breaker.config(), declared);
        assert!(breaker.overrides().is_empty());
    }
    assert_eq!(changed, []);
}

#[test]
fn what_is_refused_changes_nothing_and_says_what_to_write() {
    let pms = Breaker::new("pms", Settings::new().timeout(seconds(20)).must());
    let patient = Overrides::new().threshold(20);
    pms.reconfigure(&patient).unwrap();
    for (wrong, says) in [
        (
            patient.failure_rate(0.5),
            "`failure_rate` is for a breaker that trips by rate, and this one counts failures in \
             a row: set `threshold`, or declare it with `failure_rate`",
        ),
        (
            patient.close_rate(0.5),
            "`close_rate` can't take the place of `close_after` at run time: set `close_after`, \
             or declare the breaker with `close_rate`",
        ),
        (
            patient.probe_timeout(seconds(19)),
            "`timeout` is above `probe_timeout`, so every probe would come too late: write a \
             shorter `timeout` or a longer `probe_timeout`",
        ),
        (patient.threshold(0), "`threshold` is 0: write at least 1"),
    ] {
        let refused = pms.reconfigure(&wrong).unwrap_err();
        assert_eq!(refused.to_string(), says);
        assert_eq!(pms.overrides(), patient);
        assert_eq!(pms.config().threshold(), 20);
    }
    assert_eq!(
        pms.reconfigure(&Overrides::new().reset(Duration::MAX)),
        Err(ReconfigureError::Config(ConfigError::Overflow(
            Setting::Reset
        )))
    );
}

#[test]
fn a_lowered_threshold_trips_at_the_next_failure_and_not_before() {
    let _scope = test::scope();
    let pms = Breaker::new("pms", Config::DEFAULT);
    for _ in 0..3 {
        fail(&pms);
    }
    pms.reconfigure(&Overrides::new().threshold(2)).unwrap();
    assert_eq!(pms.state(), State::Closed);
    fail(&pms);
    assert_eq!(pms.state(), State::Open);
}

#[test]
fn callers_are_told_the_new_wait_and_let_in_after_it() {
    let scope = test::scope();
    let pms = Breaker::new("pms", Settings::new().threshold(1).must());
    fail(&pms);
    assert_eq!(retry_after(pms.admit()), seconds(30));
    pms.reconfigure(&Overrides::new().reset(seconds(5)))
        .unwrap();
    scope.advance(seconds(4));
    assert_eq!(retry_after(pms.admit()), seconds(1));
    scope.advance(seconds(1));
    assert_eq!(pms.call_sync(|| Ok::<_, ()>(7)), Ok(7));
    assert_eq!(pms.state(), State::Closed);
}

#[test]
fn probes_in_flight_go_on_whatever_becomes_of_their_number() {
    let scope = test::scope();
    let pms = Breaker::new("pms", Settings::new().threshold(1).probes(3).must());
    fail(&pms);
    scope.advance(seconds(30));
    let probes = [
        pms.admit().unwrap(),
        pms.admit().unwrap(),
        pms.admit().unwrap(),
    ];
    pms.reconfigure(&Overrides::new().probes(1)).unwrap();
    assert!(pms.admit().is_err());
    let [first, others @ ..] = probes;
    first.success();
    assert_eq!(pms.state(), State::Closed);
    drop(others);
    assert!(pms.admit().is_ok());
}

#[test]
fn in_every_state_it_leaves_the_state_alone() {
    let _scope = test::scope();
    let pms = Breaker::new("pms", Config::DEFAULT);
    let orders: [fn(&Breaker) -> Change; 5] = [
        |pms| pms.close(),
        |pms| pms.force_open(),
        |pms| pms.disable(),
        |pms| pms.shadow(),
        |pms| pms.open_for(seconds(100)),
    ];
    for order in orders {
        order(&pms);
        let stood = (pms.state(), pms.generation(), pms.snapshot());
        pms.reconfigure(&EACH.threshold(1)).unwrap();
        assert_eq!((pms.state(), pms.generation(), pms.snapshot()), stood);
        pms.clear_overrides().unwrap();
        assert_eq!((pms.state(), pms.generation(), pms.snapshot()), stood);
    }
}

#[test]
fn clear_gives_back_what_was_declared_and_close_does_not() {
    let _scope = test::scope();
    let pms = Breaker::new("pms", Config::DEFAULT);
    let patient = Overrides::new().threshold(20);
    pms.reconfigure(&patient).unwrap();
    pms.close();
    assert_eq!(pms.overrides(), patient);
    pms.clear();
    assert!(pms.overrides().is_empty());
    assert_eq!(pms.config(), Config::DEFAULT);
    assert_eq!(pms.clear_overrides(), None);
}

#[test]
fn a_calls_timeout_is_cut_to_the_present_probe_timeout() {
    #[circuit_breaker(name = "cut", timeout = "20s")]
    async fn rooms() -> Answer {
        std::future::pending().await
    }

    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let scope = test::scope();
    runtime.block_on(async {
        let long_enough = async |of: Duration| {
            let (answer, ()) = tokio::join!(rooms(), async {
                tokio::task::yield_now().await;
                scope.advance(of);
            });
            answer
        };
        let timed_out = long_enough(seconds(20)).await;
        assert!(matches!(timed_out, Err(CallError::TimedOut(_))));
        // Below the declared `timeout` it is refused: every probe would come too late.
        let cut = find("cut").unwrap();
        let refused = cut.reconfigure(&Overrides::new().probe_timeout(seconds(19)));
        assert_eq!(
            refused,
            Err(ReconfigureError::Config(
                ConfigError::TimeoutAboveProbeTimeout
            ))
        );
        // That of a call by hand is cut.
        let pms = Breaker::new("pms", Config::DEFAULT);
        pms.reconfigure(&Overrides::new().probe_timeout(seconds(3)))
            .unwrap();
        let call = pms
            .call(std::future::pending::<Result<(), ()>>())
            .timeout(seconds(50));
        let (answer, ()) = tokio::join!(call, async {
            tokio::task::yield_now().await;
            scope.advance(seconds(3));
        });
        assert!(matches!(answer, Err(CallError::TimedOut(_))));
    });
}

#[test]
fn on_cancel_decides_what_a_dropped_call_gives() {
    let _scope = test::scope();
    let pms = Breaker::new("pms", Settings::new().threshold(1).must());
    drop(pms.admit().unwrap());
    assert_eq!(pms.state(), State::Closed);
    pms.reconfigure(&Overrides::new().on_cancel(OnCancel::Failure))
        .unwrap();
    drop(pms.admit().unwrap());
    assert_eq!(pms.state(), State::Open);
}

mod by_name {
    use super::*;

    #[circuit_breaker(name = "generated")]
    fn generated(answer: Answer) -> Answer {
        answer
    }

    #[test]
    fn a_generated_breaker_is_reconfigured_through_the_registry() {
        let _scope = test::scope();
        let _ = generated(DOWN);
        let found = find("generated").unwrap();
        found.reconfigure(&Overrides::new().threshold(2)).unwrap();
        let _ = generated(DOWN);
        assert!(matches!(generated(Ok(7)), Err(CallError::Open(_))));
        assert_eq!(found.clear().to, State::Closed);
        assert_eq!(found.config().threshold(), 5);
    }

    #[test]
    fn a_setting_is_read_from_a_name_and_a_value() {
        let read = [
            ("threshold", SettingValue::Count(7)),
            ("reset", SettingValue::Duration(seconds(3))),
            ("on_cancel", SettingValue::OnCancel(OnCancel::Failure)),
        ];
        let overrides = read
            .into_iter()
            .fold(Overrides::new(), |overrides, (name, value)| {
                let setting = Setting::overridable(name).unwrap();
                overrides.set(setting, value).unwrap()
            });
        let pms = Breaker::new("pms", Config::DEFAULT);
        pms.reconfigure(&overrides).unwrap();
        let shown = pms
            .overrides()
            .iter()
            .map(|(setting, value)| format!("{setting}={value}"));
        let shown = Vec::from_iter(shown).join(" ");
        assert_eq!(shown, "threshold=7 reset=3s on_cancel=failure");
        assert_eq!(Setting::overridable("window"), None);
    }
}

mod keys {
    use super::*;

    #[test]
    fn all_keys_have_it_those_that_are_known_and_those_to_come() {
        let _scope = test::scope();
        let hosts = KeyedBreakers::<String>::new("hosts", Config::DEFAULT);
        let known = hosts.get("a");
        let told = hosts.reconfigure(&Overrides::new().threshold(1)).unwrap();
        assert_eq!((told.from.threshold(), told.to.threshold()), (5, 1));
        assert_eq!(known.config().threshold(), 1);
        for host in ["a", "b"] {
            fail_key(&hosts, host);
            assert_eq!(hosts.get(host).state(), State::Open);
        }
        let told = hosts.clear_overrides().unwrap();
        assert_eq!((told.from.threshold(), told.to.threshold()), (1, 5));
        assert_eq!(known.config(), Config::DEFAULT);
        fail_key(&hosts, "c");
        assert_eq!(hosts.get("c").state(), State::Closed);
        // The others are open as they were.
        assert_eq!(known.state(), State::Open);
    }

    #[test]
    fn it_waits_for_the_first_key() {
        let hosts = KeyedBreakers::<String>::new("hosts", Config::DEFAULT);
        let overrides = Overrides::new().threshold(1).reset(seconds(7));
        hosts.reconfigure(&overrides).unwrap();
        assert_eq!(hosts.overrides(), overrides);
        let first = hosts.get("a");
        assert_eq!(first.overrides(), overrides);
        assert_eq!(first.config(), hosts.config());
        fail_key(&hosts, "a");
        assert_eq!(first.state(), State::Open);
        assert_eq!(*first.declared(), Config::DEFAULT);
        assert_eq!(hosts.declared(), first.declared());
    }

    #[test]
    fn one_key_is_not_reconfigured_alone_and_its_clear_leaves_the_others_alone() {
        let _scope = test::scope();
        let hosts = KeyedBreakers::<String>::new("hosts", Config::DEFAULT);
        let overrides = Overrides::new().threshold(1);
        hosts.reconfigure(&overrides).unwrap();
        fail_key(&hosts, "a");
        let one = hosts.get("a");
        let refused = one.reconfigure(&Overrides::new().threshold(3)).unwrap_err();
        assert_eq!(refused, ReconfigureError::OneKey);
        assert!(refused.to_string().contains("`find_keyed`"), "{refused}");
        assert_eq!(one.clear().to, State::Closed);
        assert_eq!((one.overrides(), hosts.overrides()), (overrides, overrides));
    }

    #[test]
    fn what_was_found_by_name_is_reconfigured_and_cleared_as_one() {
        let _scope = test::scope();
        let hosts = KeyedBreakers::<String>::shared("found-hosts", Config::DEFAULT, 100).unwrap();
        let found = find_keyed("found-hosts").unwrap();
        let overrides = Overrides::new().threshold(1);
        found.reconfigure(&overrides).unwrap();
        assert_eq!(found.overrides(), overrides);
        assert_eq!(found.config().threshold(), 1);
        assert_eq!(found.declared().threshold(), 5);
        fail_key(&hosts, "a");
        assert_eq!(found.find("a").unwrap().state(), State::Open);
        assert!(found.reconfigure(&overrides.probes(0)).is_err());
        assert_eq!(hosts.overrides(), overrides);

        assert_eq!(found.clear(), 1);
        assert_eq!(hosts.get("a").state(), State::Closed);
        assert!(hosts.overrides().is_empty());
        assert_eq!(found.clear_overrides(), None);
    }

    #[test]
    fn an_attributes_keys_too() {
        #[circuit_breaker(name = "by-host", key = host)]
        fn rates(host: &str, answer: Answer) -> Answer {
            let _ = host;
            answer
        }

        let _scope = test::scope();
        let _ = rates("a", Ok(7));
        find_keyed("by-host")
            .unwrap()
            .reconfigure(&Overrides::new().threshold(1))
            .unwrap();
        let _ = rates("b", DOWN);
        assert!(matches!(rates("b", Ok(7)), Err(CallError::Open(_))));
        assert_eq!(rates("a", Ok(7)), Ok(7));
    }

    /// The first key is seen while others reconfigure: it has what was laid over last.
    #[test]
    fn who_makes_the_first_key_misses_nothing() {
        for _ in 0..200 {
            let hosts = KeyedBreakers::<String>::new("hosts", Config::DEFAULT);
            std::thread::scope(|threads| {
                for threshold in [7, 8] {
                    let overrides = Overrides::new().threshold(threshold);
                    let hosts = &hosts;
                    threads.spawn(move || hosts.reconfigure(&overrides).unwrap());
                }
                threads.spawn(|| hosts.get("a"));
            });
            assert_eq!(hosts.get("a").overrides(), hosts.overrides());
            assert_ne!(hosts.config().threshold(), 5);
        }
    }
}

mod scopes {
    use super::*;

    #[test]
    fn a_scope_begins_with_what_was_declared_and_leaves_the_process_alone() {
        static PMS: Breaker = Breaker::new("pms", Config::DEFAULT);
        let outside = Overrides::new().threshold(9);
        PMS.reconfigure(&outside).unwrap();
        {
            let _scope = test::scope();
            assert!(PMS.overrides().is_empty());
            assert_eq!(PMS.config().threshold(), 5);
            PMS.reconfigure(&Overrides::new().threshold(1)).unwrap();
            fail(&PMS);
            assert_eq!(PMS.state(), State::Open);
            std::thread::spawn(move || assert_eq!(PMS.overrides(), outside))
                .join()
                .unwrap();
            PMS.clear();
        }
        assert_eq!((PMS.overrides(), PMS.config().threshold()), (outside, 9));
        let inner = test::scope();
        assert!(PMS.overrides().is_empty());
        drop(inner);
    }

    #[test]
    fn of_keys_too() {
        static HOSTS: KeyedBreakers<String> = KeyedBreakers::new("hosts", Config::DEFAULT);
        let outside = Overrides::new().threshold(9);
        HOSTS.reconfigure(&outside).unwrap();
        let host = HOSTS.get("a");
        {
            let _scope = test::scope();
            assert!(HOSTS.overrides().is_empty());
            assert_eq!(HOSTS.get("a").config().threshold(), 5);
            HOSTS.reconfigure(&Overrides::new().threshold(1)).unwrap();
            fail_key(&HOSTS, "a");
            assert_eq!(HOSTS.get("a").state(), State::Open);
            // It belongs to the process, also in here.
            assert_eq!(host.config().threshold(), 9);
        }
        assert_eq!(HOSTS.overrides(), outside);
        assert_eq!(HOSTS.get("a").config().threshold(), 9);
        assert_eq!(host.state(), State::Closed);
    }

    #[test]
    fn keys_that_only_a_scope_has_seen_are_reconfigured_in_it() {
        static HOSTS: KeyedBreakers<String> = KeyedBreakers::new("hosts", Config::DEFAULT);
        let scope = test::scope();
        HOSTS.reconfigure(&Overrides::new().threshold(1)).unwrap();
        fail_key(&HOSTS, "a");
        assert_eq!(HOSTS.get("a").state(), State::Open);
        drop(scope);
        assert!(HOSTS.overrides().is_empty());
        fail_key(&HOSTS, "a");
        assert_eq!(HOSTS.get("a").state(), State::Closed);
    }
}

mod observers {
    use super::*;
    use breakerbox::observe::{self, Observer, Reconfigured, StateChange};
    use std::sync::Mutex;

    #[derive(Default)]
    struct Lines(Mutex<Vec<String>>);

    impl Lines {
        fn take(&self) -> Vec<String> {
            std::mem::take(&mut *self.0.lock().unwrap())
        }
    }

    impl Observer for Lines {
        fn reconfigured(&self, event: &Reconfigured<'_>) {
            self.0.lock().unwrap().push(event.to_string());
        }

        fn state_changed(&self, event: &StateChange<'_>) {
            self.0.lock().unwrap().push(event.to_string());
        }
    }

    #[test]
    fn they_hear_of_what_has_changed_and_of_nothing_else() {
        let _scope = test::scope();
        let lines = Arc::new(Lines::default());
        let _installed = observe::install(Arc::clone(&lines));
        let pms = Breaker::new("pms", Config::DEFAULT);
        let overrides = Overrides::new().threshold(20).reset(seconds(90));
        pms.reconfigure(&overrides.max_reset(seconds(900))).unwrap();
        assert_eq!(
            lines.take(),
            [
                "circuit `pms` was reconfigured: threshold from 5 to 20, reset from 30s to 90s, \
              max_reset from none to 900s, probe_timeout from 60s to 90s"
            ]
        );
        pms.reconfigure(&overrides.max_reset(seconds(900))).unwrap();
        assert!(pms.reconfigure(&overrides.probes(0)).is_err());
        assert_eq!(lines.take(), [""; 0]);
        pms.reconfigure(&overrides).unwrap();
        assert_eq!(
            lines.take(),
            ["circuit `pms` was reconfigured: max_reset from 900s to none"]
        );
        pms.clear();
        let [config, state] = lines.take().try_into().unwrap();
        assert!(config.contains("threshold from 20 to 5"), "{config}");
        assert_eq!(state, "circuit `pms` was set by an operator: closed");
        assert_eq!(pms.clear_overrides(), None);
        assert_eq!(lines.take(), [""; 0]);
    }

    #[test]
    fn of_all_keys_they_hear_once() {
        let _scope = test::scope();
        let lines = Arc::new(Lines::default());
        let _installed = observe::install(Arc::clone(&lines));
        let hosts = KeyedBreakers::<String>::new("hosts", Config::DEFAULT);
        let _kept = ["a", "b"].map(|host| hosts.get(host));
        hosts.reconfigure(&Overrides::new().threshold(1)).unwrap();
        assert_eq!(
            lines.take(),
            ["circuit `hosts` was reconfigured: threshold from 5 to 1"]
        );
        hosts.clear_overrides().unwrap();
        assert_eq!(
            lines.take(),
            ["circuit `hosts` was reconfigured: threshold from 1 to 5"]
        );
    }

    /// One that reconfigures the breaker that it hears of.
    #[test]
    fn one_may_reconfigure_in_turn() {
        struct AtMost(u32, Arc<Breaker>);
        impl Observer for AtMost {
            fn reconfigured(&self, event: &Reconfigured<'_>) {
                if event.change.to.threshold() > self.0 {
                    self.1
                        .reconfigure(&Overrides::new().threshold(self.0))
                        .unwrap();
                }
            }
        }
        let _scope = test::scope();
        let pms = Arc::new(Breaker::new("pms", Config::DEFAULT));
        let _installed = observe::install(AtMost(10, Arc::clone(&pms)));
        pms.reconfigure(&Overrides::new().threshold(20)).unwrap();
        assert_eq!(pms.config().threshold(), 10);
    }

    /// Settings by name are brought one at a time, and observers are told after that.
    #[test]
    fn one_may_configure_by_name_in_turn() {
        struct Back;
        impl Observer for Back {
            fn reconfigured(&self, event: &Reconfigured<'_>) {
                if event.change.to.threshold() == 20 {
                    registry::configure(event.breaker, Overrides::new()).unwrap();
                }
            }
        }
        let _scope = test::scope();
        let lines = Arc::new(Lines::default());
        let _installed = [observe::install(Arc::clone(&lines)), observe::install(Back)];
        let pms = Breaker::shared("pms-by-name", Config::DEFAULT);
        registry::configure("pms-by-name", Overrides::new().threshold(20)).unwrap();
        assert_eq!(pms.config().threshold(), 5);
        let lines = lines.take();
        assert_eq!(lines.len(), 2, "{lines:?}");
        assert!(lines[0].ends_with("threshold from 5 to 20"), "{lines:?}");
        assert!(lines[1].ends_with("threshold from 20 to 5"), "{lines:?}");
    }
}

mod threads {
    use super::*;

    /// Nobody is told to try again, and nobody sees half of two configurations.
    #[test]
    fn those_who_reconfigure_at_once_take_turns() {
        let pms = Arc::new(Breaker::new("pms", Config::DEFAULT));
        std::thread::scope(|threads| {
            for by in 1..=3_u64 {
                let pms = &pms;
                threads.spawn(move || {
                    let wait = seconds(by);
                    let mine = Overrides::new()
                        .reset(wait)
                        .max_reset(wait)
                        .probe_timeout(wait);
                    for _ in 0..2_000 {
                        let told = pms.reconfigure(&mine).unwrap();
                        assert_eq!(told.to.reset(), wait);
                        let is_whole = |config: Config| {
                            config == Config::DEFAULT
                                || (config.max_reset() == Some(config.reset())
                                    && config.probe_timeout() == config.reset())
                        };
                        assert!(is_whole(told.from), "{:?}", told.from);
                        assert!(is_whole(pms.config()), "{:?}", pms.config());
                        if by == 3 {
                            pms.clear_overrides();
                        }
                    }
                });
            }
        });
        pms.clear();
        assert_eq!(pms.config(), Config::DEFAULT);
    }
}
