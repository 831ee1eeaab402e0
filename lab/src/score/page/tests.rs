//! What the page shows.

use super::super::keep::tests::row;
use super::super::outcome::{Cleared, Line};
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

fn tier(tier: Tier, rows: &[Row]) -> (Tier, BTreeMap<String, Row>) {
    let rows = rows.iter().map(|row| (row.id.clone(), row.clone()));
    (tier, rows.collect())
}

fn sick(name: &str) -> Variant {
    Variant {
        expects: vec![name.to_owned()],
        truth: Some("two | workers".to_owned()),
        ..Variant::default()
    }
}

fn page(batches: Vec<Batch>, variants: &[(&str, &Variant)], tiers: Tiers) -> String {
    let variants = variants.iter().map(|(id, one)| ((*id).to_owned(), *one));
    let page = Page {
        batches,
        variants: variants.collect(),
        tiers,
        load: "Load.".to_owned(),
    };
    page.text()
}

#[test]
fn a_false_name_is_one_line_of_a_difference() {
    let quiet = row("lab/b/healthy", Verdict::Quiet);
    let mut noisy = row("lab/b/healthy", Verdict::FalseName);
    noisy.said.named.push(named("fixed-delay"));
    noisy.said.host.push(named("client-saturation"));
    let right = row("lab/a/x", Verdict::Right);
    let (ill, healthy) = (sick("queueing"), Variant::default());
    let variants = [("lab/a/x", &ill), ("lab/b/healthy", &healthy)];
    let shown = |rows: &[Row]| page(Vec::new(), &variants, vec![tier(Tier::T2, rows)]);
    let (before, after) = (shown(&[right.clone(), quiet]), shown(&[right, noisy]));
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
         | - | - | - |"
    );
}

#[test]
fn every_variant_is_a_row_of_every_tier() {
    let mut missed = row("cases/a/x", Verdict::Missed);
    missed.reason = Some("no rule yet".to_owned());
    missed.is_line_right = Some(true);
    let mut wrong = row("cases/a/x", Verdict::Wrong);
    wrong.false_names = vec!["queueing".to_owned()];
    wrong.said.cleared_truth = vec![Cleared {
        cause: "fixed-delay".to_owned(),
        text: String::new(),
    }];
    let only_t0 = row("cases/a/y", Verdict::Right);
    let gone = row("cases/a/gone", Verdict::Right);
    let variant = sick("fixed-delay");
    let ids = ["cases/a/x", "cases/a/y", "cases/a/z"];
    let page = page(
        Vec::new(),
        &ids.map(|id| (id, &variant)),
        vec![
            tier(Tier::T2, &[missed, gone]),
            tier(Tier::T1, &[]),
            tier(Tier::T0, &[wrong, only_t0]),
        ],
    );
    for line in [
        "| a/x | fixed-delay | missed | - | - | right | - | not measured | \
         WRONG; cleared: fixed-delay: queueing |",
        "| a/y | fixed-delay | not measured | - | - | - | - | not measured | right |",
        "| a/z | fixed-delay | not measured | - | - | - | - | not measured | not measured |",
        "- **a/x** (t2, missed): no rule yet",
        "- **a/x** (t0, WRONG): not yet explained",
        "| | cases, t2 | cases, t0 |",
    ] {
        assert!(page.lines().any(|other| other == line), "{line}\n{page}");
    }
    assert!(!page.contains("a/gone"), "{page}");
    assert!(page.contains("2 not measured; 0 run again"), "{page}");
}

