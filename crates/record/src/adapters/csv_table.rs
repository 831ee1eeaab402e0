//! Tables with commas between their cells, as spreadsheets and scripts write them: the same as tables
//! in Markdown.

use super::markdown::{Table, heads_of_figures};
use super::{Adapter, AdapterError, Harvest, Source};

pub(super) const ADAPTER: Adapter = Adapter {
    name: "csv",
    about: "tables with commas: a line is a subject, a column of numbers a metric; a column release \
            makes each release a run",
    detects: |head| {
        let first = head.lines().next().unwrap_or_default();
        first.contains(',') && !first.contains('|') && heads_of_figures(first)
    },
    reads: read,
};

const REMEDY: &str = "give a file whose first line has heads, such as endpoint,n,p50 [ms],p99 [ms]";

fn read(source: Source<'_>) -> Result<Harvest, Vec<AdapterError>> {
    let table = table(source)?;
    let mut harvest = Harvest::default();
    table.read("", &mut harvest);
    if harvest.takes.is_empty() {
        let what = "it has no column of numbers".to_owned();
        return Err(vec![source.wrong(None, what, REMEDY)]);
    }
    harvest.notes.push(super::markdown::ELSEWHERE.to_owned());
    Ok(harvest)
}

/// The table of a file.
pub(super) fn table(source: Source<'_>) -> Result<Table, Vec<AdapterError>> {
    let mut reader = csv::ReaderBuilder::new()
        .flexible(true)
        .has_headers(false)
        .trim(csv::Trim::All)
        .from_reader(source.bytes);
    let mut lines: Vec<Vec<String>> = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|error| {
            let line = error.position().map_or(1, csv::Position::line);
            let last = source.bytes.split(|&b| b == b'\n').count();
            let line = (line as usize).clamp(1, last);
            vec![source.wrong(Some(line), error.to_string(), REMEDY)]
        })?;
        lines.push(record.iter().map(str::to_owned).collect());
    }
    if lines.is_empty() {
        return Err(vec![source.wrong(None, "it is empty".to_owned(), REMEDY)]);
    }
    let heads = lines.remove(0);
    Ok(Table {
        heading: String::new(),
        heads,
        lines,
    })
}
