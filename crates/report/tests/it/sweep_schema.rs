//! Sweeps have the shape of their schema.

use serde_json::Value;

use crate::schema::schema;
use crate::shape_check::check;
use crate::sweep::sweep;

#[test]
fn sweeps_have_the_shape_of_the_schema_and_what_is_wrong_is_seen() {
    let schema = schema("sweep");
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
