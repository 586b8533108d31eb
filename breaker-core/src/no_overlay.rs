//! Instead of `overlay.rs` in a program with one thread: there a configuration stays as it was
//! declared, and the compiler leaves out what asks whether it did. (JavaScript's module is such
//! a program, and is to be small.)

pub(crate) struct Overlay<const WORDS: usize>;

#[derive(Clone, Copy)]
pub(crate) struct Laid<const WORDS: usize> {
    pub(crate) mask: u64,
    pub(crate) words: [u64; WORDS],
}

impl<const WORDS: usize> Overlay<WORDS> {
    pub(crate) const fn new() -> Self {
        Self
    }

    #[inline]
    pub(crate) fn is_on(&self) -> bool {
        false
    }

    #[inline]
    pub(crate) fn read(&self) -> Option<Laid<WORDS>> {
        None
    }

    #[inline]
    pub(crate) fn clear(&self) -> Option<Laid<WORDS>> {
        None
    }
}
