//! What adapters of JSON have in common.

use serde::de::DeserializeOwned;
use slowpath_core::figures::{Figure, Unit};

use super::{AdapterError, Harvest, Rests, Source, Take};

/// The document that a source holds.
pub(super) fn parse<T: DeserializeOwned>(
    source: Source<'_>,
    remedy: &str,
) -> Result<T, Vec<AdapterError>> {
    serde_json::from_slice(source.bytes).map_err(|error| {
        // An empty document has its error on line 0 or after its last one.
        let lines = source.bytes.split(|&b| b == b'\n').count();
        let line = error.line().clamp(1, lines);
        vec![source.wrong(Some(line), error.to_string(), remedy)]
    })
}

/// A time from several processes or repetitions.
pub(super) fn times(subject: &str, metric: &str, ns: &[f64], rests: Rests) -> Take {
    Take {
        figures: ns.iter().copied().map(Figure::of).collect(),
        rests,
        ..Take::one(subject, metric, Unit::Ns, 0.0)
    }
}

/// The harvest, unless it is empty.
pub(super) fn some(
    source: Source<'_>,
    harvest: Harvest,
    remedy: &str,
) -> Result<Harvest, Vec<AdapterError>> {
    if harvest.takes.is_empty() {
        let what = match harvest.failures.first() {
            Some(failure) => format!("it holds no figure: {failure}"),
            None => "it holds no figure".to_owned(),
        };
        return Err(vec![source.wrong(None, what, remedy)]);
    }
    Ok(harvest)
}
