//! `docs/accuracy.md`: figures, and a line for each variant, so that a name that should not be there
//! is a line in a diff.

mod first_look;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::files::Variant;
use super::keep::{Row, group};
use super::outcome::{Named, Verdict};
use super::tally::{median, percent, tally};
use super::tier::Tier;

/// The rows of each tier, by id.
pub(crate) type Tiers = Vec<(Tier, BTreeMap<String, Row>)>;

/// A batch of first looks.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    /// `first-look/BATCH`.
    pub(crate) group: String,
    /// Its rows, of tiers that have some.
    pub(crate) tiers: Tiers,
    /// Its `first-run.md`, where it was measured by other means than this program.
    pub(crate) first_run: Option<String>,
}

/// The text for a row that is not there.
const NOT_MEASURED: &str = "not measured";

/// The groups of regression, and their headings.
const GROUPS: [(&str, &str); 3] = [
    ("lab", "The lab"),
    ("cases", "Software that others wrote"),
    ("first-look", "Batches of first looks, judged again"),
];

/// What the page is made of.
#[derive(Debug)]
pub(crate) struct Page<'a> {
    /// The results of first looks, by name.
    pub(crate) batches: Vec<Batch>,
    /// Every variant that exists, by its id.
    pub(crate) variants: BTreeMap<String, &'a Variant>,
    /// What is kept for regression, of every tier.
    pub(crate) tiers: Tiers,
    /// What the host did besides, from its own records.
    pub(crate) load: String,
}

impl Page<'_> {
    /// The page.
    pub(crate) fn text(mut self) -> String {
        // What files no longer have was measured under another name.
        for (_, rows) in &mut self.tiers {
            rows.retain(|id, _| self.variants.contains_key(id));
        }
        let mut out = String::from(
            "# Accuracy\n\nHow often slowpath names the right cause, and only that. Written by \
             `cargo run --release -p slowpath-lab -- score --update`; \
             [CONTRIBUTING](../CONTRIBUTING.md) says how. Intervals are of 95 % (Wilson).\n",
        );
        self.first_looks(&mut out);
        out.push_str(
            "\n## Regression\n\nThis is not accuracy: the rules were written with these servers. \
             It shows what a change moves. Every variant that exists is a row.\n",
        );
        self.conditions(&mut out);
        self.figures(&mut out);
        for (name, heading) in GROUPS {
            // Batches are a group of their own only after they were judged again.
            let is_there =
                |(_, rows): &(Tier, BTreeMap<String, Row>)| rows.keys().any(|id| group(id) == name);
            if name != "first-look" || self.tiers.iter().any(is_there) {
                let _ = write!(out, "\n### {heading}\n\n");
                self.table(&mut out, name);
            }
        }
        self.misses(&mut out);
        out
    }

    /// What was measured, when, and on what.
    fn conditions(&self, out: &mut String) {
        out.push_str("\n### Conditions\n\n");
        out.push_str(
            "| tier | what it means | measured on | slowpath | others' share of the CPUs |\n",
        );
        out.push_str("|---|---|---|---|---|\n");
        let mut machines = BTreeSet::new();
        for (tier, rows) in &self.tiers {
            let rows: Vec<&Row> = rows.values().collect();
            let found = Conditions::of(&rows);
            let _ = writeln!(
                out,
                "| {} | {} | {} | {} | {} |",
                tier.name(),
                tier.meaning(),
                found.days,
                found.versions,
                found.others,
            );
            machines.extend(found.machines);
        }
        if !machines.is_empty() {
            let machines: Vec<String> = machines.into_iter().collect();
            let _ = writeln!(out, "\nMachine: {}. {}", machines.join("; "), self.load);
        }
    }

    fn figures(&self, out: &mut String) {
        out.push_str("\n### Figures\n\n");
        let mut columns = Vec::new();
        for (tier, rows) in &self.tiers {
            for (name, _) in GROUPS {
                let of_group: Vec<&Row> = rows.values().filter(|row| row.group() == name).collect();
                if !of_group.is_empty() {
                    let variants = self.variants.keys().filter(|id| group(id) == name).count();
                    columns.push((
                        format!("{name}, {}", tier.name()),
                        tally(&of_group, variants).lines(),
                    ));
                }
            }
        }
        figures(out, &columns);
    }

    /// Every variant of a group with its rows of all tiers; the first tier in full.
    fn table(&self, out: &mut String, name: &str) {
        let Some(((first, rows), others)) = self.tiers.split_first() else {
            return;
        };
        let heads = others.iter().flat_map(|(tier, _)| [" ", tier.name(), " |"]);
        let _ = writeln!(
            out,
            "| variant | expected | {} | named | grade | first line | unexplained |{}",
            first.name(),
            heads.collect::<String>()
        );
        let _ = writeln!(
            out,
            "|---|---|---|---|---|---|---|{}",
            "---|".repeat(others.len())
        );
        for (id, variant) in self.variants.iter().filter(|(id, _)| group(id) == name) {
            let expected = expected(variant);
            let _ = write!(out, "| {} | {expected} |", short(id));
            let _ = match rows.get(id) {
                None => write!(out, " {NOT_MEASURED} | - | - | - | - |"),
                Some(row) => write!(
                    out,
                    " {} | {} | {} | {} | {} |",
                    verdict(row),
                    names(row),
                    row.grade.as_deref().unwrap_or("-"),
                    match row.is_line_right {
                        Some(true) => "right".to_owned(),
                        Some(false) => format!("not right: {}", first_line(row)),
                        None => "-".to_owned(),
                    },
                    row.unexplained.map_or("-".to_owned(), percent),
                ),
            };
            for (_, rows) in others {
                let cell = rows.get(id).map_or(NOT_MEASURED.to_owned(), brief);
                let _ = write!(out, " {cell} |");
            }
            out.push('\n');
        }
    }

    /// A sentence for each row of each tier with which something is not as it should be.
    fn misses(&self, out: &mut String) {
        out.push_str("\n### What is not as it should be\n\n");
        let all = self
            .tiers
            .iter()
            .flat_map(|(tier, rows)| rows.values().map(move |row| (tier, row)));
        // Less privilege sees less: what it leaves undecided is not a mistake.
        let is_bad = |(tier, row): &(&Tier, &Row)| {
            !row.verdict.is_good() && (**tier == Tier::T2 || row.verdict != Verdict::Blind)
        };
        let mut is_empty = true;
        for (tier, row) in all.filter(is_bad) {
            let why = row.reason.as_deref().unwrap_or("not yet explained").trim();
            let _ = writeln!(
                out,
                "- **{}** ({}, {}): {}",
                short(&row.id),
                tier.name(),
                row.verdict,
                escaped(why)
            );
            is_empty = false;
        }
        if is_empty {
            out.push_str("Nothing.\n");
        }
    }
}

