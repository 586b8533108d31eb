//! Two threads in every order.

use loom::sync::Arc;
use loom::thread;

/// Runs two threads in every order, then the check. Each of the two is once the
/// thread that loom starts with.
pub(crate) fn race<W: Send + Sync + 'static, A: 'static, B: 'static>(
    world: impl Fn() -> W + Copy + Send + Sync + 'static,
    one: impl Fn(&W) -> A + Copy + Send + Sync + 'static,
    other: impl Fn(&W) -> B + Copy + Send + Sync + 'static,
    check: impl Fn(&W, A, B) + Copy + Send + Sync + 'static,
) {
    race_within(None, world, one, other, check);
}

/// [`race`] in the orders in which a thread is held up at most so many times:
/// for long races, of which all orders would take hours.
pub(crate) fn race_within<W: Send + Sync + 'static, A: 'static, B: 'static>(
    held_up: Option<usize>,
    world: impl Fn() -> W + Copy + Send + Sync + 'static,
    one: impl Fn(&W) -> A + Copy + Send + Sync + 'static,
    other: impl Fn(&W) -> B + Copy + Send + Sync + 'static,
    check: impl Fn(&W, A, B) + Copy + Send + Sync + 'static,
) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = held_up.or(model.preemption_bound);
    model.check(move || {
        let world = Arc::new(world());
        let there = Arc::clone(&world);
        let there = thread::spawn(move || other(&there));
        let one = one(&world);
        check(&world, one, there.join().unwrap());
    });
    model.check(move || {
        let world = Arc::new(world());
        let there = Arc::clone(&world);
        let there = thread::spawn(move || one(&there));
        let other = other(&world);
        check(&world, there.join().unwrap(), other);
    });
}
