//! Runs slowpath on one variant, or judges a recorded run again.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::files::{Suite, Variant};
use super::host;
use super::keep::Row;
use super::outcome::{self, Said, Verdict};
use super::process::{Group, Running, last_words};
use super::recipe::Places;
use super::remote::Remote;
use super::tier::Tier;

/// Longer than any run takes: a run of 15 s with its warm-up, tracing and judgement.
const PATIENCE: Duration = Duration::from_mins(4);
/// A run that was invalid is run again, once.
const ATTEMPTS: u32 = 2;
/// What a server says when this machine does not permit its fault.
const NOT_PERMITTED: &str = "skipped: ";
/// Exit codes of slowpath for a scenario with mistakes and for a target that is never ready:
/// nothing was measured.
const NOTHING_MEASURED: [i32; 2] = [2, 3];

/// What a pass has in common.
#[derive(Debug)]
pub(crate) struct Setting {
    pub(crate) slowpath: PathBuf,
    /// Its version and commit.
    pub(crate) version: String,
    pub(crate) tier: Tier,
    /// How long a run waits for a host that is calm.
    pub(crate) calm: Duration,
    /// Folders of runs are named from here.
    pub(crate) scratch: PathBuf,
    /// Below `scratch`: here each variant has a folder.
    pub(crate) runs: String,
    /// Whether each variant is run once, whatever comes of it.
    pub(crate) is_once: bool,
    pub(crate) running: Arc<Running>,
}

impl Setting {
    /// That of a pass which judges recorded runs below this folder.
    pub(crate) fn explain(slowpath: PathBuf, version: String, folder: PathBuf) -> Self {
        Self {
            slowpath,
            version,
            tier: Tier::own(),
            calm: Duration::ZERO,
            scratch: folder,
            runs: String::new(),
            is_once: false,
            running: Arc::default(),
        }
    }
}

/// `lab/SUITE/VARIANT`, `cases/SUITE/VARIANT` or `first-look/BATCH/SUITE/VARIANT`.
pub(crate) fn id(suite: &Suite, variant: &Variant) -> String {
    format!("{}/{}/{}", suite.group, suite.name, variant.name)
}

/// A name that every file system takes.
pub(crate) fn slug(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '.';
    text.chars()
        .map(|c| if is_plain(c) { c } else { '_' })
        .collect()
}

/// The row of a variant that cannot be measured.
pub(crate) fn skipped(suite: &Suite, variant: &Variant, setting: &Setting, why: String) -> Row {
    let attempt = Attempt::without(Verdict::Skipped, why);
    row(id(suite, variant), variant, setting, String::new(), attempt)
}

/// Measures a variant; an invalid run once more, unless each is run once.
pub(crate) fn measure(
    suite: &Suite,
    variant: &Variant,
    places: &Places,
    setting: &Setting,
) -> io::Result<Row> {
    let began = Instant::now();
    let id = id(suite, variant);
    let place = format!("{}/{}", setting.runs, slug(&id));
    let folder = setting.scratch.join(&place);
    let most = if setting.is_once { 1 } else { ATTEMPTS };
    let mut attempts = 0;
    let attempt = loop {
        attempts += 1;
        host::wait_until_calm(setting.calm, &setting.running)?;
        let attempt = attempt(variant, places, setting, &folder)?;
        let is_void = matches!(attempt.verdict, Verdict::Invalid | Verdict::NotInduced);
        if !is_void || attempts == most || setting.running.is_stopped() {
            break attempt;
        }
    };
    let mut row = row(id, variant, setting, place, attempt);
    row.seconds = began.elapsed().as_secs_f64();
    row.attempts = attempts;
    Ok(row)
}

/// What one run gave.
struct Attempt {
    verdict: Verdict,
    said: Said,
    reason: Option<String>,
}

impl Attempt {
    fn without(verdict: Verdict, reason: String) -> Self {
        Self {
            verdict,
            said: Said::default(),
            reason: Some(reason),
        }
    }
}

/// Judges a recorded run again, by the slowpath of today; `before` is its row. Nothing where the
/// record is gone.
pub(crate) fn again(variant: &Variant, setting: &Setting, before: &Row) -> io::Result<Option<Row>> {
    let folder = setting.scratch.join(&before.folder);
    if before.folder.is_empty() || !folder.join("run").is_dir() {
        return Ok(None);
    }
    let file = folder.join("report.json");
    match fs::remove_file(&file) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut command = Command::new(&setting.slowpath);
    command
        .args(["explain", "run", "--json", "report.json"])
        .env("NO_COLOR", "1")
        .stdin(Stdio::null())
        .current_dir(&folder);
    Group::start(&mut command, &folder, "explain-", &setting.running)?.wait(PATIENCE)?;
    let report = fs::read_to_string(&file).ok();
    let attempt = match report.and_then(|text| serde_json::from_str(&text).ok()) {
        Some(report) => judged(&report, variant, &folder),
        None => Attempt::without(
            Verdict::Failed,
            last_words(&folder.join("explain-stderr.txt"), 4),
        ),
    };
    let mut row = row(
        before.id.clone(),
        variant,
        setting,
        before.folder.clone(),
        attempt,
    );
    row.tier.clone_from(&before.tier);
    (row.seconds, row.attempts) = (before.seconds, before.attempts);
    let measured = before.version.split(", judged").next().unwrap_or_default();
    row.version = if measured == setting.version {
        measured.to_owned()
    } else {
        format!("{measured}, judged by {}", setting.version)
    };
    Ok(Some(row))
}

