//! What is a gate, and what is none.

use proptest::prelude::*;

use super::*;

fn parse(text: &str) -> Result<GateTest, GateError> {
    GateTest::parse(text, &["search".to_owned(), "/a/b.c".to_owned()])
}

fn measure(of_baseline: bool, endpoint: &str, metric: Metric) -> Measure {
    Measure {
        of_baseline,
        endpoint: endpoint.to_owned(),
        metric,
    }
}

#[test]
fn a_measure_against_a_bound() {
    for (text, endpoint, metric, condition) in [
        (
            "search.p99 < 50ms",
            "search",
            Metric::Quantile(99.0),
            Condition::Below(5e7),
        ),
        (
            "search.p99.9<=1s",
            "search",
            Metric::Quantile(99.9),
            Condition::AtMost(1e9),
        ),
        (
            "/a/b.c.rate >= 90/s",
            "/a/b.c",
            Metric::Rate,
            Condition::AtLeast(90.0),
        ),
        (
            "search.errors < 1 %",
            "search",
            Metric::Errors,
            Condition::Below(0.01),
        ),
        (
            "search.errors <= 0",
            "search",
            Metric::Errors,
            Condition::AtMost(0.0),
        ),
        (
            "search.max > 1ms",
            "search",
            Metric::Max,
            Condition::Above(1e6),
        ),
        (
            "search.p50 in 1ms..2ms",
            "search",
            Metric::Quantile(50.0),
            Condition::Within {
                low: 1e6,
                high: 2e6,
            },
        ),
    ] {
        let gate = parse(text).unwrap();
        let expected = GateTest::Bounded(Bounded {
            measure: measure(false, endpoint, metric),
            over: None,
            condition,
        });
        assert_eq!(gate, expected, "{text}");
    }
}

#[test]
fn a_ratio_against_a_range() {
    let gate = parse("search.p99 / baseline.search.p99 in 0.9..1.1").unwrap();
    let gate = gate.bounded().unwrap().clone();
    assert_eq!(
        gate.over,
        Some(measure(true, "search", Metric::Quantile(99.0)))
    );
    assert_eq!(
        gate.condition,
        Condition::Within {
            low: 0.9,
            high: 1.1
        }
    );
}

#[test]
fn what_is_no_gate_says_why() {
    for (text, message) in [
        ("search.p99", "it compares nothing"),
        ("", "it compares nothing"),
        ("p99 < 1ms", "\"p99\" is no measure"),
        ("search.p42 < 1ms", "\"search.p42\" is no measure"),
        (
            "baseline.p99 < 1ms",
            "there is no endpoint named \"baseline\"",
        ),
        ("home.p99 < 1ms", "there is no endpoint named \"home\""),
        ("search.p99 < 50", "\"50\" has no unit"),
        ("search.errors < 2", "\"2\" is no share"),
        ("search.errors < few", "\"few\" is no share"),
        (
            "search.p99 / search.p50 < 2ms",
            "\"2ms\" is no plain number",
        ),
        (
            "search.p99 / search.rate < 2",
            "a ratio of duration and rate means nothing",
        ),
        (
            "search.p99 / search.p50 in 2..1",
            "\"2..1\" is no plain number",
        ),
        (
            "search.p99 in 2ms..1ms",
            "the range \"2ms..1ms\" ends before it starts",
        ),
    ] {
        assert_eq!(parse(text).unwrap_err().to_string(), message, "{text}");
    }
}

#[test]
fn bounds_are_inside_or_not_as_their_sign_says() {
    let holds = |condition: Condition| [1.0, 2.0, 3.0, f64::NAN].map(|v| condition.holds(v));
    assert_eq!(holds(Condition::Below(2.0)), [true, false, false, false]);
    assert_eq!(holds(Condition::AtMost(2.0)), [true, true, false, false]);
    assert_eq!(holds(Condition::Above(2.0)), [false, false, true, false]);
    assert_eq!(holds(Condition::AtLeast(2.0)), [false, true, true, false]);
    assert_eq!(
        holds(Condition::Within {
            low: 2.0,
            high: 3.0
        }),
        [false, true, true, false]
    );
}

fn related(text: &str) -> Relation {
    match parse(text).unwrap() {
        GateTest::Related(relation) => relation,
        GateTest::Bounded(_) => panic!("{text} has a bound"),
    }
}

