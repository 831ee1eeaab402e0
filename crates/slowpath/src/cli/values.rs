//! Values on the command line.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use slowpath_core::scenario::{Profiler, units};

/// The port of `slowpath serve` by default.
const PORT: u16 = 7878;

/// Where to listen. What is not said is of this machine alone, and [`PORT`].
pub(super) fn listen(text: &str) -> Result<SocketAddr, String> {
    let local = IpAddr::V4(Ipv4Addr::LOCALHOST);
    let text = text.replacen("localhost", "127.0.0.1", 1);
    let bare = text.trim_start_matches('[').trim_end_matches(']');
    if let Ok(address) = text.parse() {
        Ok(address)
    } else if let Ok(port) = text.trim_start_matches(':').parse() {
        Ok(SocketAddr::new(local, port))
    } else if let Ok(ip) = bare.parse() {
        Ok(SocketAddr::new(ip, PORT))
    } else {
        Err("say an address, a port or both, such as 127.0.0.1:7878, 8080 or [::1]:0".to_owned())
    }
}

pub(super) fn levels(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(levels @ 2..=64) => Ok(levels),
        _ => Err(format!("{text:?} is not a number from 2 to 64")),
    }
}

pub(super) fn duration(text: &str) -> Result<u64, String> {
    match units::parse_duration(text) {
        Ok(0) => Err("must be longer than 0s".to_owned()),
        Ok(ns) => Ok(ns),
        Err(error) => Err(error.to_string()),
    }
}

/// A duration that may be zero.
pub(super) fn offset(text: &str) -> Result<u64, String> {
    units::parse_duration(text).map_err(|error| error.to_string())
}

pub(super) fn precision(text: &str) -> Result<f64, String> {
    units::parse_precision(text).map_err(|error| error.to_string())
}

/// A bare number is requests a second: what the hands of wrk and oha users know.
pub(super) fn rate(text: &str) -> Result<f64, String> {
    let per_second = text.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    let full = if per_second {
        format!("{text}/s")
    } else {
        text.to_owned()
    };
    units::parse_rate(&full).map_err(|error| error.to_string())
}

/// A difference in percent, with or without its sign.
pub(super) fn effect(text: &str) -> Result<f64, String> {
    let number = text.trim_end_matches('%').trim_end();
    match number.parse::<f64>() {
        Ok(percent) if percent > 0.0 && percent <= 1000.0 => Ok(percent / 100.0),
        _ => Err(format!("{text:?} is not a percentage above 0")),
    }
}

pub(super) fn share(text: &str) -> Result<f64, String> {
    let value: f64 = text
        .parse()
        .map_err(|_| format!("{text:?} is not a number"))?;
    if (0.0..=1.0).contains(&value) {
        Ok(value)
    } else {
        Err(format!("{value} is not between 0 and 1"))
    }
}

/// Who takes the samples of a profiling pass.
pub(super) fn profiler(text: &str) -> Result<Profiler, String> {
    Profiler::named(text).ok_or_else(|| {
        let known = Profiler::ALL.map(Profiler::name);
        format!("it is one of {}", known.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_need_no_unit() {
        assert_eq!(rate("500"), Ok(500.0));
        assert_eq!(rate("30/m"), Ok(0.5));
        assert!(rate("-1").is_err());
        assert!(rate("fast").is_err());
    }
}
