//! The spans of one request as a tree, and to which of them each instant belongs.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use slowpath_core::nanos::{Nanos, Span};
use slowpath_core::spans::AppSpan;

/// Spans of one request that are read, the earliest: more say nothing that these do not, and
/// a request with a hundred thousand must not hold up the judgement.
const MOST_SPANS: usize = 256;

/// The spans of one request. Whatever they say of their parents, it is a tree: a span whose parent
/// is missing is a root, and a circle is cut open.
#[derive(Debug)]
pub(super) struct Tree<'a> {
    spans: &'a [AppSpan],
    /// From when on there are spans that are not read.
    unseen_from: Option<Nanos>,
    roots: Vec<usize>,
    children: Vec<Vec<usize>>,
}

/// To which span a stretch of a request belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) begin: Nanos,
    pub(super) end: Nanos,
    /// The innermost span; `None` outside of all.
    pub(super) of: Option<usize>,
    /// The spans in it that the stretch lies between; `None` for all if there is none.
    pub(super) between: Option<(Option<usize>, Option<usize>)>,
    /// Whether spans that are not read may lie in it: then it is no span's own, and no gap.
    pub(super) unseen: bool,
}

impl<'a> Tree<'a> {
    /// The tree of spans that are sorted by their begin.
    pub(super) fn of(spans: &'a [AppSpan]) -> Self {
        let (spans, unseen) = spans.split_at(spans.len().min(MOST_SPANS));
        let mut places = BTreeMap::new();
        for (place, span) in spans.iter().enumerate() {
            // Of two spans with one id the first is meant.
            places.entry(span.id).or_insert(place);
        }
        let parents = spans.iter().map(|span| places.get(&span.parent).copied());
        let parents = without_circles(parents.collect());
        let mut tree = Self {
            spans,
            unseen_from: unseen.first().map(|span| span.begin),
            roots: Vec::new(),
            children: vec![Vec::new(); spans.len()],
        };
        for (place, parent) in parents.into_iter().enumerate() {
            match parent {
                Some(parent) => tree.children[parent].push(place),
                None => tree.roots.push(place),
            }
        }
        let last_first = |place: &usize| (Reverse(spans[*place].end), *place);
        tree.roots.sort_by_key(last_first);
        for children in &mut tree.children {
            children.sort_by_key(last_first);
        }
        tree
    }

    /// A span.
    pub(super) fn span(&self, place: usize) -> &'a AppSpan {
        &self.spans[place]
    }

    /// All spans that are read.
    pub(super) fn spans(&self) -> &'a [AppSpan] {
        self.spans
    }

    /// Whether there are more spans than are read.
    pub(super) const fn is_cut(&self) -> bool {
        self.unseen_from.is_some()
    }

    /// The spans in a span, or those in none; the last to end comes first.
    pub(super) fn inside(&self, of: Option<usize>) -> &[usize] {
        of.map_or(&self.roots, |place| &self.children[place])
    }

    /// Takes a window apart: each instant once, without holes, the last stretch first.
    pub(super) fn parts(&self, window: Span) -> Vec<Part> {
        let mut parts = Vec::new();
        self.take_apart(None, window.begin, window.end, &mut parts);
        match self.unseen_from {
            Some(from) => parts.into_iter().flat_map(|part| part.cut(from)).collect(),
            None => parts,
        }
    }

    /// Goes from the end of a span to its begin: what ended last was waited for until then, and
    /// what it had to wait for itself ended before it began. Its depth is that of the tree.
    fn take_apart(&self, of: Option<usize>, begin: Nanos, end: Nanos, parts: &mut Vec<Part>) {
        let (mut until, mut behind) = (end, None);
        for &child in self.inside(of) {
            let span = &self.spans[child];
            let (from, to) = (span.begin.max(begin), span.end.min(until));
            if from >= to {
                // Elsewhere in time, or beside one that ended later.
                continue;
            }
            if to < until {
                parts.push(Part {
                    begin: to,
                    end: until,
                    of,
                    between: Some((Some(child), behind)),
                    unseen: false,
                });
            }
            self.take_apart(Some(child), from, to, parts);
            (until, behind) = (from, Some(child));
        }
        if begin < until {
            parts.push(Part {
                begin,
                end: until,
                of,
                between: behind.map(|behind| (None, Some(behind))),
                unseen: false,
            });
        }
    }
}

