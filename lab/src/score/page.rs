//! `docs/accuracy.md`: figures, and a line for each variant, so that a name that should not be there
//! is a line in a diff.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::keep::Row;
use super::outcome::{Named, Verdict};
use super::tally::{median, percent, tally};
use super::tier::Tier;

/// The rows of each tier, by id.
pub(crate) type Tiers = Vec<(Tier, BTreeMap<String, Row>)>;

/// The page. `load` is what the host did besides, from its own records.
pub(crate) fn page(tiers: &Tiers, load: &str) -> String {
    let mut out = String::from(
        "# Accuracy\n\nHow often slowpath names the right cause, and only that. Written by \
         `cargo run --release -p slowpath-lab -- score --update`; [CONTRIBUTING](../CONTRIBUTING.md) \
         says how. Intervals are of 95 % (Wilson).\n",
    );
    conditions(&mut out, tiers, load);
    figures(&mut out, tiers);
    for (heading, is_case) in [("The lab", false), ("Software that others wrote", true)] {
        let _ = write!(out, "\n## {heading}\n\n");
        variants(&mut out, tiers, is_case);
    }
    misses(&mut out, tiers);
    out
}

/// What was measured, when, and on what.
fn conditions(out: &mut String, tiers: &Tiers, load: &str) {
    out.push_str("\n## Conditions\n\n");
    out.push_str("| tier | what it means | measured on | slowpath | others' share of the CPUs |\n");
    out.push_str("|---|---|---|---|---|\n");
    let mut machines = BTreeSet::new();
    for (tier, rows) in tiers {
        let judged: Vec<&Row> = rows.values().filter(|row| row.verdict.counts()).collect();
        let days = judged.iter().filter_map(|row| row.said.began.get(..10));
        let days: BTreeSet<&str> = days.collect();
        let versions: BTreeSet<&str> = judged.iter().map(|row| row.version.as_str()).collect();
        machines.extend(judged.iter().map(|row| row.said.machine.as_str()));
        let others = median(judged.iter().map(|row| row.said.others_share));
        let most = judged
            .iter()
            .map(|row| row.said.others_share)
            .fold(0.0, f64::max);
        let others = others.map_or("-".to_owned(), |share| {
            format!("median {}, at most {}", percent(share), percent(most))
        });
        let list = |all: BTreeSet<&str>| all.into_iter().collect::<Vec<_>>().join(", ");
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} | {others} |",
            tier.name(),
            tier.meaning(),
            list(days),
            list(versions),
        );
    }
    let machines: Vec<&str> = machines.into_iter().collect();
    let _ = writeln!(out, "\nMachine: {}. {load}", machines.join("; "));
}

fn figures(out: &mut String, tiers: &Tiers) {
    out.push_str("\n## Figures\n\n");
    let mut columns = Vec::new();
    for (tier, rows) in tiers {
        for (name, is_case) in [("lab", false), ("cases", true)] {
            let rows: Vec<&Row> = rows.values().filter(|row| row.is_case == is_case).collect();
            if !rows.is_empty() {
                columns.push((format!("{name}, {}", tier.name()), tally(&rows).lines()));
            }
        }
    }
    let heads: Vec<&str> = columns.iter().map(|(head, _)| head.as_str()).collect();
    let _ = writeln!(out, "| | {} |", heads.join(" | "));
    let _ = writeln!(out, "|---|{}", "---|".repeat(columns.len()));
    let Some((_, lines)) = columns.first() else {
        return;
    };
    for (at, (what, _)) in lines.iter().enumerate() {
        let cells: Vec<&str> = columns
            .iter()
            .map(|(_, lines)| lines[at].1.as_str())
            .collect();
        let _ = writeln!(out, "| {what} | {} |", cells.join(" | "));
    }
}

