//! The part of the page that is accuracy: batches that were measured once, each published whole.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::{
    Conditions, NOT_MEASURED, Page, escaped, expected, figures, first_line, names, or_dash, short,
    verdict,
};
use crate::score::files::Variant;
use crate::score::keep::Row;
use crate::score::tally::{headline, percent, tally};

impl Page<'_> {
    /// All batches, the newest name first.
    pub(super) fn first_looks(&self, out: &mut String) {
        out.push_str(
            "\n## First look\n\nThis is accuracy: scenarios on public software that slowpath had \
             not been tried against, with expectations written down before, each run once, and \
             published whole. A run of a sick server without a report counts as not right.\n",
        );
        if self.batches.is_empty() {
            out.push_str("\nThere is no batch yet.\n");
        }
        for batch in self.batches.iter().rev() {
            let (group, tiers) = (&batch.group, &batch.tiers);
            let _ = writeln!(out, "\n### {}", short(group));
            if let Some(text) = batch.first_run.as_ref().filter(|_| tiers.is_empty()) {
                if let Some(text) = above_rows(text) {
                    let _ = writeln!(out, "\n{text}");
                }
                let _ = writeln!(
                    out,
                    "\nEvery row is in [{group}/first-run.md](../{group}/first-run.md)."
                );
                continue;
            }
            let start = format!("{group}/");
            let own = self
                .variants
                .iter()
                .filter(|(id, _)| id.starts_with(&start));
            let own: Vec<(&str, &Variant)> = own.map(|(id, one)| (id.as_str(), *one)).collect();
            if tiers.is_empty() {
                let _ = writeln!(out, "\n{} variants, {NOT_MEASURED}.", own.len());
            }
            let mut columns = Vec::new();
            for (at, (tier, rows)) in tiers.iter().enumerate() {
                let rows: Vec<&Row> = rows.values().collect();
                if at == 0 {
                    let _ = writeln!(out, "\n> {}", headline(&rows, own.len()));
                }
                let found = Conditions::of(&rows);
                let _ = writeln!(
                    out,
                    "\n{} ({}): {}, slowpath {}, {}; others' share of the CPUs: {}.",
                    tier.name(),
                    tier.meaning(),
                    found.days,
                    found.versions,
                    found.machines.join("; "),
                    found.others
                );
                columns.push((tier.name().to_owned(), tally(&rows, own.len()).lines()));
            }
            if !columns.is_empty() {
                out.push('\n');
                figures(out, &columns);
            }
            for (tier, rows) in tiers {
                let _ = writeln!(out, "\nEvery row, {}:\n", tier.name());
                table(out, &own, rows, &start);
                let _ = writeln!(out, "\nConfusion, {}:\n", tier.name());
                confusion(out, &own, rows);
            }
        }
    }
}

/// What a published first run says above its rows: figures, conditions and notes, without its heading. `None` if it has no rows.
fn above_rows(first_run: &str) -> Option<String> {
    let rows = first_run
        .lines()
        .position(|line| line.starts_with("| scenario"))?;
    let lines = first_run.lines().take(rows);
    let lines: Vec<&str> = lines.filter(|line| !line.starts_with("# ")).collect();
    Some(lines.join("\n").trim().to_owned())
}

fn table(out: &mut String, own: &[(&str, &Variant)], rows: &BTreeMap<String, Row>, start: &str) {
    out.push_str(
        "| variant | truth | expected | verdict | named | first line | line | unexplained |\n\
         |---|---|---|---|---|---|---|---|\n",
    );
    for (id, variant) in own {
        let truth = variant.truth.as_deref().unwrap_or("-");
        let _ = write!(
            out,
            "| {} | {} | {} |",
            id.strip_prefix(start).unwrap_or(id),
            escaped(truth.trim()),
            expected(variant)
        );
        let _ = match rows.get(*id) {
            None => writeln!(out, " {NOT_MEASURED} | - | - | - | - |"),
            Some(row) => writeln!(
                out,
                " {} | {} | {} | {} | {} |",
                reasoned(row),
                names(row),
                first_line(row),
                match row.is_line_right {
                    Some(true) => "right",
                    Some(false) => "not right",
                    None => "-",
                },
                row.unexplained.map_or("-".to_owned(), percent),
            ),
        };
    }
}

/// A verdict, and why nothing was judged.
fn reasoned(row: &Row) -> String {
    let why = row.reason.as_ref().filter(|_| !row.verdict.counts());
    why.map_or(verdict(row), |why| {
        format!("{} ({})", verdict(row), escaped(why.trim()))
    })
}

/// What was named first, for each expectation.
fn confusion(out: &mut String, own: &[(&str, &Variant)], rows: &BTreeMap<String, Row>) {
    #[derive(Default)]
    struct Counts<'a> {
        all: usize,
        right: usize,
        nothing: usize,
        not_judged: usize,
        instead: BTreeMap<&'a str, usize>,
    }
    let mut counts: BTreeMap<String, Counts<'_>> = BTreeMap::new();
    for (id, variant) in own {
        let is_expected = |name: &str| variant.expects.iter().any(|one| one == name);
        let is_allowed = |name: &str| variant.allows.iter().any(|one| one == name);
        let expected = if variant.is_healthy() {
            "nothing".to_owned()
        } else {
            variant.expects.join(" or ")
        };
        let count = counts.entry(expected).or_default();
        count.all += 1;
        match rows.get(*id).filter(|row| row.verdict.counts()) {
            None => count.not_judged += 1,
            Some(row) => match row.first_name() {
                None => count.nothing += 1,
                Some(name) if is_expected(name) => count.right += 1,
                Some(name) if variant.is_healthy() && is_allowed(name) => count.nothing += 1,
                Some(name) => *count.instead.entry(name).or_default() += 1,
            },
        }
    }
    out.push_str(
        "| expected | variants | right first | nothing named | named first instead | not judged |\n\
         |---|---|---|---|---|---|\n",
    );
    for (expected, count) in &counts {
        let instead: Vec<String> = count
            .instead
            .iter()
            .map(|(name, times)| format!("{name} {times}"))
            .collect();
        let _ = writeln!(
            out,
            "| {expected} | {} | {} | {} | {} | {} |",
            count.all,
            count.right,
            count.nothing,
            or_dash(&instead.join(", ")),
            count.not_judged
        );
    }
}
