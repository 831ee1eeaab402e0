//! Numbers inside the sentence that gives the reason for a verdict.

/// Milliseconds with three significant digits, without trailing zeros.
pub(crate) fn ms(value: f64) -> String {
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
    format!("{text} ms")
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
            [percent(0.021), percent(0.979), percent(0.0)],
            ["2.1 %", "98 %", "0.0 %"]
        );
        assert_eq!([p(1.0 / 924.0), p(0.31)], ["p 0.0011", "p 0.31"]);
    }
}