fn row(id: String, variant: &Variant, setting: &Setting, folder: String, attempt: Attempt) -> Row {
    let Attempt {
        verdict,
        said,
        reason,
    } = attempt;
    let found = outcome::found(&said, variant).filter(|_| verdict.counts());
    let is_judged_sick = !variant.is_healthy() && verdict.counts();
    let unexplained = is_judged_sick.then(|| outcome::unexplained(&said, variant));
    let is_line_right = is_judged_sick.then(|| outcome::is_line_right(&said, variant));
    Row {
        id,
        tier: setting.tier.name().to_owned(),
        is_healthy: variant.is_healthy(),
        expects: variant.wanted(),
        verdict,
        false_names: outcome::false_names(&said, variant),
        is_line_right: is_line_right.flatten(),
        share: found.map(|found| found.share),
        grade: found.map(|found| found.grade.clone()),
        unexplained: unexplained.flatten(),
        seconds: 0.0,
        attempts: 1,
        reason: reason.or_else(|| variant.miss.clone()),
        folder,
        version: setting.version.clone(),
        said,
    }
}

fn attempt(
    variant: &Variant,
    places: &Places,
    setting: &Setting,
    folder: &Path,
) -> io::Result<Attempt> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => fs::create_dir_all(folder)?,
    }
    let mut scenario = places.fill(&variant.scenario);
    let mut remote = None;
    if setting.tier == Tier::T0 {
        match Remote::start(&scenario, folder, &setting.running) {
            Ok((started, rest)) => (remote, scenario) = (Some(started), rest),
            Err(error) if error.to_string().contains(NOT_PERMITTED) => {
                return Ok(Attempt::without(Verdict::Skipped, error.to_string()));
            }
            Err(error) => return Ok(Attempt::without(Verdict::Failed, error.to_string())),
        }
    }
    fs::write(folder.join("scenario.toml"), scenario)?;
    setting.tier.give(folder)?;
    let mut command = setting.tier.command(&setting.slowpath, folder);
    command
        .args([
            "run",
            "scenario.toml",
            "--quiet",
            "--out",
            "run",
            "--json",
            "report.json",
        ])
        .current_dir(folder);
    let mut group = Group::start(&mut command, folder, "", &setting.running)?;
    let status = group.wait(PATIENCE)?;
    drop(group);
    drop(remote);
    let report = fs::read_to_string(folder.join("report.json"));
    let report = report
        .ok()
        .and_then(|text| serde_json::from_str::<Value>(&text).ok());
    let words = last_words(&folder.join("stderr.txt"), 4);
    let Some(report) = report else {
        let how = status.map_or("took too long".to_owned(), |status| status.to_string());
        let code = status.and_then(|status| status.code());
        let is_unmeasured = code.is_some_and(|code| NOTHING_MEASURED.contains(&code));
        let verdict = if words.contains(NOT_PERMITTED) || setting.is_once && is_unmeasured {
            Verdict::Skipped
        } else {
            Verdict::Failed
        };
        return Ok(Attempt::without(verdict, format!("{how}: {words}")));
    };
    Ok(judged(&report, variant, folder))
}

fn judged(report: &Value, variant: &Variant, folder: &Path) -> Attempt {
    let said = outcome::read(report, variant);
    let mut verdict = outcome::judge(&said, variant);
    let mut reason = None;
    if verdict == Verdict::Invalid {
        reason = Some(said.checks.join("; "));
    } else if let Some(truth) = untrue(folder) {
        verdict = Verdict::NotInduced;
        reason = Some(truth);
    }
    Attempt {
        verdict,
        said,
        reason,
    }
}

/// What a lab server said of itself in its last line, if it was not as it should have been.
fn untrue(folder: &Path) -> Option<String> {
    let logs = fs::read_dir(folder.join("run/logs"))
        .into_iter()
        .flatten()
        .flatten();
    let logs = logs.map(|entry| entry.path());
    let files = logs.chain([folder.join("target-stdout.txt")]);
    let texts = files.filter_map(|file| fs::read_to_string(file).ok());
    let truths = texts.filter_map(|text| {
        let mut lines = text.lines().rev();
        truth(lines.find(|line| line.contains("\"self_check\""))?)
    });
    let mut untrue = truths.filter(|truth| truth["holds"] == false);
    Some(
        untrue.next()?["self_check"]
            .as_str()
            .unwrap_or_default()
            .to_owned(),
    )
}

/// The object in a line of a log, which begins with a timestamp.
fn truth(line: &str) -> Option<Value> {
    serde_json::from_str(&line[line.find('{')?..]).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_have_plain_names() {
        assert_eq!(
            slug("lab/a-b/ttl of 2 s, 40 keys"),
            "lab_a-b_ttl_of_2_s__40_keys"
        );
    }

    #[test]
    fn a_truth_is_found_after_its_timestamp() {
        let line = "12.5 {\"holds\":false,\"self_check\":\"nothing waited\"}";
        assert_eq!(truth(line).unwrap()["self_check"], "nothing waited");
        assert!(truth("no object").is_none());
    }
}
