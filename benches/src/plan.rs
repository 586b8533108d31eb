//! What is measured, and what it should cost.

use crate::calls::{consume, poll};
use crate::harness::{Bench, Cost, Effort, Id, Samples};
use crate::instructions::{self, Beside, NotCounted, Profile, Profiles};
use crate::{keyed, ours, peers};
use breakerbox::observe::{self, Observer};
use breakerbox::{Clock, SystemClock};
use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// What everything else is compared with: nanoseconds, or instructions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Base {
    /// One relaxed `fetch_add`.
    pub(crate) fetch_add: f64,
    /// The same while another thread does it too.
    pub(crate) contended: f64,
    /// `Instant::now()`.
    pub(crate) now: f64,
    /// The clock of our breakers.
    pub(crate) coarse: f64,
    /// A loop around nothing.
    pub(crate) nothing: f64,
}

/// The subjects of [`Base`].
#[derive(Clone, Copy)]
struct BaseIds {
    fetch_add: Id,
    contended: Id,
    now: Id,
    coarse: Id,
    nothing: Id,
}

impl BaseIds {
    fn all(self) -> [Id; 5] {
        [
            self.fetch_add,
            self.contended,
            self.now,
            self.coarse,
            self.nothing,
        ]
    }

    fn each(self, number: impl Fn(Id) -> f64) -> Base {
        Base {
            fetch_add: number(self.fetch_add),
            contended: number(self.contended),
            now: number(self.now),
            coarse: number(self.coarse),
            nothing: number(self.nothing),
        }
    }
}

/// The unit of a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    FetchAdd,
    Contended,
    Now,
}

impl Unit {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::FetchAdd => "FA",
            Self::Contended => "contended FA",
            Self::Now => "`Instant::now`",
        }
    }

    pub(crate) fn of(self, base: &Base) -> f64 {
        match self {
            Self::FetchAdd => base.fetch_add,
            Self::Contended => base.contended,
            Self::Now => base.now,
        }
    }
}

/// What ours should not exceed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reach {
    units: f64,
    /// One `Instant::now()` more.
    and_clock: bool,
    /// A future's size over the bare one.
    bytes: Option<usize>,
}

impl Reach {
    const fn of(units: f64) -> Self {
        Self {
            units,
            and_clock: false,
            bytes: None,
        }
    }

    pub(crate) fn text(&self, unit: Unit) -> String {
        let clock = if self.and_clock { "1 clock + " } else { "" };
        let bytes = self
            .bytes
            .map_or(String::new(), |bytes| format!(", <= {bytes} bytes"));
        format!(
            "<= {clock}{} {}, 0 allocations{bytes}",
            self.units,
            unit.name()
        )
    }

    fn nanos(&self, unit: Unit, base: &Base) -> f64 {
        let clock = if self.and_clock { base.now } else { 0.0 };
        clock + self.units * unit.of(base)
    }
}

/// One figure to reach, and who is measured for it.
pub(crate) struct Section {
    pub(crate) title: &'static str,
    pub(crate) unit: Unit,
    pub(crate) reach: Reach,
    lines: Vec<Line>,
}

struct Line {
    who: &'static str,
    through: &'static str,
    id: Id,
    /// The call without a breaker, where the difference is what counts.
    over: Option<Id>,
    /// The future's size over the bare one's.
    bytes: Option<usize>,
    /// Only set beside the others.
    note: bool,
}

const OURS: &str = "breakerbox";

/// What came out for one line.
pub(crate) struct Row {
    pub(crate) who: &'static str,
    pub(crate) through: &'static str,
    pub(crate) cost: Cost,
    pub(crate) ratio: f64,
    /// Ours alone, once an observer is installed.
    pub(crate) observed: Option<(Cost, f64)>,
    /// Ours alone, once one is installed that hears of the end of each call.
    pub(crate) told: Option<(Cost, f64)>,
    pub(crate) allocations: f64,
    pub(crate) bytes: Option<usize>,
    /// Where they were counted, of a call on one thread.
    pub(crate) instructions: Option<Profile>,
    /// Ours alone.
    pub(crate) reached: Option<bool>,
}

