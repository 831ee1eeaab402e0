//! Locust: `--csv`, the file `_stats.csv` or the last line of each name in `_stats_history.csv`.

use std::collections::BTreeMap;

use slowpath_core::figures::Unit;

use super::json::some;
use super::quantity::percentile;
use super::{Adapter, AdapterError, Harvest, Source, Take};

pub(super) const ADAPTER: Adapter = Adapter {
    name: "locust",
    about: "Locust: --csv=PREFIX, the file PREFIX_stats.csv or PREFIX_stats_history.csv",
    detects: |head| {
        head.starts_with("Type,Name,Request Count") || head.starts_with("Timestamp,User Count,")
    },
    reads: read,
};

const REMEDY: &str = "give PREFIX_stats.csv of locust --headless --csv=PREFIX";
const MILLISECOND_NS: f64 = 1e6;

fn read(source: Source<'_>) -> Result<Harvest, Vec<AdapterError>> {
    let mut reader = csv::ReaderBuilder::new()
        .flexible(true)
        .from_reader(source.bytes);
    let wrong = |line: u64, what: String| {
        let lines = source.bytes.split(|&b| b == b'\n').count();
        vec![source.wrong(Some((line as usize).clamp(1, lines)), what, REMEDY)]
    };
    let heads = match reader.headers() {
        Ok(heads) => heads.clone(),
        Err(error) => return Err(wrong(1, error.to_string())),
    };
    let mut last: BTreeMap<(String, String), (u64, csv::StringRecord)> = BTreeMap::new();
    for record in reader.into_records() {
        let record = record.map_err(|error| {
            let line = error.position().map_or(1, csv::Position::line);
            wrong(line, error.to_string())
        })?;
        let cell = |name: &str| {
            let at = heads.iter().position(|head| head == name);
            at.and_then(|at| record.get(at))
                .unwrap_or_default()
                .to_owned()
        };
        let line = record.position().map_or(1, csv::Position::line);
        last.insert((cell("Name"), cell("Type")), (line, record));
    }
    let mut harvest = Harvest::default();
    for ((name, method), (line, record)) in &last {
        let subject = if method.is_empty() {
            name.clone()
        } else {
            format!("{method} {name}")
        };
        row(&mut harvest, &subject, &heads, record).map_err(|what| wrong(*line, what))?;
    }
    super::from_sent(&mut harvest, "Locust", "");
    some(source, harvest, REMEDY)
}

fn row(
    harvest: &mut Harvest,
    subject: &str,
    heads: &csv::StringRecord,
    record: &csv::StringRecord,
) -> Result<(), String> {
    let number = |name: &str| -> Result<Option<f64>, String> {
        let at = heads.iter().position(|head| head == name);
        match at.and_then(|at| record.get(at)) {
            None | Some("" | "N/A") => Ok(None),
            Some(text) => match text.parse::<f64>() {
                Ok(value) if value.is_finite() => Ok(Some(value)),
                _ => Err(format!("{text:?} in the column {name:?} is no number")),
            },
        }
    };
    let either = |name: &str| {
        let total = format!("Total {name}");
        Ok::<_, String>(number(name)?.or(number(&total)?))
    };
    let count = either("Request Count")?;
    let failed = either("Failure Count")?;
    let n = count.unwrap_or(0.0) as u64;
    for head in heads {
        let Some(percent) = head.strip_suffix('%').and_then(|p| p.parse::<f64>().ok()) else {
            continue;
        };
        if let Some(ms) = number(head)? {
            let metric = if percent >= 100.0 {
                "max".to_owned()
            } else {
                percentile(percent)
            };
            let take = Take::one(subject, &metric, Unit::Ns, ms * MILLISECOND_NS);
            harvest.add(take.observed(n));
        }
    }
    if let Some(ms) = either("Average Response Time")? {
        let take = Take::one(subject, "mean", Unit::Ns, ms * MILLISECOND_NS);
        harvest.add(take.observed(n));
    }
    if let Some(rate) = number("Requests/s")? {
        harvest.add(Take::one(subject, "rate", Unit::PerSecond, rate).observed(n));
    }
    if let (Some(count), Some(failed)) = (count, failed)
        && count > 0.0
    {
        let share = (failed / count).clamp(0.0, 1.0);
        harvest.add(Take::one(subject, "errors", Unit::Share, share).observed(n));
    }
    Ok(())
}
