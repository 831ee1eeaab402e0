//! Model files: read strictly, with all mistakes at once.

use slowpath_core::model::{EndpointModel, Expensive, TargetModel, Times};
use slowpath_record::scenario::parse_model;

use super::{LEAST, read};

const MODEL: &str = "latency = \"20ms..30ms\"\n[backend]\nslots = 1\nsingleflight = true\n\
                     [endpoint.home]\nbackend = \"560ms\"\nttl = \"10m\"\nexpensive = \"85 %\"\n";

fn model(text: &str) -> Result<TargetModel, Vec<String>> {
    let scenario = read(LEAST).expect("the least scenario");
    parse_model(text, "model.toml", &scenario)
        .map_err(|mistakes| mistakes.iter().map(ToString::to_string).collect())
}

#[test]
fn a_model_says_what_answers_take() {
    let latency = Times::Uniform {
        min_ns: 20_000_000,
        max_ns: 30_000_000,
    };
    let home = EndpointModel {
        backend: Some(Times::fixed(560_000_000)),
        ttl_ns: Some(600_000_000_000),
        expensive: Expensive::Share(0.85),
        ..EndpointModel::plain("home", latency.clone())
    };
    let expected = TargetModel {
        slots: Some(1),
        singleflight: true,
        latency,
        endpoints: vec![home],
    };
    assert_eq!(model(MODEL).unwrap(), expected);
    let least = model("latency = \"1ms\"\n").unwrap();
    assert_eq!(least, TargetModel::plain(Times::fixed(1_000_000)));
}

#[test]
fn keys_are_counted_or_named() {
    let with = |expensive: &str| {
        let text = MODEL.replace("\"85 %\"", expensive);
        model(&text).map(|model| model.endpoints[0].expensive.clone())
    };
    assert_eq!(with("17"), Ok(Expensive::Count(17)));
    let named = Expensive::Keys(vec!["a".to_owned(), "b".to_owned()]);
    assert_eq!(with("[\"a\", \"b\"]"), Ok(named));
    for wrong in ["\"many\"", "\"101 %\"", "-1", "[1]"] {
        assert!(with(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn every_mistake_has_its_line() {
    let wrong = "latency = 20\n[backend]\nslot = 1\nsingleflight = \"yes\"\n\
                 [endpoint.hom]\nbackend = \"fast\"\n[endpoint.home]\nexpensive = 3\n";
    let said = model(wrong).unwrap_err().join("\n");
    for words in [
        "model.toml:1: latency",
        "model.toml:3: backend.slot: unknown key; did you mean slots?",
        "model.toml:4: backend.singleflight",
        "model.toml:5: endpoint.hom: the scenario has no endpoint of that name",
        "model.toml:6: endpoint.hom.backend",
        "model.toml:8: endpoint.home.expensive: nothing is computed here",
    ] {
        assert!(said.contains(words), "{words:?} is not in\n{said}");
    }
    assert!(model("").unwrap_err()[0].contains("add latency"));
    assert!(model("latency = ").unwrap_err()[0].contains("no TOML"));
}
