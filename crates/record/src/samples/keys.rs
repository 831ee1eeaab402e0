//! Keys in the order of their first use, which is the form in which a record is read back.

use std::collections::HashMap;

/// Keys that were met, in the order of their first use.
#[derive(Default)]
pub(crate) struct KeysInUse {
    positions: HashMap<Vec<u8>, u32>,
    keys: Vec<String>,
}

impl KeysInUse {
    /// The position of a key, which is added when it is new; `None` if it is not UTF-8.
    pub(crate) fn position(&mut self, key: &[u8]) -> Option<u32> {
        if let Some(&position) = self.positions.get(key) {
            return Some(position);
        }
        let position = self.keys.len() as u32;
        self.keys.push(String::from_utf8(key.to_vec()).ok()?);
        self.positions.insert(key.to_vec(), position);
        Some(position)
    }

    /// Adds keys that were met elsewhere, later than all that are here; gives their positions.
    pub(crate) fn adopt(&mut self, keys: &[String]) -> Vec<u32> {
        let position = |key: &String| self.position(key.as_bytes());
        // A string is UTF-8, so that none is left out.
        keys.iter().filter_map(position).collect()
    }

    /// All of them.
    pub(crate) fn into_keys(self) -> Vec<String> {
        self.keys
    }
}
