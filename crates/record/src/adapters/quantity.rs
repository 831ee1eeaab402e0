//! Quantities as tools print them: `635.91us`, `1.02s`, `17.76GB`, `56.20k`.

/// Nanoseconds in a unit of time.
pub(super) fn unit_ns(unit: &str) -> Option<f64> {
    Some(match unit {
        "ns" | "nsec" | "nanoseconds" => 1.0,
        // The Greek letter, the micro sign, and what keyboards have.
        "us" | "\u{3bc}s" | "\u{b5}s" | "usec" | "microseconds" => 1e3,
        "ms" | "msec" | "milliseconds" => 1e6,
        "s" | "sec" | "secs" | "second" | "seconds" => 1e9,
        "m" | "min" | "minutes" => 60e9,
        "h" => 3600e9,
        _ => return None,
    })
}

/// A number with a unit right after it, or with blanks between.
pub(super) fn split(text: &str) -> Option<(f64, &str)> {
    let text = text.trim();
    let end = text
        .char_indices()
        .find(|&(at, c)| !(c.is_ascii_digit() || c == '.' || (at == 0 && "+-".contains(c))))
        .map_or(text.len(), |(at, _)| at);
    let value: f64 = text[..end].parse().ok()?;
    Some((value, text[end..].trim_start()))
}

/// A duration in nanoseconds.
pub(super) fn duration_ns(text: &str) -> Option<f64> {
    let (value, unit) = split(text)?;
    Some(value * unit_ns(unit)?)
}

/// Bytes, in the binary multiples that wrk means by `KB`, `MB` and `GB`.
pub(super) fn bytes(text: &str) -> Option<f64> {
    let (value, unit) = split(text)?;
    let scale = match unit.trim_end_matches("/s") {
        "B" => 1.0,
        "KB" | "KiB" => 1024.0,
        "MB" | "MiB" => 1024.0 * 1024.0,
        "GB" | "GiB" => 1024.0 * 1024.0 * 1024.0,
        "TB" | "TiB" => 1024.0_f64.powi(4),
        _ => return None,
    };
    Some(value * scale)
}

/// The name of a percentile: `p50`, `p99.9`.
pub(super) fn percentile(percent: f64) -> String {
    // `f64` prints the shortest decimal that reads back as the same number.
    format!("p{percent}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_read_with_their_units() {
        assert_eq!(duration_ns("635.91us"), Some(635_910.0));
        assert_eq!(duration_ns(" 1.02s"), Some(1.02e9));
        assert_eq!(duration_ns("2 ms"), Some(2e6));
        assert_eq!(duration_ns("2"), None);
        assert_eq!(duration_ns("ms"), None);
        assert_eq!(bytes("1.5MB"), Some(1_572_864.0));
        assert_eq!(bytes("12B"), Some(12.0));
        assert_eq!(percentile(99.9), "p99.9");
        assert_eq!(percentile(50.0), "p50");
    }
}
