//! The runs of each side: which of them are compared, and what is said of the others.

use serde::{Deserialize, Serialize};
use slowpath_core::figures::{Origin, RunFigures};

use super::differences::is_alike;
use super::{Chosen, Difference, Part};

/// One side of a comparison.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Side {
    /// What was asked for: a run's id, or a release.
    pub label: String,
    /// The runs that were compared, in order of time.
    pub runs: Vec<RunName>,
    /// Runs whose figures mean something else than they say, and why.
    pub void: Vec<VoidRun>,
    /// Runs that were left out, and why; decided before their figures were examined.
    pub left_out: Vec<LeftOut>,
}

/// A run by its names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunName {
    /// Its ULID.
    pub id: String,
    /// The release, if it was named.
    pub release: Option<String>,
    /// When it began, RFC 3339 in UTC.
    pub began: String,
}

/// A run that is void.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct VoidRun {
    /// Its ULID.
    pub id: String,
    /// Why.
    pub reasons: Vec<String>,
}

/// A run that was not compared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LeftOut {
    /// Its ULID.
    pub id: String,
    /// Why.
    pub because: String,
}

impl RunName {
    pub(crate) fn of(run: &RunFigures) -> Self {
        Self {
            id: run.id.clone(),
            release: run.release.clone(),
            began: run.began.clone(),
        }
    }
}

/// The runs of each side that are compared: those that are not void (if there are others), and
/// among them those that were measured alike on both sides, as the newest run of B that has such
/// a counterpart was. Without any, the newest of each side and those like it.
///
/// Nothing here looks at a figure.
pub(super) fn pick<'a>(
    a: &'a [RunFigures],
    b: &'a [RunFigures],
) -> (Vec<&'a RunFigures>, Vec<&'a RunFigures>) {
    let (a, b) = (usable(a), usable(b));
    let like = |side: &[&'a RunFigures], one: &RunFigures| -> Vec<&'a RunFigures> {
        let runs = side.iter().copied();
        runs.filter(|run| is_alike(run, one)).collect()
    };
    for newest in b.iter().rev() {
        let counterpart = like(&a, newest);
        if !counterpart.is_empty() {
            return (counterpart, like(&b, newest));
        }
    }
    let newest = |side: &[&'a RunFigures]| side.last().map(|run| like(side, run));
    (
        newest(&a).unwrap_or_default(),
        newest(&b).unwrap_or_default(),
    )
}

/// The runs that are not void; all of them if every one is.
fn usable(runs: &[RunFigures]) -> Vec<&RunFigures> {
    let sound: Vec<&RunFigures> = runs.iter().filter(|run| run.void.is_empty()).collect();
    if sound.is_empty() {
        runs.iter().collect()
    } else {
        sound
    }
}

/// Why rows may not be judged, if all runs of a side are void.
pub(super) fn void(used: &[&RunFigures], side: &str) -> Option<String> {
    let reasons: Vec<&String> = used.iter().flat_map(|run| &run.void).collect();
    let first = reasons.first()?;
    Some(format!("{side} is void: {first}"))
}

/// A side as it is reported.
pub(super) fn side(chosen: &Chosen, used: &[&RunFigures]) -> Side {
    let is_used = |run: &RunFigures| used.iter().any(|other| other.id == run.id);
    let is_void = |run: &&RunFigures| !run.void.is_empty();
    let left_out = chosen.runs.iter().filter(|run| !is_used(run));
    let why = |run: &RunFigures| {
        if run.void.is_empty() {
            "measured on another host or in another way than the others"
        } else {
            "void"
        }
    };
    Side {
        label: chosen.label.clone(),
        runs: used.iter().map(|run| RunName::of(run)).collect(),
        void: chosen
            .runs
            .iter()
            .filter(is_void)
            .map(|run| VoidRun {
                id: run.id.clone(),
                reasons: run.void.clone(),
            })
            .collect(),
        left_out: left_out
            .map(|run| LeftOut {
                id: run.id.clone(),
                because: why(run).to_owned(),
            })
            .collect(),
    }
}

/// What should be known before the verdicts are believed.
pub(super) fn notes(
    a: &[&RunFigures],
    b: &[&RunFigures],
    differences: &[Difference],
) -> Vec<String> {
    let mut notes = Vec::new();
    let unknown = differences.iter().filter(|d| d.part == Part::Host);
    let of_host: Vec<&str> = unknown
        .filter(|d| !d.is_known())
        .map(|d| d.name.as_str())
        .collect();
    if !of_host.is_empty() {
        notes.push("the host of one side is not known: it may be another one".to_owned());
    } else if a.iter().chain(b).all(|run| run.conditions.host.is_empty()) {
        notes.push("the hosts are not known: they may differ".to_owned());
    }
    for (side, runs) in [("A", a), ("B", b)] {
        notes.extend(one_process(side, runs));
    }
    let interleaved = is_interleaved(a, b);
    if !interleaved && a.len() + b.len() > 1 && !is_same(a, b) {
        notes.push(
            "A and B ran one after the other: a drift of the host in between is part of every \
             ratio; `slowpath ab` interleaves them"
                .to_owned(),
        );
    }
    let asleep = a.iter().chain(b).flat_map(|run| &run.rows);
    let aside = asleep
        .flat_map(|row| &row.repeats)
        .filter(|f| !f.aside.is_empty());
    if let Some(first) = aside.map(|figure| figure.aside.as_str()).next() {
        notes.push(format!("repeats were excluded on host evidence: {first}"));
    }
    notes
}

/// Whether both sides are the same runs.
fn is_same(a: &[&RunFigures], b: &[&RunFigures]) -> bool {
    a.iter().map(|run| &run.id).eq(b.iter().map(|run| &run.id))
}

/// Whether some run of each side began between two of the other.
fn is_interleaved(a: &[&RunFigures], b: &[&RunFigures]) -> bool {
    let ends = |runs: &[&RunFigures]| {
        let began = || runs.iter().map(|run| run.began.clone());
        Some((began().min()?, began().max()?))
    };
    match (ends(a), ends(b)) {
        (Some((first_a, last_a)), Some((first_b, last_b))) => first_b < last_a && first_a < last_b,
        _ => false,
    }
}

/// That the repeats of a single run shared one process: its layout and caches are one draw.
fn one_process(side: &str, runs: &[&RunFigures]) -> Option<String> {
    let [run] = runs else { return None };
    let several = run.rows.iter().any(|row| row.repeats.len() > 1);
    (several && is_kept(run)).then(|| {
        format!(
            "the repeats of {side} asked one and the same process: its layout and caches are a \
             single draw, which says nothing of another start"
        )
    })
}

/// Whether the repeats of a run asked a process that was not restarted for each. What is known
/// of nothing (figures without any configuration) is not known to be kept.
pub(super) fn is_kept(run: &RunFigures) -> bool {
    let (harness, config) = (&run.conditions.harness, &run.conditions.config);
    let kept = harness.get("fresh").is_some_and(|fresh| fresh == "false")
        || (!config.is_empty() && !config.contains_key("command"));
    kept && run.origin == Origin::Measured
}