impl Part {
    /// The stretch, after and before the instant from which on there are spans that are not
    /// read; the later part first.
    fn cut(self, from: Nanos) -> impl Iterator<Item = Self> {
        let at = from.clamp(self.begin, self.end);
        let behind = Self {
            begin: at,
            unseen: true,
            ..self
        };
        let ahead = Self { end: at, ..self };
        [behind, ahead]
            .into_iter()
            .filter(|part| part.begin < part.end)
    }
}

/// Parents from which every way leads to a span without one.
fn without_circles(mut parents: Vec<Option<usize>>) -> Vec<Option<usize>> {
    // The walk on which each was met.
    let mut met = vec![usize::MAX; parents.len()];
    for first in 0..parents.len() {
        let mut at = first;
        while met[at] == usize::MAX {
            met[at] = first;
            match parents[at] {
                // It was met on this very walk, and ahead of the others.
                Some(parent) if met[parent] == first => parents[parent] = None,
                Some(parent) => at = parent,
                None => {}
            }
        }
    }
    parents
}

#[cfg(test)]
pub(super) mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;
    use slowpath_core::spans::SpanKind;

    use super::*;

    /// A span that is called after its id.
    pub(in crate::spans) fn span(id: u64, parent: u64, begin: u64, end: u64) -> AppSpan {
        AppSpan {
            serial: 0,
            repeat: 0,
            kind: SpanKind::Internal,
            error: false,
            id,
            parent,
            name: id as u32,
            service: 0,
            thread: 0,
            begin: Nanos::new(begin),
            end: Nanos::new(end),
        }
    }

    fn window(begin: u64, end: u64) -> Span {
        Span::new(Nanos::new(begin), Nanos::new(end))
    }

    /// Begin, end and id of the span, in order of time.
    fn told(spans: &[AppSpan], over: Span) -> Vec<(u64, u64, u64)> {
        let tree = Tree::of(spans);
        let mut parts = tree.parts(over);
        parts.reverse();
        let id = |of: Option<usize>| of.map_or(0, |place| spans[place].id);
        parts
            .iter()
            .map(|p| (p.begin.get(), p.end.get(), id(p.of)))
            .collect()
    }

    #[test]
    fn the_innermost_span_has_the_time_and_gaps_have_their_neighbours() {
        let spans = [span(1, 99, 10, 100), span(2, 1, 20, 40), span(3, 1, 70, 90)];
        let parts = told(&spans, window(5, 110));
        let expected = [
            (5, 10, 0),
            (10, 20, 1),
            (20, 40, 2),
            (40, 70, 1),
            (70, 90, 3),
            (90, 100, 1),
            (100, 110, 0),
        ];
        assert_eq!(parts, expected);
        let tree = Tree::of(&spans);
        let gaps: Vec<_> = tree
            .parts(window(5, 110))
            .iter()
            .rev()
            .map(|p| p.between)
            .collect();
        assert_eq!(gaps[3], Some((Some(1), Some(2))), "between 2 and 3");
        assert_eq!(gaps[1], Some((None, Some(1))), "ahead of 2");
        assert_eq!(gaps[5], Some((Some(2), None)), "after 3");
        assert_eq!(gaps[2], None, "nothing is in it");
        assert_eq!(gaps[0], Some((None, Some(0))), "on the way to the first");
    }

    #[test]
    fn of_spans_side_by_side_the_last_to_end_was_waited_for() {
        let spans = [
            span(1, 0, 0, 100),
            span(2, 1, 10, 60),
            span(3, 1, 20, 90),
            span(4, 1, 30, 40),
        ];
        let parts = told(&spans, window(1, 100));
        assert_eq!(parts, [(1, 10, 1), (10, 20, 2), (20, 90, 3), (90, 100, 1)]);
    }

    #[test]
    fn children_outside_of_their_parents_are_cut() {
        let spans = [span(2, 1, 5, 60), span(1, 0, 20, 50)];
        assert_eq!(
            told(&spans, window(1, 70)),
            [(1, 20, 0), (20, 50, 2), (50, 70, 0)]
        );
    }

    #[test]
    fn circles_are_cut_open_and_nothing_is_lost() {
        let spans = [
            span(1, 3, 0, 90),
            span(2, 1, 10, 80),
            span(3, 2, 20, 70),
            // Beside the others one that ended before them would not have been waited for.
            span(4, 4, 92, 96),
        ];
        let parts = told(&spans, window(1, 100));
        assert_eq!(parts.last(), Some(&(96, 100, 0)));
        let has = |id: u64| parts.iter().any(|part| part.2 == id);
        assert!(has(1) && has(2) && has(3) && has(4), "{parts:?}");
    }

    #[test]
    fn a_chain_of_many_spans_is_looked_at_in_part() {
        let chain = |n: u64| span(n, n - 1, n, 10_000_000 - n);
        let spans: Vec<AppSpan> = (1..100_000).map(chain).collect();
        let tree = Tree::of(&spans);
        assert_eq!(tree.spans().len(), MOST_SPANS);
        assert!(tree.is_cut());
        let parts = tree.parts(window(1, 10_000_000));
        // In the innermost that is read the others begin.
        assert_eq!(parts.len(), 2 * MOST_SPANS + 1);
        assert_eq!(
            parts.iter().filter(|part| part.unseen).count(),
            MOST_SPANS + 1
        );
    }

    #[test]
    fn what_lies_behind_the_spans_that_are_looked_at_is_no_gap() {
        // A thousand queries, one after the other.
        let query = |n: u64| span(n + 2, 1, 10 * n + 1, 10 * n + 10);
        let mut spans = vec![span(1, 0, 0, 10_000)];
        spans.extend((0..1_000).map(query));
        let tree = Tree::of(&spans);
        let parts = tree.parts(window(1, 10_000));
        let length = |of: fn(&Part) -> bool| -> u64 {
            let all = parts.iter().filter(|part| of(part));
            all.map(|part| part.end.since(part.begin)).sum()
        };
        let looked_at = 10 * (MOST_SPANS as u64 - 1);
        assert_eq!(length(|part| part.unseen), 10_000 - looked_at - 1);
        assert_eq!(length(|part| !part.unseen), looked_at);
        let longest = parts
            .iter()
            .filter(|part| !part.unseen && part.of == Some(0));
        assert!(
            longest
                .map(|part| part.end.since(part.begin))
                .all(|ns| ns <= 1)
        );
    }

    proptest! {
        #[test]
        fn whatever_spans_say_each_instant_belongs_to_one(
            rows in vec((0..9_u64, 0..9_u64, 0..60_u64, 0..60_u64), 0..14),
            (begin, length) in (1..50_u64, 0..50_u64),
        ) {
            let mut spans: Vec<AppSpan> =
                rows.iter().map(|&(id, parent, b, e)| span(id, parent, b, e)).collect();
            spans.sort_by_key(AppSpan::order);
            let tree = Tree::of(&spans);
            let parts = tree.parts(window(begin, begin + length));
            let mut until = begin + length;
            for part in &parts {
                prop_assert_eq!(part.end.get(), until);
                prop_assert!(part.begin < part.end);
                if let Some(of) = part.of {
                    let span = spans[of].span();
                    prop_assert!(span.begin <= part.begin && part.end <= span.end);
                }
                until = part.begin.get();
            }
            prop_assert_eq!(until, if parts.is_empty() { begin + length } else { begin });
            prop_assert_eq!(parts.is_empty(), length == 0);
        }
    }
}
