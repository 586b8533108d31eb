//! Random numbers that are the same on every machine, for the same seed.

use rand_pcg::Pcg32;
use rand_pcg::rand_core::Rng;

/// A stream of random numbers. Each instance has one for its calls, and another one for their way: so
/// the calls of a fleet are the same in all scenarios.
#[derive(Debug)]
pub struct Draws(Pcg32);

impl Draws {
    /// One of the streams of a seed.
    #[must_use]
    pub fn new(seed: u64, stream: u64) -> Self {
        Self(Pcg32::new(seed, stream))
    }

    /// Evenly distributed, above 0 and at most 1.
    pub fn share(&mut self) -> f64 {
        const STEPS: f64 = (1_u64 << 53) as f64;
        ((self.0.next_u64() >> 11) + 1) as f64 / STEPS
    }

    /// Exponentially distributed, with this mean: the time until the next call of many that know
    /// nothing of each other.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -libm::log(self.share()) * mean
    }

    /// Any number.
    pub fn number(&mut self) -> u64 {
        self.0.next_u64()
    }
}

#[cfg(test)]
mod tests {
    use super::Draws;

    #[test]
    fn a_stream_is_the_same_again_and_no_other() {
        let draw = |seed, stream| Draws::new(seed, stream).number();
        assert_eq!(draw(1, 1), draw(1, 1));
        assert_ne!(draw(1, 1), draw(1, 2));
        assert_ne!(draw(1, 1), draw(2, 1));
    }

    #[test]
    fn shares_are_even_and_times_have_their_mean_and_spread() {
        let mut draws = Draws::new(7, 7);
        let count = 100_000;
        let shares: Vec<f64> = (0..count).map(|_| draws.share()).collect();
        assert!(shares.iter().all(|share| *share > 0.0 && *share <= 1.0));
        for tenth in 0..10 {
            let low = f64::from(tenth) / 10.0;
            let within = shares.iter().filter(|s| **s > low && **s <= low + 0.1);
            assert!((within.count() as f64 / f64::from(count) - 0.1).abs() < 0.005);
        }
        let times: Vec<f64> = (0..count).map(|_| draws.exponential(3.0)).collect();
        let mean = times.iter().sum::<f64>() / f64::from(count);
        let square = times.iter().map(|time| time * time).sum::<f64>() / f64::from(count);
        assert!((mean - 3.0).abs() < 0.05, "{mean}");
        assert!(((square - mean * mean).sqrt() - 3.0).abs() < 0.05); // as large as the mean
    }
}
