//! The words of a comparison, which all its views share.

use slowpath_core::figures::Unit;
use slowpath_core::nanos::MILLISECOND;
use slowpath_experiment::compare::{
    Comparison, Difference, FailureChange, FunctionChange, ModeChange, Part, Ratio, RowComparison,
    Side, Verdict, What,
};

use crate::sweep_story::Table;
use crate::{figure, quantity};

/// What differs, a line each, hosts first.
pub(crate) fn differences(comparison: &Comparison) -> Vec<String> {
    comparison.differences.iter().map(difference).collect()
}

fn difference(one: &Difference) -> String {
    let part = one.part.name();
    let value = |side: &Option<String>| side.clone().unwrap_or_else(|| "not known".to_owned());
    if one.name.is_empty() {
        let side = if one.a.is_some() { "B" } else { "A" };
        return format!("{part}: nothing is known of {side}");
    }
    format!("{part} {}: {} → {}", one.name, value(&one.a), value(&one.b))
}

/// What is said before any figure: void runs, obstacles.
pub(crate) fn warnings(comparison: &Comparison) -> Vec<String> {
    let mut said = Vec::new();
    for (name, side) in [("A", &comparison.a), ("B", &comparison.b)] {
        said.extend(side.void.iter().map(|run| {
            let why = run.reasons.join("; ");
            format!("run {} of {name} is void: {why}", run.id)
        }));
    }
    let obstacles = comparison.obstacles.iter();
    // That a side is void was said with its runs.
    let obstacles = obstacles.filter(|o| !o.contains("is void"));
    let obstacles: Vec<&str> = obstacles.map(String::as_str).collect();
    if !obstacles.is_empty() {
        said.push(format!(
            "A and B were not measured alike: {}; the figures are shown and not judged",
            obstacles.join(", ")
        ));
    }
    said
}

/// What a side is made of.
pub(crate) fn side(side: &Side) -> String {
    let runs = match side.runs.as_slice() {
        [one] => format!("run {}, {}", one.id, one.began),
        many => {
            let first = many.first().map_or("", |run| run.began.as_str());
            let last = many.last().map_or("", |run| run.began.as_str());
            let count = quantity::plural(many.len() as u64, "run");
            format!("{count}, {first} to {last}")
        }
    };
    let label = match side.runs.as_slice() {
        [one] if one.id == side.label => {
            let release = one.release.as_ref();
            return release.map_or(runs.clone(), |name| format!("{runs}, release {name}"));
        }
        _ => &side.label,
    };
    let left = side.left_out.len() as u64;
    let left_out = match side.left_out.first() {
        Some(first) => format!(
            "; {} left out: {}",
            quantity::plural(left, "run"),
            first.because
        ),
        None => String::new(),
    };
    format!("{label}: {runs}{left_out}")
}

/// The rows.
pub(crate) fn rows(comparison: &Comparison) -> Table {
    Table {
        heads: vec!["row", "A", "B", "B/A", "verdict"],
        rows: comparison.rows.iter().map(row).collect(),
    }
}

fn row(row: &RowComparison) -> Vec<String> {
    vec![
        format!("{}.{}", row.subject, row.metric),
        figure::estimate(row.unit, &row.a),
        figure::estimate(row.unit, &row.b),
        row.ratio
            .as_ref()
            .map_or(String::new(), |r| ratio(row.unit, r)),
        verdict(row),
    ]
}

fn ratio(unit: Unit, ratio: &Ratio) -> String {
    let odds = if unit == Unit::Share { "odds " } else { "" };
    let value = figure::ratio(ratio.value);
    match (ratio.low, ratio.high) {
        (Some(low), Some(high)) => {
            let (low, high) = (figure::ratio(low), figure::ratio(high));
            format!("{odds}{value} [{low}, {high}]")
        }
        _ => format!("{odds}{value}"),
    }
}

/// The verdict of a row with its reason.
pub(crate) fn verdict(row: &RowComparison) -> String {
    let word = word(row.verdict);
    let p = row.ratio.and_then(|ratio| ratio.adjusted_p);
    let text = match row.verdict {
        Verdict::Better | Verdict::Worse | Verdict::Different => {
            let change = row.ratio.map_or(String::new(), |r| figure::change(r.value));
            let p = p.map_or(String::new(), |p| format!(" ({})", quantity::p_value(p)));
            format!("{word} {change}{p}")
        }
        _ if row.because.is_empty() => word.to_owned(),
        _ => format!("{word}: {}", row.because),
    };
    match row.needs {
        Some(needs) => format!("{text} ({needs} a side)"),
        None => text,
    }
}

/// A verdict in a word or two.
pub(crate) const fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Better => "better",
        Verdict::Worse => "worse",
        Verdict::Different => "different",
        Verdict::Same => "same",
        Verdict::CannotTell => "cannot tell",
        Verdict::NotComparable => "not comparable",
    }
}

/// Which functions' shares of the CPU time changed; nothing without profiles.
pub(crate) fn profile(comparison: &Comparison) -> Vec<String> {
    let Some(profile) = &comparison.profile else {
        return Vec::new();
    };
    if !profile.because.is_empty() {
        return vec![format!("profiles are not compared: {}", profile.because)];
    }
    let mut said: Vec<String> = profile.changes.iter().map(function).collect();
    let of = quantity::plural(profile.compared, "function");
    let none = if said.is_empty() {
        "no share of them changed"
    } else {
        ""
    };
    let total = profile.a_per_request_ms.zip(profile.b_per_request_ms);
    let total = total.map(|(a, b)| format!("a request has {} of CPU time", quantity::change(a, b)));
    let told = [Some(none.to_owned()), total];
    let told: Vec<String> = told
        .into_iter()
        .flatten()
        .filter(|t| !t.is_empty())
        .collect();
    said.push(format!(
        "profiles: {of} compared, beyond what samples explain for all of them together{}{}; one pass \
         a side, and another start may differ by more",
        if told.is_empty() { "" } else { "; " },
        told.join("; ")
    ));
    said
}

