//! The Turing Change Point Dataset: series of many kinds, each annotated by five people.

use std::path::Path;

use serde_json::Value;
use slowpath_core::stats::change::long::segments;

use crate::ed_pelt::ed_pelt;
use crate::score::{cover, f1};
use crate::{Mistake, json, numbers};

/// What the long-series search must reach: what the best published methods do, less what 25 series
/// cannot distinguish.
const F1_LEAST: f64 = 0.68;
const COVER_LEAST: f64 = 0.65;

/// Published results, best first as published.
const PUBLISHED: [&str; 12] = [
    "binseg", "pelt", "bocpd", "amoc", "zero", "segneigh", "cpnp", "ecp", "rfpop", "prophet",
    "wbs", "bocpdms",
];

struct Series {
    name: String,
    values: Vec<f64>,
    annotations: Vec<Vec<usize>>,
}

type Search = fn(&[f64]) -> Vec<usize>;

/// Prints our scores and the published ones on the same series; whether ours are what they must be.
pub(crate) fn table(folder: &Path) -> Result<bool, Mistake> {
    let series = load(folder)?;
    let scores = "TCPDBench/analysis/output/scores";
    let published_f1 = json(folder, &format!("{scores}/default_f1_scores.json"))?;
    let published_cover = json(folder, &format!("{scores}/default_cover_scores.json"))?;
    println!(
        "Turing Change Point Dataset, {} series of one dimension, default parameters\n",
        series.len()
    );
    println!("| method | F1 | cover | |\n|---|---|---|---|");
    let ours: [(&str, Search); 3] = [
        ("long::segments", segments),
        ("ED-PELT", ed_pelt),
        ("none ever (checks the scorer)", |_| Vec::new()),
    ];
    let mut met = true;
    for (index, (name, search)) in ours.into_iter().enumerate() {
        let mean = |score: fn(&Series, &[usize]) -> f64| {
            let sum: f64 = series.iter().map(|s| score(s, &search(&s.values))).sum();
            sum / series.len() as f64
        };
        let by_f1 = mean(|s, found| f1(&s.annotations, found));
        let by_cover = mean(|s, found| cover(&s.annotations, found, s.values.len()));
        println!("| {name} | {by_f1:.3} | {by_cover:.3} | ours |");
        met &= index > 0 || (by_f1 >= F1_LEAST && by_cover >= COVER_LEAST);
    }
    for method in PUBLISHED {
        let mean = |scores: &Value| {
            let known = series.iter().map(|s| scores[&s.name][method].as_f64());
            // A method that failed on a series has no score there: it found nothing.
            known.map(|score| score.unwrap_or(0.0)).sum::<f64>() / series.len() as f64
        };
        println!(
            "| {method} | {:.3} | {:.3} | published |",
            mean(&published_f1),
            mean(&published_cover)
        );
    }
    Ok(met)
}

/// Univariate series without gaps: not the control charts, which are made, and not uk_coal_employ,
/// which has gaps.
fn load(folder: &Path) -> Result<Vec<Series>, Mistake> {
    let annotations = json(folder, "TCPD/annotations.json")?;
    let names = annotations
        .as_object()
        .ok_or("annotations.json is no object")?;
    let mut all = Vec::new();
    for (name, by_person) in names {
        let path = format!("TCPD/datasets/{name}/{name}.json");
        let is_made = name.starts_with("quality_control");
        // Some series may not be redistributed, and are not in the repository.
        if is_made || name == "uk_coal_employ" || !folder.join(&path).exists() {
            continue;
        }
        let data = json(folder, &path)?;
        if data["n_dim"] != 1 {
            continue;
        }
        let values = numbers(&data["series"][0]["raw"]).ok_or(format!("{path}: not numbers"))?;
        let people = by_person.as_object().ok_or("annotations are no object")?;
        let places = |list: &Value| -> Vec<usize> {
            let list = numbers(list).unwrap_or_default();
            list.into_iter().map(|place| place as usize).collect()
        };
        all.push(Series {
            name: name.clone(),
            values,
            annotations: people.values().map(places).collect(),
        });
    }
    Ok(all)
}
