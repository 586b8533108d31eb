//! The pricing pipeline: one task a room keeps its price up to date, and every call is booked.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use breakerbox::Served;
use tokio::task::JoinSet;

use crate::pms::{self, CALL, Inventory, Pms, PmsError};
use crate::script::{PACE, Room};

/// How a call ended for its caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// An answer of now.
    Fresh,
    /// The last good answer.
    Stale,
    /// The circuit's refusal.
    Refused,
    /// The PMS's failure.
    Failed,
    /// An answer that is an error of the caller's: no such room.
    Ignored,
}

/// A call, as its caller saw it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call {
    pub(crate) number: u64,
    pub(crate) room: Room,
    /// Before the client was asked.
    pub(crate) started: Instant,
    /// After it had answered.
    pub(crate) ended: Instant,
    pub(crate) fate: Fate,
    /// The night's price in cents, where there is one.
    pub(crate) price: Option<u32>,
}

impl Call {
    pub(crate) fn took(&self) -> Duration {
        self.ended - self.started
    }
}

/// Which client the pipeline calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Client {
    Guarded,
    Unguarded,
}

/// A running pipeline.
#[derive(Debug)]
pub(crate) struct Pipeline {
    office: Arc<Office>,
    tasks: JoinSet<()>,
}

/// What all tasks share.
#[derive(Debug)]
struct Office {
    pms: Pms,
    client: Client,
    book: Mutex<Vec<Call>>,
    closing: AtomicBool,
}

/// Over all pipelines, so that a number names one call.
static CALLS: AtomicU64 = AtomicU64::new(1);

impl Pipeline {
    pub(crate) fn new(pms: Pms, client: Client) -> Self {
        Self {
            office: Arc::new(Office {
                pms,
                client,
                book: Mutex::default(),
                closing: AtomicBool::new(false),
            }),
            tasks: JoinSet::new(),
        }
    }

    /// Asks once for each room, so that there is a last good answer of each.
    pub(crate) async fn prime(&self, rooms: impl Iterator<Item = Room>) -> Result<(), PmsError> {
        for room in rooms {
            self.office.price(room).await?;
        }
        Ok(())
    }

    /// Keeps a room's price up to date from now on.
    pub(crate) fn sell(&mut self, room: Room) {
        let office = Arc::clone(&self.office);
        self.tasks.spawn(async move {
            while !office.closing.load(Ordering::Relaxed) {
                // The error is booked as the call's fate; the next round tries again.
                let _ = office.price(room).await;
                tokio::time::sleep(PACE).await;
            }
        });
    }

    /// The calls booked after the first `from`.
    pub(crate) fn booked(&self, from: usize) -> Vec<Call> {
        self.office.book(|book| book[from..].to_vec())
    }

    /// Lets every task end its call; gives all that were booked.
    pub(crate) async fn close(self) -> Vec<Call> {
        self.office.closing.store(true, Ordering::Relaxed);
        self.tasks.join_all().await;
        self.office.book(std::mem::take)
    }
}

impl Office {
    async fn price(&self, room: Room) -> Result<(), PmsError> {
        let number = CALLS.fetch_add(1, Ordering::Relaxed);
        let started = Instant::now();
        let answer = CALL.scope(number, self.ask(room)).await;
        let ended = Instant::now();
        let call = Call {
            number,
            room,
            started,
            ended,
            fate: fate(&answer),
            price: answer.as_ref().ok().map(price),
        };
        self.book(|book| book.push(call));
        answer.map(drop)
    }

    async fn ask(&self, room: Room) -> Result<Served<Inventory>, PmsError> {
        match self.client {
            Client::Guarded => pms::inventory(&self.pms, room).await,
            Client::Unguarded => pms::unguarded_inventory(&self.pms, room).await,
        }
    }

    fn book<T>(&self, f: impl FnOnce(&mut Vec<Call>) -> T) -> T {
        f(&mut self.book.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn fate(answer: &Result<Served<Inventory>, PmsError>) -> Fate {
    match answer {
        Ok(served) if served.stale => Fate::Stale,
        Ok(_) => Fate::Fresh,
        Err(PmsError::Refused(_)) => Fate::Refused,
        Err(PmsError::UnknownRoom(_)) => Fate::Ignored,
        Err(_) => Fate::Failed,
    }
}

/// The fewer nights are left, the dearer; a stale answer costs a tenth more, for the risk of overbooking.
fn price(inventory: &Served<Inventory>) -> u32 {
    let cents = 12_000 - 500 * inventory.value.nights_left.min(10);
    if inventory.stale {
        cents + cents / 10
    } else {
        cents
    }
}
