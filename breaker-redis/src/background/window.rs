//! How much is asked at once.

use std::time::Duration;

/// After a restart of Redis all instances ask for all circuits. What they ask at once has to be answered
/// before they take Redis to be gone: so little of each, that ten thousand of them may.
pub(super) const LEAST: usize = 4;

/// And where nobody else asks anything, so many.
const MOST: usize = 1024;

/// How many commands may be unanswered before more is asked: more while answers come quickly, and fewer
/// once they don't. What can wait leaves room for what can't. And what waits here may be settled by a
/// message before it is asked: when all instances see the same failures of many keys, most of it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    room: usize,
}

impl Window {
    /// Nothing is known of Redis yet.
    pub(super) const NEW: Self = Self { room: 32 };

    /// For what can wait.
    pub(super) fn room(self) -> usize {
        self.room
    }

    /// For what somebody waits for.
    pub(super) fn urgent(self) -> usize {
        self.room * 2
    }

    /// So many were answered after so long, of the time after which Redis counts as gone.
    pub(super) fn answered(&mut self, commands: usize, took: Duration, gone: Duration) {
        if took > gone / 8 {
            self.room = (self.room / 2).max(LEAST);
        } else if took < gone / 32 {
            self.room = (self.room + commands.min(self.room)).min(MOST);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{LEAST, MOST, Window};
    use std::time::Duration;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn more_is_asked_of_a_redis_that_is_quick_and_little_of_a_slow_one() {
        let mut window = Window::NEW;
        for _ in 0..100 {
            let before = window.room();
            window.answered(before, Duration::from_millis(1), SECOND);
            assert!(window.room() >= before && window.room() <= MOST);
        }
        assert_eq!(window.room(), MOST);
        window.answered(64, Duration::from_millis(60), SECOND);
        assert_eq!(window.room(), MOST, "neither");
        for _ in 0..100 {
            let before = window.room();
            window.answered(before, Duration::from_millis(200), SECOND);
            assert!(window.room() <= before && window.room() >= LEAST);
        }
        assert_eq!(window.room(), LEAST);
        // Of one that answers each at once, it is not more because it is asked little.
        window.answered(1, Duration::ZERO, SECOND);
        assert_eq!(window.room(), LEAST + 1);
    }
}
