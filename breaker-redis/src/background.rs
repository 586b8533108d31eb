//! What looks after the connection: one thread, with a runtime of its own, and one loop.
//!
//! The loop waits inside the runtime, and does everything else outside of it: so what observers do when
//! a breaker follows others runs on a plain thread, and may use a runtime of its own. What takes time
//! (connecting, asking) is a task of the runtime, which says by an [`Event`] what came of it.

mod asking;
mod connect;
mod connection;
mod driving;
mod limited;
mod report;
mod timers;
#[cfg(feature = "tls")]
mod tls;
mod trouble;
mod window;

use crate::circuit::Circuit;
use crate::error::{ConnectionError, FleetError, Trouble};
use crate::group::Group;
use crate::hub::Hub;
use crate::settings::FleetBuilder;
use asking::{Answered, Question};
use backon::{BackoffBuilder, ExponentialBackoff, ExponentialBuilder};
use breakerbox::link;
use connect::{Heard, Live, Target};
use report::{News, Report};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::Poll;
use std::time::{Duration, Instant};
use timers::Timers;
use tokio::runtime::{self, Runtime};
use tokio::sync::mpsc;
use window::Window;

/// The longest that is waited before another attempt to connect; the shortest is a fiftieth of it.
const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// A connection that lasted so long was a good one: the next attempt is made at once.
const GOOD: Duration = Duration::from_secs(10);

/// For so long at most a fleet that is left goes on, to say what it has to.
const FAREWELL: Duration = Duration::from_millis(500);

/// What a task of the runtime has to say. `u64`: in which session.
enum Event {
    Connected(u64, Box<Result<Live, Trouble>>),
    Subscribed(u64, Vec<Arc<Group>>, Result<(), Trouble>),
    /// After so long.
    Answered(u64, Duration, Result<Vec<Answered>, Trouble>),
    /// The connection is well, although nothing had to be asked.
    Alive(u64, Result<(), Trouble>),
}

/// What the loop woke up for.
enum Woken {
    Event(Event),
    Heard(Heard),
    /// The connection has ended.
    Ended,
    /// Something is in the queue, or it is time.
    Look,
}

/// What the thread has.
struct Background {
    hub: Arc<Hub>,
    runtime: Runtime,
    target: Arc<Target>,
    events: (mpsc::UnboundedSender<Event>, mpsc::UnboundedReceiver<Event>),
    /// Counts connections, and attempts to make one.
    session: u64,
    live: Option<Live>,
    connected_at: Option<Instant>,
    /// When the next attempt is made.
    retry_at: Option<Instant>,
    backoff: ExponentialBackoff,
    report: Report,
    timers: Timers,
    /// What calls and messages made worth looking at, and what was answered.
    urgent: VecDeque<Arc<Circuit>>,
    /// What can wait: circuits of which it is to be asked how they stand.
    patient: VecDeque<Arc<Circuit>>,
    questions: Vec<Question>,
    /// Commands that were asked and not answered.
    in_flight: usize,
    window: Window,
    asked_at: Instant,
    /// When it was last looked whether groups have come or gone, with this connection.
    looked_at: Option<Instant>,
}

/// Starts the thread. What can't work is an error; that Redis can't be reached is none.
pub(crate) fn start(hub: &Arc<Hub>, settings: &FleetBuilder) -> Result<(), FleetError> {
    let trial = format!("{}:~{}", hub.prefix().as_str(), hub.me());
    let target = Arc::new(Target::new(settings, trial)?);
    let runtime = runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(FleetError::Thread)?;
    let hub = Arc::clone(hub);
    let run = move || {
        let of_run = Arc::clone(&hub);
        let background = Background::new(hub, runtime, target);
        let ended = panic::catch_unwind(AssertUnwindSafe(move || background.run()));
        if ended.is_err() {
            // A fault of ours costs the sharing, and nothing else.
            of_run.end();
            of_run.clear();
            link::sharing_lost(of_run.prefix().as_str(), &Ended, 1);
        }
    };
    std::thread::Builder::new()
        .name("breaker-fleet".to_owned())
        .spawn(run)
        .map_err(FleetError::Thread)?;
    Ok(())
}

