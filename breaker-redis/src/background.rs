//! What looks after the connection: one thread, with a runtime of its own, and one loop.
//!
//! The loop waits inside the runtime, and does everything else outside of it: so what observers do when
//! a breaker follows others runs on a plain thread, and may use a runtime of its own. What takes time
//! (connecting, asking) is a task of the runtime, which says by an [`Event`] what came of it.

mod asking;
#[cfg(feature = "cluster")]
mod cluster;
mod connect;
mod connection;
mod driving;
#[cfg(test)]
mod fairness;
mod limited;
mod listening;
mod missing;
mod nodes;
mod report;
mod sessions;
mod task;
mod timers;
#[cfg(feature = "tls")]
mod tls;
pub(crate) mod trouble;
mod window;

use crate::circuit::Circuit;
use crate::error::{FleetError, Trouble};
use crate::group::Group;
use crate::hub::Hub;
use crate::settings::FleetBuilder;
use asking::{Answered, Hearing, Question};
use breakerbox::link;
use connect::{Heard, Live, Target};
use nodes::Nodes;
use report::Report;
use std::collections::VecDeque;
use std::future::poll_fn;
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use timers::Timers;
use tokio::runtime::{self, Runtime};
use tokio::sync::mpsc;

/// For so long at most a fleet that is left goes on, to say what it has to.
const FAREWELL: Duration = Duration::from_millis(500);

/// Where messages are dropped all the time, all circuits are asked for at most so often: more often, those
/// that are asked last never would be.
const MADE_UP: Duration = Duration::from_secs(1);

/// What a task of the runtime has to say. `u64`: in which session.
enum Event {
    Connected(u64, Box<Result<Live, Trouble>>),
    Subscribed(u64, Vec<Arc<Group>>, Result<Hearing, Trouble>),
    /// After so long.
    Answered(u64, Duration, Result<Vec<Answered>, Trouble>),
    /// The connection is well, although nothing had to be asked.
    Alive(u64, Result<(), Trouble>),
    /// What is where in a cluster.
    #[cfg(feature = "cluster")]
    Mapped(Result<Vec<nodes::Range>, crate::error::ConnectionError>),
}

/// What the loop woke up for.
enum Woken {
    Event(Event),
    Heard(Heard),
    /// The connection of this session has ended.
    Ended(u64),
    /// Something is in the queue, or it is time.
    Look,
}

/// What the thread has.
struct Background {
    hub: Arc<Hub>,
    runtime: Runtime,
    events: (mpsc::UnboundedSender<Event>, mpsc::UnboundedReceiver<Event>),
    /// Counts connections, and attempts to make one.
    sessions: u64,
    nodes: Nodes,
    #[cfg(feature = "cluster")]
    cluster: Option<cluster::Cluster>,
    /// Whether all circuits can be had may have changed.
    is_changed: bool,
    /// One that couldn't when that was looked at last.
    missing: Weak<Circuit>,
    /// When circuits were refused last of those that are, and why.
    refused_last: Option<(Instant, String)>,
    report: Report,
    timers: Timers,
    /// Given up with an operator's word, before there was a connection to tell it.
    unsaid: Vec<Arc<Circuit>>,
    /// What is worth looking at, of whatever node it is.
    urgent: VecDeque<Arc<Circuit>>,
    /// When it was last looked whether groups have come or gone, with these connections.
    looked_at: Option<Instant>,
    /// Messages were dropped, for which all circuits are yet to be asked for.
    has_missed: bool,
    /// When they were asked for last because of that.
    made_up_at: Option<Instant>,
}

/// Starts the thread. What can't work is an error; that Redis can't be reached is none.
pub(crate) fn start(hub: &Arc<Hub>, settings: &FleetBuilder) -> Result<(), FleetError> {
    let target = Arc::new(Target::new(settings)?);
    #[cfg(feature = "cluster")]
    let cluster = cluster::Cluster::of(&target, &settings.nodes)?;
    #[cfg(not(feature = "cluster"))]
    if !settings.nodes.is_empty() {
        return Err(FleetError::Feature {
            feature: "cluster",
            what: "a cluster, whose nodes are given by `node`,",
        });
    }
    let runtime = runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(FleetError::Thread)?;
    let hub = Arc::clone(hub);
    let (hand_over, handed_over) = std::sync::mpsc::sync_channel(1);
    let run = move || {
        let Ok(runtime) = handed_over.recv() else {
            return;
        };
        let of_run = Arc::clone(&hub);
        #[cfg_attr(not(feature = "cluster"), expect(unused_mut, reason = "of a cluster"))]
        let mut background = Background::new(hub, runtime, target);
        #[cfg(feature = "cluster")]
        if let Some(cluster) = cluster {
            background.nodes = Nodes::of_cluster();
            background.cluster = Some(cluster);
        }
        let ended = panic::catch_unwind(AssertUnwindSafe(move || background.run()));
        if ended.is_err() {
            // A fault of ours costs the sharing, and nothing else.
            of_run.end();
            of_run.clear();
            link::sharing_ended(of_run.prefix().as_str(), &Ended);
        }
    };
    let spawned = std::thread::Builder::new()
        .name("breaker-fleet".to_owned())
        .spawn(run);
    if let Err(error) = spawned {
        // Dropped in async code, it would panic: it might have to wait for tasks of its own.
        runtime.shutdown_background();
        return Err(FleetError::Thread(error));
    }
    let _ = hand_over.send(runtime);
    Ok(())
}

