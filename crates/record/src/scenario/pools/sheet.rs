//! Files of values: one a line, CSV with a header (RFC 4180), or a JSON object a line.

use std::path::Path;

use serde_json::Value as Json;

use crate::scenario::value::Value;

/// Rows of one file at most.
const MOST_ROWS: usize = 1_000_000;
/// Flaws of one file that are reported one by one; a file with more has one reason for all of them.
const MOST_TOLD: usize = 5;

/// How values stand in a file, as its name ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    /// `.csv`
    Csv,
    /// `.jsonl`, `.ndjson`
    JsonLines,
    /// Any other.
    Lines,
}

impl Format {
    pub(super) fn of(path: &Path) -> Self {
        let extension = path.extension().unwrap_or_default().to_ascii_lowercase();
        match extension.to_str() {
            Some("csv") => Self::Csv,
            Some("jsonl" | "ndjson") => Self::JsonLines,
            _ => Self::Lines,
        }
    }
}

/// What is wrong with a file.
#[derive(Debug, Default)]
pub(super) struct Flaws {
    told: Vec<Flaw>,
    more: usize,
}

#[derive(Debug)]
struct Flaw {
    line: usize,
    what: String,
    remedy: &'static str,
}

impl Flaws {
    fn one(line: usize, what: impl Into<String>, remedy: &'static str) -> Self {
        let mut flaws = Self::default();
        flaws.add(line, what, remedy);
        flaws
    }

    fn add(&mut self, line: usize, what: impl Into<String>, remedy: &'static str) {
        if self.told.len() < MOST_TOLD {
            let what = what.into();
            self.told.push(Flaw { line, what, remedy });
        } else {
            self.more += 1;
        }
    }

    /// Notes them with the file and the line in it.
    pub(super) fn note(self, value: &Value<'_>, path: &Path) {
        for flaw in self.told {
            value.wrong_in(path, flaw.line, flaw.what, flaw.remedy);
        }
        if self.more > 0 {
            let what = format!("{} has {} more mistakes", path.display(), self.more);
            value.wrong(what, "correct those that are reported first");
        }
    }
}

/// Columns of values, and the weights of the rows if they are wanted.
type Columns = (Vec<Vec<String>>, Option<Vec<f64>>);

/// A file of values.
pub(super) struct Sheet<'a> {
    format: Format,
    text: &'a str,
    header: Vec<String>,
}

impl<'a> Sheet<'a> {
    pub(super) fn new(path: &Path, format: Format, text: &'a str) -> Self {
        debug_assert_eq!(Format::of(path), format);
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut sheet = Self {
            format,
            text,
            header: Vec::new(),
        };
        if format == Format::Csv
            && let Ok(header) = sheet.csv().headers()
        {
            sheet.header = header.iter().map(str::to_owned).collect();
        }
        sheet
    }