/// The thread is gone.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error(
    "the fleet's background has panicked: breakers are on their own until they are shared again"
)]
struct Ended;

fn backoff() -> ExponentialBackoff {
    ExponentialBuilder::new()
        .with_min_delay(LONGEST_WAIT / 50)
        .with_max_delay(LONGEST_WAIT / 2)
        .with_factor(2.0)
        .with_jitter()
        .without_max_times()
        .build()
}

impl Background {
    fn new(hub: Arc<Hub>, runtime: Runtime, target: Arc<Target>) -> Self {
        Self {
            hub,
            runtime,
            target,
            events: mpsc::unbounded_channel(),
            session: 0,
            live: None,
            connected_at: None,
            retry_at: Some(Instant::now()),
            backoff: backoff(),
            report: Report::default(),
            timers: Timers::default(),
            urgent: VecDeque::new(),
            patient: VecDeque::new(),
            questions: Vec::new(),
            in_flight: 0,
            window: Window::NEW,
            asked_at: Instant::now(),
            looked_at: None,
        }
    }

    fn run(mut self) {
        while !self.hub.is_ending() {
            self.look();
            match self.wait() {
                Woken::Event(event) => self.take(event),
                Woken::Heard(heard) => self.hear(&heard),
                // What it ended of, it says to whoever asks.
                Woken::Ended => self.ask_whether_alive(),
                Woken::Look => {}
            }
        }
        self.say_farewell();
        self.hub.clear();
        self.runtime.shutdown_background();
    }

    /// Does what is to be done now.
    fn look(&mut self) {
        let news = self.report.look(Instant::now());
        self.tell(news);
        if self.retry_at.is_some_and(|at| at <= Instant::now()) {
            self.connect();
        }
        self.look_at_groups();
        self.hear_all();
        let overflowed = self
            .live
            .as_ref()
            .is_some_and(|live| live.overflowed.swap(false, Ordering::AcqRel));
        if overflowed {
            self.ask_for_all();
        }
        self.hub.take_queue(&mut self.urgent);
        let now = self.hub.now();
        while let Some(circuit) = self.timers.take(now) {
            let can_wait = circuit.instance().can_wait(now);
            match can_wait && self.live.is_some() {
                true => self.patient.push_back(circuit),
                false => self.urgent.push_back(circuit),
            }
        }
        self.drive_all();
        self.look_whether_alive();
    }

    /// What else was heard: of many messages at once, each need not be looked at by itself.
    fn hear_all(&mut self) {
        for _ in 0..connect::MOST_WAITING {
            let messages = self.live.as_mut().map(|live| &mut live.messages);
            match messages.and_then(|messages| messages.try_recv().ok()) {
                Some(heard) => self.hear(&heard),
                None => return,
            }
        }
    }

    /// Until something happens.
    fn wait(&mut self) -> Woken {
        let timer = self.timers.next().and_then(|at| self.hub.at(at));
        let poll = self
            .live
            .is_some()
            .then(|| self.asked_at + self.hub.times().poll);
        let next = [timer, self.retry_at, self.report.next(), poll];
        let next = next.into_iter().flatten().min();
        let (hub, events, live) = (&self.hub, &mut self.events.1, &mut self.live);
        self.runtime.block_on(async {
            // First of all tasks go on: if there was always something to look at, they never would.
            tokio::task::yield_now().await;
            let (woken, sleep) = (hub.woken(), sleep_until(next));
            let (mut woken, mut sleep) = (std::pin::pin!(woken), std::pin::pin!(sleep));
            poll_fn(|cx| {
                if let Poll::Ready(Some(event)) = events.poll_recv(cx) {
                    return Poll::Ready(Woken::Event(event));
                }
                if let Some(live) = live
                    && let Poll::Ready(Some(heard)) = live.messages.poll_recv(cx)
                {
                    return Poll::Ready(Woken::Heard(heard));
                }
                if let Some(live) = live
                    && live.poll_ended(cx).is_ready()
                {
                    return Poll::Ready(Woken::Ended);
                }
                if woken.as_mut().poll(cx).is_ready() || sleep.as_mut().poll(cx).is_ready() {
                    return Poll::Ready(Woken::Look);
                }
                Poll::Pending
            })
            .await
        })
    }

