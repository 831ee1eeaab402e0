//! Numbers inside the sentence that gives the reason for a verdict.

/// Milliseconds with three significant digits, without trailing zeros.
pub(crate) fn ms(value: f64) -> String {
    with_unit(value, "ms")
}

/// Nanoseconds with three significant digits in the unit that fits them, up to milliseconds.
pub(crate) fn duration(ns: f64) -> String {
    match ns.abs() {
        size if size >= 999.5e3 || size <= 0.0 => ms(ns / 1e6),
        size if size >= 999.5 => with_unit(ns / 1e3, "µs"),
        _ => with_unit(ns, "ns"),
    }
}

fn with_unit(value: f64, unit: &str) -> String {
    let digits = match value.abs() {
        size if size >= 100.0 => 0,
        size if size >= 10.0 => 1,
        size if size >= 1.0 => 2,
        _ => 3,
    };
    let text = format!("{value:.digits$}");
    let text = if digits > 0 {
        text.trim_end_matches('0').trim_end_matches('.')
    } else {
        &text
    };
    format!("{text} {unit}")
}

/// A share as per cent, with a digit after the point below 10 %.
pub(crate) fn percent(share: f64) -> String {
    let digits = usize::from(share.abs() < 0.0995);
    format!("{:.digits$} %", share * 100.0)
}

/// A p-value: two significant digits.
pub(crate) fn p(value: f64) -> String {
    if value < 0.01 {
        format!("p {value:.4}")
    } else {
        format!("p {value:.2}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_digits_that_matter() {
        assert_eq!(
            [ms(0.07), ms(2.4), ms(40.91), ms(1400.2)],
            ["0.07 ms", "2.4 ms", "40.9 ms", "1400 ms"]
        );
        assert_eq!(
            [
                duration(0.25),
                duration(999.9),
                duration(3110.0),
                duration(4.31e7)
            ],
            ["0.25 ns", "1 µs", "3.11 µs", "43.1 ms"]
        );
        assert_eq!(duration(0.0), "0 ms");
        assert_eq!(
            [percent(0.021), percent(0.979), percent(0.0)],
            ["2.1 %", "98 %", "0.0 %"]
        );
        assert_eq!([p(1.0 / 924.0), p(0.31)], ["p 0.0011", "p 0.31"]);
    }
}
