//! Tables in Markdown, as READMEs, release notes and hyperfine's `--export-markdown` have them.
//!
//! A line of a table is a subject, a column of numbers a metric. Columns without a number name
//! the subject too. What is no table of figures is left alone, since documents hold other tables.

use slowpath_core::figures::Unit;

use super::quantity::unit_ns;
use super::{Adapter, AdapterError, Harvest, Source, Take};

pub(super) const ADAPTER: Adapter = Adapter {
    name: "markdown",
    about: "tables in Markdown: a line of a table is a subject, a column of numbers a metric",
    detects: |head| tables(head).any(|table| table.has_figures()),
    reads: read,
};

const REMEDY: &str = "give a file with a table: a line of heads, one of dashes, and lines whose \
                      first cell is a name and of whose others some are numbers";

/// What a person should know of figures in a table.
pub(super) const ELSEWHERE: &str =
    "the figures were made elsewhere: how, how often and on what is not in a table";
/// Heads of a column that counts what the others rest on.
const COUNTS: [&str; 5] = ["n", "requests", "# requests", "request count", "samples"];

/// A table and where it stands.
pub(super) struct Table {
    /// The heading above it, if there is one.
    pub(super) heading: String,
    pub(super) heads: Vec<String>,
    pub(super) lines: Vec<Vec<String>>,
}

/// A number in a cell.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Quantity<'a> {
    value: f64,
    unit: &'a str,
}

fn read(source: Source<'_>) -> Result<Harvest, Vec<AdapterError>> {
    let text = source.text();
    let tables: Vec<Table> = tables(&text).filter(Table::has_figures).collect();
    let mut harvest = Harvest::default();
    for table in &tables {
        // Several tables may well have the same lines.
        let group = if tables.len() > 1 {
            table.heading.as_str()
        } else {
            ""
        };
        table.read(group, &mut harvest);
    }
    if harvest.takes.is_empty() {
        let what = "it holds no table with a column of numbers".to_owned();
        return Err(vec![source.wrong(None, what, REMEDY)]);
    }
    harvest.notes.push(ELSEWHERE.to_owned());
    Ok(harvest)
}

/// The tables of a document: a line of heads, one of dashes under it, and lines of cells.
pub(super) fn tables(text: &str) -> impl Iterator<Item = Table> + '_ {
    let mut lines = text.lines().peekable();
    let mut heading = "";
    let mut above: Option<Vec<String>> = None;
    std::iter::from_fn(move || {
        for line in lines.by_ref() {
            let found = cells(line);
            if line.starts_with('#') {
                heading = line.trim_matches('#').trim();
            }
            let heads = above.take().filter(|heads| is_rule(&found, heads.len()));
            let Some(heads) = heads else {
                above = (found.len() > 1).then_some(found);
                continue;
            };
            let mut table = Table {
                heading: heading.to_owned(),
                heads,
                lines: Vec::new(),
            };
            while let Some(line) = lines.next_if(|line| cells(line).len() > 1) {
                table.lines.push(cells(line));
            }
            return Some(table);
        }
        None
    })
}

/// Whether cells are those of the line under the heads: dashes, with colons that align.
fn is_rule(cells: &[String], columns: usize) -> bool {
    let dashes = |cell: &String| cell.contains('-') && cell.chars().all(|c| "-:".contains(c));
    cells.len() == columns && cells.iter().all(dashes)
}

/// The cells of a line, without what only sets them off; none if it has no bar.
fn cells(line: &str) -> Vec<String> {
    let line = line.trim();
    if !line.contains('|') {
        return Vec::new();
    }
    let line = line.strip_prefix('|').unwrap_or(line);
    let line = match line.strip_suffix('|') {
        Some(rest) if !rest.ends_with('\\') => rest,
        _ => line,
    };
    let mut cells = vec![String::new()];
    let mut escaped = false;
    for c in line.chars() {
        match c {
            '|' if !escaped => cells.push(String::new()),
            '*' | '`' | '\\' if !escaped => {}
            _ => cells.last_mut().expect("it begins with one").push(c),
        }
        escaped = c == '\\' && !escaped;
    }
    for cell in &mut cells {
        *cell = cell.trim().to_owned();
    }
    cells
}

/// Whether a line with commas is one of heads: its first cell is a name, and others are percentiles or
/// have a unit.
pub(super) fn heads_of_figures(line: &str) -> bool {
    let mut heads = line.split(',').map(str::trim);
    let is_name = heads.next().is_some_and(|first| quantity(first).is_none());
    let is_figure = |head: &str| {
        let percentile = head
            .strip_prefix('p')
            .map(|rest| rest.split([' ', '[', '(']).next());
        let is_percentile = percentile
            .flatten()
            .is_some_and(|q| q.parse::<f64>().is_ok());
        let unit = head.split_once(['[', '(']).map_or("", |(_, unit)| unit);
        is_percentile || known(unit.trim_end_matches([']', ')', ' '])).is_some()
    };
    is_name && heads.any(is_figure)
}