/// The rows of all tiers beside each other; the first tier in full.
fn variants(out: &mut String, tiers: &Tiers, is_case: bool) {
    let Some((first, rows)) = tiers.first() else {
        return;
    };
    let others: Vec<&str> = tiers[1..].iter().map(|(tier, _)| tier.name()).collect();
    let _ = writeln!(
        out,
        "| variant | expected | {} | named | grade | unexplained |{}",
        first.name(),
        others
            .iter()
            .flat_map(|name| [" ", *name, " |"])
            .collect::<String>()
    );
    let _ = writeln!(
        out,
        "|---|---|---|---|---|---|{}",
        "---|".repeat(others.len())
    );
    for (id, row) in rows.iter().filter(|(_, row)| row.is_case == is_case) {
        let expected = if row.is_healthy {
            "nothing".to_owned()
        } else {
            row.expects.join(", ")
        };
        let _ = write!(
            out,
            "| {} | {expected} | {} | {} | {} | {} |",
            short(id),
            row.verdict,
            names(row),
            row.grade.as_deref().unwrap_or("-"),
            row.unexplained.map_or("-".to_owned(), percent),
        );
        for (_, rows) in &tiers[1..] {
            let cell = rows
                .get(id)
                .map_or("-".to_owned(), |row| match row.verdict {
                    Verdict::Right | Verdict::Quiet | Verdict::Missed | Verdict::Blind => {
                        row.verdict.to_string()
                    }
                    verdict if row.false_names.is_empty() => verdict.to_string(),
                    verdict => format!("{verdict}: {}", row.false_names.join(", ")),
                });
            let _ = write!(out, " {cell} |");
        }
        out.push('\n');
    }
}

/// Without the origin, which the heading says.
fn short(id: &str) -> &str {
    id.split_once('/').map_or(id, |(_, rest)| rest)
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

/// A sentence for each variant of the first tier with which something is not as it should be.
fn misses(out: &mut String, tiers: &Tiers) {
    let rows = tiers
        .first()
        .into_iter()
        .flat_map(|(_, rows)| rows.values());
    let bad: Vec<&Row> = rows.filter(|row| !row.verdict.is_good()).collect();
    out.push_str("\n## What is not as it should be\n\n");
    if bad.is_empty() {
        out.push_str("Nothing.\n");
    }
    for row in bad {
        let why = row.reason.as_deref().unwrap_or("not yet explained").trim();
        let _ = writeln!(out, "- **{}** ({}): {why}", short(&row.id), row.verdict);
    }
}

#[cfg(test)]
mod tests {
    use super::super::keep::tests::row;
    use super::*;

    fn named(cause: &str) -> Named {
        Named {
            cause: cause.to_owned(),
            share: 0.84,
            grade: "supported".to_owned(),
            place: "tail".to_owned(),
            endpoint: None,
        }
    }

    #[test]
    fn a_false_name_is_one_line_of_a_difference() {
        let tier = |rows: &[Row]| {
            let rows = rows.iter().map(|row| (row.id.clone(), row.clone()));
            (Tier::T2, rows.collect::<BTreeMap<_, _>>())
        };
        let quiet = row("lab/b/healthy", Verdict::Quiet);
        let mut noisy = row("lab/b/healthy", Verdict::FalseName);
        noisy.said.named.push(named("fixed-delay"));
        noisy.said.host.push(named("client-saturation"));
        let right = row("lab/a/x", Verdict::Right);
        let before = page(&vec![tier(&[right.clone(), quiet])], "");
        let after = page(&vec![tier(&[right, noisy])], "");
        let table = |page: &str| -> Vec<String> {
            page.lines()
                .filter(|l| l.starts_with("| a/") || l.starts_with("| b/"))
                .map(str::to_owned)
                .collect()
        };
        let (before, after) = (table(&before), table(&after));
        assert_eq!((before.len(), after.len()), (2, 2));
        assert_eq!(before[0], after[0]);
        assert_eq!(
            after[1],
            "| b/healthy | nothing | FALSE NAME | fixed-delay 84 % (host: client-saturation 84 %) \
             | - | - |"
        );
    }

    #[test]
    fn tiers_stand_beside_each_other_and_misses_are_told() {
        let mut missed = row("cases/a/x", Verdict::Missed);
        missed.reason = Some("no detector yet".to_owned());
        let mut wrong = row("cases/a/x", Verdict::Wrong);
        wrong.false_names = vec!["queueing".to_owned()];
        let tiers = [(Tier::T2, missed), (Tier::T0, wrong)]
            .map(|(tier, row)| (tier, [(row.id.clone(), row)].into()));
        let page = page(&tiers.into(), "Load.");
        assert!(
            page.contains("| a/x |  | missed | - | - | - | WRONG: queueing |"),
            "{page}"
        );
        assert!(
            page.contains("- **a/x** (missed): no detector yet"),
            "{page}"
        );
        assert!(page.contains("| | cases, t2 | cases, t0 |"), "{page}");
    }
}
