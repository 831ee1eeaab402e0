//! Sets of values that requests draw from.

use std::fmt;
use std::ops::Index;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A named set of values; each request that names the pool takes one of them.
///
/// A file with several columns is several pools that draw the same row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Pool {
    /// The name between the braces; `users.name` for a column of a file.
    pub name: String,
    /// The values, at least one, as written (not encoded).
    pub values: Texts,
    /// How values are drawn.
    #[serde(default)]
    pub pick: Pick,
    /// The weight of each value, in the order of the values, none negative and not all zero; only
    /// with [`Pick::Random`]. `None` draws all values alike.
    #[serde(default)]
    pub weights: Option<Vec<f64>>,
    /// The pool, further up, whose draw this pool takes: they are columns of one table and have
    /// equally many rows. [`Pool::pick`] and [`Pool::weights`] are that pool's.
    #[serde(default)]
    pub same_row_as: Option<usize>,
}

impl Pool {
    /// A pool whose values are all drawn alike, at random.
    pub fn plain(name: impl Into<String>, values: impl Into<Texts>) -> Self {
        Self {
            name: name.into(),
            values: values.into(),
            pick: Pick::Random,
            weights: None,
            same_row_as: None,
        }
    }
}

/// How values are drawn from a pool.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pick {
    /// Any value, independent of those before.
    #[default]
    Random,
    /// In the order written, from the start again after the last.
    Sequence,
    /// In the order written, each at most once in a repeat; the load ends when none is left.
    Unique,
}

/// Many texts in one piece of memory, shared when cloned: five bytes beside each text at most.
#[derive(Clone, PartialEq, Eq)]
pub struct Texts {
    text: Arc<str>,
    /// Where each text ends.
    ends: Arc<[u32]>,
}

impl Texts {
    /// Bytes of all texts together at most.
    pub const MOST_BYTES: usize = u32::MAX as usize;

    /// How many there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The text at a position.
    pub fn get(&self, position: usize) -> Option<&str> {
        let end = *self.ends.get(position)? as usize;
        let begin = match position.checked_sub(1) {
            Some(before) => self.ends[before] as usize,
            None => 0,
        };
        Some(&self.text[begin..end])
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> + '_ {
        (0..self.len()).map(|position| &self[position])
    }
}

impl Index<usize> for Texts {
    type Output = str;

    fn index(&self, position: usize) -> &str {
        self.get(position).expect("the position is that of a text")
    }
}

impl fmt::Debug for Texts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl<S: AsRef<str>> FromIterator<S> for Texts {
    /// # Panics
    /// When the texts have more than [`Texts::MOST_BYTES`] together.
    fn from_iter<I: IntoIterator<Item = S>>(texts: I) -> Self {
        let (mut text, mut ends) = (String::new(), Vec::new());
        for one in texts {
            text.push_str(one.as_ref());
            ends.push(u32::try_from(text.len()).expect("a pool has less than 4 GiB"));
        }
        Self {
            text: text.into(),
            ends: ends.into(),
        }
    }
}

impl<S: AsRef<str>> From<Vec<S>> for Texts {
    fn from(texts: Vec<S>) -> Self {
        texts.into_iter().collect()
    }
}

impl<S: AsRef<str>, const N: usize> From<[S; N]> for Texts {
    fn from(texts: [S; N]) -> Self {
        texts.into_iter().collect()
    }
}

impl<S: AsRef<str>, const N: usize> PartialEq<[S; N]> for Texts {
    fn eq(&self, other: &[S; N]) -> bool {
        self.iter().eq(other.iter().map(AsRef::as_ref))
    }
}

impl Serialize for Texts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

impl<'de> Deserialize<'de> for Texts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Vec::<String>::deserialize(deserializer)?.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_kept_apart() {
        let texts = Texts::from(["a", "", "ü b"]);
        assert_eq!(texts, ["a", "", "ü b"]);
        assert_eq!((texts.len(), texts.get(3)), (3, None));
        assert!(Texts::from(Vec::<String>::new()).is_empty());
        assert_ne!(Texts::from(["ab", "c"]), Texts::from(["a", "bc"]));
    }

    #[test]
    fn a_pool_of_an_older_record_is_drawn_at_random() {
        let old = r#"{"name":"p","values":["a","b"]}"#;
        let pool: Pool = serde_json::from_str(old).unwrap();
        assert_eq!(pool, Pool::plain("p", ["a", "b"]));
        let text = serde_json::to_string(&pool).unwrap();
        assert_eq!(serde_json::from_str::<Pool>(&text).unwrap(), pool);
    }
}
