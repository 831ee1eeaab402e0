//! A program one of whose threads sleeps while it holds a mutex that the others want: what the
//! tests look at. It ends when its stdin does.
#![expect(
    unsafe_code,
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a test program: only the C library's mutexes know their owners"
)]

use std::cell::UnsafeCell;
use std::io::Read;
use std::thread::{self, Builder};
use std::time::Duration;

struct Mutex(UnsafeCell<libc::pthread_mutex_t>);

// SAFETY: a mutex is made to be shared.
unsafe impl Sync for Mutex {}

static LOCK: Mutex = Mutex(UnsafeCell::new(libc::PTHREAD_MUTEX_INITIALIZER));

/// A lock that does not know its owner.
static PLAIN: std::sync::Mutex<()> = std::sync::Mutex::new(());

fn locked(act: impl FnOnce()) {
    if std::env::args().any(|argument| argument == "plain") {
        let _held = PLAIN.lock();
        return act();
    }
    // SAFETY: the mutex is initialised and lives for ever; it is unlocked by who locked it.
    unsafe { libc::pthread_mutex_lock(LOCK.0.get()) };
    act();
    // SAFETY: as above.
    unsafe { libc::pthread_mutex_unlock(LOCK.0.get()) };
}

fn repeat(name: &str, act: impl Fn() + Send + 'static) {
    let spawned = Builder::new().name(name.to_owned()).spawn(move || {
        loop {
            act();
        }
    });
    spawned.map(drop).expect("threads can be started");
}

fn main() {
    let pause = |ms| thread::sleep(Duration::from_millis(ms));
    repeat("flusher", move || {
        locked(|| pause(40));
        pause(60);
    });
    for worker in 0..4 {
        repeat(&format!("worker-{worker}"), move || {
            locked(|| {});
            pause(2);
        });
    }
    repeat("idle", thread::park);
    // Threads that live shorter than the time between two looks, as a server has them that starts one for each
    // connection.
    repeat("listener", move || {
        let brief = Builder::new().name("brief".to_owned());
        let brief = brief.spawn(move || pause(1));
        let _ = brief.map(thread::JoinHandle::join);
        pause(5);
    });
    println!("ready");
    let _ = std::io::stdin().read(&mut [0]);
}
