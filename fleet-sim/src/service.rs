//! The service that the fleet calls: it fails, and comes back cold.

use crate::clock::{Moment, SECOND};

/// What a service can do. All of it is so many times what the fleet asks of it when all is well.
#[derive(Clone, Copy, Debug)]
pub struct Capacity {
    /// Once it is warm.
    pub warm: f64,
    /// When it has just started: caches are empty, connections not yet made.
    pub cold: f64,
    /// It is warm after so many seconds of work.
    pub warms_in: f64,
    /// It falls over when so many seconds of work wait in its queue.
    pub queue: f64,
    /// It is down for so long when it has fallen over.
    pub restart: Moment,
    /// How long it takes over a request that need not wait.
    pub takes: Moment,
}

/// What becomes of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// Nobody is there.
    Refused,
    /// It is answered then, unless the service has fallen over before.
    AnsweredAt {
        /// When.
        time: Moment,
        /// The life of the service that it happens in.
        life: u32,
    },
}

/// The service as it is.
#[derive(Debug)]
pub struct Service {
    capacity: Capacity,
    /// Requests a second that the fleet makes when all is well.
    usual: f64,
    up: bool,
    life: u32,
    /// Requests that wait.
    queue: f64,
    /// Requests that this life has answered.
    served: f64,
    seen: Moment,
    comes_back: Moment,
    fell_over: u32,
}

impl Service {
    /// One that has been up for long.
    #[must_use]
    pub fn warm(capacity: Capacity, usual: f64) -> Self {
        Self {
            capacity,
            usual,
            up: true,
            life: 0,
            queue: 0.0,
            served: capacity.warms_in * usual,
            seen: 0,
            comes_back: 0,
            fell_over: 0,
        }
    }

    /// It fails until then.
    pub fn fails(&mut self, until: Moment) {
        self.up = false;
        self.life += 1;
        self.comes_back = until;
    }

    /// Whether it is up.
    #[must_use]
    pub fn is_up(&self, now: Moment) -> bool {
        self.up || now >= self.comes_back
    }

    /// Whether an answer that was to come in that life does come.
    #[must_use]
    pub fn answers(&self, life: u32) -> bool {
        self.life == life
    }

    /// How often it was knocked over.
    #[must_use]
    pub fn fell_over(&self) -> u32 {
        self.fell_over
    }

    /// How long a request would wait that came now, in seconds.
    #[must_use]
    pub fn waiting(&mut self, now: Moment) -> f64 {
        self.work(now);
        self.queue / self.a_second()
    }

    /// Requests a second that it can answer as it is.
    #[must_use]
    pub fn a_second(&self) -> f64 {
        let Capacity {
            warm,
            cold,
            warms_in,
            ..
        } = self.capacity;
        let warmth = self.served / (warms_in * self.usual).max(1.0);
        self.usual * (cold + (warm - cold) * warmth.min(1.0))
    }

    /// A request has come.
    pub fn take(&mut self, now: Moment) -> Taken {
        if !self.is_up(now) {
            return Taken::Refused;
        }
        self.work(now);
        self.queue += 1.0;
        if self.queue > (self.capacity.queue * self.usual).max(2.0) {
            self.fell_over += 1;
            self.fails(now + self.capacity.restart);
            return Taken::Refused;
        }
        let waits = self.queue / self.a_second() * SECOND as f64;
        Taken::AnsweredAt {
            time: now + self.capacity.takes + waits as Moment,
            life: self.life,
        }
    }

    /// What it has done since it was last seen.
    fn work(&mut self, now: Moment) {
        if !self.up && now >= self.comes_back {
            self.up = true;
            self.queue = 0.0;
            self.served = 0.0;
            self.seen = self.comes_back;
        }
        let seconds = now.saturating_sub(self.seen) as f64 / SECOND as f64;
        let done = self.queue.min(self.a_second() * seconds);
        self.queue -= done;
        self.served += done;
        self.seen = now;
    }
}

#[cfg(test)]
mod tests {
    use super::{Capacity, Service, Taken};
    use crate::clock::{MILLISECOND, SECOND};

    const CAPACITY: Capacity = Capacity {
        warm: 2.0,
        cold: 0.5,
        warms_in: 1.0,
        queue: 0.2,
        restart: 5 * SECOND,
        takes: 0,
    };

    fn answered(taken: Taken) -> u64 {
        match taken {
            Taken::AnsweredAt { time, .. } => time,
            Taken::Refused => panic!("refused"),
        }
    }

    #[test]
    fn requests_wait_for_those_before_them() {
        // 200 a second: 5 ms each
        let mut service = Service::warm(CAPACITY, 100.0);
        assert_eq!(answered(service.take(0)), 5 * MILLISECOND);
        assert_eq!(answered(service.take(0)), 10 * MILLISECOND);
        assert_eq!(
            answered(service.take(7_500_000)),
            15 * MILLISECOND,
            "half of the second is done"
        );
        assert_eq!(answered(service.take(SECOND)), SECOND + 5 * MILLISECOND);
    }

    #[test]
    fn it_comes_back_cold_and_warms_by_what_it_serves() {
        let mut service = Service::warm(CAPACITY, 100.0);
        service.fails(SECOND);
        assert_eq!(service.take(0), Taken::Refused);
        assert_eq!(service.take(SECOND - 1), Taken::Refused);
        assert!(service.is_up(SECOND));
        assert_eq!(answered(service.take(SECOND)), SECOND + 20 * MILLISECOND);
        assert!((service.a_second() - 50.0).abs() < 1e-9);
        let mut now = SECOND;
        for _ in 0..50 {
            now += 100 * MILLISECOND;
            answered(service.take(now));
        }
        // 50 of the 100 requests that it takes, so half way from 50 to 200.
        assert!((service.a_second() - 125.0).abs() < 1e-6);
    }

    #[test]
    fn too_long_a_queue_knocks_it_over_and_what_waited_is_lost() {
        let mut service = Service::warm(CAPACITY, 100.0);
        let mut taken = Vec::new();
        for _ in 0..21 {
            taken.push(service.take(0));
        }
        assert_eq!(taken[20], Taken::Refused);
        assert_eq!(service.fell_over(), 1);
        for before in &taken[..20] {
            let Taken::AnsweredAt { life, .. } = *before else {
                panic!("refused");
            };
            assert!(!service.answers(life));
        }
        assert!(!service.is_up(5 * SECOND - 1));
        assert!(service.is_up(5 * SECOND));
        assert_eq!(service.waiting(5 * SECOND), 0.0);
    }
}
