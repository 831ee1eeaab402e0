//! Quantities with their units, as scenarios and the command line say them.
//!
//! Numbers are decimal and may have a fraction; the unit is required, so that no reader has to guess
//! whether `timeout = 5` are seconds or milliseconds.

/// Units of time and their lengths in nanoseconds.
const TIMES: [(&str, u64); 7] = [
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
];

/// Units of size and their bytes (IEC 80000-13 for the binary ones).
const SIZES: [(&str, u64); 9] = [
    ("B", 1),
    ("kB", 1_000),
    ("KB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("TiB", 1 << 40),
];

/// Nanoseconds in a second.
const NS_PER_S: f64 = 1e9;

/// Why a text is no quantity of the asked kind.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnitError {
    /// It does not start with a number.
    #[error("{0:?} does not start with a number")]
    Number(String),
    /// Only a number; which unit is meant?
    #[error("{0:?} has no unit")]
    NoUnit(String),
    /// The unit is none of its kind.
    #[error("{unit:?} is no unit of {kind}")]
    Unit {
        /// What stands after the number.
        unit: String,
        /// What was asked for.
        kind: &'static str,
    },
    /// More than 2^64 - 1 of the smallest unit.
    #[error("{0:?} is too large")]
    TooLarge(String),
    /// A fraction of the smallest unit.
    #[error("{0:?} is finer than one {1}")]
    TooFine(String, &'static str),
    /// A rate that is zero.
    #[error("{0:?} is zero")]
    Zero(String),
    /// The ends of a range are the wrong way round.
    #[error("the range {0:?} ends before it starts")]
    Backwards(String),
}

/// A duration such as `10s`, `500ms`, `1.5m`, in nanoseconds. Units: ns us µs ms s m h.
///
/// # Errors
/// When the text is no duration of whole nanoseconds that fits 64 bits.
pub fn parse_duration(text: &str) -> Result<u64, UnitError> {
    whole(text, &TIMES, "time", "ns")
}

/// A size such as `64KiB` or `1MB`, in bytes. Units: B kB KB MB GB KiB MiB GiB TiB.
///
/// # Errors
/// When the text is no size of whole bytes that fits 64 bits.
pub fn parse_size(text: &str) -> Result<u64, UnitError> {
    whole(text, &SIZES, "size", "byte")
}

/// A rate such as `500/s`, `30/m` or `0.5/ms`, per second and above 0.
///
/// # Errors
/// When the text is no such rate.
pub fn parse_rate(text: &str) -> Result<f64, UnitError> {
    let (amount, per_s) = split_rate(text)?;
    let (number, unit) = split(amount)?;
    if !unit.is_empty() {
        return Err(UnitError::Number(amount.to_owned()));
    }
    per_second(
        number
            .parse()
            .map_err(|_| UnitError::Number(text.to_owned()))?,
        per_s,
        text,
    )
}

/// A rate of bytes such as `64KiB/s`, in bytes per second and above 0.
///
/// # Errors
/// When the text is no such rate.
pub fn parse_byte_rate(text: &str) -> Result<f64, UnitError> {
    let (amount, per_s) = split_rate(text)?;
    per_second(parse_size(amount)? as f64, per_s, text)
}

/// How far an interval may reach to either side, such as `5%`: a share above 0 and below 1.
///
/// # Errors
/// When the text is no percentage above 0 and below 100.
pub fn parse_precision(text: &str) -> Result<f64, UnitError> {
    let (number, unit) = split(text)?;
    match unit {
        "" => return Err(UnitError::NoUnit(text.to_owned())),
        "%" => {}
        other => {
            return Err(UnitError::Unit {
                unit: other.to_owned(),
                kind: "share",
            });
        }
    }
    let percent: f64 = number
        .parse()
        .map_err(|_| UnitError::Number(text.to_owned()))?;
    if percent <= 0.0 {
        Err(UnitError::Zero(text.to_owned()))
    } else if percent >= 100.0 {
        Err(UnitError::TooLarge(text.to_owned()))
    } else {
        Ok(percent / 100.0)
    }
}

/// A range such as `1s..3s`, both ends included, or a single value, which is both ends.
///
/// # Errors
/// When an end is none of `parse`'s, or the range ends before it starts.
pub fn parse_range<T: Copy + PartialOrd>(
    text: &str,
    parse: impl Fn(&str) -> Result<T, UnitError>,
) -> Result<(T, T), UnitError> {
    let Some((low, high)) = text.split_once("..") else {
        return parse(text).map(|value| (value, value));
    };
    let (low, high) = (parse(low)?, parse(high)?);
    if low <= high {
        Ok((low, high))
    } else {
        Err(UnitError::Backwards(text.to_owned()))
    }
}

fn split_rate(text: &str) -> Result<(&str, f64), UnitError> {
    let (amount, unit) = text
        .split_once('/')
        .ok_or_else(|| UnitError::NoUnit(text.to_owned()))?;
    let per_ns = factor(unit.trim(), &TIMES, "time")?;
    Ok((amount, NS_PER_S / per_ns as f64))
}

fn per_second(amount: f64, per_s: f64, text: &str) -> Result<f64, UnitError> {
    let rate = amount * per_s;
    if rate > 0.0 {
        Ok(rate)
    } else {
        Err(UnitError::Zero(text.to_owned()))
    }
}

/// Reads a number with its unit into whole smallest units, without rounding.
fn whole(
    text: &str,
    units: &[(&str, u64)],
    kind: &'static str,
    smallest: &'static str,
) -> Result<u64, UnitError> {
    let (number, unit) = split(text)?;
    if unit.is_empty() {
        return Err(UnitError::NoUnit(text.to_owned()));
    }
    let factor = u128::from(factor(unit, units, kind)?);
    let too_large = || UnitError::TooLarge(text.to_owned());
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let fraction = fraction.trim_end_matches('0');
    let digits: u128 = format!("{whole}{fraction}")
        .parse()
        .map_err(|_| too_large())?;
    let scale = u32::try_from(fraction.len())
        .ok()
        .and_then(|len| 10_u128.checked_pow(len));
    let scale = scale.ok_or_else(|| UnitError::TooFine(text.to_owned(), smallest))?;
    let scaled = digits.checked_mul(factor).ok_or_else(too_large)?;
    if scaled % scale != 0 {
        return Err(UnitError::TooFine(text.to_owned(), smallest));
    }
    u64::try_from(scaled / scale).map_err(|_| too_large())
}

fn factor(unit: &str, units: &[(&str, u64)], kind: &'static str) -> Result<u64, UnitError> {
    let known = units.iter().find(|(name, _)| *name == unit);
    known.map(|(_, factor)| *factor).ok_or_else(|| {
        let unit = unit.to_owned();
        UnitError::Unit { unit, kind }
    })
}

/// Splits `1.5 ms` into `1.5` and `ms`. The number is digits with at most one point inside.
fn split(text: &str) -> Result<(&str, &str), UnitError> {
    let text = text.trim();
    let end = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let inside = number.starts_with(|c: char| c.is_ascii_digit())
        && number.ends_with(|c: char| c.is_ascii_digit())
        && number.matches('.').count() <= 1;
    if inside {
        Ok((number, unit.trim_start()))
    } else {
        Err(UnitError::Number(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_precision_is_a_percentage() {
        assert_eq!(parse_precision("5%"), Ok(0.05));
        assert_eq!(parse_precision("2.5 %"), Ok(0.025));
        for wrong in ["0%", "100%", "5", "5ms", "-1%", ""] {
            assert!(parse_precision(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn durations_are_exact() {
        for (text, ns) in [
            ("10s", 10_000_000_000),
            ("500ms", 500_000_000),
            ("1m", 60_000_000_000),
            ("250us", 250_000),
            ("250µs", 250_000),
            ("2h", 7_200_000_000_000),
            ("0.1s", 100_000_000),
            ("1.50 ms", 1_500_000),
            (" 7ns ", 7),
            ("0s", 0),
            ("18446744073709551615ns", u64::MAX),
        ] {
            assert_eq!(parse_duration(text), Ok(ns), "{text}");
        }
    }

    #[test]
    fn what_is_no_duration_says_why() {
        for (text, message) in [
            ("", "\"\" does not start with a number"),
            ("s", "\"s\" does not start with a number"),
            ("-1s", "\"-1s\" does not start with a number"),
            (".5s", "\".5s\" does not start with a number"),
            ("1..2s", "\"1..2s\" does not start with a number"),
            ("5", "\"5\" has no unit"),
            ("5sec", "\"sec\" is no unit of time"),
            ("1s30ms", "\"s30ms\" is no unit of time"),
            ("0.5ns", "\"0.5ns\" is finer than one ns"),
            (
                "18446744073709551616ns",
                "\"18446744073709551616ns\" is too large",
            ),
            (
                "99999999999999999999h",
                "\"99999999999999999999h\" is too large",
            ),
        ] {
            assert_eq!(
                parse_duration(text).unwrap_err().to_string(),
                message,
                "{text}"
            );
        }
    }

    #[test]
    fn sizes_are_binary_where_they_say_so() {
        assert_eq!(parse_size("64KiB"), Ok(65_536));
        assert_eq!(parse_size("1MB"), Ok(1_000_000));
        assert_eq!(parse_size("1.5KiB"), Ok(1_536));
        assert_eq!(parse_size("0B"), Ok(0));
        assert!(parse_size("0.5B").is_err() && parse_size("1kb").is_err());
    }

    #[test]
    fn rates_are_per_second() {
        assert_eq!(parse_rate("500/s"), Ok(500.0));
        assert_eq!(parse_rate("30/m"), Ok(0.5));
        assert_eq!(parse_rate("0.5 / ms"), Ok(500.0));
        assert_eq!(parse_byte_rate("64KiB/s"), Ok(65_536.0));
        for wrong in [
            "500", "/s", "0/s", "-1/s", "5/sec", "5x/s", "inf/s", "1e3/s",
        ] {
            assert!(parse_rate(wrong).is_err(), "{wrong}");
        }
        assert!(parse_byte_rate("64/s").is_err() && parse_byte_rate("64KiB").is_err());
    }

    #[test]
    fn a_range_is_ordered_and_a_value_is_both_ends() {
        let range = |text| parse_range(text, parse_duration);
        assert_eq!(range("1s..3s"), Ok((1_000_000_000, 3_000_000_000)));
        assert_eq!(range("2ms"), Ok((2_000_000, 2_000_000)));
        assert_eq!(
            range("3s..1s"),
            Err(UnitError::Backwards("3s..1s".to_owned()))
        );
        assert!(range("1..3s").is_err() && range("..").is_err());
    }
}
