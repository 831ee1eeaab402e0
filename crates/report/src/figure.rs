//! Figures of any unit in words: what comparisons and histories share.

use slowpath_core::figures::Unit;
use slowpath_core::nanos::MILLISECOND;
use slowpath_experiment::{Estimate, UnitOf};

use crate::quantity::{self, Scale};

/// A value with its unit.
pub(crate) fn value(unit: Unit, value: f64) -> String {
    match unit {
        Unit::Ns => quantity::duration(value / MILLISECOND as f64),
        Unit::PerSecond => format!("{}/s", quantity::number(value)),
        Unit::Share => quantity::percent(value),
        Unit::Bytes => quantity::bytes(value.max(0.0).round() as u64),
        Unit::Count => quantity::number(value),
    }
}

/// An interval: `[3, 3.2]`, in the unit that its value is shown in.
pub(crate) fn interval(unit: Unit, value: f64, low: f64, high: f64) -> String {
    let in_ms = |ns: f64| ns / MILLISECOND as f64;
    let scale = Scale::of(in_ms(value));
    let bare = |end: f64| match unit {
        Unit::Ns => scale.bare(in_ms(end)),
        Unit::PerSecond | Unit::Count => quantity::number(end),
        Unit::Share => quantity::percent(end).trim_end_matches(" %").to_owned(),
        Unit::Bytes => quantity::bytes(end.max(0.0).round() as u64),
    };
    format!("[{}, {}]", bare(low), bare(high))
}

/// An estimate: `3.1 ms [3, 3.2]`; `~3.1 ms` where a single repeat showed it and its run does not
/// determine it.
pub(crate) fn estimate(unit: Unit, estimate: &Estimate) -> String {
    let Some(middle) = estimate.value else {
        return "unknown".to_owned();
    };
    if !estimate.refused.is_empty() {
        return format!("~{}", value(unit, middle));
    }
    match (estimate.low, estimate.high) {
        (Some(low), Some(high)) => {
            let interval = interval(unit, middle, low, high);
            format!("{} {interval}", value(unit, middle))
        }
        _ => value(unit, middle),
    }
}

/// What `~` means, if one of them contains it.
pub(crate) fn undetermined<'a>(
    mut estimates: impl Iterator<Item = &'a Estimate>,
) -> Option<String> {
    let one = estimates.find(|one| one.value.is_some() && !one.refused.is_empty())?;
    let why = &one.refused;
    Some(format!(
        "~ is what a single repeat showed, which is not determined ({why})"
    ))
}

/// What the brackets of an estimate are: `range of 5 runs, 93.8 %`.
pub(crate) fn brackets(estimate: &Estimate) -> String {
    let units = match estimate.of {
        UnitOf::Runs => quantity::plural(estimate.n, "run"),
        UnitOf::Repeats => format!("{} of one run", quantity::plural(estimate.n, "repeat")),
        UnitOf::Within => "one run".to_owned(),
    };
    match estimate.confidence {
        None => units,
        Some(_) if estimate.of == UnitOf::Within => format!("{units}, within it"),
        Some(confidence) => format!("{units}, {}", quantity::percent_fine(confidence)),
    }
}

/// A ratio of figures: `1.06`, `0.5`, `12`.
pub(crate) fn ratio(ratio: f64) -> String {
    if (0.995..10.0).contains(&ratio) {
        format!("{ratio:.2}")
    } else {
        quantity::number(ratio)
    }
}

/// A change as per cent with its sign: `+6.4 %`, `-50 %`.
pub(crate) fn change(ratio: f64) -> String {
    let change = (ratio - 1.0) * 100.0;
    let places = usize::from(change.abs() < 9.95);
    if change.abs() < 0.05 {
        return "0 %".to_owned();
    }
    format!("{change:+.places$} %")
}