pub(crate) struct Results {
    pub(crate) base: Base,
    /// Measured again, beside our calls with an observer.
    pub(crate) observed_base: Base,
    /// And once more, beside our calls whose end is told.
    pub(crate) told_base: Base,
    /// Instructions, not a number on two threads; or why they were not counted.
    pub(crate) base_instructions: Result<Base, NotCounted>,
    pub(crate) sections: Vec<(Section, Vec<Row>)>,
}

/// Instructions of one call alone.
pub(crate) struct Counted {
    pub(crate) title: &'static str,
    pub(crate) who: &'static str,
    pub(crate) through: &'static str,
    pub(crate) profile: Profile,
    /// Ours alone, in all, once an observer is installed.
    pub(crate) observed: Option<f64>,
    /// Ours alone, in all, once one is installed that hears of the end of each call.
    pub(crate) told: Option<f64>,
}

impl Counted {
    pub(crate) fn is_ours(&self) -> bool {
        self.who == OURS
    }
}

/// All sections.
pub(crate) struct Plan {
    base: BaseIds,
    sections: Vec<Section>,
}

/// A section that is being filled.
struct Filling<'b> {
    bench: &'b mut Bench,
    lines: Vec<Line>,
}

impl Filling<'_> {
    fn line(&mut self, who: &'static str, through: &'static str, id: Id) -> &mut Line {
        self.lines.push(Line {
            who,
            through,
            id,
            over: None,
            bytes: None,
            note: false,
        });
        let last = self.lines.len() - 1;
        &mut self.lines[last]
    }

    fn one(
        &mut self,
        who: &'static str,
        through: &'static str,
        call: impl FnMut() + 'static,
    ) -> &mut Line {
        let id = self.bench.one(call);
        self.line(who, through, id)
    }

    fn two(&mut self, who: &'static str, through: &'static str, call: impl Fn() + Sync + 'static) {
        let id = self.bench.two(call);
        self.line(who, through, id);
    }
}

impl Line {
    fn over(&mut self, bare: Id) -> &mut Self {
        self.over = Some(bare);
        self
    }

    fn bytes(&mut self, guarded: usize, bare: usize) -> &mut Self {
        self.bytes = Some(guarded.saturating_sub(bare));
        self
    }

    /// What must be measured for it.
    fn ids(&self) -> impl Iterator<Item = Id> {
        self.over.into_iter().chain([self.id])
    }

    fn profile(&self, profiles: &Profiles) -> Option<Profile> {
        let profile = profiles.get(&self.id)?;
        match self.over {
            None => Some(profile.clone()),
            Some(bare) => Some(profile.over(profiles.get(&bare)?)),
        }
    }

    /// Not what the figure is about.
    fn note(&mut self) {
        self.note = true;
    }
}

impl Plan {
    pub(crate) fn new(bench: &mut Bench) -> Self {
        static COUNTER: AtomicU64 = AtomicU64::new(0);
        static CONTENDED: AtomicU64 = AtomicU64::new(0);
        ours::open();
        ours::share();

        let fetch_add = bench.one(|| {
            black_box(COUNTER.fetch_add(1, Ordering::Relaxed));
        });
        let contended = bench.two(|| {
            black_box(CONTENDED.fetch_add(1, Ordering::Relaxed));
        });
        let now = bench.one(|| {
            black_box(Instant::now());
        });
        let coarse = bench.one(|| {
            black_box(SystemClock.now());
        });
        let nothing = bench.one(|| {
            black_box(());
        });
        let bare = Bare {
            plain: bench.one(ours::call_bare),
            future: bench.one(|| {
                consume(poll(ours::bare_async(black_box(1))));
            }),
            telling: bench.one(|| {
                consume(poll(ours::bare_telling_async(black_box(1))));
            }),
            of_peers: bench.one(peers::call_bare_async),
        };
        let base = BaseIds {
            fetch_add,
            contended,
            now,
            coarse,
            nothing,
        };
        let mut plan = Self {
            base,
            sections: Vec::new(),
        };
        plan.closed(bench, bare);
        plan.asynchronous(bench, bare);
        plan.rates(bench, bare);
        plan.open(bench);
        plan.keyed(bench, bare);
        plan
    }

