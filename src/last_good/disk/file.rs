//! The open file: reading, writing, and what is done after a failure.

use super::error::DiskError;
use super::opening::Place;
use super::tables::{Change, Fault, Open};
pub(super) use crate::lock::lock;
use std::mem;
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError, RwLock};
use std::time::Duration;

/// The open file, of all that share it.
#[derive(Debug)]
pub(super) struct File {
    pub(super) place: Place,
    state: RwLock<State>,
    pub(super) queue: Mutex<Queue>,
    /// Told when one has written.
    written: Condvar,
    writer: Mutex<Writer>,
}

/// What is to be written.
#[derive(Debug, Default)]
pub(super) struct Queue {
    pub(super) waiting: Vec<Waiting>,
    /// One writes what waited; who comes meanwhile waits for the next.
    is_writing: bool,
}

#[derive(Debug)]
enum State {
    /// To read and write.
    Ready(Open),
    /// To read: it can't be written now.
    View(Open),
    /// To be opened again.
    Closed,
    /// Not to be touched again: the database gave up.
    Broken(DiskError),
}

/// Changes that were asked for, and whether they were made.
#[derive(Debug)]
pub(super) struct Waiting {
    change: Change,
    done: Arc<OnceLock<Result<(), DiskError>>>,
}

#[derive(Debug, Default)]
struct Writer {
    /// Since when writing fails, and why.
    failed: Option<(u64, DiskError)>,
}

impl File {
    pub(super) fn new(place: Place, open: Open) -> Self {
        Self {
            place,
            state: RwLock::new(State::Ready(open)),
            queue: Mutex::default(),
            written: Condvar::new(),
            writer: Mutex::default(),
        }
    }

    /// A record's bytes.
    pub(super) fn load(&self, key: &[u8]) -> Result<Option<Vec<u8>>, DiskError> {
        self.read(|open| open.load(key))
    }

    pub(super) fn count(&self) -> Result<u64, DiskError> {
        self.read(Open::count)
    }

    /// Makes a change, together with those that others ask for meanwhile: the
    /// disk is waited for once for all of them. Gives the keys whose answers made
    /// room to whoever wrote.
    pub(super) fn change(
        &self,
        change: Change,
        now: u64,
        gone: impl FnOnce(Vec<Vec<u8>>),
    ) -> Result<(), DiskError> {
        let done = Arc::new(OnceLock::new());
        let mut queue = lock(&self.queue);
        queue.waiting.push(Waiting {
            change,
            done: Arc::clone(&done),
        });
        while queue.is_writing && done.get().is_none() {
            let woken = self.written.wait(queue);
            queue = woken.unwrap_or_else(PoisonError::into_inner);
        }
        if let Some(done) = done.get() {
            return done.clone();
        }
        let mine = |waiting: &Waiting| Arc::ptr_eq(&waiting.done, &done);
        if !queue.waiting.iter().any(mine) {
            // Who wrote it panicked.
            let what = "what was to be saved was lost".into();
            return Err(self.place.error(Fault::GaveUp(what)));
        }
        queue.is_writing = true;
        let batch = mem::take(&mut queue.waiting);
        drop(queue);
        let turn = Turn(self);
        let result = self.write(&mut lock(&self.writer), &batch, now).map(gone);
        for waiting in batch {
            let _ = waiting.done.set(result.clone());
        }
        drop(turn);
        result
    }

    fn read<T>(&self, read: impl Fn(&Open) -> Result<T, Fault>) -> Result<T, DiskError> {
        let mut again = true;
        loop {
            let fault = {
                match &*self.state() {
                    State::Ready(open) | State::View(open) => match read(open) {
                        Ok(read) => return Ok(read),
                        Err(fault) => Some(fault),
                    },
                    State::Closed => None,
                    State::Broken(error) => return Err(error.clone()),
                }
            };
            let error = fault.map(|fault| self.close_after(fault));
            match error {
                Some(error) if !again => return Err(error),
                _ => {}
            }
            again = false;
            self.open_to_read()?;
        }
    }

    fn write(
        &self,
        writer: &mut Writer,
        batch: &[Waiting],
        now: u64,
    ) -> Result<Vec<Vec<u8>>, DiskError> {
        if let Some((since, error)) = &writer.failed
            && within(*since, now, self.place.settings.save_every)
        {
            return Err(error.clone());
        }
        let written = self.open_to_write().and_then(|()| {
            let changes = batch.iter().map(|waiting| &waiting.change);
            let written = match &*self.state() {
                State::Ready(open) => {
                    let most = self.place.settings.max_answers.into();
                    let there = self.place.check(open.identity);
                    there.and_then(|()| open.write(changes, most))
                }
                // Closed by a reader meanwhile: the next one opens it.
                _ => Err(Fault::Io(std::io::Error::other("the file is being opened"))),
            };
            written.map_err(|fault| match fault {
                // What is in it can be loaded still.
                Fault::Gone => self.place.error(fault),
                fault => self.close_after(fault),
            })
        });
        writer.failed = written.as_ref().err().map(|error| (now, error.clone()));
        written
    }

    /// Lets the file go: the database does nothing more after a failure.
    fn close_after(&self, fault: Fault) -> DiskError {
        let gave_up = matches!(fault, Fault::GaveUp(_));
        let error = self.place.error(fault);
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        if !matches!(*state, State::Broken(_)) {
            *state = if gave_up {
                State::Broken(error.clone())
            } else {
                State::Closed
            };
        }
        error
    }

    fn open_to_read(&self) -> Result<(), DiskError> {
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        if let State::Closed = *state {
            *state = match self.place.open_again() {
                Ok(open) => State::Ready(open),
                Err(error) => State::View(self.place.view().map_err(|_| error)?),
            };
        }
        Ok(())
    }

    fn open_to_write(&self) -> Result<(), DiskError> {
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        match &*state {
            State::Ready(_) => return Ok(()),
            State::Broken(error) => return Err(error.clone()),
            // Let go first: a file is locked by whoever has it.
            State::View(_) | State::Closed => *state = State::Closed,
        }
        *state = State::Ready(self.place.open_again()?);
        Ok(())
    }

    fn state(&self) -> std::sync::RwLockReadGuard<'_, State> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Of one that writes: at its end the next one may.
struct Turn<'a>(&'a File);

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        lock(&self.0.queue).is_writing = false;
        self.0.written.notify_all();
    }
}

/// Whether that much time has not passed yet. A clock that went back was
/// another one.
pub(super) fn within(since: u64, now: u64, time: Duration) -> bool {
    now.checked_sub(since)
        .is_some_and(|passed| Duration::from_nanos(passed) < time)
}