/// Cells that say that there is no figure.
const NOTHING: [&str; 8] = ["", "-", "–", "—", "?", "n/a", "N/A", "x"];

impl Table {
    /// Whether some column is of numbers.
    fn has_figures(&self) -> bool {
        (1..self.heads.len()).any(|column| self.is_of_figures(column))
    }

    /// Whether a column holds a number, and nothing that is neither a number nor left out.
    fn is_of_figures(&self, column: usize) -> bool {
        let cells = || self.lines.iter().filter_map(|line| line.get(column));
        let known = |cell: &String| quantity(cell).is_some() || NOTHING.contains(&cell.as_str());
        cells().all(known) && cells().any(|cell| quantity(cell).is_some())
    }

    pub(super) fn read(&self, group: &str, harvest: &mut Harvest) {
        let (mut figures, names): (Vec<usize>, Vec<usize>) =
            (1..self.heads.len()).partition(|&column| self.is_of_figures(column));
        let is_count = |column: &usize| {
            let head = self.heads[*column].to_ascii_lowercase();
            COUNTS.contains(&head.as_str())
        };
        let count = figures.iter().copied().find(is_count);
        // Alone it is a figure like any other.
        if figures.len() > 1 {
            figures.retain(|column| Some(*column) != count);
        }
        for line in &self.lines {
            let cell = |column: usize| line.get(column).map_or("", String::as_str);
            let first = match quantity(cell(0)) {
                // `64` alone is no name; `connections 64` is.
                Some(_) => format!("{} {}", self.heads[0], cell(0)),
                None => cell(0).to_owned(),
            };
            let named = names.iter().map(|&column| cell(column));
            let parts = [group, first.trim()].into_iter().chain(named);
            let parts: Vec<&str> = parts.filter(|part| !NOTHING.contains(part)).collect();
            let subject = parts.join(" / ");
            let n = count.and_then(|column| quantity(cell(column)));
            let n = n.map(|n| n.value.max(0.0) as u64);
            for &column in &figures {
                if let Some(found) = quantity(cell(column)) {
                    let take = take(&subject, &self.heads[column], found);
                    harvest.add(match n {
                        Some(n) => take.observed(n),
                        None => take,
                    });
                }
            }
        }
    }
}

/// A metric whose unit is after its number, or in its head: `Mean [ms]`, `Latency (us)`.
fn take(subject: &str, head: &str, found: Quantity<'_>) -> Take {
    let (metric, of_head) = match head.split_once(['[', '(']) {
        Some((name, unit)) => (name.trim(), unit.trim_end_matches([']', ')', ' '])),
        None => (head, ""),
    };
    // Only a unit belongs there; `p99 (warm)` is another metric than `p99 (cold)`.
    let is_unit = known(of_head).is_some();
    let metric = if is_unit { metric } else { head };
    let metric = match metric {
        "" => "figure",
        // So that tables that call it so have a history with what has percentiles.
        name if name.eq_ignore_ascii_case("median") => "p50",
        name => name,
    };
    let (unit, times) = known(found.unit)
        .or_else(|| known(of_head).filter(|_| found.unit.is_empty()))
        .or_else(|| a_second(metric).filter(|_| found.unit.is_empty()))
        .unwrap_or((Unit::Count, 1.0));
    Take::one(subject, metric, unit, found.value * times)
}

/// A head that says without a unit that it counts what happens in a second.
fn a_second(head: &str) -> Option<(Unit, f64)> {
    let head = head.to_ascii_lowercase();
    let says = ["/s", "per second", "rps", "qps"];
    let found = says.iter().any(|word| head.contains(word));
    found.then_some((Unit::PerSecond, 1.0))
}

/// What a unit is of, and how many of the base unit it is.
fn known(unit: &str) -> Option<(Unit, f64)> {
    if let Some(ns) = unit_ns(unit) {
        return Some((Unit::Ns, ns));
    }
    let thousand = [("k", 1e3), ("K", 1e3), ("M", 1e6), ("G", 1e9)];
    if let Some((_, times)) = thousand.iter().find(|(name, _)| *name == unit) {
        return Some((Unit::Count, *times));
    }
    let of = |text: &str| {
        let (prefix, _) = text.split_once(['B', 'b'])?;
        Some(match prefix {
            "" => 1.0,
            "k" | "K" => 1e3,
            "M" => 1e6,
            "G" => 1e9,
            "Ki" => 1024.0,
            "Mi" => 1024.0 * 1024.0,
            "Gi" => 1024.0 * 1024.0 * 1024.0,
            _ => return None,
        })
    };
    match unit {
        "%" => Some((Unit::Share, 0.01)),
        "B" | "kB" | "KB" | "MB" | "GB" | "KiB" | "MiB" | "GiB" => Some((Unit::Bytes, of(unit)?)),
        "B/s" | "kB/s" | "KB/s" | "MB/s" | "GB/s" | "KiB/s" | "MiB/s" | "GiB/s" => {
            Some((Unit::PerSecond, of(unit)?))
        }
        _ => a_second(unit),
    }
}

