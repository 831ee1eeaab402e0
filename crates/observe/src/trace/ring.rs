//! The memory that the kernel writes records into, one ring a CPU.

use std::ffi::c_void;
use std::io;
use std::os::fd::AsFd;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

/// Where `struct perf_event_mmap_page` keeps `data_head`, `data_tail` and `data_offset`: the
/// first page is laid out so that they begin its second kilobyte.
const HEAD_AT: usize = 1024;
const TAIL_AT: usize = 1032;
const DATA_AT: usize = 1040;

/// A ring that the kernel writes and we read.
#[derive(Debug)]
pub(crate) struct Ring {
    base: NonNull<u8>,
    mapped_bytes: usize,
    /// Where the data begins.
    offset: usize,
    /// Its length, a power of two.
    bytes: usize,
}

#[expect(
    unsafe_code,
    reason = "the memory is reached through this value alone, in any thread"
)]
// SAFETY: nothing in it belongs to a thread.
unsafe impl Send for Ring {}

impl Ring {
    /// Maps a ring of `bytes` of data, a power of two of pages, for an event.
    #[expect(unsafe_code, reason = "mapping memory is")]
    pub(crate) fn map(event: impl AsFd, bytes: usize) -> io::Result<Self> {
        let mapped_bytes = rustix::param::page_size() + bytes;
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: the kernel chooses a place that nothing else uses.
        let base = unsafe {
            mmap(
                ptr::null_mut(),
                mapped_bytes,
                protection,
                MapFlags::SHARED,
                event,
                0,
            )?
        };
        let base = NonNull::new(base.cast::<u8>()).ok_or(io::ErrorKind::OutOfMemory)?;
        let mut ring = Self {
            base,
            mapped_bytes,
            offset: 0,
            bytes,
        };
        ring.offset = ring.word(DATA_AT).load(Ordering::Relaxed) as usize;
        if ring.offset.checked_add(bytes) != Some(mapped_bytes) {
            return Err(io::Error::other(
                "the kernel lays its rings out in another way",
            ));
        }
        Ok(ring)
    }

    /// The same with the largest of `most` bytes, half of that, and so on down to `least` that the kernel
    /// grants (`kernel.perf_event_mlock_kb` bounds it for users without `CAP_IPC_LOCK`).
    pub(crate) fn map_largest(event: impl AsFd, most: usize, least: usize) -> io::Result<Self> {
        let mut bytes = most;
        loop {
            match Self::map(&event, bytes) {
                Err(error) if bytes <= least => return Err(error),
                Err(_) => bytes /= 2,
                mapped => return mapped,
            }
        }
    }

    /// Appends what the kernel has written since the last time to `into` and makes room for more.
    /// Records are whole: the kernel moves its mark past a record once that is written.
    #[expect(unsafe_code, reason = "the memory was mapped by hand")]
    pub(crate) fn drain(&mut self, into: &mut Vec<u8>) {
        // The kernel's writes before it moved its mark are seen by a reader that loads the mark so.
        let head = self.word(HEAD_AT).load(Ordering::Acquire);
        let tail = self.word(TAIL_AT).load(Ordering::Relaxed);
        let length = head.wrapping_sub(tail) as usize;
        if length == 0 || length > self.bytes {
            return;
        }
        let begin = tail as usize & (self.bytes - 1);
        let first = length.min(self.bytes - begin);
        // SAFETY: both pieces lie in the data of the mapping, and the kernel does not touch what
        // lies between its mark and ours.
        unsafe {
            let data = self.base.as_ptr().add(self.offset);
            into.extend_from_slice(std::slice::from_raw_parts(data.add(begin), first));
            into.extend_from_slice(std::slice::from_raw_parts(data, length - first));
        }
        // The copy is done before the kernel sees that it may write there again.
        self.word(TAIL_AT).store(head, Ordering::Release);
    }

    /// A word of the first page, which the kernel and we share.
    #[expect(unsafe_code, reason = "the memory was mapped by hand")]
    fn word(&self, at: usize) -> &AtomicU64 {
        // SAFETY: the place is inside of the first page and aligned to eight bytes.
        unsafe { AtomicU64::from_ptr(self.base.as_ptr().add(at).cast()) }
    }
}

impl Drop for Ring {
    #[expect(unsafe_code, reason = "unmapping memory is")]
    fn drop(&mut self) {
        // SAFETY: nothing else refers to the mapping. An error would leave it, which is harmless.
        let _ = unsafe { munmap(self.base.as_ptr().cast::<c_void>(), self.mapped_bytes) };
    }
}
