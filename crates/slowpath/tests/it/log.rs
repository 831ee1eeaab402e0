//! `slowpath log` from the command line, and what releases write to it.

use std::path::Path;

use serde_json::Value;

use crate::comparing::{id, store};
use crate::schemas::shape_check;
use crate::support::{root, slowpath, stderr, stdout};

/// The answer of `slowpath log ARGS`, which has the shape of its schema.
fn log(folder: &Path, args: &[&str]) -> (String, Value) {
    let all = [&["log"][..], args, &["--json", "log.json"]].concat();
    let output = slowpath(folder, &all);
    let said = stdout(&output);
    assert_eq!(
        output.status.code(),
        Some(0),
        "{args:?}: {said}{}",
        stderr(&output)
    );
    let read = |path: &Path| -> Value {
        serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
    };
    let answer = read(&folder.join("log.json"));
    let schema = read(&root().join("schema/log.schema.json"));
    let mut wrong = Vec::new();
    shape_check::check(&schema, &schema, &answer, "log", &mut wrong);
    assert_eq!(wrong, Vec::<String>::new());
    (said, answer)
}

/// `slowpath log ARGS` that is refused, and what it says.
fn refused(folder: &Path, args: &[&str]) -> String {
    let output = slowpath(folder, &[&["log"][..], args].concat());
    assert_eq!(
        output.status.code(),
        Some(2),
        "{args:?}: {}",
        stdout(&output)
    );
    stderr(&output)
}

/// A folder with two runs of v1 and an investigation of their tail.
fn begun() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    store(
        folder.path(),
        &id(0),
        Some("v1"),
        "x",
        &[440.0, 441.0, 439.0],
    );
    store(
        folder.path(),
        &id(1),
        Some("v1"),
        "x",
        &[442.0, 443.0, 441.0],
    );
    let new = [
        "new",
        "The tail of search",
        "--metric",
        "search.p99",
        "--id",
        "search-tail",
    ];
    let (said, answer) = log(
        folder.path(),
        &[&new[..], &["--run", "last", "--by", "ann"]].concat(),
    );
    assert!(
        said.starts_with("search-tail: open\nwrote investigations/search-tail/01"),
        "{said}"
    );
    assert_eq!(answer["investigations"][0]["scenario"], "shop");
    assert_eq!(answer["investigations"][0]["since"], "v1");
    assert_eq!(answer["investigations"][0]["runs"][0], id(1));
    folder
}

/// Imports a p99 as a run of a release.
fn import(folder: &Path, release: &str, ms: &[f64]) -> String {
    let lines: Vec<String> = ms.iter().map(|ms| format!("search p99 {ms} ms")).collect();
    for (at, line) in lines.iter().enumerate() {
        std::fs::write(folder.join(format!("{at}.txt")), line).unwrap();
    }
    let files: Vec<String> = (0..ms.len()).map(|at| format!("{at}.txt")).collect();
    let pattern = r"(?P<name>\w+) (?P<metric>\w+) (?P<value>[0-9.]+) (?P<unit>ms)";
    let mut args = vec!["import", "lines", "--regex", pattern, "--name", "shop"];
    args.extend(["--release", release]);
    args.extend(files.iter().map(String::as_str));
    let output = slowpath(folder, &args);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    stdout(&output)
}

/// What the fix of the tail is predicted to give.
const FIXED: &str = "search.p99 in 55ms..75ms";

/// A fix that is predicted, made, called one, and measured to be none.
fn refuted(folder: &Path) {
    let predict = ["predict", "search", FIXED, "--because", "slept twice"];
    let more = ["--cause", "fixed-delay", "--due", "v2"];
    log(folder, &[&predict[..], &more].concat());
    let change = ["note", "search-tail", "10 ms now.", "--kind", "change"];
    let more = ["--release", "v2", "--of", "last"];
    log(folder, &[&change[..], &more].concat());
    let close = ["close", "search", "--as", "fixed", "--because", "Changed."];
    let (said, answer) = log(folder, &close);
    let stands = "search-tail: fixed, not confirmed";
    assert!(said.starts_with(stands), "{said}");
    assert_eq!(answer["due"].as_array().unwrap().len(), 1);
    let said = import(folder, "v2", &[439.0, 440.0, 441.0, 440.5, 439.5]);
    let failed = format!("search-tail: {FIXED} failed");
    assert!(said.contains(&failed), "{said}");
    assert!(said.contains("search-tail: open again"), "{said}");
    let (said, answer) = log(folder, &["show", "search-tail"]);
    assert_eq!(answer["investigations"][0]["status"], "open");
    assert!(said.contains("the fix did not move its target"), "{said}");
    assert_eq!(answer["calibration"]["predictions"]["of"], 1);
}

