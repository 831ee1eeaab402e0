use proptest::prelude::*;
use slowpath_core::stats::episodes::{Episode, episodes};

use super::laws::laws;

#[test]
fn overlapping_intervals_are_one_episode() {
    let found = episodes(&[(30, 40), (0, 10), (5, 20), (6, 7), (20, 25)]);
    let expected = [
        Episode {
            begin_ns: 0,
            end_ns: 20,
            members: 3,
        },
        Episode {
            begin_ns: 20,
            end_ns: 25,
            members: 1,
        },
        Episode {
            begin_ns: 30,
            end_ns: 40,
            members: 1,
        },
    ];
    assert_eq!(found.episodes, expected);
    assert_eq!(found.of, [2, 0, 0, 0, 1]);
}

#[test]
fn empty_intervals_have_a_place() {
    let found = episodes(&[(5, 5), (5, 8), (9, 3)]);
    let expected = [
        Episode {
            begin_ns: 5,
            end_ns: 8,
            members: 2,
        },
        Episode {
            begin_ns: 9,
            end_ns: 10,
            members: 1,
        },
    ];
    assert_eq!(found.episodes, expected);
    assert!(episodes(&[]).episodes.is_empty());
}

proptest! {
    #![proptest_config(laws(256))]

    #[test]
    fn episodes_are_disjoint_ordered_and_hold_their_members(
        intervals in prop::collection::vec((0u64..2000, 0u64..50), 0..200)
            .prop_map(|all| all.iter().map(|&(at, len)| (at, at + len)).collect::<Vec<_>>()),
    ) {
        let found = episodes(&intervals);
        for pair in found.episodes.windows(2) {
            prop_assert!(pair[0].end_ns <= pair[1].begin_ns);
        }
        let mut members = vec![0; found.episodes.len()];
        for (&(begin_ns, end_ns), &of) in intervals.iter().zip(&found.of) {
            let episode = found.episodes[of as usize];
            prop_assert!(episode.begin_ns <= begin_ns && end_ns <= episode.end_ns);
            members[of as usize] += 1;
        }
        let counted: Vec<u32> = found.episodes.iter().map(|episode| episode.members).collect();
        prop_assert_eq!(members, counted);
    }
}
