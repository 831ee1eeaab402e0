//! An interpreter in miniature, with a lock like CPython's (`Python/ceval_gil.c`): one thread at a
//! time is in it; a waiter asks the holder to leave after some milliseconds, and the holder
//! stays out until another thread was in.
#![expect(
    unsafe_code,
    reason = "the lock is made of the C library's, which is what stacks show"
)]

use std::cell::UnsafeCell;
use std::mem;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use crate::work;

/// What is run of a program between two checks whether a thread asks to be let in.
const STEP: Duration = Duration::from_micros(100);

/// Who is in.
#[derive(Clone, Copy, Default)]
struct Inside {
    taken: bool,
    /// How often a thread came in.
    times: u64,
}

/// What the C library needs, which must not move.
struct Door {
    mutex: UnsafeCell<libc::pthread_mutex_t>,
    changed: UnsafeCell<libc::pthread_cond_t>,
    inside: UnsafeCell<Inside>,
}

/// Runs one thread at a time.
pub(crate) struct Interpreter {
    door: Box<Door>,
    /// Whether a waiter has asked the holder to leave.
    asked: AtomicBool,
    switch: Duration,
}

// SAFETY: who is in is read and written with the mutex held, which any thread may take.
unsafe impl Sync for Interpreter {}
// SAFETY: no thread holds the mutex of one that moves, since all methods borrow it.
unsafe impl Send for Interpreter {}

impl Interpreter {
    /// One that no thread is in.
    pub(crate) fn new(switch: Duration) -> Self {
        Self {
            door: Box::new(Door {
                mutex: UnsafeCell::new(libc::PTHREAD_MUTEX_INITIALIZER),
                changed: UnsafeCell::new(libc::PTHREAD_COND_INITIALIZER),
                inside: UnsafeCell::new(Inside::default()),
            }),
            asked: AtomicBool::new(false),
            switch,
        }
    }

    /// Computes for so long in it.
    pub(crate) fn run(&self, cpu: Duration) {
        self.take_gil();
        let mut left = cpu;
        while left > Duration::ZERO {
            let step = left.min(STEP);
            work::burn(step);
            left = left.saturating_sub(step);
            if self.asked.load(Ordering::Relaxed) {
                let times = self.drop_gil();
                while self.asked.load(Ordering::Relaxed) && self.times() == times {
                    thread::yield_now();
                }
                self.take_gil();
            }
        }
        self.drop_gil();
    }

    /// Waits to be let in.
    #[inline(never)]
    fn take_gil(&self) {
        let door = &*self.door;
        // SAFETY: the pointers are to a live lock and condition of the default kinds, and who is in is
        // touched with the lock held.
        unsafe {
            libc::pthread_mutex_lock(door.mutex.get());
            let inside = door.inside.get();
            loop {
                if !(*inside).taken {
                    break;
                }
                let times = (*inside).times;
                let until = in_a_while(self.switch);
                let told = libc::pthread_cond_timedwait(
                    door.changed.get(),
                    door.mutex.get(),
                    &raw const until,
                );
                if told == libc::ETIMEDOUT && (*inside).taken && (*inside).times == times {
                    self.asked.store(true, Ordering::Relaxed);
                }
            }
            (*inside).taken = true;
            (*inside).times += 1;
            self.asked.store(false, Ordering::Relaxed);
            libc::pthread_mutex_unlock(door.mutex.get());
        }
    }

    /// Leaves, and lets one in who waits; how often a thread had come in.
    #[inline(never)]
    fn drop_gil(&self) -> u64 {
        let door = &*self.door;
        // SAFETY: as for taking it.
        unsafe {
            libc::pthread_mutex_lock(door.mutex.get());
            let inside = door.inside.get();
            (*inside).taken = false;
            let times = (*inside).times;
            libc::pthread_cond_signal(door.changed.get());
            libc::pthread_mutex_unlock(door.mutex.get());
            times
        }
    }

    fn times(&self) -> u64 {
        let door = &*self.door;
        // SAFETY: as for taking it.
        unsafe {
            libc::pthread_mutex_lock(door.mutex.get());
            let times = (*door.inside.get()).times;
            libc::pthread_mutex_unlock(door.mutex.get());
            times
        }
    }
}

/// An instant on the wall's clock, which conditions of the default kind use.
fn in_a_while(wait: Duration) -> libc::timespec {
    // SAFETY: a timespec is plain data, and the pointer is to one that lives.
    let mut now: libc::timespec = unsafe {
        let mut now = mem::zeroed();
        libc::clock_gettime(libc::CLOCK_REALTIME, &raw mut now);
        now
    };
    let ns = now.tv_nsec + i64::from(wait.subsec_nanos());
    now.tv_sec += wait.as_secs() as i64 + ns / 1_000_000_000;
    now.tv_nsec = ns % 1_000_000_000;
    now
}