/// The number of a cell: `1,234.5`, `12.3 ms`, `14.6 ± 1.7`, `~1.5x`, `10.3 K`, `95 %`.
fn quantity(cell: &str) -> Option<Quantity<'_>> {
    let cell = cell.split(['±', '(']).next()?.trim();
    let cell = cell.split("+/-").next()?.trim();
    let cell = cell.strip_prefix(['~', '≈']).unwrap_or(cell).trim();
    let end = cell
        .char_indices()
        .find(|&(at, c)| !(c.is_ascii_digit() || ".,_".contains(c) || (at == 0 && c == '-')))
        .map_or(cell.len(), |(at, _)| at);
    let (digits, unit) = cell.split_at(end);
    let value: f64 = grouped(digits)?.parse().ok()?;
    let unit = unit.trim();
    // `3 of 5 tests` is a sentence, and a date or a version goes on with digits.
    let is_unit = known(unit).is_some() || ["", "x", "×"].contains(&unit);
    is_unit.then_some(Quantity { value, unit })
}

/// The digits without what groups them in threes; `None` if a comma does anything else.
fn grouped(digits: &str) -> Option<String> {
    let (whole, rest) = digits.split_at(digits.find('.').unwrap_or(digits.len()));
    let mut groups = whole.split([',', '_']);
    let first = groups.next()?.trim_start_matches('-');
    let of_three = |group: &str| group.len() == 3;
    let several = whole.contains([',', '_']);
    let well = !several || ((1..=3).contains(&first.len()) && groups.all(of_three));
    (well && !rest.contains([',', '_'])).then(|| digits.replace([',', '_'], ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(cell: &str) -> Option<(f64, &str)> {
        quantity(cell).map(|found| (found.value, found.unit))
    }

    #[test]
    fn numbers_are_told_from_words() {
        assert_eq!(value("1,234.5"), Some((1234.5, "")));
        assert_eq!(value("31.78ms"), Some((31.78, "ms")));
        assert_eq!(value("14.6 ± 1.7"), Some((14.6, "")));
        assert_eq!(value("~1.5x"), Some((1.5, "x")));
        assert_eq!(value("-3 %"), Some((-3.0, "%")));
        for words in [
            "1,5",
            "2026-11-21",
            "1.6.0",
            "3 of 5",
            "O(n)",
            "",
            "1,23,456",
        ] {
            assert_eq!(value(words), None, "{words}");
        }
    }

    #[test]
    fn cells_lose_what_sets_them_off() {
        assert_eq!(cells("| **`a`** | 1 |"), ["a", "1"]);
        assert_eq!(cells(r"a \| b | 2"), ["a | b", "2"]);
        assert_eq!(cells("no table"), Vec::<String>::new());
    }

    #[test]
    fn heads_have_units_and_several_tables_their_headings() {
        let text = "# Small\n\n| n | rate (req/s) | p99 (us) |\n|---|--:|--:|\n| 64 | 1,000 | 12 |\n\n\
                    # Large\n\nn | rate (req/s) | p99 (us)\n-|-|-\n64 | 500 | n/a\n\n\
                    | what | how |\n|---|---|\n| a | b |\n";
        let source = Source {
            file: "README.md",
            bytes: text.as_bytes(),
        };
        let harvest = read(source).unwrap();
        let found: Vec<(String, Unit, f64)> = harvest
            .takes
            .iter()
            .map(|take| (take.row().name(), take.unit, take.figures[0].value))
            .collect();
        let expected = [
            ("Small / n 64.rate", Unit::PerSecond, 1000.0),
            ("Small / n 64.p99", Unit::Ns, 12_000.0),
            ("Large / n 64.rate", Unit::PerSecond, 500.0),
        ];
        assert_eq!(
            found,
            expected.map(|(name, unit, value)| (name.to_owned(), unit, value))
        );
        let none = Source {
            bytes: b"| what | how |\n|---|---|\n| a | b |\n",
            ..source
        };
        assert!(read(none).unwrap_err()[0].what.contains("no table with"));
    }
}