#[test]
fn measures_are_compared_with_measures() {
    let relation = related("search.p50 >= /a/b.c.p50 within 5 %");
    assert_eq!(relation.order, Order::AtLeast);
    assert!((relation.tolerance - 0.05).abs() < 1e-12);
    assert_eq!(
        relation.left[0].measure(),
        Some(&measure(false, "search", Metric::Quantile(50.0)))
    );
    assert_eq!(relation.right[0].measure().unwrap().endpoint, "/a/b.c");
    let relation = related("search.p99 <= /a/b.c.p99 + 5ms");
    assert_eq!(relation.right[1].of, Operand::Constant(5e6));
    assert_eq!(
        related("search.p99 < baseline.search.p99").order,
        Order::Less
    );
}

#[test]
fn what_goes_in_comes_out_or_waits() {
    let relation = related("search.offered = search.completed + search.failed + search.unfinished");
    assert_eq!((relation.left.len(), relation.right.len()), (1, 3));
    assert!(relation.is_tally() && relation.tolerance == 0.0);
    let relation = related("search.rate - /a/b.c.rate = 10/s within 1 %");
    assert!(relation.left[1].negative && !relation.is_tally());
}

#[test]
fn names_of_any_characters_are_quoted() {
    let subjects = ["Parse < 3 (n=2) + 1".to_owned(), "404".to_owned()];
    let metrics = [
        ("MB/s".to_owned(), Unit::Count),
        ("time".to_owned(), Unit::Ns),
    ];
    let known = Vocabulary {
        subjects: &subjects,
        metrics: &metrics,
        usual: None,
    };
    let gate = known.gate("\"Parse < 3 (n=2) + 1\".time < 2ms").unwrap();
    assert_eq!(gate.measures()[0].endpoint, subjects[0]);
    assert_eq!(gate.bounded().unwrap().condition, Condition::Below(2e6));
    let gate = known.gate("404.\"MB/s\" >= 3.5").unwrap();
    assert_eq!(gate.bounded().unwrap().condition, Condition::AtLeast(3.5));
    let gate = known
        .gate("404.time >= baseline.\"Parse < 3 (n=2) + 1\".time")
        .unwrap();
    assert!(gate.bounded().is_none() && gate.measures()[1].of_baseline);
    // What a benchmark does not have is no measure of it.
    assert!(known.gate("404.p99 < 1ms").is_ok());
    let own = Vocabulary {
        usual: Some(&[]),
        ..known
    };
    let none = own.gate("404.p99 < 1ms").unwrap_err();
    assert_eq!(none.to_string(), "\"404.p99\" is no measure");
}

#[test]
fn what_is_no_relation_says_why() {
    for (text, message) in [
        (
            "search.p99 >= search.rate",
            "a comparison of duration and rate means nothing",
        ),
        (
            "search.p99 = search.p50",
            "no two measured figures of a duration are equal",
        ),
        (
            "search.p99 / search.p50 >= search.p50",
            "a ratio is compared with a number only",
        ),
        (
            "search.p99 >= home.p50",
            "there is no endpoint named \"home\"",
        ),
        ("search.p99 >= search.p50 within 2", "\"2\" is no share"),
        ("1ms = 2ms", "\"1ms\" is no measure"),
        ("search.p50 + 3 < search.p99", "\"3\" has no unit"),
    ] {
        assert_eq!(parse(text).unwrap_err().to_string(), message, "{text}");
    }
}

/// Names as benchmarks and endpoints have them, and worse ones.
const NAMES: [&str; 6] = [
    "search",
    "baseline.x",
    "a.p99 < 1ms",
    "Parse + 3 (n=2) / 4",
    "in out within",
    "404 é",
];

fn all() -> Vocabulary<'static> {
    static SUBJECTS: std::sync::LazyLock<Vec<String>> =
        std::sync::LazyLock::new(|| NAMES.map(str::to_owned).to_vec());
    static METRICS: std::sync::LazyLock<Vec<(String, Unit)>> = std::sync::LazyLock::new(|| {
        let named = [
            ("ns/op", Unit::Ns),
            ("B/op", Unit::Bytes),
            ("x in y", Unit::Count),
        ];
        named.map(|(name, unit)| (name.to_owned(), unit)).to_vec()
    });
    Vocabulary {
        subjects: &SUBJECTS,
        metrics: &METRICS,
        usual: None,
    }
}