    fn csv(&self) -> csv::Reader<&'a [u8]> {
        csv::ReaderBuilder::new()
            // Rows of another length are reported with their lines.
            .flexible(true)
            .trim(csv::Trim::Headers)
            .from_reader(self.text.as_bytes())
    }

    /// The column that the pool is where none is named: of a plain list, or a CSV file with one.
    pub(super) fn only_column(&self) -> Option<&str> {
        match (self.format, self.header.as_slice()) {
            (Format::Lines, _) => Some(""),
            (Format::Csv, [only]) => Some(only),
            _ => None,
        }
    }

    /// Reads the wanted columns.
    pub(super) fn read(&self, wanted: &[&str], weight: Option<&str>) -> Result<Columns, Flaws> {
        let (columns, weights) = match self.format {
            Format::Lines => {
                let filled = self.text.lines().filter(|line| !line.trim().is_empty());
                let values = filled.map(str::to_owned).collect();
                (vec![values], None)
            }
            Format::Csv => self.read_csv(wanted, weight)?,
            Format::JsonLines => self.read_json(wanted, weight)?,
        };
        let rows = columns.first().map_or(0, Vec::len);
        if rows > MOST_ROWS {
            let what = format!("it has {rows} rows, and {MOST_ROWS} are the most");
            return Err(Flaws::one(MOST_ROWS, what, "take a part of it"));
        }
        if let Some(weights) = weights.as_ref().filter(|_| rows > 0)
            && weights.iter().sum::<f64>() <= 0.0
        {
            let what = "no row would ever be drawn";
            return Err(Flaws::one(1, what, "write a weight above 0"));
        }
        Ok((columns, weights))
    }

    fn read_csv(&self, wanted: &[&str], weight: Option<&str>) -> Result<Columns, Flaws> {
        let mut flaws = Flaws::default();
        let mut places = Vec::new();
        for name in wanted.iter().copied().chain(weight) {
            match self.header.iter().filter(|column| *column == name).count() {
                0 => {
                    let has = self.header.join(", ");
                    let what = format!("there is no column {name:?} among {has}");
                    flaws.add(1, what, "name one of them");
                }
                1 => places.extend(self.header.iter().position(|column| column == name)),
                _ => flaws.add(1, format!("there are two columns {name:?}"), "rename one"),
            }
        }
        if !flaws.told.is_empty() {
            return Err(flaws);
        }
        let mut rows = Rows::new(wanted.len(), weight.is_some());
        for record in self.csv().records() {
            let record = match record {
                Ok(record) => record,
                Err(error) => {
                    let line = error.position().map_or(1, |at| at.line() as usize);
                    flaws.add(line, error.to_string(), "see RFC 4180 for the form of CSV");
                    continue;
                }
            };
            let line = record.position().map_or(1, |at| at.line() as usize);
            if record.len() != self.header.len() {
                let (has, wants) = (record.len(), self.header.len());
                let what = format!("{has} fields where the header has {wants}");
                flaws.add(line, what, "quote a field with commas in it");
                continue;
            }
            let cells = places.iter().map(|&place| record[place].to_owned());
            rows.push(cells.collect(), line, &mut flaws);
        }
        rows.finish(flaws)
    }

    fn read_json(&self, wanted: &[&str], weight: Option<&str>) -> Result<Columns, Flaws> {
        let mut flaws = Flaws::default();
        let mut rows = Rows::new(wanted.len(), weight.is_some());
        for (number, text) in (1..).zip(self.text.lines()) {
            if text.trim().is_empty() {
                continue;
            }
            let document: Json = match serde_json::from_str(text) {
                Ok(document) => document,
                Err(error) => {
                    flaws.add(number, error.to_string(), "write one JSON value a line");
                    continue;
                }
            };
            let mut cells = Vec::with_capacity(wanted.len() + 1);
            for name in wanted.iter().copied().chain(weight) {
                match field(&document, name) {
                    Some(Json::String(text)) => cells.push(text.clone()),
                    Some(other) if !other.is_null() => cells.push(other.to_string()),
                    _ => flaws.add(
                        number,
                        format!("it has no {name:?}"),
                        "add it to every line",
                    ),
                }
            }
            if cells.len() == wanted.len() + usize::from(weight.is_some()) {
                rows.push(cells, number, &mut flaws);
            }
        }
        rows.finish(flaws)
    }
}

/// A field by its name, by names with dots, or by a JSON pointer (RFC 6901).
fn field<'d>(document: &'d Json, name: &str) -> Option<&'d Json> {
    if name.starts_with('/') {
        return document.pointer(name);
    }
    let inside = |document: &'d Json, key: &str| match document {
        Json::Array(elements) => elements.get(key.parse::<usize>().ok()?),
        other => other.get(key),
    };
    let path = || name.split('.').try_fold(document, inside);
    document.get(name).or_else(path)
}

/// Rows on their way into columns.
struct Rows {
    columns: Vec<Vec<String>>,
    weights: Option<Vec<f64>>,
}

impl Rows {
    fn new(columns: usize, weighed: bool) -> Self {
        Self {
            columns: vec![Vec::new(); columns],
            weights: weighed.then(Vec::new),
        }
    }

    /// Adds a row whose last cell is its weight, if rows are weighed.
    fn push(&mut self, mut cells: Vec<String>, line: usize, flaws: &mut Flaws) {
        if let Some(weights) = &mut self.weights {
            let text = cells.pop().unwrap_or_default();
            match text.trim().parse::<f64>() {
                Ok(weight) if weight >= 0.0 && weight.is_finite() => weights.push(weight),
                _ => {
                    let what = format!("{text:?} is no weight");
                    flaws.add(line, what, "write a number of at least 0");
                    return;
                }
            }
        }
        for (column, cell) in self.columns.iter_mut().zip(cells) {
            column.push(cell);
        }
    }

    fn finish(self, flaws: Flaws) -> Result<Columns, Flaws> {
        if flaws.told.is_empty() {
            Ok((self.columns, self.weights))
        } else {
            Err(flaws)
        }
    }
}
