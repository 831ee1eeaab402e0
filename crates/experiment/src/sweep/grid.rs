//! The levels of a sweep, as the command line says them.

use serde::{Deserialize, Serialize};
use slowpath_core::scenario::units::{self, UnitError};

/// More levels than this take an hour at the shortest useful windows.
const LEVELS_MOST: usize = 64;
/// The factor of a range that names none: knees are seen to a half, and refined.
const FACTOR: f64 = 2.0;
/// Connections that one address can have to one port (the default range of local ports holds
/// 28,232, and never more than 60,000).
const CONNECTIONS_MOST: f64 = 60_000.0;
/// A level closer than this factor below the end of a range adds nothing to it.
const TOO_CLOSE: f64 = 1.1;

/// What is varied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Dimension {
    /// Connections; in a closed loop also the users.
    Connections,
    /// Requests a second of an open loop.
    Rate,
    /// Bytes of the request's body, or the value of `{size}`.
    Size,
}

impl Dimension {
    /// The word on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Connections => "connections",
            Self::Rate => "rate",
            Self::Size => "size",
        }
    }

    const ALL: [Self; 3] = [Self::Connections, Self::Rate, Self::Size];

    /// Whether levels are whole numbers.
    pub const fn is_whole(self) -> bool {
        matches!(self, Self::Connections | Self::Size)
    }

    fn read(self, text: &str) -> Result<f64, GridError> {
        let bare = text.bytes().all(|b| b.is_ascii_digit() || b == b'.');
        let unit = |full: String, error: UnitError| GridError::Quantity {
            text: full,
            reason: error.to_string(),
        };
        match self {
            Self::Connections => text
                .parse::<u32>()
                .map(f64::from)
                .map_err(|_| GridError::NotWhole(text.to_owned())),
            Self::Rate => {
                let full = if bare {
                    format!("{text}/s")
                } else {
                    text.to_owned()
                };
                units::parse_rate(&full).map_err(|error| unit(full, error))
            }
            Self::Size => {
                let full = if bare {
                    format!("{text}B")
                } else {
                    text.to_owned()
                };
                let bytes = units::parse_size(&full).map_err(|error| unit(full, error))?;
                Ok(bytes as f64)
            }
        }
    }
}

/// What a sweep goes over: ascending levels, at least two.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Grid {
    /// What is varied.
    pub dimension: Dimension,
    /// Its values: connections, requests a second, or bytes.
    pub levels: Vec<f64>,
}

/// Why a text is no grid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GridError {
    /// It does not say what is varied.
    #[error("{0:?} does not begin with connections=, rate= or size=")]
    Dimension(String),
    /// A number of connections that is none.
    #[error("{0:?} is no whole number of connections")]
    NotWhole(String),
    /// A rate or size that cannot be read.
    #[error("{text:?}: {reason}")]
    Quantity {
        /// What was written.
        text: String,
        /// What is wrong.
        reason: String,
    },
    /// A range whose step is neither a factor nor a summand.
    #[error("the step {0:?} is neither x2 nor +100")]
    Step(String),
    /// A range that goes nowhere.
    #[error("the range {0:?} does not go up")]
    Backwards(String),
    /// A factor that leads nowhere from zero.
    #[error("the range {0:?} multiplies, and must start above 0: list 0 beside it")]
    FromZero(String),
    /// A level that makes no load.
    #[error("a level is {0}: it must be at least 1")]
    TooSmall(String),
    /// More connections than an address has ports.
    #[error("{0} connections are more than the 60,000 that one address can have to a port")]
    TooLarge(String),
    /// Nothing to compare.
    #[error("{0} level is no sweep: name at least two")]
    TooFew(usize),
    /// Too much to measure.
    #[error("{0} levels are more than 64: take larger steps")]
    TooMany(usize),
}

impl Grid {
    /// Reads `connections=1..2560`, `rate=100..5000/s..+500`, `size=1KiB,4KiB,1MiB`.
    ///
    /// Items are separated by commas. An item is a value or a range `LOW..HIGH` with an optional
    /// step `..xFACTOR` or `..+SUMMAND`; without a step it doubles, or is cut into `steps` levels
    /// of equal ratio. Both ends are levels.
    ///
    /// # Errors
    /// Every mistake in the text.
    pub fn parse(text: &str, steps: Option<usize>) -> Result<Self, Vec<GridError>> {
        let (name, items) = text.split_once('=').unwrap_or((text, ""));
        let dimension = Dimension::ALL.into_iter().find(|d| d.name() == name.trim());
        let Some(dimension) = dimension else {
            return Err(vec![GridError::Dimension(text.to_owned())]);
        };
        let mut levels = Vec::new();
        let mut mistakes = Vec::new();
        for item in items.split(',') {
            match read_item(dimension, item.trim(), steps) {
                Ok(found) => levels.extend(found),
                Err(mistake) => mistakes.push(mistake),
            }
        }
        if dimension.is_whole() {
            for level in &mut levels {
                *level = level.round();
            }
        }
        levels.sort_unstable_by(f64::total_cmp);
        levels.dedup();
        mistakes.extend(outside(dimension, &levels));
        if mistakes.is_empty() && levels.len() < 2 {
            mistakes.push(GridError::TooFew(levels.len()));
        }
        if levels.len() > LEVELS_MOST {
            mistakes.push(GridError::TooMany(levels.len()));
        }
        if mistakes.is_empty() {
            Ok(Self { dimension, levels })
        } else {
            Err(mistakes)
        }
    }
}

