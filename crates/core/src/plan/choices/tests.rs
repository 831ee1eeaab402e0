use super::*;
use crate::scenario::{Escape, LoadDraft, Part, Scenario, UserClass};

fn text(parts: Vec<Part>) -> Template {
    let escape = Escape::Url;
    Template { parts, escape }
}

/// Endpoints named by letters from `a`, each with these parts as its path.
fn plan(paths: Vec<Vec<Part>>, pools: Vec<Pool>) -> Plan {
    let mut scenario = Scenario::from_url("http://127.0.0.1:1/").unwrap();
    let named = (b'a'..).zip(paths);
    scenario.endpoints = named
        .map(|(letter, parts)| Endpoint::get(char::from(letter).to_string(), text(parts)))
        .collect();
    scenario.pools = pools;
    Plan {
        scenario,
        seed: 3,
        release: None,
    }
}

fn draw(choices: &mut Choices, ask: Ask<'_>) -> Result<Choice, Spent> {
    let mut choice = Choice::empty();
    choices.next_into(ask, &mut choice).map(|()| choice)
}

fn class(name: &str, endpoints: &[(&str, f64)], steps: &[&str]) -> UserClass {
    UserClass {
        name: name.to_owned(),
        share: 1.0,
        think: None,
        endpoints: endpoints
            .iter()
            .map(|(name, weight)| ((*name).to_owned(), *weight))
            .collect(),
        steps: steps.iter().map(|name| (*name).to_owned()).collect(),
    }
}

#[test]
fn classes_draw_from_their_own_endpoints_and_streams() {
    let mut plan = plan(vec![vec![], vec![], vec![]], vec![]);
    plan.scenario.users = vec![
        class("one", &[("a", 3.0), ("b", 1.0)], &[]),
        class("two", &[("c", 1.0)], &[]),
    ];
    let of = |lane, among: &mut Choices| {
        let ask = Ask {
            lane,
            ..Ask::default()
        };
        draw(among, ask).unwrap()
    };
    let mut alone = plan.choices(0);
    let first: Vec<Choice> = (0..400).map(|_| of(0, &mut alone)).collect();
    let count = first.iter().filter(|choice| choice.endpoint == 0).count();
    // Five standard deviations of 400 draws with p = 3/4.
    assert!((257..=343).contains(&count), "{count}");
    assert!(first.iter().all(|choice| choice.endpoint < 2));
    let mut both = plan.choices(0);
    for expected in first {
        assert_eq!(of(1, &mut both).endpoint, 2);
        assert_eq!(
            of(0, &mut both),
            expected,
            "the other class takes nothing away"
        );
    }
}

#[test]
fn what_needs_an_unknown_variable_is_not_drawn() {
    let mut plan = plan(vec![vec![], vec![Part::Variable(1)]], vec![]);
    plan.scenario.variables = vec!["x".into(), "token".into()];
    let mut choices = plan.choices(0);
    let mut drawn = |known: &[bool]| -> Vec<u16> {
        let ask = Ask {
            known,
            ..Ask::default()
        };
        let mut all: Vec<u16> = (0..100)
            .map(|_| draw(&mut choices, ask).unwrap().endpoint)
            .collect();
        all.sort_unstable();
        all.dedup();
        all
    };
    assert_eq!(drawn(&[]), [0]);
    assert_eq!(drawn(&[true, false]), [0]);
    assert_eq!(drawn(&[false, true]), [0, 1]);
}

#[test]
fn sequences_begin_again_and_unique_values_end() {
    let in_order = |pick| Pool {
        pick,
        ..Pool::plain("p", ["x", "y"])
    };
    let picks = |pick, draws: usize| -> Vec<Result<u32, Spent>> {
        let plan = plan(vec![vec![Part::Pool(0)], vec![]], vec![in_order(pick)]);
        let mut choices = plan.choices(0);
        let of = |endpoint| Ask {
            endpoint: Some(endpoint),
            ..Ask::default()
        };
        let one = |_| {
            // An endpoint that does not name the pool takes nothing from it.
            draw(&mut choices, of(1)).unwrap();
            draw(&mut choices, of(0)).map(|choice| choice.picks[0])
        };
        (0..draws).map(one).collect()
    };
    assert_eq!(picks(Pick::Sequence, 3), [Ok(0), Ok(1), Ok(0)]);
    let spent = Err(Spent { pool: 0 });
    assert_eq!(picks(Pick::Unique, 4), [Ok(0), Ok(1), spent, spent]);
}

#[test]
fn loops_deal_values_in_turn() {
    let unique = Pool {
        pick: Pick::Unique,
        ..Pool::plain("p", ["a", "b", "c", "d", "e"])
    };
    let plan = plan(vec![vec![Part::Pool(0)]], vec![unique]);
    let mut taken = Vec::new();
    for index in 0..2 {
        let mut choices = plan.choices_of_loop(0, index, 2);
        while let Ok(choice) = draw(&mut choices, Ask::default()) {
            taken.push(choice.picks[0]);
        }
    }
    assert_eq!(taken, [0, 2, 4, 1, 3]);
}