fn function(change: &FunctionChange) -> String {
    let points = |share: f64| quantity::number(share * 100.0);
    let share = &change.share;
    let each = change.per_request_ms.map_or_else(String::new, |ms| {
        let (low, high) = (quantity::duration(ms.low), quantity::duration(ms.high));
        if ms.is_beyond_chance() {
            format!(", and its CPU time in a request by {} [{low}, {high}]", quantity::duration(ms.by))
        } else {
            format!(", its CPU time in a request by none that is beyond chance [{low}, {high}]: the rest changed")
        }
    });
    format!(
        "{}: its share of the CPU time {} → {} changed by {} points [{}, {}]{each}",
        change.function,
        quantity::percent(change.a_share),
        quantity::percent(change.b_share),
        points(share.by),
        points(share.low),
        points(share.high),
    )
}

/// What the columns mean.
pub(crate) fn legend(comparison: &Comparison) -> String {
    let first = comparison.rows.iter().find(|row| row.a.value.is_some());
    let brackets = first.map_or(String::new(), |row| {
        format!(
            "brackets of A: {}; of B: {}; of B/A: 95 %; ",
            figure::brackets(&row.a),
            figure::brackets(&row.b)
        )
    });
    let least = (comparison.ratio_to_claim - 1.0) * 100.0;
    let floor = match comparison.floor {
        Some(floor) => format!("twice the noise floor of {}", figure::change(floor)),
        None => "no noise floor is known".to_owned(),
    };
    let unknown = comparison
        .rows
        .iter()
        .any(|row| row.verdict == Verdict::CannotTell);
    let unknown = if unknown {
        format!(
            "; \"cannot tell\": neither a difference nor equality is shown, and so many runs a side would \
             probably show {}",
            figure::change(comparison.ratio_wanted)
        )
    } else {
        String::new()
    };
    let figures = comparison.rows.iter().flat_map(|row| [&row.a, &row.b]);
    let undetermined = figure::undetermined(figures);
    let undetermined = undetermined.map_or(String::new(), |text| format!("{text}; "));
    format!(
        "{brackets}{undetermined}a difference counts from {least:.0} % ({floor}), at a false discovery rate of \
         5 %{unknown}"
    )
}

/// Modes, failures and rows that only one side has, a sentence each.
pub(crate) fn sentences(comparison: &Comparison) -> Vec<String> {
    let mut said: Vec<String> = comparison.modes.iter().map(mode).collect();
    said.extend(comparison.failures.iter().map(failure));
    for side in ["a", "b"] {
        let of = comparison.unmatched.iter().filter(|u| u.only_in == side);
        let names: Vec<String> = of.map(|u| format!("{}.{}", u.subject, u.metric)).collect();
        if !names.is_empty() {
            let side = side.to_uppercase();
            said.push(format!("only in {side}: {}", names.join(", ")));
        }
    }
    said
}

fn mode(change: &ModeChange) -> String {
    let (here, there) = match change.what {
        What::Appeared => ("B", "A"),
        What::Vanished => ("A", "B"),
    };
    let word = match (change.what, change.is_shown) {
        (What::Appeared, true) => "appeared",
        (What::Vanished, true) => "vanished",
        (_, false) => "was seen on one side only",
    };
    let chance = if change.is_shown {
        quantity::p_value(change.p)
    } else {
        format!("{}: it may come and go", quantity::p_value(change.p))
    };
    format!(
        "{}: a mode at {} {word} ({} of the requests, in {} of {} of {here}, in none of {there}; \
         {chance})",
        change.subject,
        quantity::duration(change.at_ns / MILLISECOND as f64),
        quantity::percent(change.weight),
        change.runs,
        quantity::plural(change.of_runs, "run"),
    )
}

fn failure(change: &FailureChange) -> String {
    let (word, here) = if change.appeared {
        ("appeared", "B")
    } else {
        ("vanished", "A")
    };
    format!(
        "{}: failures of class {} {word} ({}, {}, in {} of {} of {here})",
        change.subject,
        change.class,
        quantity::plural(change.count, "request"),
        quantity::percent(change.share),
        change.runs,
        quantity::plural(change.of_runs, "run"),
    )
}

/// What to do next, if something is not known.
pub(crate) fn next(comparison: &Comparison) -> Option<String> {
    let unknown = comparison
        .rows
        .iter()
        .any(|row| matches!(row.verdict, Verdict::CannotTell));
    let differs = |part: Part| comparison.differences.iter().any(|d| d.part == part);
    if !comparison.obstacles.is_empty() {
        let what = if differs(Part::Host) || differs(Part::Harness) {
            "measure both on one host with one scenario"
        } else {
            "measure again what is void"
        };
        return Some(format!("{what}; `slowpath ab` runs both side by side"));
    }
    unknown.then(|| {
        "`slowpath ab` interleaves both sides, which shows more with fewer runs than more of these"
            .to_owned()
    })
}
