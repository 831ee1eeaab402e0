//! The lock that requests share in the sick servers, and how many of them wait for it.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::sys::PthreadMutex;

/// A request waited for the lock when it took this long to get: far above the cost of a lock that
/// is free, far below any hold that a server is asked for.
const WAITED: Duration = Duration::from_millis(1);

enum Kind<T> {
    /// A word in user space that does not show who holds it.
    Std(Mutex<T>),
    /// The C library's, which keeps the id of the thread that holds it.
    Pthread(PthreadMutex<T>),
}

/// A lock around a value that counts who waited for it, and why.
pub(crate) struct Lock<T> {
    kind: Kind<T>,
    is_held_long: AtomicBool,
    /// How often it was held at length.
    pub(crate) holds: AtomicU64,
    /// Requests that waited for it: for each other, or while it was held at length.
    pub(crate) waits: AtomicU64,
}

impl<T> Lock<T> {
    /// The standard library's lock, or the C library's.
    pub(crate) fn new(value: T, is_pthread: bool) -> Self {
        let kind = if is_pthread {
            Kind::Pthread(PthreadMutex::new(value))
        } else {
            Kind::Std(Mutex::new(value))
        };
        Self {
            kind,
            is_held_long: AtomicBool::new(false),
            holds: AtomicU64::new(0),
            waits: AtomicU64::new(0),
        }
    }

    fn locked<R>(&self, work: impl FnOnce(&mut T) -> R) -> R {
        match &self.kind {
            Kind::Std(mutex) => work(&mut mutex.lock().unwrap_or_else(PoisonError::into_inner)),
            Kind::Pthread(mutex) => mutex.locked(work),
        }
    }

    fn counted<R>(&self, is_meant: bool, work: impl FnOnce(&mut T) -> R) -> R {
        let begin = Instant::now();
        self.locked(|value| {
            if is_meant && begin.elapsed() >= WAITED {
                self.waits.fetch_add(1, Ordering::Relaxed);
            }
            work(value)
        })
    }

    /// Does the little that a request does under the lock.
    pub(crate) fn briefly<R>(&self, work: impl FnOnce(&mut T) -> R) -> R {
        // A wait for another request that lost its CPU is not the fault.
        self.counted(self.is_held_long.load(Ordering::Relaxed), work)
    }

    /// Does under the lock what takes a request long, each in its turn.
    #[inline(never)]
    pub(crate) fn in_turn<R>(&self, work: impl FnOnce(&mut T) -> R) -> R {
        self.counted(true, work)
    }

    /// Does what should not be done under the lock.
    #[inline(never)]
    pub(crate) fn at_length<R>(&self, work: impl FnOnce(&mut T) -> R) -> R {
        self.locked(|value| {
            self.is_held_long.store(true, Ordering::Relaxed);
            let result = work(value);
            self.is_held_long.store(false, Ordering::Relaxed);
            self.holds.fetch_add(1, Ordering::Relaxed);
            result
        })
    }
}
