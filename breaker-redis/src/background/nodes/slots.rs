//! Which node of a cluster has which keys.

/// How many there are.
pub(in super::super) const SLOTS: u16 = 16_384;

/// No node is known to have it.
const UNKNOWN: u16 = u16::MAX;

/// A key's slot, as in the [specification]: by what stands between the first `{` and the next `}`, if
/// that is something.
///
/// [specification]: https://redis.io/docs/latest/operate/oss_and_stack/reference/cluster-spec/
pub(in super::super) fn slot_of(key: &[u8]) -> u16 {
    crc16::State::<crc16::XMODEM>::calculate(tag(key)) % SLOTS
}

fn tag(key: &[u8]) -> &[u8] {
    let begun = key.iter().position(|byte| *byte == b'{');
    let Some((_, rest)) = begun.and_then(|at| key.get(at..)?.split_first()) else {
        return key;
    };
    match rest.iter().position(|byte| *byte == b'}') {
        Some(length @ 1..) => &rest[..length],
        _ => key,
    }
}

/// Slots from the first to the last, and where they are.
#[derive(Clone, Debug, PartialEq)]
pub(in super::super) struct Range {
    pub(in super::super) first: u16,
    pub(in super::super) last: u16,
    pub(in super::super) host: String,
    pub(in super::super) port: u16,
}

/// The number of each slot's node.
pub(in super::super) struct Slots(Box<[u16]>);

impl Slots {
    pub(in super::super) fn unknown() -> Self {
        Self(vec![UNKNOWN; usize::from(SLOTS)].into())
    }

    pub(in super::super) fn node(&self, slot: u16) -> Option<usize> {
        let node = *self.0.get(usize::from(slot))?;
        (node != UNKNOWN).then_some(usize::from(node))
    }

    /// No node is known to have it any more.
    pub(in super::super) fn forget(&mut self, slot: u16) {
        self.set(slot, slot, usize::from(UNKNOWN));
    }

    pub(in super::super) fn set(&mut self, first: u16, last: u16, node: usize) {
        let node = u16::try_from(node).unwrap_or(UNKNOWN);
        if let Some(slots) = self.0.get_mut(usize::from(first)..=usize::from(last)) {
            slots.fill(node);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_those_that_redis_gives() {
        // As `CLUSTER KEYSLOT` says.
        for (key, slot) in [
            ("123456789", 0x31c3),
            ("foo", 12_182),
            ("bar", 5_061),
            ("{foo}bar", 12_182),
            ("breakers{foo}[{bar}]", 12_182),
            ("", 0),
        ] {
            assert_eq!(slot_of(key.as_bytes()), slot, "{key}");
        }
        // Nothing between braces, or no second one: all of it counts.
        for key in ["{}foo", "foo{}{bar}", "{foo", "foo}", "}{"] {
            assert_eq!(tag(key.as_bytes()), key.as_bytes());
        }
        assert_eq!(tag(b"a{{b}}"), b"{b");
    }

    #[test]
    fn a_slot_has_the_node_that_was_said_last() {
        let mut slots = Slots::unknown();
        assert_eq!(slots.node(0), None);
        slots.set(0, SLOTS - 1, 3);
        slots.set(5, 5, 7);
        assert_eq!([4, 5, 6].map(|slot| slots.node(slot)), [3, 7, 3].map(Some));
        slots.set(9, 8, 1);
        slots.set(0, u16::MAX, 1);
        assert_eq!((slots.node(9), slots.node(SLOTS)), (Some(3), None));
    }
}
