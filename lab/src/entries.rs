//! A cache as applications have one: entries that are filled on demand and may expire.

use std::collections::HashMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// What a request found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    Hit,
    /// It had not been asked for before.
    New,
    /// It had expired.
    Expired,
    /// Another request was filling it.
    BeingFilled,
}

#[derive(Clone, Copy, Default)]
struct Entry {
    filled: Option<Instant>,
    filling: u32,
}

/// The entries, by key.
pub(crate) struct Entries {
    /// How long they live; for ever without it.
    life: Option<Duration>,
    /// Whether each use prolongs it.
    sliding: bool,
    /// Whether those who come while it is filled wait for that, and do not fill it again.
    shared: bool,
    by_key: Mutex<HashMap<String, Entry>>,
    filled: Condvar,
}

impl Entries {
    pub(crate) fn new(life: Option<Duration>, sliding: bool, shared: bool) -> Self {
        Self {
            life,
            sliding,
            shared,
            by_key: Mutex::default(),
            filled: Condvar::new(),
        }
    }

    /// Looks a key up, and fills its entry if there is none.
    pub(crate) fn get(&self, key: &str, fill: impl FnOnce()) -> Found {
        let mut entries = self.lock();
        let entry = entries.entry(key.to_owned()).or_default();
        let lives = |at: Instant| self.life.is_none_or(|life| at.elapsed() < life);
        let found = match entry.filled {
            Some(at) if lives(at) => Found::Hit,
            _ if entry.filling > 0 => Found::BeingFilled,
            Some(_) => Found::Expired,
            None => Found::New,
        };
        match found {
            Found::Hit => {
                if self.sliding {
                    entry.filled = Some(Instant::now());
                }
            }
            Found::BeingFilled if self.shared => {
                let is_filling = |entries: &mut HashMap<String, Entry>| {
                    entries.get(key).is_some_and(|entry| entry.filling > 0)
                };
                drop(
                    self.filled
                        .wait_while(entries, is_filling)
                        .unwrap_or_else(PoisonError::into_inner),
                );
            }
            Found::BeingFilled | Found::Expired | Found::New => {
                entry.filling += 1;
                drop(entries);
                fill();
                let mut entries = self.lock();
                let entry = entries.entry(key.to_owned()).or_default();
                entry.filling -= 1;
                entry.filled = Some(Instant::now());
                self.filled.notify_all();
            }
        }
        found
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Entry>> {
        self.by_key.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
