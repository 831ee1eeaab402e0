//! No text makes the reader panic, and what it refuses it explains.

use proptest::prelude::*;
use slowpath_core::scenario::Scenario;

use super::{DESIGN, SHOP, read};

fn answer_is_sound(text: &str) {
    match read(text) {
        Ok(scenario) => assert!(!scenario.endpoints.is_empty()),
        Err(mistakes) => {
            assert!(!mistakes.is_empty());
            // A mistake at the very end of a text that ends in a line break is on the line after.
            let lines = text.matches('\n').count() + 1;
            for mistake in &mistakes {
                assert!((1..=lines).contains(&mistake.line), "{mistake}");
                assert!(!mistake.what.is_empty() && !mistake.remedy.is_empty());
            }
            assert!(mistakes.is_sorted_by_key(|mistake| mistake.line));
        }
    }
}

/// A scenario with a piece replaced, by text or by a piece of its own.
fn mutated() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[ -~\n]{0,6}",
        Just("{".to_owned()),
        Just("\"".to_owned()),
        Just("= [[".to_owned()),
        Just("\"5/s\"".to_owned()),
        Just("-1".to_owned()),
        Just("{}".to_owned()),
        Just("é".to_owned()),
    ];
    let base = prop_oneof![Just(SHOP), Just(DESIGN)];
    (base, any::<prop::sample::Index>(), 0usize..24, piece).prop_map(|(text, at, len, piece)| {
        let at = at.index(text.len());
        let end = (at + len).min(text.len());
        format!("{}{piece}{}", &text[..at], &text[end..])
    })
}

/// A scenario with the value of one key replaced by one of another type or kind.
fn revalued() -> impl Strategy<Value = String> {
    let value = prop::sample::select(vec![
        "0",
        "-7",
        "1.5",
        "nan",
        "true",
        "\"\"",
        "\"tcp\"",
        "\"1s..2s\"",
        "\"{seq}\"",
        "[]",
        "{}",
        "[[]]",
        "[{}]",
        "{ a = 1 }",
        "1979-05-27",
        "99999999999999999999",
        "\"\\u0000\"",
    ]);
    let keyed: Vec<usize> = SHOP
        .lines()
        .enumerate()
        .filter(|(_, l)| l.contains(" = "))
        .map(|(at, _)| at)
        .collect();
    (prop::sample::select(keyed), value).prop_map(|(at, value)| {
        let replaced = SHOP
            .lines()
            .enumerate()
            .map(|(line, text)| match text.split_once(" = ") {
                Some((key, _)) if line == at => format!("{key} = {value}\n"),
                _ => format!("{text}\n"),
            });
        replaced.collect()
    })
}

proptest! {
    #[test]
    fn of_any_text(text in any::<String>()) {
        answer_is_sound(&text);
    }

    #[test]
    fn of_anything_that_looks_like_toml(text in "([a-z.]{1,9} ?= ?[\"\\[{]?[a-z0-9{}]{0,5}[\"\\]}]?\n|\\[{1,2}[a-z]{1,8}\\]{1,2}\n){0,12}") {
        answer_is_sound(&text);
    }

    #[test]
    fn of_scenarios_with_a_piece_replaced(text in mutated()) {
        answer_is_sound(&text);
    }

    #[test]
    fn of_scenarios_with_a_value_replaced(text in revalued()) {
        answer_is_sound(&text);
    }
}

#[test]
fn a_scenario_survives_its_serialised_form() {
    let shop = read(SHOP).unwrap();
    let json = serde_json::to_string(&shop).unwrap();
    assert_eq!(serde_json::from_str::<Scenario>(&json).unwrap(), shop);
}
