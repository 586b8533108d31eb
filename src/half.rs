//! A value at any multiple of four bytes.

/// Aligned to half a word at most, where what is read of it is a copy: so that a guarded future of
/// a few bytes is rounded up to a word once, not twice.
#[derive(Clone, Copy)]
#[repr(C, packed(4))]
pub(crate) struct Half<T: Copy>(T);

impl<T: Copy> Half<T> {
    #[inline(always)]
    pub(crate) const fn of(value: T) -> Self {
        Self(value)
    }

    #[inline(always)]
    pub(crate) const fn get(&self) -> T {
        self.0
    }
}