#[test]
fn a_fix_that_did_not_move_its_target_is_open_again_and_one_that_did_is_confirmed() {
    let folder = begun();
    let folder = folder.path();
    refuted(folder);
    let predict = ["predict", "search", FIXED, "--because", "slept elsewhere"];
    log(folder, &predict);
    let close = ["close", "search", "--as", "fixed", "--because", "Both."];
    log(folder, &close);
    let said = import(folder, "v3", &[61.0, 62.0, 63.0, 62.5, 61.5]);
    assert!(said.contains("held (search.p99 is 62 ms"), "{said}");
    let (said, answer) = log(folder, &[]);
    assert!(said.contains("fixed and confirmed"), "{said}");
    let entries = answer["investigations"][0]["entries"].as_array().unwrap();
    let kinds = entries.iter().map(|one| one["kind"].as_str().unwrap());
    assert_eq!(
        kinds.collect::<Vec<&str>>().join(" "),
        "opened hypothesis decision decision outcome reopening hypothesis decision outcome"
    );
    assert_eq!(entries[8]["by"], "slowpath");
    let residual = entries[8]["residual"].as_str().unwrap();
    assert!(residual.contains("of 442ms"), "{residual}");
    // A release that is measured again says nothing new, and one that is slow again says so.
    assert!(!import(folder, "v3", &[61.0, 62.0, 63.0]).contains("log      search"));
    let said = import(folder, "v4", &[439.0, 440.0, 441.0, 440.5, 439.5]);
    assert!(said.contains("open again"), "{said}");
    let (said, _) = log(folder, &["show", "search"]);
    assert!(said.contains("held in v3, failed later"), "{said}");
    let (said, _) = log(folder, &["check"]);
    let sound = "investigations 1, entries 11: nothing is wrong";
    assert!(said.contains(sound), "{said}");
}

#[test]
fn what_is_due_is_shown_and_what_is_overdue_first() {
    let folder = begun();
    let folder = folder.path();
    let predict = |that: &str, due: &str| {
        let words = ["predict", "search", that, "--because", "x", "--due", due];
        log(folder, &words);
    };
    predict("search.p99 in 1ms..2ms", "v9");
    predict("search.p99 in 3ms..435ms", "v2");
    // It lies at the bound, so that nothing is settled.
    import(folder, "v2", &[430.0, 440.0, 436.0]);
    let (said, answer) = log(folder, &["due"]);
    let first = said.lines().next().unwrap();
    assert!(
        first.contains("3ms..435ms") && first.contains("overdue"),
        "{said}"
    );
    assert!(
        said.contains("due by v9") && said.contains("to know it takes"),
        "{said}"
    );
    assert_eq!(answer["calibration"]["overdue"], 1);
    let (said, _) = log(folder, &["calibration"]);
    assert!(said.contains("2 predictions, 1 of them overdue"), "{said}");
    let told = refused(
        folder,
        &[
            "predict",
            "search",
            "search.p99 in 1ms..2ms",
            "--because",
            "x",
            "--due",
            "v1",
        ],
    );
    assert!(told.contains("measured already"), "{told}");
}

#[test]
fn pages_tell_the_story_and_the_tables() {
    let folder = begun();
    let folder = folder.path();
    std::fs::write(
        folder.join("investigations/search-tail/stalls.svg"),
        "<svg/>",
    )
    .unwrap();
    let note = [
        "note",
        "search",
        "Every *500 ms*.\n# A heading",
        "--figure",
        "stalls.svg",
    ];
    log(
        folder,
        &[&note[..], &["--link", "https://example.org/a"]].concat(),
    );
    let wrong = [
        "note",
        "search",
        "A clone did it.",
        "--kind",
        "hypothesis",
        "--cause",
        "GC <old>",
    ];
    log(folder, &wrong);
    let (said, answer) = log(folder, &["render", "--to", "docs"]);
    assert_eq!(
        said,
        "wrote docs/INVESTIGATIONS.md\nwrote docs/BENCHMARKS.md\n"
    );
    assert_eq!(answer["written"].as_array().unwrap().len(), 2);
    let page = std::fs::read_to_string(folder.join("docs/INVESTIGATIONS.md")).unwrap();
    for part in [
        "| [The tail of search](#search-tail) | open | search.p99 of shop since v1, 442 ms",
        "\n## search-tail\n",
        "Every *500 ms*.\n\\# A heading\n",
        "![stalls.svg](<../investigations/search-tail/stalls.svg>)",
        "- <https://example.org/a>",
        "- cause: GC &lt;old&gt;",
        "Opened (ann)",
    ] {
        assert!(page.contains(part), "{part}\n{page}");
    }
    let tables = std::fs::read_to_string(folder.join("docs/BENCHMARKS.md")).unwrap();
    for part in [
        "### v1, 2026-01-01",
        "| endpoint | n | p99 | comparable |",
        "| the first |",
        "- harness: rate 500/s",
        "2 runs: ",
    ] {
        assert!(tables.contains(part), "{part}\n{tables}");
    }
}