/// The thread is gone.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error(
    "the fleet's background has panicked: breakers are on their own until they are shared again"
)]
struct Ended;

/// The fleet was dropped before it could do anything.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error(
    "the fleet was dropped before it had heard how its circuits stand: keep it for as long as the program \
     runs, as in `let fleet = Fleet::start(..)?; fleet.share(..)?;`"
)]
struct DroppedAtOnce;

impl Background {
    fn new(hub: Arc<Hub>, runtime: Runtime, target: Arc<Target>) -> Self {
        let mut nodes = Nodes::one(target);
        // At once.
        nodes.all[0].retry_at = Some(Instant::now());
        Self {
            hub,
            runtime,
            events: mpsc::unbounded_channel(),
            sessions: 0,
            nodes,
            #[cfg(feature = "cluster")]
            cluster: None,
            is_changed: false,
            missing: Weak::new(),
            refused_last: None,
            report: Report::default(),
            timers: Timers::default(),
            unsaid: Vec::new(),
            urgent: VecDeque::new(),
            looked_at: None,
            has_missed: false,
            made_up_at: None,
        }
    }

    fn run(mut self) {
        self.hub.runs_here();
        while !self.hub.is_ending() {
            self.look();
            match self.wait() {
                Woken::Event(event) => self.take(event),
                Woken::Heard(heard) => self.hear(&heard),
                // What it ended of, it says to whoever asks.
                Woken::Ended(session) => self.ask_whether_alive(session),
                Woken::Look => {}
            }
        }
        self.say_farewell();
        if self.was_dropped_at_once() {
            link::sharing_ended(self.hub.prefix().as_str(), &DroppedAtOnce);
        }
        self.hub.clear();
        self.runtime.shutdown_background();
    }

    /// Does what is to be done now.
    fn look(&mut self) {
        self.tell_of_loss();
        #[cfg(feature = "cluster")]
        self.look_at_map();
        for at in 0..self.nodes.all.len() {
            let retry_at = self.nodes.all[at].retry_at;
            if retry_at.is_none_or(|at| at > Instant::now()) {
                continue;
            }
            match self.is_wanted(at) {
                true => self.connect(at),
                // Once somebody wants it, it is connected.
                false => self.nodes.all[at].retry_at = None,
            }
        }
        self.look_at_groups();
        self.hear_all();
        self.hub.take_queue(&mut self.urgent);
        let now = self.hub.now();
        while let Some(circuit) = self.timers.take(now) {
            let node = self.nodes.of_key(circuit.place.key());
            let live = node.filter(|at| self.nodes.all[*at].live.is_some());
            let can_wait = circuit.instance().can_wait(now);
            match live.filter(|_| can_wait) {
                Some(at) => self.nodes.all[at].patient.push_back(circuit),
                None => self.urgent.push_back(circuit),
            }
        }
        self.drive_all();
        self.look_whether_alive();
        self.look_whether_all_are_had();
    }

    /// What else was heard: of many messages at once, each need not be looked at by itself.
    fn hear_all(&mut self) {
        for at in 0..self.nodes.all.len() {
            for _ in 0..connect::MOST_WAITING {
                let live = self.nodes.all[at].live.as_mut();
                match live.and_then(|live| live.messages.try_recv().ok()) {
                    Some(heard) => self.hear(&heard),
                    None => break,
                }
            }
            let live = self.nodes.all[at].live.as_ref();
            self.has_missed |=
                live.is_some_and(|live| live.overflowed.swap(false, Ordering::AcqRel));
        }
        if self.has_missed && self.made_up_at.is_none_or(|at| at.elapsed() >= MADE_UP) {
            self.has_missed = false;
            self.made_up_at = Some(Instant::now());
            self.ask_for_all();
        }
    }

    /// When there is something to do by itself.
    fn due(&mut self) -> Option<Instant> {
        let timer = self.timers.next().and_then(|at| self.hub.at(at));
        let (poll, patience) = (self.hub.times().poll, self.hub.times().answer);
        let of_nodes = self.nodes.all.iter().flat_map(|node| {
            let alive = node.live.is_some().then(|| node.asked_at + poll);
            let waited = node.connecting_since.map(|since| since + patience);
            let waited = waited.filter(|at| *at > Instant::now());
            [node.retry_at, alive, waited]
        });
        let missed = self.made_up_at.filter(|_| self.has_missed);
        let missed = missed.map(|at| at + MADE_UP);
        let of_all = [timer, self.report.next(), self.map_due(), missed];
        of_nodes.chain(of_all).flatten().min()
    }

