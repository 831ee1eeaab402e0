//! `schema/sweep.schema.json` says what `sweep.json` holds.

use serde_json::Value;
use slowpath_experiment::sweep::Sweep;

use crate::schema::check;
use crate::sweep::sweep;

const PATH: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../schema/sweep.schema.json"
);

fn generated() -> String {
    let schema = schemars::schema_for!(Sweep);
    let mut text = serde_json::to_string_pretty(&schema).unwrap();
    text.push('\n');
    text
}

#[test]
fn the_committed_schema_of_sweeps_is_up_to_date() {
    if std::env::var("UPDATE").is_ok_and(|value| value == "1") {
        std::fs::write(PATH, generated()).unwrap();
    }
    let committed = std::fs::read_to_string(PATH).unwrap_or_default();
    assert!(
        committed == generated(),
        "run: UPDATE=1 cargo test -p slowpath-report --test it schema"
    );
}

#[test]
fn sweeps_have_the_shape_of_the_schema_and_what_is_wrong_is_seen() {
    let schema: Value = serde_json::from_str(&generated()).unwrap();
    let mut found: Value =
        serde_json::from_str(&slowpath_report::sweep_json(&sweep("shop"))).unwrap();
    let mut wrong = Vec::new();
    check(&schema, &schema, &found, "sweep", &mut wrong);
    assert_eq!(wrong, Vec::<String>::new());
    found["windows"][0]["per_s"] = "many".into();
    let level = found["analysis"]["levels"][0].as_object_mut().unwrap();
    level.remove("served");
    check(&schema, &schema, &found, "sweep", &mut wrong);
    assert_eq!(wrong.len(), 2, "{wrong:?}");
}
