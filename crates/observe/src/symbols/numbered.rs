//! Things that are kept once and identified by number.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;

/// Each of its things once; numbers are positions, in the order of their coming.
#[derive(Clone, Debug)]
pub(super) struct Numbered<T> {
    all: Vec<T>,
    numbers: HashMap<T, u32>,
}

impl<T> Default for Numbered<T> {
    fn default() -> Self {
        Self {
            all: Vec::new(),
            numbers: HashMap::new(),
        }
    }
}

impl<T: Clone + Eq + Hash> Numbered<T> {
    /// The number of what is known.
    pub(super) fn find<Q: Eq + Hash + ?Sized>(&self, thing: &Q) -> Option<u32>
    where
        T: Borrow<Q>,
    {
        self.numbers.get(thing).copied()
    }

    /// The number of a thing, a new one if it is not known.
    pub(super) fn number(&mut self, thing: T) -> u32 {
        if let Some(known) = self.find(&thing) {
            return known;
        }
        let number = self.all.len() as u32;
        self.all.push(thing.clone());
        self.numbers.insert(thing, number);
        number
    }

    /// All of them, by number.
    pub(super) fn all(&self) -> &[T] {
        &self.all
    }

    /// All of them, by number.
    pub(super) fn into_all(self) -> Vec<T> {
        self.all
    }
}