/// When, with what and where rows were measured.
struct Conditions {
    days: String,
    versions: String,
    others: String,
    machines: Vec<String>,
}

impl Conditions {
    fn of(rows: &[&Row]) -> Self {
        let judged: Vec<&Row> = rows
            .iter()
            .copied()
            .filter(|row| row.verdict.counts())
            .collect();
        let list = |all: BTreeSet<&str>| or_dash(&all.into_iter().collect::<Vec<_>>().join(", "));
        let days = judged.iter().filter_map(|row| row.said.began.get(..10));
        let shares = || judged.iter().map(|row| row.said.others_share);
        let most = shares().fold(0.0, f64::max);
        let others = median(shares()).map_or("-".to_owned(), |share| {
            format!("median {}, at most {}", percent(share), percent(most))
        });
        let machines: BTreeSet<&String> = judged.iter().map(|row| &row.said.machine).collect();
        Self {
            days: list(days.collect()),
            versions: list(judged.iter().map(|row| row.version.as_str()).collect()),
            others,
            machines: machines.into_iter().cloned().collect(),
        }
    }
}

/// A table of columns of figures.
fn figures(out: &mut String, columns: &[(String, Vec<(&'static str, String)>)]) {
    let Some((_, lines)) = columns.first() else {
        out.push_str("Nothing is measured.\n");
        return;
    };
    let heads: Vec<&str> = columns.iter().map(|(head, _)| head.as_str()).collect();
    let _ = writeln!(out, "| | {} |", heads.join(" | "));
    let _ = writeln!(out, "|---|{}", "---|".repeat(columns.len()));
    for (at, (what, _)) in lines.iter().enumerate() {
        let cells: Vec<&str> = columns
            .iter()
            .map(|(_, lines)| lines[at].1.as_str())
            .collect();
        let _ = writeln!(out, "| {what} | {} |", cells.join(" | "));
    }
}

/// The name that must be first, and those that must be found beside it.
fn expected(variant: &Variant) -> String {
    if variant.is_healthy() {
        "nothing".to_owned()
    } else if variant.also == variant.expects {
        variant.also.join(" and ")
    } else {
        let first = [variant.expects.join(" or ")];
        let all = first.into_iter().chain(variant.also.iter().cloned());
        all.collect::<Vec<_>>().join(" and ")
    }
}

/// A verdict, and which expected names are ruled out.
fn verdict(row: &Row) -> String {
    let cleared = row.cleared_truth();
    if cleared.is_empty() {
        row.verdict.to_string()
    } else {
        format!("{}; cleared: {}", row.verdict, cleared.join(", "))
    }
}

/// A text, or a dash where there is none.
pub(crate) fn or_dash(text: &str) -> String {
    if text.is_empty() { "-" } else { text }.to_owned()
}

/// A row in one cell.
fn brief(row: &Row) -> String {
    let is_plain = matches!(
        row.verdict,
        Verdict::Right | Verdict::Quiet | Verdict::Missed | Verdict::Blind
    );
    if is_plain || row.false_names.is_empty() {
        verdict(row)
    } else {
        format!("{}: {}", verdict(row), row.false_names.join(", "))
    }
}

/// Without the group, which the heading says.
fn short(id: &str) -> &str {
    id.split_once('/').map_or(id, |(_, rest)| rest)
}

/// A text that stays in its cell of a table.
fn escaped(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

/// The first line of the attribution, as the report prints it.
pub(crate) fn first_line(row: &Row) -> String {
    let line = row.said.first_line.as_ref();
    line.map_or("-".to_owned(), |line| {
        escaped(&format!("{} {}", percent(line.share), line.text))
    })
}

/// What a report names, the answer first; what it says of the host in brackets.
pub(crate) fn names(row: &Row) -> String {
    let name = |named: &Named| format!("{} {}", named.cause, percent(named.share));
    let server: Vec<String> = row.said.named.iter().map(name).collect();
    let host: Vec<String> = row.said.host.iter().map(name).collect();
    match (server.is_empty(), host.is_empty()) {
        (true, true) => "-".to_owned(),
        (_, true) => server.join(", "),
        (true, false) => format!("(host: {})", host.join(", ")),
        (false, false) => format!("{} (host: {})", server.join(", "), host.join(", ")),
    }
}

#[cfg(test)]
mod tests;