#[test]
fn pages_keep_what_others_wrote_and_what_was_measured_elsewhere() {
    let folder = begun();
    let folder = folder.path();
    log(folder, &["render", "--to", "docs"]);
    let tables = std::fs::read_to_string(folder.join("docs/BENCHMARKS.md")).unwrap();
    // What others wrote around it stays, and what they wrote alone is not overwritten.
    let page = folder.join("docs/INVESTIGATIONS.md");
    let own = std::fs::read_to_string(&page).unwrap();
    std::fs::write(&page, format!("# Ours\n\n{own}\nThe end.\n")).unwrap();
    log(folder, &["render", "--to", "docs"]);
    let kept = std::fs::read_to_string(&page).unwrap();
    assert_eq!(kept, format!("# Ours\n\n{own}\nThe end.\n"));
    std::fs::write(folder.join("BENCHMARKS.md"), "# By hand\n").unwrap();
    let told = refused(folder, &["render"]);
    assert!(
        told.contains("BENCHMARKS.md was not written by") && told.contains("--to"),
        "{told}"
    );
    assert!(!folder.join("INVESTIGATIONS.md").exists());
    let by_hand = std::fs::read_to_string(folder.join("BENCHMARKS.md")).unwrap();
    assert_eq!(by_hand, "# By hand\n");
    // Where no run is stored the tables of others are not lost, nor where others are.
    std::fs::remove_dir_all(folder.join(".slowpath")).unwrap();
    store(folder, &id(7), Some("v2"), "x", &[61.0, 62.0, 63.0]);
    log(folder, &["render", "--to", "docs"]);
    let both = std::fs::read_to_string(folder.join("docs/BENCHMARKS.md")).unwrap();
    let v1 = &tables[tables.find("### v1").unwrap()..tables.find("<!-- runs").unwrap()];
    assert!(both.contains(v1), "{both}");
    let v2 = both.find("### v2, 2026-01-01").unwrap();
    assert!(
        v2 < both.find("### v1").unwrap(),
        "the newest first: {both}"
    );
    assert!(
        both.contains("not known: the runs of v1 are not stored here"),
        "{both}"
    );
    log(folder, &["render", "--to", "docs"]);
    let again = std::fs::read_to_string(folder.join("docs/BENCHMARKS.md")).unwrap();
    assert_eq!(again, both);
    std::fs::remove_dir_all(folder.join(".slowpath")).unwrap();
    let (said, _) = log(folder, &["render", "--to", "docs"]);
    assert_eq!(said, "wrote docs/INVESTIGATIONS.md\n");
    assert!(folder.join("docs/BENCHMARKS.md").exists());
}

#[test]
fn all_that_is_wrong_with_the_files_is_told_at_once() {
    let folder = begun();
    let folder = folder.path();
    let own = folder.join("investigations/search-tail");
    let head = "kind = \"observation\"\nat = 2026-01-31T14:05:00Z\n";
    let unstored = format!("{head}text = \"x\"\nruns = [\"{}\"]\n", id(9));
    std::fs::write(own.join(format!("{}-observation.toml", id(5))), unstored).unwrap();
    // Other verbs do not mind: runs are often kept elsewhere.
    log(folder, &["list"]);
    let (said, _) = log(folder, &["check", "--no-runs"]);
    assert!(said.contains("nothing is wrong"), "{said}");
    let told = refused(folder, &["check"]);
    assert!(
        told.contains(":4: runs: run 01JD") && told.contains("--no-runs"),
        "{told}"
    );
    let broken = format!("{head}txt = \"x\"\ndue = \"v2\"\n");
    std::fs::write(own.join(format!("{}-observation.toml", id(6))), broken).unwrap();
    for verb in [&["check"][..], &["list"], &["show", "search"], &["render"]] {
        let told = refused(folder, verb);
        for part in [
            "mistakes in the log",
            ":3: txt: unknown key; did you mean text?",
            ":4: due:",
        ] {
            assert!(told.contains(part), "{verb:?}: {told}");
        }
    }
    let json = folder.join("check.json");
    refused(folder, &["check", "--json", json.to_str().unwrap()]);
    let answer: Value = serde_json::from_str(&std::fs::read_to_string(&json).unwrap()).unwrap();
    assert_eq!(answer["mistakes"].as_array().unwrap().len(), 4);
    // A broken log is no reason to lose a measurement.
    let said = import(folder, "v2", &[430.0, 440.0]);
    assert!(said.contains("p99"), "{said}");
}

