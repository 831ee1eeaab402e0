//! `go test -bench`: its lines on stdout, plain or with `-json`.
//!
//! The format is that of golang.org/design/14313-benchmark-format: lines `key: value` configure
//! what follows, and `BenchmarkName-8  100  123 ns/op  …` is a result, with any number of pairs of
//! value and unit. `-count` repeats a benchmark inside one process.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use slowpath_core::figures::{Better, Unit};

use super::{Adapter, AdapterError, Harvest, Source, Take};

pub(super) const ADAPTER: Adapter = Adapter {
    name: "go",
    about: "go test -bench: what it prints, plain or with -json",
    detects: |head| head.lines().any(is_result) || is_json(head) && head.contains("ns/op"),
    reads: read,
};

/// What is said when nothing was found.
const REMEDY: &str = "give what `go test -run '^$' -bench .` prints";

/// One line of `go test -json`.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Event {
    #[serde(default)]
    package: String,
    #[serde(default)]
    output: String,
}

/// A result before it has its final name.
struct Measured {
    package: String,
    /// With the number of CPUs after it.
    name: String,
    iterations: u64,
    values: Vec<(f64, String)>,
}

/// What is gathered while lines are read.
#[derive(Default)]
struct Reader {
    package: String,
    pending: Option<String>,
    measured: Vec<Measured>,
    better: BTreeMap<String, Better>,
    configuration: BTreeMap<String, String>,
    failures: Vec<String>,
    errors: Vec<AdapterError>,
}

fn read(source: Source<'_>) -> Result<Harvest, Vec<AdapterError>> {
    let text = source.text();
    let mut reader = Reader::default();
    if is_json(&text) {
        for (package, output) in plain(source, &text, &mut reader.errors) {
            reader.package.clone_from(&package);
            // A line of the output is not one of the file.
            output
                .lines()
                .for_each(|line| reader.line(source, None, line));
        }
    } else {
        for (at, line) in text.lines().enumerate() {
            reader.line(source, Some(at + 1), line);
        }
    }
    if reader.measured.is_empty() && reader.errors.is_empty() {
        let what = match reader.failures.first() {
            Some(failure) => format!("no benchmark was measured: {failure}"),
            None => "no line is the result of a Go benchmark".to_owned(),
        };
        reader.errors.push(source.wrong(None, what, REMEDY));
    }
    if reader.errors.is_empty() {
        Ok(reader.harvest())
    } else {
        Err(reader.errors)
    }
}

fn is_json(text: &str) -> bool {
    text.trim_start().starts_with('{') && text.contains("\"Action\"")
}

/// The plain output of each package: events of packages that run at once are mixed, and one line
/// comes in several of them.
fn plain(
    source: Source<'_>,
    text: &str,
    errors: &mut Vec<AdapterError>,
) -> BTreeMap<String, String> {
    let mut outputs: BTreeMap<String, String> = BTreeMap::new();
    for (at, line) in text.lines().enumerate() {
        // What the compiler says stands between the events as it is.
        if !line.starts_with('{') {
            continue;
        }
        match serde_json::from_str::<Event>(line) {
            Ok(event) => outputs
                .entry(event.package)
                .or_default()
                .push_str(&event.output),
            Err(error) => {
                let what = format!("no event of go test -json: {error}");
                errors.push(source.wrong(Some(at + 1), what, REMEDY));
            }
        }
    }
    outputs
}

/// Whether a line begins with the name of a benchmark and its result.
fn is_result(line: &str) -> bool {
    name_of(line).is_some_and(|(_, rest)| values(rest).is_some_and(|result| result.is_ok()))
}

/// The name that a line begins with, and the rest.
fn name_of(line: &str) -> Option<(&str, &str)> {
    let rest = line.strip_prefix("Benchmark")?;
    // `Benchmarking` is an English word; the names of Go's benchmarks go on with no small letter.
    if rest.starts_with(char::is_lowercase) {
        return None;
    }
    let end = line.find(char::is_whitespace).unwrap_or(line.len());
    Some(line.split_at(end))
}

type Values = (u64, Vec<(f64, String)>);

/// `100  123 ns/op  16 B/op`: iterations and pairs of value and unit. `None` if it does not begin
/// like that, an error if it goes on differently.
fn values(text: &str) -> Option<Result<Values, String>> {
    let mut words = text.split_whitespace();
    let iterations: u64 = words.next()?.parse().ok()?;
    let mut pairs = Vec::new();
    while let Some(word) = words.next() {
        let Ok(value) = word.parse::<f64>() else {
            // A benchmark that logs may have written into its own line.
            return (!pairs.is_empty()).then_some(Err(format!("{word:?} is no number")));
        };
        match words.next() {
            Some(unit) if value.is_finite() => pairs.push((value, unit.to_owned())),
            Some(_) => return Some(Err(format!("{word:?} is no figure"))),
            None if pairs.is_empty() => return None,
            None => return Some(Err(format!("{word:?} has no unit"))),
        }
    }
    (!pairs.is_empty()).then_some(Ok((iterations, pairs)))
}

impl Reader {
    fn line(&mut self, source: Source<'_>, number: Option<usize>, line: &str) {
        let line = line.trim_end();
        if let Some((name, rest)) = name_of(line) {
            match values(rest) {
                Some(result) => self.result(source, number, name, result),
                // The result follows on a line of its own, after what the benchmark logs.
                None => self.pending = Some(name.to_owned()),
            }
        } else if let Some(rest) = line.strip_prefix("Unit ") {
            self.unit(rest);
        } else if let Some(package) = line.strip_prefix("pkg: ") {
            package.clone_into(&mut self.package);
        } else if let Some((key, value)) = configuration(line) {
            self.configuration.insert(key.to_owned(), value.to_owned());
        } else if line.starts_with("--- FAIL") || line.starts_with("panic: ") || is_fail(line) {
            self.failures.push(line.to_owned());
            self.pending = None;
        } else if let (Some(why), Some(failure)) = (line.strip_prefix("    "), self.failing()) {
            // What the benchmark says about its end stands indented below it.
            *failure = format!("{failure} ({})", why.trim());
        } else if let Some(name) = self.pending.clone()
            && let Some(result) = values(line)
        {
            self.result(source, number, &name, result);
        }
    }

