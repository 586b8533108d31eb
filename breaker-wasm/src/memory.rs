//! A small allocator: what is freed goes to a list for its size, a power of two,
//! and comes back from there. The standard library's would be a third of the
//! module.
#![allow(unsafe_code)]

use core::alloc::{GlobalAlloc, Layout};
use core::arch::wasm32::{memory_grow, memory_size};
use core::cell::UnsafeCell;
use core::ptr::null_mut;

const PAGE: usize = 65_536;
const SMALLEST: usize = 16;
/// Blocks are up to a page; a breaker's largest window is a sixteenth of one.
const CLASSES: usize = PAGE.trailing_zeros() as usize + 1;

struct Heap(UnsafeCell<Space>);

struct Space {
    /// Where the next block that never was in use begins; 0: there was none yet.
    next: usize,
    /// The first free block of each power of two; it begins with a pointer to
    /// the next one.
    free: [*mut u8; CLASSES],
}

// SAFETY: there is one thread; `exchange.rs` says why.
unsafe impl Sync for Heap {}

#[global_allocator]
static HEAP: Heap = Heap(UnsafeCell::new(Space {
    next: 0,
    free: [null_mut(); CLASSES],
}));

unsafe extern "C" {
    /// The linker's: behind all data and the stack.
    static __heap_base: u8;
}

/// The power of two that holds a layout, as its exponent.
fn class(layout: Layout) -> usize {
    let size = layout.size().max(SMALLEST);
    (usize::BITS - (size - 1).leading_zeros()) as usize
}

impl Space {
    fn fresh(&mut self, size: usize) -> *mut u8 {
        if self.next == 0 {
            self.next = (&raw const __heap_base).addr().next_multiple_of(SMALLEST);
        }
        let start = self.next;
        if memory_size(0) * PAGE - start < size && memory_grow(0, 1) == usize::MAX {
            return null_mut();
        }
        self.next = start + size;
        core::ptr::with_exposed_provenance_mut(start)
    }
}

// SAFETY: a block is the caller's alone from `alloc` to `dealloc`: it comes from
// memory behind all that the linker has placed, which nobody had before, or from a
// list that only freed blocks of its size are in. It is at least as large as the
// layout, and aligned to the smallest block: what is aligned to more gets none.
unsafe impl GlobalAlloc for Heap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if layout.align() > SMALLEST {
            return null_mut();
        }
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
