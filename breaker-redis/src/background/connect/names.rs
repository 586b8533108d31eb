//! Where hosts are, by their names. The system looks them up, and may take as long as it likes: nothing ends
//! such a look-up, and each takes a thread.

use super::super::trouble::of_lookup;
use crate::error::Trouble;
use std::collections::HashMap;
use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::thread;
use tokio::sync::watch;

/// Names that are looked up at once, of all fleets of a process. So many threads may hang.
const MOST: usize = 32;

/// What came of it. Errors are in the system's words: no server has a say in them.
type Found = Result<Arc<[SocketAddr]>, String>;

type UnderWay = Mutex<HashMap<String, watch::Receiver<Option<Found>>>>;

type LookUp = dyn Fn(&str) -> io::Result<Vec<SocketAddr>> + Send + Sync;

/// Looks up names, each once at a time: who asks for one while it is looked up waits for what comes of that.
#[derive(Clone)]
pub(crate) struct Names {
    look_up: Arc<LookUp>,
    under_way: Arc<UnderWay>,
}

impl Names {
    /// As the system does it: the same for all.
    pub(crate) fn of_system() -> Self {
        static OF_SYSTEM: LazyLock<Names> =
            LazyLock::new(|| Names::by(|host| Ok((host, 0).to_socket_addrs()?.collect())));
        OF_SYSTEM.clone()
    }

    pub(crate) fn by(
        look_up: impl Fn(&str) -> io::Result<Vec<SocketAddr>> + Send + Sync + 'static,
    ) -> Self {
        Self {
            look_up: Arc::new(look_up),
            under_way: Arc::default(),
        }
    }

    /// Where a host of this name is.
    pub(crate) async fn addresses(
        &self,
        host: &str,
        port: u16,
    ) -> Result<Vec<SocketAddr>, Trouble> {
        if let Ok(address) = host.parse() {
            return Ok(vec![SocketAddr::new(address, port)]);
        }
        let mut told = self.begin(host).map_err(of_lookup)?;
        let found = told.wait_for(Option::is_some).await;
        let found = found.ok().and_then(|found| found.clone());
        let found = found.unwrap_or_else(|| Err("looking it up has panicked".to_owned()));
        let with_port = |address: &SocketAddr| SocketAddr::new(address.ip(), port);
        let addresses = found.map_err(of_lookup)?;
        Ok(addresses.iter().map(with_port).collect())
    }

    /// Looks it up, unless that is under way.
    fn begin(&self, host: &str) -> Result<watch::Receiver<Option<Found>>, String> {
        let mut under_way = lock(&self.under_way);
        if let Some(known) = under_way.get(host) {
            return Ok(known.clone());
        }
        if under_way.len() >= MOST {
            return Err(format!(
                "{MOST} names are being looked up, with no answer yet"
            ));
        }
        let (tell, told) = watch::channel(None);
        let ending = Ending {
            host: host.to_owned(),
            of: Arc::clone(&self.under_way),
        };
        under_way.insert(host.to_owned(), told.clone());
        drop(under_way);
        let look_up = Arc::clone(&self.look_up);
        // A thread of our own, since the runtime's own way panics where the system has none.
        let looking = thread::Builder::new().name("breaker-resolve".to_owned());
        let looking = looking.spawn(move || {
            let found = look_up(&ending.host);
            let found = found.map(Into::into).map_err(|error| error.to_string());
            // First: whoever is told may ask again, and wants to know it anew.
            drop(ending);
            let _ = tell.send(Some(found));
        });
        looking.map_err(|error| error.to_string())?;
        Ok(told)
    }
}

/// A look-up that is over with this, however it ends.
struct Ending {
    host: String,
    of: Arc<UnderWay>,
}

impl Drop for Ending {
    fn drop(&mut self) {
        lock(&self.of).remove(&self.host);
    }
}

