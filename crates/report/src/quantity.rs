//! Quantities as people read them: at most three significant digits, and a unit.

/// A scale of time: its unit and how many of it a millisecond holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Scale {
    unit: &'static str,
    per_ms: f64,
}

const SCALES: [Scale; 3] = [
    Scale {
        unit: "µs",
        per_ms: 1000.0,
    },
    Scale {
        unit: "ms",
        per_ms: 1.0,
    },
    Scale {
        unit: "s",
        per_ms: 0.001,
    },
];

impl Scale {
    /// The scale in which a duration reads best; a zero reads in milliseconds.
    pub(crate) fn of(ms: f64) -> Self {
        let [micro, milli, second] = SCALES;
        // 0.9996 ms would be printed as 1000 µs.
        match ms.abs() {
            size if size >= 999.5 => second,
            size if size >= 0.9995 || size <= 0.0 => milli,
            _ => micro,
        }
    }

    /// A duration in this scale, without the unit.
    pub(crate) fn bare(self, ms: f64) -> String {
        number(ms * self.per_ms)
    }

    /// A duration in this scale, with the unit.
    pub(crate) fn show(self, ms: f64) -> String {
        format!("{} {}", self.bare(ms), self.unit)
    }
}

/// A duration with the unit that fits it: `3.1 ms`, `1.42 s`.
pub(crate) fn duration(ms: f64) -> String {
    Scale::of(ms).show(ms)
}

/// A range with one unit: `96-118 ms`.
pub(crate) fn range(low_ms: f64, high_ms: f64) -> String {
    let scale = Scale::of(high_ms);
    format!("{}-{}", scale.bare(low_ms), scale.show(high_ms))
}

/// A change with one unit: `40.9 → 0.6 ms`.
pub(crate) fn change(from_ms: f64, to_ms: f64) -> String {
    let scale = Scale::of(from_ms.max(to_ms));
    format!("{} → {}", scale.bare(from_ms), scale.show(to_ms))
}

/// A number with up to three significant digits, below 1 with two, without trailing zeros: `412`,
/// `3.1`, `0.07`.
pub(crate) fn number(value: f64) -> String {
    if !value.is_finite() {
        return "unknown".to_owned();
    }
    let magnitude = if value.abs() > 0.0 {
        value.abs().log10().floor()
    } else {
        0.0
    };
    let digits = if magnitude < 0.0 { 1.0 } else { 2.0 };
    // Beyond six places after the point nothing here is known.
    let places = (digits - magnitude).clamp(0.0, 6.0) as usize;
    let text = format!("{value:.places$}");
    if !text.contains('.') {
        return group(&text);
    }
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A whole number with its thousands set apart: `41,200`.
pub(crate) fn count(value: u64) -> String {
    group(&value.to_string())
}

fn group(digits: &str) -> String {
    let (sign, digits) = digits
        .strip_prefix('-')
        .map_or(("", digits), |rest| ("-", rest));
    let mut text = sign.to_owned();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A share as per cent: whole from 10 % up, with one place below: `88 %`, `2.1 %`.
pub(crate) fn percent(share: f64) -> String {
    let places = usize::from(share.abs() < 0.0995);
    percent_with(share, places)
}

/// A share as per cent with one place: `97.9 %`.
pub(crate) fn percent_fine(share: f64) -> String {
    percent_with(share, 1)
}

/// A share served: never 100 % of what was not served whole.
pub(crate) fn served(share: f64) -> String {
    if (0.9995..1.0).contains(&share) {
        return ">99.9 %".to_owned();
    }
    percent_fine(share)
}

fn percent_with(share: f64, places: usize) -> String {
    if !share.is_finite() {
        return "unknown".to_owned();
    }
    if share > 0.0 && share < 0.0005 {
        return "<0.1 %".to_owned();
    }
    let text = format!("{:.places$}", share * 100.0);
    let text = if places > 0 {
        text.trim_end_matches('0').trim_end_matches('.')
    } else {
        &text
    };
    format!("{text} %")
}

/// A p-value: `p 0.001`, never `p 0`.
pub(crate) fn p_value(p: f64) -> String {
    if p < 0.0005 {
        return "p < 0.001".to_owned();
    }
    let places = if p < 0.0995 { 3 } else { 2 };
    let text = format!("{p:.places$}");
    format!("p {}", text.trim_end_matches('0').trim_end_matches('.'))
}

/// Bytes in binary units: `7.8 GiB`.
pub(crate) fn bytes(value: u64) -> String {
    let mut scaled = value as f64;
    let mut unit = "B";
    for larger in ["KiB", "MiB", "GiB", "TiB"] {
        if scaled < 1024.0 {
            break;
        }
        scaled /= 1024.0;
        unit = larger;
    }
    format!("{} {unit}", number(scaled))
}

/// `1 run`, `5 runs`.
pub(crate) fn plural(count_of: u64, noun: &str) -> String {
    let s = if count_of == 1 { "" } else { "s" };
    format!("{} {noun}{s}", count(count_of))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_take_the_unit_that_fits() {
        let shown = [0.07, 0.9996, 3.1, 40.91, 999.6, 1420.0, 214_000.0, 0.0].map(duration);
        let meant = [
            "70 µs", "1 ms", "3.1 ms", "40.9 ms", "1 s", "1.42 s", "214 s", "0 ms",
        ];
        assert_eq!(shown, meant);
        assert_eq!(change(40.9, 0.6), "40.9 → 0.6 ms");
        assert_eq!(range(96.0, 118.0), "96-118 ms");
        assert_eq!(range(0.3, 1.2), "0.3-1.2 ms");
    }

    #[test]
    fn numbers_have_three_digits() {
        let shown = [412.3, 41_200.0, 3.16, 0.000_123, f64::NAN, -12.5, 0.0].map(number);
        assert_eq!(
            shown,
            ["412", "41,200", "3.16", "0.00012", "unknown", "-12.5", "0"]
        );
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(plural(1, "run"), "1 run");
        assert_eq!(bytes(8_589_934_592), "8 GiB");
    }

    #[test]
    fn shares_and_chances_never_claim_zero_or_certainty() {
        assert_eq!(
            [0.88, 0.021, 0.0001, 0.0].map(percent),
            ["88 %", "2.1 %", "<0.1 %", "0 %"]
        );
        assert_eq!(percent_fine(0.979), "97.9 %");
        assert_eq!(
            [0.9996, 1.0, 0.927, 0.0].map(served),
            [">99.9 %", "100 %", "92.7 %", "0 %"]
        );
        assert_eq!(
            [1.0 / 924.0, 0.31, 0.0001].map(p_value),
            ["p 0.001", "p 0.31", "p < 0.001"]
        );
    }
}