    fn section(
        &mut self,
        title: &'static str,
        (unit, reach): (Unit, Reach),
        bench: &mut Bench,
        fill: impl FnOnce(&mut Filling<'_>),
    ) {
        let lines = Vec::new();
        let mut filling = Filling { bench, lines };
        fill(&mut filling);
        let lines = filling.lines;
        self.sections.push(Section {
            title,
            unit,
            reach,
            lines,
        });
    }

    fn closed(&mut self, bench: &mut Bench, bare: Bare) {
        let figure = (Unit::FetchAdd, Reach::of(0.3));
        self.section("Closed, success, plain, one thread", figure, bench, |s| {
            s.one(OURS, "`admit`, `success`", ours::permit);
            s.one(OURS, "`call_sync`", ours::call_sync);
            s.one(
                OURS,
                "annotated fn, over the bare one",
                ours::call_annotated,
            )
            .over(bare.plain);
            s.one(
                OURS,
                "fleet breaker: `admit`, `success`",
                ours::permit_of_fleet,
            );
            s.one(OURS, "fleet breaker: `call_sync`", ours::call_sync_of_fleet);
            s.one(
                OURS,
                "fleet breaker: annotated fn, over the bare one",
                ours::call_annotated_of_fleet,
            )
            .over(bare.plain);
            s.one(
                "ferryman-core",
                "`try_acquire`, `record_success`",
                peers::ferryman_plain(),
            );
            s.one("recloser", "`call`, 100 calls", peers::recloser_plain());
            s.one(
                "failsafe",
                "`call`, consecutive failures",
                peers::failsafe_plain(),
            );
            s.one(
                "circuitbreaker-rs",
                "`call`",
                peers::circuitbreaker_rs_plain(),
            );
        });
        let figure = (Unit::FetchAdd, Reach::of(0.35));
        self.section(
            "Closed, success, plain, two threads on one breaker, each",
            figure,
            bench,
            |s| {
                s.two(OURS, "`admit`, `success`", ours::permit);
                s.two(OURS, "`call_sync`", ours::call_sync);
                s.two(
                    "ferryman-core",
                    "`try_acquire`, `record_success`",
                    peers::ferryman_plain(),
                );
                s.two("recloser", "`call`, 100 calls", peers::recloser_plain());
                s.two(
                    "failsafe",
                    "`call`, consecutive failures",
                    peers::failsafe_plain(),
                );
                s.two(
                    "circuitbreaker-rs",
                    "`call`",
                    peers::circuitbreaker_rs_plain(),
                );
            },
        );
    }

    fn asynchronous(&mut self, bench: &mut Bench, bare: Bare) {
        let size = size_of_val(&ours::bare_async(1));
        let of_peers = size_of_val(&peers::bare_async(1));
        let mut reach = Reach::of(0.5);
        reach.bytes = Some(32);
        let figure = (Unit::FetchAdd, reach);
        self.section("Ready future, over the bare one", figure, bench, |s| {
            s.one(OURS, "annotated async fn", || {
                consume(poll(ours::annotated_async(black_box(1))));
            })
            .over(bare.future)
            .bytes(size_of_val(&ours::annotated_async(1)), size);
            s.one(OURS, "annotated, `classify`", || {
                consume(poll(ours::classified_async(black_box(1))));
            })
            .over(bare.future)
            .bytes(size_of_val(&ours::classified_async(1)), size);
            s.one(
                OURS,
                "annotated, its error holds a `CircuitOpenError`",
                || {
                    consume(poll(ours::telling_async(black_box(1))));
                },
            )
            .over(bare.telling)
            .note();
            s.one(OURS, "`call`", ours::call_by_hand)
                .over(bare.future)
                .note();
            let (call, bytes) = peers::ferryman_async();
            s.one(
                "ferryman-core",
                "`try_acquire` .. `record_success` in an async fn",
                call,
            )
            .over(bare.of_peers)
            .bytes(bytes, of_peers);
            let (call, bytes) = peers::recloser_async();
            s.one("recloser", "`AsyncRecloser::call`, 100 calls", call)
                .over(bare.of_peers)
                .bytes(bytes, of_peers);
            let (call, bytes) = peers::failsafe_async();
            s.one("failsafe", "`futures::CircuitBreaker::call`", call)
                .over(bare.of_peers)
                .bytes(bytes, of_peers);
            let (call, bytes) = peers::circuitbreaker_rs_async();
            s.one("circuitbreaker-rs", "`call_async`", call)
                .over(bare.of_peers)
                .bytes(bytes, of_peers);
            let (call, bytes) = peers::seatbelt(false);
            s.one(
                "seatbelt",
                "`layered::Service::execute`, fast instant, 10 s",
                call,
            )
            .over(bare.of_peers)
            .bytes(bytes, of_peers);
            let call = peers::tower_resilience(peers::Of::Calls, false);
            s.one("tower-resilience", "`poll_ready`, `call`, 100 calls", call)
                .over(bare.of_peers);
        });
        let mut reach = Reach::of(1.0);
        reach.bytes = Some(152);
        let figure = (Unit::FetchAdd, reach);
        self.section(
            "Ready future with a time limit, over the bare one",
            figure,
            bench,
            |s| {
                s.one(OURS, "annotated, `timeout`", || {
                    consume(poll(ours::limited_async(black_box(1))));
                })
                .over(bare.future)
                .bytes(size_of_val(&ours::limited_async(1)), size);
                let (call, bytes) = peers::tokio_timeout();
                s.one("tokio", "`time::timeout`, no breaker", call)
                    .over(bare.of_peers)
                    .bytes(bytes, of_peers);
            },
        );
    }

    fn rates(&mut self, bench: &mut Bench, bare: Bare) {
        let figure = (Unit::FetchAdd, Reach::of(2.5));
        self.section(
            "Rate over 100 calls, closed, success, one thread",
            figure,
            bench,
            |s| {
                s.one(OURS, "`admit`, `success`", ours::permit_by_calls);
                s.one(OURS, "`call_sync`", ours::call_sync_by_calls);
                s.one("recloser", "`call`", peers::recloser_plain());
                let call = peers::tower_resilience(peers::Of::Calls, false);
                s.one(
                    "tower-resilience",
                    "`poll_ready`, `call`, over a bare future",
                    call,
                )
                .over(bare.of_peers);
            },
        );
        let figure = (Unit::Contended, Reach::of(3.0));
        self.section(
            "Rate over 100 calls, closed, success, two threads on one breaker, each",
            figure,
            bench,
            |s| {
                s.two(OURS, "`admit`, `success`", ours::permit_by_calls);
                s.two(OURS, "`call_sync`", ours::call_sync_by_calls);
                s.two("recloser", "`call`", peers::recloser_plain());
            },
        );
        let mut reach = Reach::of(2.5);
        reach.and_clock = true;
        let figure = (Unit::FetchAdd, reach);
        self.section("Rate over 10 s, closed, success", figure, bench, |s| {
            s.one(OURS, "`admit`, `success`", ours::permit_by_time);
            s.one(OURS, "`call_sync`", ours::call_sync_by_time);
            s.one(OURS, "annotated async fn, over the bare one", || {
                consume(poll(ours::by_time_async(black_box(1))));
            })
            .over(bare.future);
            s.one(
                "failsafe",
                "`call`, success rate",
                peers::failsafe_by_time(),
            );
            let (call, _) = peers::seatbelt(false);
            s.one(
                "seatbelt",
                "`execute`, fast instant, over a bare future",
                call,
            )
            .over(bare.of_peers);
            let call = peers::tower_resilience(peers::Of::Time, false);
            s.one(
                "tower-resilience",
                "`poll_ready`, `call`, over a bare future",
                call,
            )
            .over(bare.of_peers);
        });
    }

    fn open(&mut self, bench: &mut Bench) {
        let figure = (Unit::Now, Reach::of(0.5));
        self.section("Refused while open", figure, bench, |s| {
            s.one(OURS, "`admit`", ours::admit_refused);
            s.one(OURS, "`call_sync`", ours::call_sync_refused);
            s.one(OURS, "annotated fn", ours::annotated_is_refused);
            s.one("ferryman-core", "`try_acquire`", peers::ferryman_refused());
            s.one("failsafe", "`is_call_permitted`", peers::failsafe_refused());
            s.one("recloser", "`call`", peers::recloser_refused());
            s.one(
                "circuitbreaker-rs",
                "`call`",
                peers::circuitbreaker_rs_refused(),
            );
            let (call, _) = peers::seatbelt(true);
            s.one("seatbelt", "`execute`, fast instant", call);
            let call = peers::tower_resilience(peers::Of::Calls, true);
            s.one("tower-resilience", "`poll_ready`, `call`", call);
        });
    }

    fn keyed(&mut self, bench: &mut Bench, bare: Bare) {
        let (numbers, texts) = (keyed::numbers(), keyed::texts());
        let mut reach = Reach::of(8.0);
        reach.bytes = Some(128);
        let figure = (Unit::FetchAdd, reach);
        self.section("Keyed call, 100,000 keys", figure, bench, |s| {
            let by_number = numbers.always_the_same();
            s.one(OURS, "`get`, `call_sync`, a number, the same", by_number)
                .bytes(numbers.bytes, 0);
            let by_text = texts.always_the_same();
            s.one(OURS, "`get`, `call_sync`, a text of 16, the same", by_text)
                .bytes(texts.bytes, 0);
            let by_number = numbers.annotated_always_the_same();
            s.one(OURS, "annotated fn, a number, the same", by_number)
                .over(bare.plain);
            let by_text = texts.annotated_always_the_same();
            s.one(OURS, "annotated fn, a text of 16, the same", by_text)
                .over(bare.plain);
            let by_number = numbers.in_turn();
            s.one(OURS, "`get`, `call_sync`, a number, random", by_number);
            let by_text = texts.in_turn();
            s.one(OURS, "`get`, `call_sync`, a text of 16, random", by_text);
            let by_number = numbers.annotated_in_turn();
            s.one(OURS, "annotated fn, a number, random", by_number)
                .over(bare.plain);
            let by_text = texts.annotated_in_turn();
            s.one(OURS, "annotated fn, a text of 16, random", by_text)
                .over(bare.plain);
            let by_number = numbers.map_in_turn();
            s.one(
                "std",
                "`RwLock<HashMap<_, Arc<_>>>`, no breaker, a number, random",
                by_number,
            );
            let by_text = texts.map_in_turn();
            s.one(
                "std",
                "`RwLock<HashMap<_, Arc<_>>>`, no breaker, a text of 16, random",
                by_text,
            );
        });
    }

    /// Counts the instructions of these subjects, as far as they run on one thread.
    fn profiles(bench: &Bench, mut ids: Vec<Id>, beside: Beside) -> Result<Profiles, NotCounted> {
        ids.retain(|id| bench.is_on_one(*id));
        ids.sort_unstable();
        ids.dedup();
        instructions::count(&ids, beside)
    }

    /// Instructions alone, of the calls that have a word in their title or name.
    pub(crate) fn count(self, bench: &Bench, word: &str) -> Result<Vec<Counted>, NotCounted> {
        let word = word.to_lowercase();
        let is_meant = |section: &Section, line: &Line| {
            let names = [section.title, line.who, line.through];
            bench.is_on_one(line.id) && names.iter().any(|name| name.to_lowercase().contains(&word))
        };
        let mut meant = Vec::new();
        for section in &self.sections {
            let lines = section.lines.iter();
            meant.extend(
                lines
                    .filter(|line| is_meant(section, line))
                    .map(|line| (section.title, line)),
            );
        }
        let ids = meant.iter().flat_map(|(_, line)| line.ids()).collect();
        let profiles = Self::profiles(bench, ids, Beside::Nobody)?;
        let ours = meant.iter().filter(|(_, line)| line.who == OURS);
        let ours: Vec<Id> = ours.flat_map(|(_, line)| line.ids()).collect();
        let observed = Self::profiles(bench, ours.clone(), Beside::Observer)?;
        let told = Self::profiles(bench, ours, Beside::Told)?;
        let counted = meant.into_iter().filter_map(|(title, line)| {
            let beside = |profiles| {
                let profile = (line.who == OURS).then(|| line.profile(profiles));
                profile.flatten().map(|profile: Profile| profile.total())
            };
            Some(Counted {
                title,
                who: line.who,
                through: line.through,
                profile: line.profile(&profiles)?,
                observed: beside(&observed),
                told: beside(&told),
            })
        });
        Ok(counted.collect())
    }

    /// Measures everything.
    pub(crate) fn run(self, bench: &mut Bench, effort: Effort) -> Results {
        let lines = self.sections.iter().flat_map(|section| &section.lines);
        let mut ids = self.base.all().to_vec();
        if effort.counts_all {
            ids.extend(lines.flat_map(Line::ids));
        }
        let profiles = Self::profiles(bench, ids, Beside::Nobody);
        let samples = bench.measure(None, effort);

        // From here on there is one, for the rest of the process.
        install(Beside::Observer);
        let mut again = self.base.all().to_vec();
        for line in self.sections.iter().flat_map(|section| &section.lines) {
            if line.who == OURS {
                again.extend(line.ids());
            }
        }
        again.sort_unstable();
        again.dedup();
        let observed = bench.measure(Some(&again), effort);
        install(Beside::Told);
        let told = bench.measure(Some(&again), effort);

        let base = self.base.each(|id| samples.cost(id, None).median);
        let observed_base = self.base.each(|id| observed.cost(id, None).median);
        let told_base = self.base.each(|id| told.cost(id, None).median);
        let (base_instructions, profiles) = match profiles {
            Ok(profiles) => {
                let total = |id| profiles.get(&id).map_or(f64::NAN, Profile::total);
                (Ok(self.base.each(total)), profiles)
            }
            Err(why) => (Err(why), Profiles::new()),
        };
        let sections = self.sections.into_iter().map(|section| {
            let rows = section.lines.iter().map(|line| {
                let (unit, reach) = (section.unit, section.reach);
                let cost = samples.cost(line.id, line.over);
                let allocations = bench.allocations(line.id);
                let beside = |samples: &Samples, base: &Base| {
                    let cost = samples.cost(line.id, line.over);
                    (line.who == OURS).then(|| (cost, cost.median / unit.of(base)))
                };
                let reached = (line.who == OURS && !line.note).then(|| {
                    let fits = match (line.bytes, reach.bytes) {
                        (Some(bytes), Some(most)) => bytes <= most,
                        _ => true,
                    };
                    cost.median <= reach.nanos(unit, &base) && allocations == 0.0 && fits
                });
                Row {
                    who: line.who,
                    through: line.through,
                    cost,
                    ratio: cost.median / unit.of(&base),
                    observed: beside(&observed, &observed_base),
                    told: beside(&told, &told_base),
                    allocations,
                    bytes: line.bytes,
                    instructions: line.profile(&profiles),
                    reached,
                }
            });
            let rows = rows.collect();
            (section, rows)
        });
        let sections = sections.collect();
        Results {
            base,
            observed_base,
            told_base,
            base_instructions,
            sections,
        }
    }
}

/// The calls that nobody guards.
#[derive(Clone, Copy)]
struct Bare {
    plain: Id,
    future: Id,
    telling: Id,
    of_peers: Id,
}

/// Installs an observer for the rest of the process.
pub(crate) fn install(beside: Beside) {
    match beside {
        Beside::Nobody => {}
        Beside::Observer => observe::install(Counting::default()).forever(),
        Beside::Told => observe::install(Told).forever(),
    }
}

/// An observer that hears of the end of each call.
struct Told;

impl Observer for Told {
    fn wants_calls(&self) -> bool {
        true
    }

    fn call_ended(&self, event: &observe::CallEnded<'_>) {
        black_box((event.outcome, event.took));
    }
}

/// An observer that counts rejections.
#[derive(Default)]
struct Counting(AtomicU64);

impl Observer for Counting {
    fn rejected(&self, _: &observe::Rejection<'_>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}
