//! The keys of requests, each stored once.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use slowpath_core::sample::NONE;

/// Keys kept at most: past a million different keys, which of them repeat is no longer a matter
/// of single keys, and memory stays bounded whatever a scenario's pools multiply to.
const MOST_KEYS: usize = 1 << 20;

/// Gives each key a number; shared by all repeats of a run.
#[derive(Debug, Default)]
pub struct Keys {
    names: Vec<String>,
    numbers: HashMap<String, u32>,
    overflowed: u64,
}

impl Keys {
    /// No keys yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// All keys; [`slowpath_core::sample::Sample::key`] is a position in this.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Requests recorded as keyless because 2^20 other keys were known before theirs.
    pub fn overflowed(&self) -> u64 {
        self.overflowed
    }

    /// The number of a key. Allocates only for a key not seen before.
    pub fn number(&mut self, key: &str) -> u32 {
        if let Some(&number) = self.numbers.get(key) {
            return number;
        }
        if self.names.len() >= MOST_KEYS {
            self.overflowed += 1;
            return NONE;
        }
        let number = self.names.len() as u32;
        self.names.push(key.to_owned());
        self.numbers.insert(key.to_owned(), number);
        number
    }
}

/// The keys of all loops of a load.
#[derive(Clone, Debug)]
pub(crate) struct SharedKeys(Arc<Mutex<Keys>>);

impl SharedKeys {
    /// Lets several loops use them.
    pub(crate) fn new(keys: Keys) -> Self {
        Self(Arc::new(Mutex::new(keys)))
    }

    /// Takes them, for as long as it takes to look something up.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Keys> {
        // The thread that panicked had not yet begun to change them, or was done.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The keys that one loop has met: only those it has not are looked up among all.
#[derive(Debug)]
pub(crate) struct MetKeys {
    met: HashMap<Box<str>, u32>,
    all: SharedKeys,
}

impl MetKeys {
    /// None met yet.
    pub(crate) fn new(all: SharedKeys) -> Self {
        Self {
            met: HashMap::new(),
            all,
        }
    }

    /// The number of a key. Allocates and locks only for a key that this loop has not met, or
    /// when there are too many to keep them all.
    pub(crate) fn number(&mut self, key: &str) -> u32 {
        if let Some(&number) = self.met.get(key) {
            return number;
        }
        let number = self.all.lock().number(key);
        if number != NONE {
            self.met.insert(key.into(), number);
        }
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loops_give_a_key_the_same_number() {
        let all = SharedKeys::new(Keys::new());
        let (mut one, mut other) = (MetKeys::new(all.clone()), MetKeys::new(all.clone()));
        assert_eq!((one.number("a"), other.number("b")), (0, 1));
        assert_eq!((one.number("b"), other.number("a")), (1, 0));
        assert_eq!(one.number("b"), 1);
        assert_eq!(all.lock().names(), ["a", "b"]);
    }

    #[test]
    fn a_key_has_one_number() {
        let mut keys = Keys::new();
        assert_eq!(keys.number("a"), 0);
        assert_eq!(keys.number("b"), 1);
        assert_eq!(keys.number("a"), 0);
        assert_eq!(keys.names(), ["a", "b"]);
        assert_eq!(keys.overflowed(), 0);
    }
}