/// Levels that cannot be measured.
fn outside(dimension: Dimension, levels: &[f64]) -> Vec<GridError> {
    let is_size = dimension == Dimension::Size;
    let small = levels
        .first()
        .filter(|&&l| !is_size && l < 1.0 && dimension.is_whole());
    let large = levels.last();
    let large = large.filter(|&&l| dimension == Dimension::Connections && l > CONNECTIONS_MOST);
    let small = small.map(|l| GridError::TooSmall(l.to_string()));
    small
        .into_iter()
        .chain(large.map(|l| GridError::TooLarge(l.to_string())))
        .collect()
}

fn read_item(
    dimension: Dimension,
    item: &str,
    steps: Option<usize>,
) -> Result<Vec<f64>, GridError> {
    let Some((low, rest)) = item.split_once("..") else {
        return dimension.read(item).map(|level| vec![level]);
    };
    let (high, step) = match rest.split_once("..") {
        Some((high, step)) => (high, Some(step)),
        None => (rest, None),
    };
    let (from, to) = (dimension.read(low)?, dimension.read(high)?);
    if to <= from {
        return Err(GridError::Backwards(item.to_owned()));
    }
    let wrong = || GridError::Step(step.unwrap_or_default().to_owned());
    if let Some(summand) = step.and_then(|s| s.strip_prefix('+')) {
        let by = dimension.read(summand)?;
        return if by > 0.0 {
            added(from, to, by)
        } else {
            Err(wrong())
        };
    }
    if from <= 0.0 {
        return Err(GridError::FromZero(item.to_owned()));
    }
    let factor = match step {
        Some(step) => {
            let factor = step.strip_prefix('x').and_then(|f| f.parse::<f64>().ok());
            factor
                .filter(|f| *f > 1.0 && f.is_finite())
                .ok_or_else(wrong)?
        }
        None => match steps {
            Some(steps) => (to / from).powf(1.0 / (steps.max(2) as f64 - 1.0)),
            None => FACTOR,
        },
    };
    multiplied(from, to, factor)
}

fn added(from: f64, to: f64, by: f64) -> Result<Vec<f64>, GridError> {
    let count = ((to - from) / by) as usize;
    if count > LEVELS_MOST {
        return Err(GridError::TooMany(count + 1));
    }
    let mut levels: Vec<f64> = (0..=count).map(|i| from + i as f64 * by).collect();
    levels.push(to);
    Ok(levels)
}

fn multiplied(from: f64, to: f64, factor: f64) -> Result<Vec<f64>, GridError> {
    let count = ((to / from).ln() / factor.ln()) as usize;
    if count > LEVELS_MOST {
        return Err(GridError::TooMany(count + 1));
    }
    let inner = (0..=count).map(|i| from * factor.powi(i as i32));
    let least_gap = TOO_CLOSE.min(factor.sqrt());
    let mut levels: Vec<f64> = inner
        .filter(|level| *level <= from || level * least_gap < to)
        .collect();
    levels.push(to);
    Ok(levels)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn levels(text: &str) -> Vec<f64> {
        Grid::parse(text, None).unwrap().levels
    }

    #[test]
    fn ranges_double_and_keep_both_ends() {
        let doubled = [
            1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0, 1024.0, 2048.0,
        ];
        let all = levels("connections=1..2560");
        assert_eq!((&all[..12], all[12], all.len()), (&doubled[..], 2560.0, 13));
        assert_eq!(levels("connections=1..8"), [1.0, 2.0, 4.0, 8.0]);
        assert_eq!(levels("connections=3..9..x3"), [3.0, 9.0]);
        assert_eq!(
            levels("connections=10..130..x2"),
            [10.0, 20.0, 40.0, 80.0, 130.0]
        );
        assert_eq!(
            levels("connections=1000..2050"),
            [1000.0, 2050.0],
            "2000 is as good as 2050"
        );
    }

    #[test]
    fn steps_lists_and_units() {
        assert_eq!(levels("rate=100..350..+100"), [100.0, 200.0, 300.0, 350.0]);
        assert_eq!(levels("rate=60/m,5/s,2"), [1.0, 2.0, 5.0]);
        assert_eq!(levels("size=0,1KiB..4KiB"), [0.0, 1024.0, 2048.0, 4096.0]);
        assert_eq!(levels("connections=4,1,2,4"), [1.0, 2.0, 4.0]);
        let five = Grid::parse("rate=1..16", Some(5)).unwrap().levels;
        assert_eq!(five.len(), 5);
        assert!(
            five.iter()
                .zip([1.0, 2.0, 4.0, 8.0, 16.0])
                .all(|(a, b)| (a - b).abs() < 1e-9)
        );
    }

    #[test]
    fn every_mistake_is_told() {
        let mistakes = |text: &str| {
            let found = Grid::parse(text, None).unwrap_err();
            found
                .iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
                .join(" | ")
        };
        assert!(mistakes("users=1..4").contains("connections=, rate= or size="));
        assert!(mistakes("connections").contains("no whole number"));
        let two = mistakes("connections=x,1..5..-2");
        assert!(two.contains("\"x\"") && two.contains("\"-2\""), "{two}");
        assert!(mistakes("connections=8..4").contains("does not go up"));
        assert!(mistakes("connections=0,4").contains("at least 1"));
        assert!(mistakes("connections=4,70000").contains("60,000"));
        assert!(mistakes("connections=4").contains("at least two"));
        assert!(mistakes("connections=1..1000..+1").contains("more than 64"));
        assert!(mistakes("size=0..8KiB").contains("list 0 beside it"));
        assert!(mistakes("size=1..8parsec").contains("no unit of size"));
        assert!(mistakes("rate=1..9..x1").contains("neither x2 nor +100"));
    }
}