    fn connect(&mut self) {
        self.retry_at = None;
        self.session += 1;
        let (session, target, to) = (
            self.session,
            Arc::clone(&self.target),
            self.events.0.clone(),
        );
        self.runtime.spawn(async move {
            let live = Box::new(target.connect().await);
            let _ = to.send(Event::Connected(session, live));
        });
    }

    fn take(&mut self, event: Event) {
        match event {
            Event::Connected(session, live) if session == self.session => match *live {
                Ok(live) => self.connected(live),
                Err(trouble) => self.lose(trouble),
            },
            Event::Subscribed(session, groups, Ok(())) if session == self.session => {
                for group in groups {
                    group.heard_in.store(session, Ordering::Release);
                    self.patient.extend(group.circuits());
                }
            }
            Event::Answered(session, took, Ok(answers)) if session == self.session => {
                self.in_flight = self.in_flight.saturating_sub(answers.len());
                let gone = self.hub.times().answer;
                self.window.answered(answers.len(), took, gone);
                if let Err(trouble) = self.answered(answers) {
                    self.lose(trouble);
                }
            }
            Event::Subscribed(session, _, Err(trouble))
            | Event::Answered(session, _, Err(trouble))
            | Event::Alive(session, Err(trouble))
                if session == self.session =>
            {
                self.lose(trouble);
            }
            // What came too late: its circuits were told that it wouldn't.
            _ => {}
        }
    }

    fn connected(&mut self, live: Live) {
        self.live = Some(live);
        self.looked_at = None;
        self.in_flight = 0;
        self.asked_at = Instant::now();
        self.connected_at = Some(self.asked_at);
        self.hub.connected(self.session);
        let news = self.report.restored(self.asked_at);
        self.tell(news);
    }

    fn tell(&self, news: Option<News>) {
        if let Some(news) = news {
            news.tell(self.hub.prefix().as_str());
        }
    }

    /// Redis can't be had, for now.
    fn lose(&mut self, trouble: Trouble) {
        let error = ConnectionError {
            at: self.target.shown(),
            trouble,
        };
        let lasted = self.connected_at.take().map(|at| at.elapsed());
        self.live = None;
        if lasted.is_some_and(|lasted| lasted >= GOOD) {
            self.backoff = backoff();
        }
        let wait = self.backoff.next().unwrap_or(LONGEST_WAIT);
        self.retry_at = Some(Instant::now() + wait);
        self.hub.failed(&error);
        let now = self.hub.now();
        for circuit in self.hub.groups().iter().flat_map(|group| group.circuits()) {
            if circuit.found_in.load(Ordering::Relaxed) == self.session {
                circuit.instance().lost(now);
                self.urgent.push_back(circuit);
            }
        }
        // Answers to what was asked before are none any more.
        self.session += 1;
        self.questions.clear();
        self.patient.clear();
        self.in_flight = 0;
        self.window = Window::NEW;
        self.report.lost(Instant::now(), error);
        self.hub.progressed();
    }

    /// What is not told yet is, and leases are given back, if that can be done at once.
    fn say_farewell(&mut self) {
        let Some(live) = &self.live else {
            return;
        };
        let now = self.hub.now();
        let circuits = self.hub.groups().into_iter().flat_map(|g| g.circuits());
        let questions: Vec<_> = circuits
            .filter_map(|circuit| Question::last(&circuit, now))
            .collect();
        if !questions.is_empty() {
            let asking = asking::ask(live, questions, self.hub.times().answer);
            // Whether it was said or not: the lease runs out.
            let farewell = async { tokio::time::timeout(FAREWELL, asking).await };
            let _ = self.runtime.block_on(farewell);
        }
    }
}

async fn sleep_until(at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at.into()).await,
        None => std::future::pending().await,
    }
}
