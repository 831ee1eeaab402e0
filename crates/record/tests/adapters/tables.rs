//! Tables in Markdown.

use slowpath_core::figures::Unit;

use super::{read, says, take};

#[test]
fn a_table_of_hyperfine_is_read_with_the_units_of_its_heads() {
    let harvest = read("markdown", "hyperfine.md");
    says(&harvest, "sleep 0.01.Mean", 14.6e6);
    says(&harvest, "sleep 0.02.Max", 173.4e6);
    says(&harvest, "sleep 0.02.Relative", 3.35);
    assert_eq!(take(&harvest, "sleep 0.01.Min").unit, Unit::Ns);
    assert_eq!(take(&harvest, "sleep 0.02.Relative").unit, Unit::Count);
}

#[test]
fn a_table_of_a_readme_is_read_with_the_units_of_its_cells() {
    let harvest = read("markdown", "unicode-ident.md");
    assert_eq!(harvest.takes.len(), 25);
    says(&harvest, "unicode-ident.0% nonascii", 0.41);
    says(&harvest, "fst.static storage", 144e3);
    says(&harvest, "roaring.100% nonascii", 4.61);
    assert_eq!(take(&harvest, "unicode-xid.10%").unit, Unit::Ns);
    assert!(harvest.notes[0].contains("made elsewhere"));
}
