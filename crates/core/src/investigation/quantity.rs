//! Figures of any unit as the files of an investigation say them.

use crate::figures::Unit;
use crate::nanos::MILLISECOND;
use crate::scenario::units::{parse_duration, parse_size};

/// Digits after the point of what is no whole number: more is noise.
const DIGITS: usize = 6;

/// Beyond 2^53 a whole number has no place of its own.
const MOST: f64 = 9_007_199_254_740_992.0;

/// A figure with its unit: `104.2ms`, `412.5/s`, `2.1%`, `2048B`, `34`.
pub fn quantity(unit: Unit, value: f64) -> String {
    match unit {
        // Durations are whole nanoseconds, six digits after the point of a millisecond.
        Unit::Ns => format!("{}ms", digits(value.round() / MILLISECOND as f64)),
        Unit::PerSecond => format!("{}/s", digits(value)),
        Unit::Share => format!("{}%", digits(value * 100.0)),
        Unit::Bytes => format!("{}B", digits(value.round())),
        Unit::Count => digits(value),
    }
}

fn digits(value: f64) -> String {
    let text = format!("{value:.DIGITS$}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Reads what [`quantity`] writes, and durations and sizes in any unit; `None` if it is none, below
/// 0 or too large.
pub fn parse_quantity(text: &str) -> Option<(Unit, f64)> {
    read(text.trim()).filter(|(_, value)| *value <= MOST)
}

fn read(text: &str) -> Option<(Unit, f64)> {
    let number = |text: &str| -> Option<f64> {
        let plain = |c: char| c.is_ascii_digit() || c == '.';
        let is_plain = text.starts_with(|c: char| c.is_ascii_digit()) && text.chars().all(plain);
        is_plain.then(|| text.parse().ok()).flatten()
    };
    if let Some(rate) = text.strip_suffix("/s") {
        return Some((Unit::PerSecond, number(rate.trim_end())?));
    }
    if let Some(percent) = text.strip_suffix('%') {
        return Some((Unit::Share, number(percent.trim_end())? / 100.0));
    }
    if let Ok(ns) = parse_duration(text) {
        return Some((Unit::Ns, ns as f64));
    }
    if let Ok(bytes) = parse_size(text) {
        return Some((Unit::Bytes, bytes as f64));
    }
    Some((Unit::Count, number(text)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_read_as_written() {
        for (unit, value, text) in [
            (Unit::Ns, 104_200_000.0, "104.2ms"),
            (Unit::Ns, 999.0, "0.000999ms"),
            (Unit::Ns, 1.42e9, "1420ms"),
            (Unit::PerSecond, 412.5, "412.5/s"),
            (Unit::PerSecond, 0.0, "0/s"),
            (Unit::Share, 0.021, "2.1%"),
            (Unit::Bytes, 2048.0, "2048B"),
            (Unit::Count, 34.0, "34"),
        ] {
            assert_eq!(quantity(unit, value), text);
            let (of, read) = parse_quantity(text).unwrap();
            assert_eq!(of, unit, "{text}");
            assert!(
                (read - value).abs() <= 1e-9 * value.max(1.0),
                "{text}: {read}"
            );
        }
    }

    #[test]
    fn what_is_no_figure_is_none() {
        for text in [
            "",
            "ms",
            "-1ms",
            "1..2",
            "1 furlong",
            "inf",
            "NaN",
            "1e3",
            "%",
            "99999h",
        ] {
            assert_eq!(parse_quantity(text), None, "{text}");
        }
        assert_eq!(parse_quantity("1.42 s"), Some((Unit::Ns, 1.42e9)));
        assert_eq!(parse_quantity("2KiB"), Some((Unit::Bytes, 2048.0)));
    }
}
