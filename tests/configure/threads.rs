//! Configuring while others call.

use breakerbox::registry::{configure, configure_from_toml};
use breakerbox::{Breaker, Config, Overrides, State};
use std::sync::atomic::{AtomicBool, Ordering};

/// A breaker that enters while a file is read has what the one file or the other says, and what
/// the last says once it was read.
#[test]
fn breakers_that_enter_meanwhile_miss_nothing() {
    let done = AtomicBool::new(false);
    let text = |threshold: u32| {
        format!("[breakers.meanwhile]\nthreshold = {threshold}\nprobes = {threshold}")
    };
    configure_from_toml(&text(1)).unwrap();
    std::thread::scope(|threads| {
        let clients = [(); 2].map(|()| {
            threads.spawn(|| {
                let mut made = 0_u32;
                while !done.load(Ordering::SeqCst) {
                    let client = Breaker::shared("meanwhile", Config::DEFAULT);
                    let config = client.config();
                    assert!(
                        (1..=50).contains(&config.threshold()),
                        "of a file, not as declared"
                    );
                    client.call_sync(|| Ok::<_, ()>(())).unwrap();
                    assert_eq!(client.state(), State::Closed);
                    made += 1;
                }
                made
            })
        });
        for threshold in (1..=50).cycle().take(500) {
            configure_from_toml(&text(threshold)).unwrap();
            configure("another", Overrides::new().threshold(threshold)).unwrap();
            let now = Breaker::shared("meanwhile", Config::DEFAULT);
            assert_eq!(
                (now.config().threshold(), now.config().probes()),
                (threshold, threshold)
            );
        }
        done.store(true, Ordering::SeqCst);
        for client in clients {
            assert!(client.join().unwrap() > 0);
        }
    });
    let stays = Breaker::shared("meanwhile", Config::DEFAULT);
    configure_from_toml("").unwrap();
    assert_eq!(stays.config(), Config::DEFAULT);
}
