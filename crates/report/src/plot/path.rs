//! Shapes in the unit square (0 0 at the lower left) as SVG path data in thousandths.

use std::fmt::Write as _;

/// A place along the x axis, in thousandths.
fn x(place: f64) -> String {
    trimmed(place * 1000.0)
}

/// A place along the y axis, which grows downwards in SVG.
fn y(place: f64) -> String {
    trimmed((1.0 - place) * 1000.0)
}

fn trimmed(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0")
        .map_or_else(|| text.clone(), ToOwned::to_owned)
}

/// A line through points; a `None` interrupts it.
pub(crate) fn line(points: impl IntoIterator<Item = Option<(f64, f64)>>) -> String {
    let mut path = String::new();
    let mut drawing = false;
    for point in points {
        if let Some((px, py)) = point {
            let _ = write!(
                path,
                "{}{} {}",
                if drawing { 'L' } else { 'M' },
                x(px),
                y(py)
            );
        }
        drawing = point.is_some();
    }
    path
}

/// The outline of bars of equal width that stand side by side on the x axis.
pub(crate) fn steps(heights: &[f64]) -> String {
    let mut path = format!("M0 {}", y(0.0));
    for (at, &height) in heights.iter().enumerate() {
        let right = (at + 1) as f64 / heights.len() as f64;
        let _ = write!(path, "V{}H{}", y(height), x(right));
    }
    path + &format!("V{}Z", y(0.0))
}

/// A dot: with round caps, a line of no length. Circles would be stretched with the frame.
pub(crate) fn dot(px: f64, py: f64) -> String {
    format!("M{} {}h0", x(px), y(py))
}

/// A rectangle from its lower left to its upper right corner.
pub(crate) fn rect(low: (f64, f64), high: (f64, f64)) -> String {
    format!(
        "M{} {}H{}V{}H{}Z",
        x(low.0),
        y(low.1),
        x(high.0),
        y(high.1),
        x(low.0)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_point_interrupts_a_line() {
        let points = [Some((0.0, 0.0)), Some((0.5, 1.0)), None, Some((1.0, 0.25))];
        assert_eq!(line(points), "M0 1000L500 0M1000 750");
        assert_eq!(steps(&[0.5, 1.0]), "M0 1000V500H500V0H1000V1000Z");
        assert_eq!(dot(0.1234, 0.5), "M123.4 500h0");
        assert_eq!(rect((0.0, 0.0), (0.5, 0.5)), "M0 1000H500V500H0Z");
    }
}
