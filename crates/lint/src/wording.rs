//! Numbers as people say them.

use crate::report::Figure;

/// A count: whole from ten on, with one decimal below; thousands are set off.
pub(crate) fn count(value: f64) -> String {
    if value.fract().abs() < 1e-9 || value.abs() >= 9.95 {
        return grouped(value.round() as i64);
    }
    if value.abs() < 0.005 {
        return "<0.01".to_owned();
    }
    if value.abs() < 0.095 {
        return format!("{value:.2}");
    }
    format!("{value:.1}")
}

fn grouped(value: i64) -> String {
    let digits = value.unsigned_abs().to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    if value < 0 { format!("-{text}") } else { text }
}

/// A figure with its spread, where that can be seen.
pub(crate) fn spread(figure: Figure) -> String {
    /// A tenth is the last digit that figures are shown with.
    const SEEN_FROM: f64 = 0.05;
    if figure.sd < SEEN_FROM {
        return count((figure.mean * 10.0).round() / 10.0);
    }
    format!("{} ± {}", count(figure.mean), count(figure.sd))
}

/// A share of 1 as a percentage.
pub(crate) fn percent(share: f64) -> String {
    let value = share * 100.0;
    if value >= 9.95 || value == 0.0 {
        format!("{value:.0} %")
    } else if value >= 0.095 {
        format!("{value:.1} %")
    } else {
        format!("{value:.2} %")
    }
}

/// A length of time in the largest unit that leaves at least one.
pub(crate) fn duration(ns: f64) -> String {
    let units = [
        (3.6e12, "h"),
        (6e10, "min"),
        (1e9, "s"),
        (1e6, "ms"),
        (1e3, "us"),
    ];
    // Minutes and hours are said when they come out even; 90 s stays 90 s.
    for (length, unit) in units {
        let value = ns / length;
        let even = (value - value.round()).abs() < 1e-9;
        if value >= 1.0 && (length <= 1e9 || (even && value < 1000.0 && length > 6e10)) {
            return format!("{} {unit}", trimmed(value));
        }
    }
    format!("{} ns", trimmed(ns))
}

fn trimmed(value: f64) -> String {
    let text = if value >= 100.0 {
        format!("{value:.0}")
    } else if value >= 10.0 {
        format!("{value:.1}")
    } else {
        format!("{value:.2}")
    };
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

/// A percentile by its usual name: `0.999` is `p99.9`.
pub(crate) fn percentile(p: f64) -> String {
    format!("p{}", trimmed_percent(p))
}

fn trimmed_percent(p: f64) -> String {
    let text = format!("{:.2}", p * 100.0);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A word in the number that `count` asks for.
pub(crate) fn plural(count: f64, one: &str, many: &str) -> String {
    if (count - 1.0).abs() < 1e-9 {
        one.to_owned()
    } else {
        many.to_owned()
    }
}

/// Some of a list in quotes, and how many more there are.
pub(crate) fn some<'a>(all: impl ExactSizeIterator<Item = &'a str>) -> String {
    /// Enough to recognise them.
    const SHOWN: usize = 3;
    let total = all.len();
    let shown: Vec<String> = all.take(SHOWN).map(|text| format!("{text:?}")).collect();
    let shown = shown.join(", ");
    if total > SHOWN {
        format!("{shown} and {} more", total - SHOWN)
    } else {
        shown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(count(44.2), "44");
        assert_eq!(count(2.63), "2.6");
        assert_eq!(count(3.0), "3");
        assert_eq!(count(0.05), "0.05");
        assert_eq!(count(0.0), "0");
        assert_eq!(count(0.001), "<0.01");
        assert_eq!(count(1_234_567.0), "1,234,567");
        assert_eq!(percent(0.809), "81 %");
        assert_eq!(percent(0.0312), "3.1 %");
        assert_eq!(duration(60e9), "60 s");
        assert_eq!(duration(3.6e12), "1 h");
        assert_eq!(duration(560e6), "560 ms");
        assert_eq!(duration(1.5e9), "1.5 s");
        assert_eq!(percentile(0.999), "p99.9");
        assert_eq!(percentile(0.5), "p50");
        assert_eq!(
            some(["a", "b", "c", "d"].into_iter()),
            "\"a\", \"b\", \"c\" and 1 more"
        );
    }
}
