//! No text makes the reader panic, what it refuses it explains, and what is written is read.

use proptest::prelude::*;
use slowpath_core::figures::Unit;
use slowpath_core::investigation::{
    Decided, Decision, Entry, Hypothesis, Measured, Outcome, Prediction, Question, Sign, Symptom,
    Target, Tested, Trial, Verdict, What,
};
use slowpath_record::{entry_text, parse_entry};

use super::{id, story};

fn answer_is_sound(text: &str) {
    match parse_entry(text, "x.toml", &id(0)) {
        // What is read is written so that it is read again.
        Ok(entry) => {
            let again = parse_entry(&entry_text(&entry), "x.toml", &id(0));
            assert_eq!(again.unwrap(), entry);
        }
        Err(mistakes) => {
            assert!(!mistakes.is_empty());
            let lines = text.matches('\n').count() + 1;
            for mistake in &mistakes {
                assert!((1..=lines).contains(&mistake.line), "{mistake}");
                assert!(!mistake.what.is_empty() && !mistake.remedy.is_empty());
            }
            assert!(mistakes.is_sorted_by_key(|mistake| mistake.line));
        }
    }
}

fn line() -> impl Strategy<Value = String> {
    "[!-~éß]([ -~é]{0,20}[!-~])?"
}

/// A text as an entry keeps it: without blanks around it, or nothing.
fn long() -> impl Strategy<Value = String> {
    prop_oneof![
        "[!-~]([ -~\n\t]{0,40}[!-~])?",
        "\\PC{1,30}".prop_map(|text| text.trim().to_owned()),
        any::<String>().prop_map(|text| text.trim().to_owned()),
        Just("\"\"\"\n'''\\".to_owned()),
    ]
    .prop_map(|text| {
        if text.is_empty() {
            "x".to_owned()
        } else {
            text
        }
    })
}

fn measured() -> impl Strategy<Value = Option<Measured>> {
    let figure = (0_u32..1_000_000, 0_u32..1000, 0_u32..1000, any::<bool>());
    prop::option::of(figure.prop_map(|(value, below, above, ends)| {
        let value = f64::from(value) + 1000.0;
        Measured {
            unit: Unit::Ns,
            value,
            range: ends.then(|| (value - f64::from(below), value + f64::from(above))),
        }
    }))
}

fn what() -> impl Strategy<Value = What> {
    let word = || prop::option::of(line());
    let of = || prop::option::of(Just(id(7)));
    let opened =
        (line(), line(), word(), measured()).prop_map(|(title, scenario, since, measured)| {
            What::Opened(Symptom {
                title,
                scenario,
                metric: Target::parse("\"search (cold)\".p99.9").unwrap(),
                since,
                measured,
            })
        });
    let hypothesis = (word(), word(), any::<bool>()).prop_map(|(cause, due, predicts)| {
        let that = "search.errors in 0%..0.1%";
        What::Hypothesis(Hypothesis {
            cause,
            answers: Question::ALL.to_vec(),
            prediction: predicts.then(|| Prediction::parse(that, due).unwrap()),
        })
    });
    let tested = prop::option::of(prop::sample::select(Tested::ALL.to_vec()));
    let trial = (of(), tested).prop_map(|(of, verdict)| What::Experiment(Trial { of, verdict }));
    let verdict = prop::sample::select(Verdict::ALL.to_vec());
    let outcome = (word(), verdict, measured()).prop_map(|(release, verdict, measured)| {
        What::Outcome(Outcome {
            of: id(7),
            release,
            verdict,
            measured,
        })
    });
    let decision = (prop::sample::select(Decision::ALL.to_vec()), of(), word());
    let decision = decision.prop_map(|(decision, of, release)| {
        let release = release.filter(|_| decision == Decision::Changed);
        What::Decision(Decided {
            decision,
            of,
            release,
        })
    });
    prop_oneof![
        opened,
        Just(What::Observation),
        hypothesis,
        trial,
        outcome,
        decision,
        Just(What::Reopening),
    ]
}

fn entry() -> impl Strategy<Value = Entry> {
    let runs = prop::collection::vec(Just(id(9)), 0..3);
    let sign = prop::option::of(prop::sample::select(Sign::ALL.to_vec()));
    (
        prop::option::of(line()),
        long(),
        runs,
        (sign, what()),
        0_u8..60,
    )
        .prop_map(|(by, text, runs, (sign, what), second)| Entry {
            id: id(0),
            at: format!("2026-01-31T14:05:{second:02}Z"),
            by,
            text,
            runs,
            links: vec!["https://example.org/a?b=c#d".to_owned()],
            figures: vec!["stalls \"1\".svg".to_owned()],
            sign: sign.filter(|_| matches!(what.kind(), "opened" | "observation" | "reopening")),
            what,
        })
}

/// The file of an entry with a piece replaced.
fn mutated() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[ -~\n]{0,6}",
        Just("\"".to_owned()),
        Just("= [[".to_owned()),
        Just("[measured]".to_owned()),
        Just("é".to_owned()),
    ];
    let at = any::<prop::sample::Index>();
    let which = prop::sample::select(story());
    (which, at, 0_usize..24, piece).prop_map(|(entry, at, len, piece)| {
        let text = entry_text(&entry);
        let at = at.index(text.len());
        let end = (at + len).min(text.len());
        format!("{}{piece}{}", &text[..at], &text[end..])
    })
}

proptest! {
    #[test]
    fn of_any_text(text in any::<String>()) {
        answer_is_sound(&text);
    }

    #[test]
    fn of_entries_with_a_piece_replaced(text in mutated()) {
        answer_is_sound(&text);
    }

    #[test]
    fn what_is_written_is_read(entry in entry()) {
        let text = entry_text(&entry);
        let read = parse_entry(&text, "x.toml", &id(0));
        prop_assert_eq!(read.map_err(|mistakes| (mistakes, text)), Ok(entry));
    }
}
