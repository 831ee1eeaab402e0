//! Tables that report several releases in a column of that name: each of them is a run of its own.

use super::markdown::{self, Table};
use super::{AdapterError, Harvest, Source, csv_table};

/// Heads of the column that names the release.
const RELEASE: [&str; 2] = ["release", "version"];
/// Heads of the column that distinguishes several runs of a release.
const RUN: [&str; 1] = ["run"];

/// One run that a table reports.
#[derive(Clone, Debug, PartialEq)]
pub struct TableRun {
    /// The release.
    pub release: String,
    /// Its figures.
    pub harvest: Harvest,
}

/// The runs of a file with a table that has a column `release` (or `version`), in the order in which
/// they come first; with a column `run` each run of a release stands alone. `None` of any other file.
///
/// # Errors
/// Everything that is wrong with the file.
pub fn table_runs(source: Source<'_>) -> Option<Result<Vec<TableRun>, Vec<AdapterError>>> {
    let text = source.text();
    let mut tables: Vec<Table> = markdown::tables(&text).collect();
    if tables.is_empty() {
        let first = text.lines().next().unwrap_or_default();
        let heads = first.split(',').map(|head| head.trim().to_owned());
        column(&heads.collect::<Vec<String>>(), &RELEASE)?;
        match csv_table::table(source) {
            Ok(table) => tables.push(table),
            Err(errors) => return Some(Err(errors)),
        }
    }
    tables.retain(|table| column(&table.heads, &RELEASE).is_some());
    if tables.is_empty() {
        return None;
    }
    let mut runs: Vec<((String, String), Harvest)> = Vec::new();
    for table in &tables {
        let group = if tables.len() > 1 {
            table.heading.as_str()
        } else {
            ""
        };
        for (key, part) in parts(table) {
            let at = runs.iter().position(|(known, _)| *known == key);
            let at = at.unwrap_or_else(|| {
                runs.push((key, Harvest::default()));
                runs.len() - 1
            });
            part.read(group, &mut runs[at].1);
        }
    }
    runs.retain(|(_, harvest)| !harvest.takes.is_empty());
    if runs.is_empty() {
        let what = "no line of it has a release and a number".to_owned();
        let remedy = "name a release in each line, and give it columns of numbers";
        return Some(Err(vec![source.wrong(None, what, remedy)]));
    }
    let runs = runs.into_iter().map(|((release, _), mut harvest)| {
        harvest.notes.push(markdown::ELSEWHERE.to_owned());
        TableRun { release, harvest }
    });
    Some(Ok(runs.collect()))
}

/// The column with one of some heads.
fn column(heads: &[String], wanted: &[&str]) -> Option<usize> {
    heads
        .iter()
        .position(|head| wanted.contains(&head.to_ascii_lowercase().as_str()))
}

/// The lines of each release and run, as tables without these columns.
fn parts(table: &Table) -> Vec<((String, String), Table)> {
    let (release, run) = (column(&table.heads, &RELEASE), column(&table.heads, &RUN));
    let is_kept = |at: usize| Some(at) != release && Some(at) != run;
    let without = |cells: &[String]| -> Vec<String> {
        let kept = cells.iter().enumerate().filter(|(at, _)| is_kept(*at));
        kept.map(|(_, cell)| cell.clone()).collect()
    };
    let cell = |line: &[String], at: Option<usize>| {
        let found = at.and_then(|at| line.get(at));
        found.cloned().unwrap_or_default()
    };
    let mut found: Vec<((String, String), Table)> = Vec::new();
    for line in &table.lines {
        let key = (cell(line, release), cell(line, run));
        if key.0.is_empty() {
            continue;
        }
        let own = found.iter().position(|(known, _)| *known == key);
        let own = own.unwrap_or_else(|| {
            let empty = Table {
                heading: table.heading.clone(),
                heads: without(&table.heads),
                lines: Vec::new(),
            };
            found.push((key, empty));
            found.len() - 1
        });
        found[own].1.lines.push(without(line));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(text: &str) -> Vec<(String, Vec<String>)> {
        let source = Source {
            file: "t",
            bytes: text.as_bytes(),
        };
        let runs = table_runs(source).unwrap().unwrap();
        let told = |run: &TableRun| {
            let takes = run.harvest.takes.iter();
            takes
                .map(|take| {
                    let figure = &take.figures[0];
                    format!("{} {} {:?}", take.row().name(), figure.value, figure.n)
                })
                .collect()
        };
        runs.iter()
            .map(|run| (run.release.clone(), told(run)))
            .collect()
    }

    #[test]
    fn each_release_and_each_run_of_it_is_a_run() {
        let csv = "release,run,endpoint,n,Median [ms],p99 [ms]\nv1,1,a,40,3,9\nv1,2,a,,4,\nv2,1,a,50,5,8\n";
        let of = |name: &str, all: &[&str]| {
            let all = all.iter().map(|&one| one.to_owned());
            (name.to_owned(), all.collect::<Vec<String>>())
        };
        let expected = [
            of("v1", &["a.p50 3000000 Some(40)", "a.p99 9000000 Some(40)"]),
            of("v1", &["a.p50 4000000 None"]),
            of("v2", &["a.p50 5000000 Some(50)", "a.p99 8000000 Some(50)"]),
        ];
        assert_eq!(runs(csv), expected);
        let markdown = "# All\n\n| endpoint | version | p50 |\n|---|---|---|\n| `a` | v1 | 3ms |\n| `a` | v2 | 5 ms |\n";
        let expected = [
            of("v1", &["a.p50 3000000 None"]),
            of("v2", &["a.p50 5000000 None"]),
        ];
        assert_eq!(runs(markdown), expected);
        for other in ["a,b\n1,2\n", "| a | b |\n|---|---|\n| x | 1 |\n", ""] {
            let source = Source {
                file: "t",
                bytes: other.as_bytes(),
            };
            assert!(table_runs(source).is_none(), "{other}");
        }
        let empty = Source {
            file: "t",
            bytes: b"release,endpoint,p50\n,a,3\n",
        };
        assert!(table_runs(empty).unwrap().is_err());
    }
}