#[test]
fn a_first_look_stands_on_top_and_is_published_whole() {
    let start = "first-look/one";
    let id = |name: &str| format!("{start}/s/{name}");
    let mut right = row(&id("a"), Verdict::Right);
    right.said.began = "2026-12-01T10:00:00Z".to_owned();
    right.said.named.push(named("fixed-delay"));
    right.is_line_right = Some(true);
    right.said.first_line = Some(Line {
        share: 0.76,
        text: "sleeping | in nanosleep".to_owned(),
        ..Line::default()
    });
    let mut wrong = row(&id("b"), Verdict::Wrong);
    wrong.said.named.push(named("queueing"));
    wrong.said.cleared_truth = vec![Cleared {
        cause: "fixed-delay".to_owned(),
        text: String::new(),
    }];
    wrong.unexplained = Some(1.0);
    let quiet = row(&id("c"), Verdict::Quiet);
    let again = row(&id("b"), Verdict::Right);
    let (ill, healthy) = (sick("fixed-delay"), Variant::default());
    let [a, b, c, d] = ["a", "b", "c", "d"].map(id);
    let variants = [(a.as_str(), &ill), (&b, &ill), (&c, &healthy), (&d, &ill)];
    let batches = vec![Batch {
        group: start.to_owned(),
        tiers: vec![tier(Tier::T2, &[right, wrong, quiet])],
        first_run: None,
    }];
    let page = page(batches, &variants, vec![tier(Tier::T2, &[again])]);
    let (first, regression) = page.split_once("\n## Regression\n").unwrap();
    for line in [
        "### one",
        "> First-look accuracy, 2026-12-01: right cause first in 1 of 2 = 50 % [9, 91]; truth \
         printed as cleared in 1 of 2 = 50 % [9, 91]; false name on healthy in 0 of 1 = 0 % \
         [0, 79]. 4 scenarios, 1 of them healthy, each run once.",
        "| s/a | two \\| workers | fixed-delay | right | fixed-delay 84 % | 76 % sleeping \\| in \
         nanosleep | right | - |",
        "| s/b | two \\| workers | fixed-delay | WRONG; cleared: fixed-delay | queueing 84 % | - \
         | - | 100 % |",
        "| s/c | - | nothing | quiet | - | - | - | - |",
        "| s/d | two \\| workers | fixed-delay | not measured | - | - | - | - |",
        "| fixed-delay | 3 | 1 | 0 | queueing 1 | 1 |",
        "| nothing | 1 | 0 | 1 | - | 0 |",
    ] {
        assert!(first.lines().any(|other| other == line), "{line}\n{first}");
    }
    assert!(regression.contains("### Batches of first looks, judged again"));
    assert!(
        regression.contains("| one/s/b | fixed-delay | right |"),
        "{regression}"
    );
}

#[test]
fn alternatives_and_pairs_differ() {
    let names = |all: &[&str]| all.iter().map(|name| (*name).to_owned()).collect();
    for (expects, also, shown) in [
        (&["a", "b"][..], &[][..], "a or b"),
        (&["a", "b"], &["a", "b"], "a and b"),
        (&["a"], &["b"], "a and b"),
        (&[], &[], "nothing"),
    ] {
        let variant = Variant {
            expects: names(expects),
            also: names(also),
            ..Variant::default()
        };
        assert_eq!(expected(&variant), shown);
    }
}

#[test]
fn a_batch_that_was_measured_otherwise_shows_what_its_first_run_says() {
    let first_run = "# Batch two: the first run, whole\n\n3 scenarios.\n\n| figure | value |\n|---|---|\n\
                     | right cause first | 1 of 2 |\n\n| scenario | expected |\n|---|---|\n| s/a | queueing |\n";
    let batch = || Batch {
        group: "first-look/two".to_owned(),
        first_run: Some(first_run.to_owned()),
        ..Batch::default()
    };
    let shown = page(vec![batch()], &[], Vec::new());
    let (first, _) = shown.split_once("\n## Regression\n").unwrap();
    for line in [
        "### two",
        "3 scenarios.",
        "| right cause first | 1 of 2 |",
        "Every row is in [first-look/two/first-run.md](../first-look/two/first-run.md).",
    ] {
        assert!(first.lines().any(|l| l == line), "{line} in {first}");
    }
    assert!(
        !first.contains("s/a") && !first.contains("# Batch two"),
        "{first}"
    );
    // What has no rows is not repeated: it is one click away.
    let mut other = batch();
    other.first_run = Some("# Batch two\n\nOnly words.\n".to_owned());
    let shown = page(vec![other], &[], Vec::new());
    assert!(shown.contains("first-look/two/first-run.md") && !shown.contains("Only words"));
    // Rows say more.
    let rows = [row("first-look/two/s/a", Verdict::Right)];
    let mut measured = batch();
    measured.tiers = vec![tier(Tier::T2, &rows)];
    assert!(!page(vec![measured], &[], Vec::new()).contains("3 scenarios.\n\n| figure"));
}
