//! Many connections at one circuit at once, on the script that users run.

use super::super::wire::stored::Hash;
use super::super::{
    Caller, Cause, Command, Counts, Known, Limits, Message, Place, Prefix, Quorum, Reply, Shared,
    Told, Verdict, Who,
};
use super::script::{ask, real, stored};
use super::server::Server;
use breakerbox::State;
use redis::Commands;
use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::thread;

const INSTANCES: usize = 8;
const ROUNDS: usize = 200;
const LONG: u64 = 3_600_000_000;

fn place(name: &str) -> Place {
    Place::new(&Prefix::default(), name, None)
}

fn caller(number: usize) -> Caller {
    Caller {
        who: Who::new(&format!("web-{number}")).unwrap(),
        alive: LONG,
        present: false,
        longest_lease: LONG,
        declared: None,
    }
}

fn shared(state: State, wait: u64) -> Shared {
    Shared {
        state,
        wait,
        imposed: false,
        reopenings: 0,
    }
}

/// What instances do at once, each on a connection of its own; and what was published meanwhile.
fn at_once(
    server: &Server,
    place: &Place,
    act: impl Fn(usize, &mut dyn FnMut(&Command) -> Reply) + Sync,
) -> Vec<Told> {
    let mut listening = server.connect();
    let mut listening = listening.as_pubsub();
    listening.subscribe(place.channel()).unwrap();
    let begin = Barrier::new(INSTANCES);
    thread::scope(|scope| {
        for number in 0..INSTANCES {
            let (act, begin) = (&act, &begin);
            scope.spawn(move || {
                let mut connection = server.connect();
                let script = real();
                let caller = caller(number);
                begin.wait();
                act(number, &mut |command| {
                    ask(&mut connection, &script, place, &caller, command, None).unwrap()
                });
            });
        }
    });
    let _: () = server.connect().publish(place.channel(), "end").unwrap();
    let mut published = Vec::new();
    loop {
        let text: String = listening.get_message().unwrap().get_payload().unwrap();
        if text == "end" {
            return published;
        }
        published.push(Message::decode(text.as_bytes()).unwrap().told);
    }
}

fn sums(hash: &Hash, at: usize) -> u64 {
    let slices = hash.iter().filter(|(field, _)| field.starts_with("slice"));
    let number = |text: &String| text.split(' ').nth(at).unwrap().parse::<u64>().unwrap();
    slices.map(|(_, text)| number(text)).sum()
}

#[test]
fn versions_only_grow_and_only_one_has_the_lease() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    let place = place("leases");
    let holders = AtomicUsize::new(0);
    let trials = AtomicUsize::new(0);
    let published = at_once(&server, &place, |number, ask| {
        let mut known: Known = None;
        let mut learn = |reply: &Reply| {
            if let Some(told) = &reply.now {
                assert!(Some(told.version) >= known, "{told:?} after {known:?}");
                known = Some(told.version);
            }
            known
        };
        let mut told = learn(&ask(&Command::Read { known: None }));
        for round in 0..ROUNDS {
            // With nothing left: the next to ask gets the lease.
            let opened = ask(&Command::Change {
                known: told,
                to: shared(State::Open, 0),
                cause: Cause::Tripped { failures: 5 },
                again: false,
            });
            told = learn(&opened);
            let lasts = LONG;
            let leased = ask(&Command::Lease { known: told, lasts });
            told = learn(&leased);
            if leased.verdict != Verdict::Done {
                continue;
            }
            assert_eq!(holders.fetch_add(1, SeqCst), 0, "two have the lease");
            trials.fetch_add(1, SeqCst);
            let again = ask(&Command::Lease { known: told, lasts });
            assert_eq!(again.verdict, Verdict::Done);
            assert_eq!(
                ask(&Command::Renew { known: told, lasts }).verdict,
                Verdict::Done
            );
            assert_eq!(holders.fetch_sub(1, SeqCst), 1);
            let ended = match (number + round) % 3 {
                0 => Command::Release { known: told },
                1 => Command::Change {
                    known: told,
                    to: shared(State::Closed, 0),
                    cause: Cause::Recovered,
                    again: false,
                },
                _ => Command::Change {
                    known: told,
                    to: shared(State::Open, 0),
                    cause: Cause::Tripped { failures: 1 },
                    again: false,
                },
            };
            let ended = ask(&ended);
            assert_eq!(ended.verdict, Verdict::Done, "only its holder ends a trial");
            told = learn(&ended);
        }
    });
    let trials = trials.into_inner();
    assert!(trials > 10, "{trials} trials");
    let mut published = published;
    // That a lease was renewed is told of the same version.
    published.dedup_by(|after, before| {
        let is_renewal = after.version == before.version;
        assert!(!is_renewal || after.lease == before.lease && after.lease.is_some());
        is_renewal
    });
    let leased = published.iter().filter(|told| told.cause == Cause::Leased);
    assert_eq!(leased.count(), trials);
    for pair in published.windows(2) {
        let (before, after) = (&pair[0], &pair[1]);
        assert_eq!(after.version.epoch, before.version.epoch);
        assert_eq!(after.version.counter, before.version.counter + 1);
        if let Some((holder, _)) = &before.lease {
            assert_eq!(&after.by, holder);
        }
    }
    let last = published.last().unwrap();
    let hash = stored(&mut server.connect(), &place);
    let version = format!("{}.{} ", last.version.epoch, last.version.counter);
    assert!(hash["record"].starts_with(&version), "{hash:?} {last:?}");
}

