//! What is counted of a fleet that circuits are shared with: of no breaker.

use super::names::{self, METADATA, Metric};
use super::recorder::To;
use metrics::{Key, Label};

/// A fleet at the recorder of this thread. Its handles are not kept: it is lost and reached rarely.
pub(super) struct Fleet<'a> {
    pub(super) to: &'a To,
    pub(super) name: &'a str,
}

impl Fleet<'_> {
    pub(super) fn lost(&self, losses: u64) {
        self.count(losses);
        self.show(0.0);
    }

    pub(super) fn restored(&self) {
        self.count(0);
        self.show(1.0);
    }

    fn count(&self, losses: u64) {
        let key = self.key(&names::SHARING_LOSSES);
        let counter = self
            .to
            .with(|recorder| recorder.register_counter(&key, &METADATA));
        counter.increment(losses);
    }

    fn show(&self, is_reached: f64) {
        let key = self.key(&names::SHARING);
        let gauge = self
            .to
            .with(|recorder| recorder.register_gauge(&key, &METADATA));
        gauge.set(is_reached);
    }

    fn key(&self, of: &Metric) -> Key {
        Key::from_parts(of.name, vec![Label::new("fleet", self.name.to_owned())])
    }
}
