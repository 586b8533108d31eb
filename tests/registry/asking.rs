//! Everything that can be asked, and whether it ends.

use breakerbox::registry::{self, Registered};
use std::sync::mpsc;
use std::time::Duration;

/// Long enough for any machine: only a deadlock takes as long.
const FOR_EVER: Duration = Duration::from_secs(120);

/// Fails where `what` never ends.
pub(crate) fn ends(what: impl FnOnce() + Send + 'static) {
    let (ended, end) = mpsc::channel();
    let thread = std::thread::spawn(move || {
        what();
        ended.send(()).unwrap();
    });
    match end.recv_timeout(FOR_EVER) {
        Ok(()) => thread.join().unwrap(),
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("it never ended"),
        Err(mpsc::RecvTimeoutError::Disconnected) => thread.join().unwrap(),
    }
}

/// Everything that the registry can be asked.
pub(crate) fn ask_for_everything() {
    let all = registry::all();
    for breaker in all.iter().flat_map(Registered::breakers) {
        let _ = (breaker.state(), breaker.key().map(|key| key.to_string()));
    }
    let _ = breakerbox::find("asked[1]");
    let _ = breakerbox::find_keyed("asked").map(|keyed| keyed.len());
    let _ = (registry::problems(), registry::watch().try_changed());
}
