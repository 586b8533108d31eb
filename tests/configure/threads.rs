//! Configuring while others call.

use breakerbox::registry::{configure, configure_from_toml};
use breakerbox::{Breaker, Config, Overrides};
use std::sync::{Arc, Barrier};

/// Made, and kept.
fn made(how_many: usize) -> Vec<Arc<Breaker>> {
    let one = |_| Breaker::shared("meanwhile", Config::DEFAULT);
    (0..how_many).map(one).collect()
}

/// A breaker that enters while a file is read has what the one file or the other says, and what
/// the last says once it was read.
#[test]
fn breakers_that_enter_meanwhile_miss_nothing() {
    let text = |threshold: u32| {
        format!("[breakers.meanwhile]\nthreshold = {threshold}\nprobes = {threshold}")
    };
    configure_from_toml(&text(1)).unwrap();
    // So many that to look at them takes a while.
    let before = made(300);
    for threshold in (1..=50).cycle().take(100) {
        let start = Barrier::new(3);
        let entered = std::thread::scope(|threads| {
            let makers = [(); 2].map(|()| {
                threads.spawn(|| {
                    start.wait();
                    let made = made(50);
                    for breaker in &made {
                        let threshold = breaker.config().threshold();
                        assert!((1..=50).contains(&threshold), "of a file, not as declared");
                        breaker.call_sync(|| Ok::<_, ()>(())).unwrap();
                    }
                    made
                })
            });
            start.wait();
            configure_from_toml(&text(threshold)).unwrap();
            configure("another", Overrides::new().threshold(threshold)).unwrap();
            makers.map(|maker| maker.join().unwrap())
        });
        for breaker in before.iter().chain(entered.iter().flatten()) {
            let config = breaker.config();
            assert_eq!(
                (config.threshold(), config.probes()),
                (threshold, threshold)
            );
        }
    }
    configure_from_toml("").unwrap();
    assert!(
        before
            .iter()
            .all(|breaker| breaker.config() == Config::DEFAULT)
    );
}
