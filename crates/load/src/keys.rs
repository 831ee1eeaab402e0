//! The keys of requests, each stored once.

use std::collections::HashMap;

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
    pub(crate) fn number(&mut self, key: &str) -> u32 {
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

#[cfg(test)]
mod tests {
    use super::*;

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