    /// Until something happens.
    fn wait(&mut self) -> Woken {
        let next = self.due();
        let (hub, events, nodes) = (&self.hub, &mut self.events.1, &mut self.nodes);
        self.runtime.block_on(async {
            // First of all tasks go on: if there was always something to look at, they never would.
            tokio::task::yield_now().await;
            let (woken, sleep) = (hub.woken(), sleep_until(next));
            let (mut woken, mut sleep) = (std::pin::pin!(woken), std::pin::pin!(sleep));
            poll_fn(|cx| {
                if let Poll::Ready(Some(event)) = events.poll_recv(cx) {
                    return Poll::Ready(Woken::Event(event));
                }
                if let Poll::Ready(woken) = poll_nodes(nodes, cx) {
                    return Poll::Ready(woken);
                }
                if woken.as_mut().poll(cx).is_ready() || sleep.as_mut().poll(cx).is_ready() {
                    return Poll::Ready(Woken::Look);
                }
                Poll::Pending
            })
            .await
        })
    }

    fn take(&mut self, event: Event) {
        match event {
            Event::Connected(session, live) => match (self.nodes.of_session(session), *live) {
                (Some(at), Ok(live)) => self.connected(at, live),
                (Some(at), Err(trouble)) => self.lose(at, trouble),
                (None, _) => {}
            },
            Event::Subscribed(session, groups, Ok(done)) => match done {
                Hearing::Done => self.subscribed(session, groups),
                Hearing::Refused(why) => self.unheard(session, &groups, &why),
            },
            Event::Answered(session, took, Ok(answers)) => self.answered(session, took, answers),
            Event::Alive(_, Ok(())) => {}
            Event::Subscribed(session, _, Err(trouble))
            | Event::Answered(session, _, Err(trouble))
            | Event::Alive(session, Err(trouble)) => {
                // What came too late: its circuits were told that it wouldn't.
                if let Some(at) = self.nodes.of_session(session) {
                    self.lose(at, trouble);
                }
            }
            #[cfg(feature = "cluster")]
            Event::Mapped(mapped) => self.mapped(mapped),
        }
    }

    /// Whether the fleet ended before anything came of it: mostly it was a temporary.
    fn was_dropped_at_once(&self) -> bool {
        let status = self.hub.status();
        // Also of circuits that are gone by now.
        let is_any_told = status.answered > 0;
        !self.hub.is_end_told()
            && self.circuits().next().is_some()
            && !is_any_told
            && status.last_error.is_none()
    }

    /// What is not told yet is, and leases are given back, if that can be done at once.
    fn say_farewell(&mut self) {
        let now = self.hub.now();
        let mut questions: Vec<_> = self.nodes.all.iter().map(|_| Vec::new()).collect();
        for circuit in self.hub.groups().into_iter().flat_map(|g| g.circuits()) {
            let node = self.nodes.of_key(circuit.place.key());
            if let Some(at) = node {
                questions[at].extend(Question::last(&circuit, now));
            }
        }
        let within = self.hub.times().answer;
        let asking = self.nodes.all.iter().zip(questions);
        let asking = asking.filter(|(node, questions)| node.in_flight > 0 || !questions.is_empty());
        let asking = asking.filter_map(|(node, questions)| {
            let live = node.live.as_ref()?;
            let asking = (!questions.is_empty()).then(|| asking::ask(live, questions, within));
            // What was asked before is certainly there once something later is answered.
            let looking = asking::is_alive(live, within);
            Some(self.runtime.spawn(async move {
                if let Some(asking) = asking {
                    let _ = asking.await;
                }
                let _ = looking.await;
            }))
        });
        let asking: Vec<_> = asking.collect();
        let farewell = async {
            for asked in asking {
                let _ = asked.await;
            }
        };
        // Whether it was said or not: the lease runs out.
        let farewell = async { tokio::time::timeout(FAREWELL, farewell).await };
        let _ = self.runtime.block_on(farewell);
    }
}

/// A message, or the end of a connection.
fn poll_nodes(nodes: &mut Nodes, cx: &mut Context<'_>) -> Poll<Woken> {
    for node in &mut nodes.all {
        let Some(live) = &mut node.live else {
            continue;
        };
        if let Poll::Ready(Some(heard)) = live.messages.poll_recv(cx) {
            return Poll::Ready(Woken::Heard(heard));
        }
        if live.poll_ended(cx).is_ready() {
            return Poll::Ready(Woken::Ended(node.session));
        }
    }
    Poll::Pending
}

async fn sleep_until(at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at.into()).await,
        None => std::future::pending().await,
    }
}
