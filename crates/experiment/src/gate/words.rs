//! Figures in the sentences of gates.

use slowpath_core::scenario::Dimension;

use crate::wording::{duration, percent};

/// A figure with its unit.
pub(super) fn shown(value: f64, dimension: Dimension) -> String {
    match dimension {
        Dimension::Duration => duration(value),
        Dimension::Rate => format!("{}/s", number(value)),
        Dimension::Share => percent(value),
        Dimension::Size => format!("{} B", number(value)),
        Dimension::Count | Dimension::Ratio => number(value),
    }
}

/// An interval after its figure.
pub(super) fn interval(low: f64, high: f64, dimension: Dimension) -> String {
    format!(" [{}, {}]", shown(low, dimension), shown(high, dimension))
}

/// A number with four significant digits, or all that it has before the point.
fn number(value: f64) -> String {
    if value.fract().abs() < f64::EPSILON && value.abs() < 1e15 {
        return format!("{value:.0}");
    }
    let digits = match value.abs() {
        size if size >= 1000.0 => 0,
        size if size >= 100.0 => 1,
        size if size >= 10.0 => 2,
        _ => 3,
    };
    format!("{value:.digits$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_units_and_the_digits_that_matter() {
        assert_eq!(shown(4.31e7, Dimension::Duration), "43.1 ms");
        assert_eq!(shown(412.33, Dimension::Rate), "412.3/s");
        assert_eq!(shown(0.003, Dimension::Share), "0.3 %");
        assert_eq!(shown(1024.0, Dimension::Size), "1024 B");
        assert_eq!(interval(0.95, 1.0512, Dimension::Ratio), " [0.950, 1.051]");
    }
}