#[test]
fn an_expired_lease_goes_to_another_and_its_holder_decides_nothing() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    let place = place("expired");
    let published = at_once(&server, &place, |_, ask| {
        for _ in 0..ROUNDS {
            let known = ask(&Command::Read { known: None })
                .now
                .map(|told| told.version);
            let opened = ask(&Command::Change {
                known,
                to: shared(State::Open, 0),
                cause: Cause::Tripped { failures: 5 },
                again: false,
            });
            let known = opened.now.map(|told| told.version);
            // It is over at once.
            let leased = ask(&Command::Lease { known, lasts: 0 });
            if leased.verdict == Verdict::Done {
                let known = leased.now.map(|told| told.version);
                ask(&Command::Change {
                    known,
                    to: shared(State::Closed, 0),
                    cause: Cause::Recovered,
                    again: false,
                });
            }
        }
    });
    let mut taken_over = 0;
    for pair in published.windows(2) {
        let (before, after) = (&pair[0], &pair[1]);
        assert_eq!(after.version.counter, before.version.counter + 1);
        if let Some((holder, _)) = &before.lease
            && after.by != *holder
        {
            assert_eq!(after.cause, Cause::Leased);
            taken_over += 1;
        }
    }
    println!("{taken_over} of {} leases taken over", published.len());
}

#[test]
fn counts_of_all_are_neither_lost_nor_doubled() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    let place = place("counts");
    let never = Limits::Rate {
        failures: None,
        slow: None,
        min_calls: 0,
    };
    let count = |known, number: usize, round: usize, limits| Command::Count {
        known,
        counts: Counts {
            calls: (round * 2 + number) as u32,
            failures: round as u32,
            slow: number as u32,
        },
        limits,
        quorum: Quorum::Instances(INSTANCES as u32),
        to: shared(State::Open, LONG),
    };
    let published = at_once(&server, &place, |number, ask| {
        for round in 1..=ROUNDS {
            // Said twice, as after an answer that was lost.
            for _ in 0..=(round + number) % 2 {
                let counted = ask(&count(None, number, round, never));
                assert_eq!(counted.verdict, Verdict::Done);
            }
        }
    });
    let causes: Vec<_> = published.iter().map(|told| told.cause).collect();
    assert_eq!(causes, [Cause::Founded]);
    let hash = stored(&mut server.connect(), &place);
    let numbers: u64 = (0..INSTANCES as u64).sum();
    let failures = (INSTANCES * ROUNDS) as u64;
    assert_eq!(sums(&hash, 0), INSTANCES as u64);
    assert_eq!(sums(&hash, 1), failures * 2 + numbers);
    assert_eq!(sums(&hash, 2), failures);
    assert_eq!(sums(&hash, 3), numbers);
    assert_eq!(sums(&hash, 4), INSTANCES as u64);
    assert_eq!(sums(&hash, 5), INSTANCES as u64 - 1);
}

#[test]
fn the_fleet_opens_once_and_exactly_at_the_threshold() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    let place = place("threshold");
    let threshold = (INSTANCES * ROUNDS / 2) as u32;
    let published = at_once(&server, &place, |_, ask| {
        for round in 1..=ROUNDS {
            // Each says one more than before, so that no sum is left out.
            let counted = ask(&Command::Count {
                known: None,
                counts: Counts {
                    failures: round as u32,
                    ..Counts::default()
                },
                limits: Limits::Consecutive { threshold },
                quorum: Quorum::Instances(1),
                to: shared(State::Open, LONG),
            });
            if counted.verdict == Verdict::Refused {
                return;
            }
        }
    });
    let causes: Vec<_> = published.iter().map(|told| told.cause).collect();
    let counted = Cause::Counted {
        failures: threshold,
    };
    assert_eq!(causes, [Cause::Founded, counted]);
}