/// A measure and how it is written.
fn measures() -> impl Strategy<Value = (Measure, String)> {
    let ns_op = Metric::Named {
        name: "ns/op".to_owned(),
        dimension: Dimension::Duration,
    };
    let metrics = vec![
        (Metric::Quantile(99.9), "p99.9"),
        (Metric::Quantile(50.0), "p50"),
        (ns_op.clone(), "ns/op"),
        (ns_op, "\"ns/op\""),
    ];
    let metric = prop::sample::select(metrics);
    (any::<bool>(), prop::sample::select(&NAMES[..]), metric).prop_map(
        |(of_baseline, name, (metric, said))| {
            let before = if of_baseline { "baseline." } else { "" };
            let text = format!("{before}\"{name}\".{said}");
            (measure(of_baseline, name, metric), text)
        },
    )
}

/// A sum of measures and milliseconds, and how it is written; the first term is a measure.
fn sums() -> impl Strategy<Value = (Vec<Term>, String)> {
    let measured = || measures().prop_map(|(m, text)| (Operand::Measure(m), text));
    let constant =
        (1_u32..900).prop_map(|n| (Operand::Constant(f64::from(n) * 1e6), format!("{n}ms")));
    let more = (any::<bool>(), prop_oneof![measured(), constant]);
    (measured(), prop::collection::vec(more, 0..3)).prop_map(|((of, mut text), more)| {
        let mut terms = vec![Term {
            negative: false,
            of,
        }];
        for (negative, (of, said)) in more {
            text.push_str(if negative { " - " } else { " + " });
            text.push_str(&said);
            terms.push(Term { negative, of });
        }
        (terms, text)
    })
}

/// What gates are made of, and what they are not, in any order.
const PIECES: &str = "(\\PC{0,6}|search|baseline|\\.p99|ns/op| in | within | = |[<>]=?|\"| / | \
                      [+-] |5 ?%|3ms|\\.\\.){0,9}";

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn any_text_is_a_gate_or_says_why_not(text in PIECES) {
        match all().gate(&text) {
            Ok(test) => prop_assert!(!test.measures().is_empty()),
            Err(error) => prop_assert!(!error.to_string().is_empty()),
        }
    }

    #[test]
    fn bounds_say_what_was_written(
        (measured, text) in measures(),
        over in prop::option::of(measures()),
        at in 0_usize..4,
        bound in 1_u32..1000,
    ) {
        let sign = ["<", "<=", ">", ">="][at];
        let (number, said) = match &over {
            None => (f64::from(bound) * 1e6, format!("{bound}ms")),
            Some(_) => (f64::from(bound) / 100.0, format!("{bound} %")),
        };
        let over_said = over.as_ref().map_or(String::new(), |(_, text)| format!(" / {text}"));
        let test = all().gate(&format!("{text}{over_said} {sign} {said}")).unwrap();
        let found = test.bounded().unwrap().clone();
        prop_assert_eq!(found.measure, measured);
        prop_assert_eq!(found.over, over.map(|(measure, _)| measure));
        let wanted = [
            Condition::Below,
            Condition::AtMost,
            Condition::Above,
            Condition::AtLeast,
        ][at];
        prop_assert_eq!(found.condition, wanted(number));
    }

    #[test]
    fn sums_say_what_was_written(
        (left, left_text) in sums(),
        (right, right_text) in sums(),
        at in 0_usize..4,
        within in prop::option::of(1_u32..99),
    ) {
        let (sign, order) = [
            ("<", Order::Less),
            ("<=", Order::AtMost),
            (">=", Order::AtLeast),
            (">", Order::Greater),
        ][at];
        let room = within.map_or(String::new(), |share| format!(" within {share} %"));
        let text = format!("{left_text} {sign} {right_text}{room}");
        let GateTest::Related(found) = all().gate(&text).unwrap() else {
            panic!("{text} has a bound");
        };
        let tolerance = within.map_or(0.0, |share| f64::from(share) / 100.0);
        prop_assert_eq!(found, Relation { left, order, right, tolerance });
    }
}
