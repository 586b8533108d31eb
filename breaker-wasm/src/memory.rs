//! A small allocator: what is freed goes to a list for its size, a power of two,
//! and comes back from there. The standard library's would be a third of the
//! module.
#![allow(unsafe_code)]

use core::alloc::{GlobalAlloc, Layout};
use core::arch::wasm32::memory_grow;
use core::cell::UnsafeCell;
use core::ptr::null_mut;

const PAGE: usize = 65_536;
const SMALLEST: usize = 16;

struct Heap(UnsafeCell<Space>);

struct Space {
    /// Where the next block that never was in use begins.
    next: usize,
    /// Where the memory ends that was asked for.
    end: usize,
    /// The first free block of each power of two; it begins with a pointer to
    /// the next one.
    free: [*mut u8; usize::BITS as usize],
}

// SAFETY: there is one thread; `exchange.rs` says why.
unsafe impl Sync for Heap {}

#[global_allocator]
static HEAP: Heap = Heap(UnsafeCell::new(Space {
    next: 0,
    end: 0,
    free: [null_mut(); usize::BITS as usize],
}));

/// The power of two that holds a layout, as its exponent. Blocks are aligned to
/// their own size, up to a page.
fn class(layout: Layout) -> usize {
    let size = layout.size().max(layout.align()).max(SMALLEST);
    (usize::BITS - (size - 1).leading_zeros()) as usize
}

impl Space {
    fn fresh(&mut self, size: usize) -> *mut u8 {
        let mut start = self.next.next_multiple_of(size.min(PAGE));
        if self.end.saturating_sub(start) < size {
            let pages = size.div_ceil(PAGE);
            let before = memory_grow(0, pages);
            if before == usize::MAX {
                return null_mut();
            }
            // What was left before it is lost: less than the smaller of the
            // block and a page.
            start = before * PAGE;
            self.end = start + pages * PAGE;
        }
        self.next = start + size;
        core::ptr::with_exposed_provenance_mut(start)
    }
}

// SAFETY: a block is the caller's alone from `alloc` to `dealloc`: it comes from
// memory that `memory_grow` gave and nobody had before, or from a list that only
// freed blocks of its size are in. It is at least as large as the layout and
// aligned to its own size (up to a page), which is no less than the alignment.
unsafe impl GlobalAlloc for Heap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let class = class(layout);
        // SAFETY: one thread, and nothing in here allocates.
        let space = unsafe { &mut *self.0.get() };
        let Some(first) = space.free.get_mut(class) else {
            return null_mut();
        };
        let block = *first;
        if block.is_null() {
            return space.fresh(1 << class);
        }
        // SAFETY: `dealloc` wrote the pointer into the block's first bytes.
        *first = unsafe { block.cast::<*mut u8>().read() };
        block
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: as in `alloc`.
        let space = unsafe { &mut *self.0.get() };
        if let Some(first) = space.free.get_mut(class(layout)) {
            // SAFETY: the block is ours again, and holds at least a pointer.
            unsafe { block.cast::<*mut u8>().write(*first) };
            *first = block;
        }
    }
}