fn lock(of: &UnderWay) -> MutexGuard<'_, HashMap<String, watch::Receiver<Option<Found>>>> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::super::{Target, Trial};
    use super::*;
    use crate::Fleet;
    use std::net::{Ipv4Addr, TcpListener};
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc;
    use std::time::{Duration, Instant};

    /// Names that are found once this says so, each time, and how many were looked up.
    fn that_hang() -> (Names, mpsc::Sender<()>, Arc<AtomicUsize>) {
        let (release, held) = mpsc::channel::<()>();
        let (held, begun) = (Mutex::new(held), Arc::<AtomicUsize>::default());
        let counted = Arc::clone(&begun);
        let names = Names::by(move |_| {
            counted.fetch_add(1, Ordering::SeqCst);
            let held = held.lock().unwrap_or_else(PoisonError::into_inner);
            // Either way it goes on.
            let _ = held.recv();
            Ok(vec![SocketAddr::from((Ipv4Addr::LOCALHOST, 0))])
        });
        (names, release, begun)
    }

    fn runtime() -> tokio::runtime::Runtime {
        let runtime = tokio::runtime::Builder::new_current_thread();
        { runtime }.enable_all().build().expect("a runtime")
    }

    fn target(url: &str, names: Names) -> Target {
        let settings = Fleet::builder(url).connect(Duration::from_millis(20));
        let mut target = Target::new(&settings).expect("a target");
        target.names = names;
        target
    }

    #[test]
    fn a_name_that_hangs_costs_one_thread_however_often_it_is_tried() {
        let server = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = server.local_addr().expect("an address").port();
        let (names, release, begun) = that_hang();
        let target = target(&format!("redis://hangs.example:{port}"), names);
        let runtime = runtime();
        for attempt in 0..20 {
            let trial = Trial::OfAll("breakerbox:~me".to_owned());
            let error = runtime.block_on(target.connect(trial)).err();
            assert_eq!(error, Some(Trouble::Silent(Duration::from_millis(20))));
            assert_eq!(lock(&target.names.under_way).len(), 1, "{attempt}");
        }
        // Who waits by then gets what comes of it, as does the next attempt, which looks anew.
        let waiting = target.names.clone();
        let waiting = runtime.spawn(async move { waiting.addresses("hangs.example", 7).await });
        runtime.block_on(tokio::task::yield_now());
        release.send(()).expect("somebody to wait");
        let found = runtime.block_on(waiting).expect("no panic");
        assert_eq!(found, Ok(vec![SocketAddr::from((Ipv4Addr::LOCALHOST, 7))]));
        assert_eq!(begun.load(Ordering::SeqCst), 1);
        assert_eq!(lock(&target.names.under_way).len(), 0);
        release.send(()).expect("the next one");
        let again = runtime.block_on(target.names.addresses("hangs.example", 8));
        assert_eq!(again, Ok(vec![SocketAddr::from((Ipv4Addr::LOCALHOST, 8))]));
        assert_eq!(begun.load(Ordering::SeqCst), 2);
    }

    /// A map may name any number of hosts.
    #[test]
    fn names_that_hang_cost_no_more_threads_than_a_few() {
        let (names, release, begun) = that_hang();
        let runtime = runtime();
        let look_up = |host: String| {
            let names = names.clone();
            runtime.spawn(async move { names.addresses(&host, 1).await })
        };
        let hanging = (0..MOST).map(|number| look_up(format!("{number}.example")));
        let hanging: Vec<_> = hanging.collect();
        let begun_at = Instant::now();
        while begun.load(Ordering::SeqCst) < MOST {
            assert!(begun_at.elapsed() < Duration::from_secs(60));
            runtime.block_on(tokio::task::yield_now());
        }
        let more = runtime.block_on(names.addresses("more.example", 1));
        let Err(Trouble::Unreachable(why)) = more else {
            panic!("it was looked up: {more:?}");
        };
        assert!(why.contains("32 names are being looked up"), "{why}");
        // An address is no name.
        let address = runtime.block_on(names.addresses("::1", 1));
        assert!(address.is_ok());
        drop(release);
        for one in hanging {
            runtime
                .block_on(one)
                .expect("no panic")
                .expect("an address");
        }
        assert!(runtime.block_on(names.addresses("more.example", 1)).is_ok());
        assert_eq!(begun.load(Ordering::SeqCst), MOST + 1);
    }

    #[test]
    fn a_look_up_that_fails_or_panics_says_so_and_is_over() {
        let names = Names::by(|host| match host {
            "panics.example" => panic!("as it is told to"),
            _ => Err(io::Error::other("no such name")),
        });
        let runtime = runtime();
        for (host, expected) in [
            ("panics.example", "looking it up has panicked"),
            ("nowhere.example", "no such name"),
        ] {
            for _ in 0..2 * MOST {
                let error = runtime.block_on(names.addresses(host, 1)).unwrap_err();
                let expected = format!("its name can't be resolved ({expected})");
                assert_eq!(error, Trouble::Unreachable(expected));
            }
        }
        assert_eq!(lock(&names.under_way).len(), 0);
    }
}