#[test]
fn weights_and_rows_are_kept() {
    let weighted = Pool {
        weights: Some(vec![0.0, 3.0, 1.0]),
        ..Pool::plain("t.a", ["x", "y", "z"])
    };
    let column = Pool {
        same_row_as: Some(0),
        ..Pool::plain("t.b", ["1", "2", "3"])
    };
    let plan = plan(vec![vec![Part::Pool(1)]], vec![weighted, column]);
    let mut choices = plan.choices(0);
    let mut counts = [0; 3];
    for _ in 0..4_000 {
        let choice = draw(&mut choices, Ask::default()).unwrap();
        assert_eq!(choice.picks[0], choice.picks[1]);
        counts[choice.picks[0] as usize] += 1;
    }
    assert_eq!(counts[0], 0);
    // Five standard deviations of 4,000 draws with p = 3/4.
    assert!((2_863..=3_137).contains(&counts[1]), "{counts:?}");
}

#[test]
fn passes_ask_for_the_same_under_other_uuids() {
    let mut plan = plan(
        vec![vec![Part::Pool(0)], vec![]],
        vec![Pool::plain(
            "p",
            (0..50).map(|n| n.to_string()).collect::<Vec<_>>(),
        )],
    );
    plan.scenario.load.passes = vec!["cold".into(), "warm".into()];
    let all = |repeat| -> Vec<Choice> {
        let mut choices = plan.choices(repeat);
        (0..50)
            .map(|_| draw(&mut choices, Ask::default()).unwrap())
            .collect()
    };
    let (cold, warm, next) = (all(0), all(1), all(2));
    let asked = |choice: &Choice| (choice.endpoint, choice.picks.clone());
    assert!(cold.iter().map(asked).eq(warm.iter().map(asked)));
    assert!(cold.iter().zip(&warm).all(|(a, b)| a.uuid != b.uuid));
    assert!(!cold.iter().map(asked).eq(next.iter().map(asked)));
}

#[test]
fn an_endpoint_with_a_rate_has_a_lane_of_its_own() {
    let mut plan = plan(vec![vec![], vec![], vec![]], vec![]);
    plan.scenario.load = LoadDraft {
        rate_per_s: Some(100.0),
        ..LoadDraft::default()
    }
    .resolve()
    .unwrap();
    plan.scenario.endpoints[1].rate_per_s = Some(5.0);
    let lanes = plan.lanes();
    let shown: Vec<_> = lanes
        .iter()
        .map(|lane| (lane.endpoints.clone(), lane.rate_per_s))
        .collect();
    assert_eq!(shown, [(vec![0, 2], 100.0), (vec![1], 5.0)]);
    let mut choices = plan.choices(0);
    assert_eq!(choices.unsent_endpoint(1), 1);
    assert_ne!(choices.unsent_endpoint(0), 1);
}

#[test]
fn fewer_keys_are_asked_for_while_that_is_wanted() {
    let values = |n: u32| (0..n).map(|v| v.to_string()).collect::<Vec<_>>();
    let column = Pool {
        same_row_as: Some(0),
        ..Pool::plain("k.name", values(40))
    };
    let pools = vec![
        Pool::plain("k.id", values(40)),
        column,
        Pool::plain("text", values(40)),
    ];
    let mut plan = plan(vec![vec![Part::Pool(1), Part::Pool(2)]], pools);
    plan.scenario.endpoints[0].key = Some(text(vec![Part::Pool(1)]));
    let mut choices = plan.choices(0);
    let most = |choices: &mut Choices| {
        let mut most = [0; 3];
        for _ in 0..500 {
            let choice = draw(choices, Ask::default()).unwrap();
            assert_eq!(choice.picks[0], choice.picks[1], "columns of one row");
            for (most, pick) in most.iter_mut().zip(choice.picks) {
                *most = pick.max(*most);
            }
        }
        most
    };
    choices.keep_one_of(16);
    let [id, name, text] = most(&mut choices);
    assert_eq!((id, name), (2, 2), "three of forty");
    assert!(text > 30, "what no key is made of stays as it is");
    choices.keep_one_of(1);
    assert!(most(&mut choices)[0] > 30);
}

#[test]
fn a_key_that_is_drawn_again_leaves_all_else_as_it_is() {
    let values = |n: u32| (0..n).map(|v| v.to_string()).collect::<Vec<_>>();
    let in_order = |name: &str, pick| Pool {
        pick,
        ..Pool::plain(name, values(8))
    };
    let column = Pool {
        same_row_as: Some(0),
        ..Pool::plain("k.name", values(40))
    };
    let pools = vec![
        Pool::plain("k.id", values(40)),
        column,
        in_order("turn", Pick::Sequence),
        in_order("once", Pick::Unique),
        Pool::plain("text", values(40)),
    ];
    let parts: Vec<Part> = (0..5).map(Part::Pool).collect();
    let mut choices = plan(vec![parts], pools).choices(0);
    let mut met = std::collections::BTreeSet::new();
    for turn in 0..8 {
        let mut choice = draw(&mut choices, Ask::default()).unwrap();
        let before = choice.clone();
        for _ in 0..20 {
            choices.redraw(Ask::default(), &[0, 2, 3], &mut choice);
            assert_eq!(choice.picks[0], choice.picks[1], "columns of one row");
            met.insert((choice.picks[0], choice.picks[2]));
        }
        assert_eq!(choice.picks[3..], before.picks[3..]);
        assert_eq!(
            (choice.endpoint, choice.uuid),
            (before.endpoint, before.uuid)
        );
        // What is given out in order goes on where it was.
        assert_eq!((before.picks[2], before.picks[3]), (turn, turn));
    }
    assert!(met.len() > 50, "{}", met.len());
}