#[test]
fn what_is_asked_wrongly_is_refused_with_a_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let (said, _) = log(folder, &[]);
    assert_eq!(said, "no investigation\n");
    let new = ["new", "x", "--metric"];
    for (more, part) in [
        (&["p99"][..], "ENDPOINT.METRIC"),
        (&["search.max"], "counted"),
        (&["search.p99"], "--scenario NAME"),
        (&["search.p99", "--run", "last"], "slowpath run"),
        (&["search.p99", "--scenario", "s", "--id", "A b"], "a-z"),
        (
            &["search.p99", "--scenario", "s", "--link", "here"],
            "https://",
        ),
        (
            &["search.p99", "--scenario", "s", "--figure", "x.svg"],
            "put it there first",
        ),
    ] {
        let told = refused(folder, &[&new[..], more].concat());
        assert!(told.contains(part), "{more:?}: {told}");
    }
    assert!(
        !folder.join("investigations").exists(),
        "nothing is left of what was refused"
    );
    log(
        folder,
        &[&new[..], &["search.p99", "--scenario", "s"]].concat(),
    );
    let (_, answer) = log(
        folder,
        &[&new[..], &["search.p99", "--scenario", "s"]].concat(),
    );
    assert_eq!(answer["investigations"][0]["id"], "x-2");
    for (args, part) in [
        (&["show", "y"][..], "one of x, x-2"),
        (
            &["predict", "x", "search.p99 < 5ms", "--because", "b"],
            "96ms..118ms",
        ),
        (
            &["close", "x", "--as", "done", "--because", "b"],
            "explained or fixed",
        ),
        (&["reopen", "x", "--because", "b"], "x is open"),
        (
            &["note", "x", "b", "--release", "v2"],
            "--release is not for this --kind",
        ),
        (
            &["note", "x", "b", "--kind", "change", "--of", "last"],
            "slowpath log predict adds one",
        ),
        (&["note", "x", "  "], "text"),
    ] {
        let told = refused(folder, args);
        assert!(told.contains(part), "{args:?}: {told}");
    }
    let (_, answer) = log(folder, &["list", "--status", "fixed"]);
    assert!(answer["investigations"].as_array().unwrap().is_empty());
}

#[test]
fn what_stands_out_against_the_history_opens_an_investigation() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for at in 0..11_u8 {
        let ms = 10.0 * (1.0 + 0.01 * f64::from(at % 3));
        store(
            folder,
            &id(at),
            Some(&format!("v{at}")),
            "x",
            &[ms, ms * 1.01, ms * 0.99],
        );
    }
    // A project without the folder keeps no log.
    let slow = [15.0, 15.1, 14.9];
    assert!(!import(folder, "v11", &slow).contains("log      "));
    std::fs::remove_dir_all(last_run(folder)).unwrap();
    std::fs::create_dir(folder.join("investigations")).unwrap();
    let said = import(folder, "v11", &slow);
    assert!(
        said.contains("shop-search-p99: opened: search.p99 of v11"),
        "{said}"
    );
    let (_, answer) = log(folder, &["show", "shop-search-p99"]);
    let one = &answer["investigations"][0];
    assert_eq!(one["since"], "v11");
    assert_eq!(
        (&one["entries"][0]["by"], &one["entries"][0]["sign"]),
        (&"slowpath".into(), &"novelty".into())
    );
    // The same release shows nothing new.
    assert!(!import(folder, "v11", &slow).contains("search-p99"));
}

/// The directory of the newest run.
fn last_run(folder: &Path) -> std::path::PathBuf {
    let runs = std::fs::read_dir(folder.join(".slowpath/runs")).unwrap();
    runs.map(|run| run.unwrap().path()).max().unwrap()
}