    /// The failure that was reported last, until it has its reason.
    fn failing(&mut self) -> Option<&mut String> {
        let last = self.failures.last_mut()?;
        (last.starts_with("--- FAIL") && !last.ends_with(')')).then_some(last)
    }

    fn result(
        &mut self,
        source: Source<'_>,
        number: Option<usize>,
        name: &str,
        result: Result<Values, String>,
    ) {
        self.pending = None;
        match result {
            Ok((iterations, values)) => self.measured.push(Measured {
                package: self.package.clone(),
                name: name.to_owned(),
                iterations,
                values,
            }),
            Err(what) => {
                let remedy = "print what the benchmark logs to stderr, or not at all";
                self.errors
                    .push(source.wrong(number, format!("{name}: {what}"), remedy));
            }
        }
    }

    /// `Unit req/s better=higher assume=nothing`.
    fn unit(&mut self, rest: &str) {
        let mut words = rest.split_whitespace();
        let Some(unit) = words.next() else { return };
        let better = words.find_map(|word| match word {
            "better=higher" => Some(Better::Higher),
            "better=lower" => Some(Better::Lower),
            _ => None,
        });
        if let Some(better) = better {
            self.better.insert(unit.to_owned(), better);
        }
    }

    fn harvest(self) -> Harvest {
        let cpus = common_cpus(&self.measured);
        let prefix = common_path(&self.measured);
        let mut harvest = Harvest {
            failures: self.failures,
            ..Harvest::default()
        };
        for one in &self.measured {
            let name = match &cpus {
                Some(cpus) => one.name.strip_suffix(cpus.as_str()).unwrap_or(&one.name),
                None => one.name.as_str(),
            };
            let subject = match one.package.get(prefix..).unwrap_or_default() {
                "" => name.to_owned(),
                package => format!("{}.{name}", package.trim_start_matches('/')),
            };
            for (value, unit) in &one.values {
                let mut take = take(&subject, *value, unit).observed(one.iterations);
                if let Some(&better) = self.better.get(unit) {
                    take.better = better;
                }
                harvest.add(take);
            }
        }
        let conditions = &mut harvest.conditions;
        for (key, value) in self.configuration {
            let place = match key.as_str() {
                "cpu" => conditions.host.entry("cpu_model".to_owned()),
                _ => conditions.host.entry(key),
            };
            place.or_insert(value);
        }
        if let Some(cpus) = cpus {
            let cpus = cpus.trim_start_matches('-').to_owned();
            conditions.harness.insert("gomaxprocs".to_owned(), cpus);
        }
        harvest
    }
}

/// `goos: linux`, `goarch: amd64`, `cpu: …`.
fn configuration(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.split_once(": ")?;
    ["goos", "goarch", "cpu"]
        .contains(&key)
        .then_some((key, value.trim()))
}

/// The line that says that a package failed.
fn is_fail(line: &str) -> bool {
    line.strip_prefix("FAIL")
        .is_some_and(|rest| rest.starts_with('\t') && !rest.trim().is_empty())
}

/// `-8` if every name ends so: the number of CPUs, which Go appends if it is not 1.
fn common_cpus(measured: &[Measured]) -> Option<String> {
    let suffix = |one: &Measured| {
        let (_, digits) = one.name.rsplit_once('-')?;
        let number = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
        number.then(|| format!("-{digits}"))
    };
    let suffixes: Option<BTreeSet<String>> = measured.iter().map(suffix).collect();
    let mut suffixes = suffixes?.into_iter();
    let first = suffixes.next()?;
    suffixes.next().is_none().then_some(first)
}

/// Length of what the paths of all packages have in common, in whole elements; the whole length
/// if there is one package.
fn common_path(measured: &[Measured]) -> usize {
    let packages: BTreeSet<&str> = measured.iter().map(|one| one.package.as_str()).collect();
    let mut packages = packages.into_iter();
    let Some(first) = packages.next() else {
        return 0;
    };
    packages.fold(first.len(), |length, package| {
        let pairs = first.bytes().zip(package.bytes());
        let same = pairs.take_while(|(a, b)| a == b).count().min(length);
        let ends = |path: &str| path.len() == same || path.as_bytes()[same] == b'/';
        if ends(first) && ends(package) {
            same
        } else {
            first[..same].rfind('/').unwrap_or(0)
        }
    })
}

/// One value in the units of this product.
fn take(subject: &str, value: f64, unit: &str) -> Take {
    match unit {
        "ns/op" => Take::one(subject, "time", Unit::Ns, value),
        "B/op" => Take::one(subject, "B/op", Unit::Bytes, value),
        "allocs/op" => Take::one(subject, "allocs/op", Unit::Count, value).improving(Better::Lower),
        _ if unit.ends_with("MB/s") => {
            Take::one(subject, unit, Unit::Count, value).improving(Better::Higher)
        }
        // `p99-ns/op` and the like: what a benchmark reports by itself.
        _ if unit.starts_with("ns/") || unit.ends_with("-ns") || unit.ends_with("-ns/op") => {
            Take::one(subject, unit, Unit::Ns, value)
        }
        _ if unit.ends_with("/s") => Take::one(subject, unit, Unit::PerSecond, value),
        _ => Take::one(subject, unit, Unit::Count, value),
    }
}
