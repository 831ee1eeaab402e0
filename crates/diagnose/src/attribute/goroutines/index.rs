//! What goroutines did, by time, by who started them, and by where they stood.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use slowpath_core::trace::{Does, NO_SOCKET, Stay, Trace};

use super::stands::Facts;
use crate::trace::inside::Inside;

/// A goroutine: its process and its number there.
pub(super) type Task = (u32, u64);

/// Stays that are asked for at an instant: positions in the trace, in order of their begins, each with the latest end of those up to
/// it.
#[derive(Debug, Default)]
pub(super) struct Spans {
    all: Vec<(usize, u64)>,
}

impl Spans {
    fn push(&mut self, position: usize, stay: &Stay) {
        let latest = self.all.last().map_or(0, |(_, latest)| *latest);
        self.all.push((position, latest.max(stay.last.get())));
    }

    /// Those under way at an instant, the one that began last first.
    fn at<'r>(&self, trace: &'r Trace, at: u64) -> impl Iterator<Item = &'r Stay> {
        let stay = |position: usize| &trace.stays[position];
        let begun = self
            .all
            .partition_point(|&(position, _)| stay(position).first.get() <= at);
        let reach = self.all[..begun].iter().rev();
        reach
            .take_while(move |(_, latest)| *latest >= at)
            .map(move |&(position, _)| stay(position))
            .filter(move |stay| stay.last.get() >= at)
    }
}

/// By process and address, positions in the trace's frames.
type Callers = BTreeMap<(u32, u64), Rc<Vec<u32>>>;

/// The goroutine that serves a connection, from an instant on.
#[derive(Clone, Copy, Debug)]
struct Served {
    from: u64,
    task: Task,
}

/// All stays of a trace.
pub(super) struct Index<'r> {
    pub(super) trace: &'r Trace,
    facts: RefCell<BTreeMap<u32, Rc<Facts>>>,
    by_task: BTreeMap<Task, Spans>,
    by_parent: BTreeMap<Task, Spans>,
    by_about: BTreeMap<(u32, u64), Spans>,
    /// Those that stand in a function, by process and frame; made when it is asked for.
    by_frame: RefCell<BTreeMap<(u32, u32), Rc<Spans>>>,
    /// The functions from which goroutines wait for what lies at an address; made when it is asked for.
    callers: RefCell<Callers>,
    /// Whether goroutines that serve different requests wait for it at once.
    shared: RefCell<BTreeMap<(u32, u64), bool>>,
    /// Those that run.
    running: BTreeMap<u32, Spans>,
    /// Those that wait for data of a connection.
    data: BTreeMap<u32, Spans>,
    /// By process, when it was sampled.
    looks: BTreeMap<u32, Vec<u64>>,
    /// By end of a connection to a client.
    served: BTreeMap<u32, Vec<Served>>,
    /// Those that serve a connection.
    serving: BTreeSet<Task>,
    parents: BTreeMap<Task, u64>,
}

impl<'r> Index<'r> {
    /// `None` if no goroutines were sampled.
    pub(super) fn of(inside: &Inside<'r>) -> Option<Self> {
        let sockets = &inside.index.sockets;
        let client = |socket: u32| {
            let end = sockets.end_at(socket)?;
            let is_clients = sockets.end(end).is_some_and(|s| inside.is_clients(s));
            is_clients.then_some(end)
        };
        let trace = inside.trace();
        (!trace.stays.is_empty()).then(|| Self::new(trace, client))
    }

    /// `client` says which end of a connection to a client a position in the trace's table is, if it is one.
    fn new(trace: &'r Trace, client: impl Fn(u32) -> Option<u32>) -> Self {
        let mut index = Self {
            trace,
            facts: RefCell::default(),
            by_task: BTreeMap::new(),
            by_parent: BTreeMap::new(),
            by_about: BTreeMap::new(),
            by_frame: RefCell::default(),
            callers: RefCell::default(),
            shared: RefCell::default(),
            running: BTreeMap::new(),
            data: BTreeMap::new(),
            looks: BTreeMap::new(),
            served: BTreeMap::new(),
            serving: BTreeSet::new(),
            parents: BTreeMap::new(),
        };
        for look in &trace.looks {
            index.looks.entry(look.pid).or_default().push(look.at.get());
        }
        for (position, stay) in trace.stays.iter().enumerate() {
            index.note(&client, position, stay);
        }
        for served in index.served.values() {
            index
                .serving
                .extend(served.iter().map(|served| served.task));
        }
        index
    }

    fn note(&mut self, client: &impl Fn(u32) -> Option<u32>, position: usize, stay: &Stay) {
        let (pid, own) = (stay.pid, (stay.pid, stay.task));
        let put = |spans: &mut Spans| spans.push(position, stay);
        put(self.by_task.entry(own).or_default());
        put(self.by_parent.entry((pid, stay.parent)).or_default());
        self.parents.insert(own, stay.parent);
        if stay.about != 0 {
            put(self.by_about.entry((pid, stay.about)).or_default());
        }
        if matches!(stay.does, Does::Runs | Does::Ready) {
            put(self.running.entry(pid).or_default());
        }
        if stay.does != Does::Data || stay.socket == NO_SOCKET {
            return;
        }
        put(self.data.entry(pid).or_default());
        let Some(end) = client(stay.socket) else {
            return;
        };
        let facts = self.facts(stay.stack);
        if facts.writes {
            return;
        }
        let task = if facts.reads_for_parent {
            (pid, stay.parent)
        } else {
            own
        };
        let from = stay.first.get();
        let served = self.served.entry(end).or_default();
        if served.last().is_none_or(|last| last.task != task) {
            served.push(Served { from, task });
        }
    }

    /// What a stack says.
    pub(super) fn facts(&self, stack: u32) -> Rc<Facts> {
        let mut all = self.facts.borrow_mut();
        let facts = all
            .entry(stack)
            .or_insert_with(|| Rc::new(Facts::of(self.trace, stack)));
        Rc::clone(facts)
    }

    /// The goroutine that serves a connection between two instants.
    pub(super) fn server(&self, end: u32, (begin, until): (u64, u64)) -> Option<Task> {
        let served = self.served.get(&end)?;
        let known = served.partition_point(|served| served.from <= until);
        // One that was first seen later may have served before, if no other one did.
        let before = known.checked_sub(1).map(|place| served[place]);
        let own = before.or_else(|| served.first().copied())?;
        // A connection that was made later at the same ports is another one: its goroutine is new.
        let lived = self.by_task.get(&own.task)?;
        let seen = |at: u64| lived.at(self.trace, at).next().is_some();
        (before.is_some() || seen(begin) || seen(until)).then_some(own.task)
    }

    /// What each goroutine did, in order of time.
    pub(super) fn tasks(&self) -> impl Iterator<Item = (Task, impl Iterator<Item = &'r Stay>)> {
        let trace = self.trace;
        self.by_task.iter().map(move |(task, spans)| {
            let stays = spans.all.iter();
            (
                *task,
                stays.map(move |&(position, _)| &trace.stays[position]),
            )
        })
    }

    /// What a goroutine did at an instant, if it was seen.
    pub(super) fn task_at(&self, task: Task, at: u64) -> Option<&'r Stay> {
        self.by_task.get(&task)?.at(self.trace, at).next()
    }

    /// What a goroutine was found doing last before an instant.
    pub(super) fn before(&self, task: Task, at: u64) -> Option<&'r Stay> {
        let spans = &self.by_task.get(&task)?.all;
        let trace = self.trace;
        let later = spans.partition_point(|&(position, _)| trace.stays[position].last.get() < at);
        let place = later.checked_sub(1)?;
        trace.stays.get(spans[place].0)
    }

    /// Goroutines that another one has started, at an instant.
    pub(super) fn children(&self, task: Task, at: u64) -> Vec<&'r Stay> {
        let spans = self.by_parent.get(&task);
        spans.map_or_else(Vec::new, |spans| spans.at(self.trace, at).collect())
    }

    /// All goroutines that ever waited for what lies at an address.
    fn all_waiters(&self, pid: u32, about: u64) -> impl Iterator<Item = &'r Stay> {
        let spans = self.by_about.get(&(pid, about));
        let trace = self.trace;
        let all = spans.into_iter().flat_map(|spans| &spans.all);
        all.map(move |&(position, _)| &trace.stays[position])
    }

    /// The program's own functions from which goroutines ever waited for what lies at an address: positions in the trace's frames.
    pub(super) fn callers(&self, pid: u32, about: u64) -> Rc<Vec<u32>> {
        if let Some(known) = self.callers.borrow().get(&(pid, about)) {
            return Rc::clone(known);
        }
        let stacks: BTreeSet<u32> = self.all_waiters(pid, about).map(|s| s.stack).collect();
        let own = stacks.into_iter().filter_map(|stack| {
            let facts = self.facts(stack);
            facts.own.map(|place| facts.frames[place])
        });
        let frames: BTreeSet<u32> = own.collect();
        let frames = Rc::new(frames.into_iter().collect::<Vec<u32>>());
        let mut known = self.callers.borrow_mut();
        known.insert((pid, about), Rc::clone(&frames));
        frames
    }

    /// Whether goroutines that serve different requests ever waited at once for what lies at an address.
    pub(super) fn is_shared(&self, pid: u32, about: u64) -> bool {
        if let Some(&known) = self.shared.borrow().get(&(pid, about)) {
            return known;
        }
        // They come in order of their begins: of those before, the one that waits longest overlaps if any does.
        let mut longest: Option<&Stay> = None;
        let is_shared = self.all_waiters(pid, about).any(|stay| {
            if !self.serves((pid, stay.task)) {
                return false;
            }
            let other = longest.filter(|other| other.task != stay.task);
            let overlaps = other.is_some_and(|other| stay.first <= other.last);
            if longest.is_none_or(|longest| longest.last < stay.last) {
                longest = Some(stay);
            }
            overlaps
        });
        self.shared.borrow_mut().insert((pid, about), is_shared);
        is_shared
    }

    /// Goroutines that run, or could, at an instant.
    pub(super) fn running(&self, pid: u32, at: u64) -> Vec<&'r Stay> {
        let spans = self.running.get(&pid);
        spans.map_or_else(Vec::new, |spans| spans.at(self.trace, at).collect())
    }

    /// Goroutines that wait for data, at an instant.
    pub(super) fn data(&self, pid: u32, at: u64) -> Vec<&'r Stay> {
        let spans = self.data.get(&pid);
        spans.map_or_else(Vec::new, |spans| spans.at(self.trace, at).collect())
    }

    /// Goroutines that stand in a function, called from there, at an instant.
    pub(super) fn standing_in(&self, pid: u32, frame: u32, at: u64) -> Vec<&'r Stay> {
        let spans = self.in_function(pid, frame);
        spans.at(self.trace, at).collect()
    }

    fn in_function(&self, pid: u32, frame: u32) -> Rc<Spans> {
        if let Some(known) = self.by_frame.borrow().get(&(pid, frame)) {
            return Rc::clone(known);
        }
        let function = super::stands::name(self.trace, frame);
        let is_its = |stack: &Vec<u32>| {
            let mut names = stack.iter().map(|&f| super::stands::name(self.trace, f));
            names.any(|name| name == function)
        };
        let stacks: Vec<bool> = self.trace.stacks.iter().map(is_its).collect();
        let mut spans = Spans::default();
        for (position, stay) in self.trace.stays.iter().enumerate() {
            let stands = stacks.get(stay.stack as usize).copied().unwrap_or(false);
            if stay.pid == pid && stands {
                spans.push(position, stay);
            }
        }
        let spans = Rc::new(spans);
        let mut known = self.by_frame.borrow_mut();
        known.insert((pid, frame), Rc::clone(&spans));
        spans
    }

    /// When a process was sampled between two instants.
    pub(super) fn looks(&self, pid: u32, (begin, end): (u64, u64)) -> &[u64] {
        let all = self.looks.get(&pid).map_or(&[][..], Vec::as_slice);
        let first = all.partition_point(|&at| at < begin);
        let last = all.partition_point(|&at| at <= end);
        &all[first..last.max(first)]
    }

    /// Whether a goroutine serves a client, or was started by one that does.
    pub(super) fn serves(&self, task: Task) -> bool {
        /// Handlers start goroutines that start others; deeper ones are those of libraries that outlive a request.
        const GENERATIONS_MOST: usize = 3;
        let mut own = task;
        for _ in 0..=GENERATIONS_MOST {
            if self.serving.contains(&own) {
                return true;
            }
            match self.parents.get(&own) {
                Some(&parent) if parent != 0 => own.1 = parent,
                _ => return false,
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use slowpath_core::nanos::{MILLISECOND, Nanos};
    use slowpath_core::trace::{Frame, Look, NO_STACK};

    use super::*;

    const MS: u64 = MILLISECOND;

    /// A stay of process 1; its stack is the function of that position.
    fn stay(task: u64, parent: u64, does: Does, span_ms: (u64, u64), stack: u32) -> Stay {
        Stay {
            first: Nanos::new(span_ms.0 * MS),
            last: Nanos::new(span_ms.1 * MS),
            pid: 1,
            task,
            parent,
            does,
            about: 0,
            stack,
            socket: NO_SOCKET,
        }
    }

    fn trace(mut stays: Vec<Stay>) -> Trace {
        let names = [
            "net/http.(*connReader).backgroundRead",
            "net/http.(*conn).serve",
            "main.refresh",
        ];
        let frame = |name: &str| Frame {
            function: name.to_owned(),
            module: String::new(),
            source: String::new(),
        };
        stays.sort_by_key(|stay| (stay.first, stay.pid, stay.task));
        Trace {
            frames: names.map(frame).to_vec(),
            stacks: (0..3).map(|frame| vec![frame]).collect(),
            looks: (1..=9)
                .map(|at| Look {
                    at: Nanos::new(10 * at * MS),
                    pid: 1,
                    found: 3,
                    left_out: 0,
                })
                .collect(),
            stays,
            ..Trace::default()
        }
    }

    #[test]
    fn who_reads_in_the_background_does_so_for_the_one_that_serves() {
        let reads = |task, parent, span, stack| Stay {
            socket: 0,
            ..stay(task, parent, Does::Data, span, stack)
        };
        let trace = trace(vec![
            reads(5, 1, (10, 20), 1),
            reads(9, 5, (30, 40), 0),
            stay(5, 1, Does::Lock, (30, 40), 2),
            stay(6, 9, Does::Sleep, (30, 40), 2),
            stay(7, 2, Does::Sleep, (30, 40), 2),
        ]);
        let index = Index::new(&trace, |socket| (socket == 0).then_some(4));
        let at = |begin: u64, end: u64| index.server(4, (begin * MS, end * MS));
        assert_eq!((at(28, 45), at(8, 15)), (Some((1, 5)), Some((1, 5))));
        assert_eq!(index.server(3, (0, 90 * MS)), None);
        assert!(
            index.serves((1, 5)) && index.serves((1, 6)),
            "it was started for it"
        );
        assert!(!index.serves((1, 7)));
        assert_eq!(
            index.task_at((1, 5), 35 * MS).map(|s| s.does),
            Some(Does::Lock)
        );
        assert_eq!(
            index.task_at((1, 5), 25 * MS),
            None,
            "it was not looked at then"
        );
        assert_eq!(
            index.before((1, 5), 30 * MS).map(|s| s.does),
            Some(Does::Data)
        );
    }

    #[test]
    fn what_several_wait_for_at_once_is_shared() {
        let at = |task, about, span| Stay {
            about,
            ..stay(task, 5, Does::Send, span, 2)
        };
        let reads = Stay {
            socket: 0,
            ..stay(5, 1, Does::Data, (10, 10), 1)
        };
        let trace = trace(vec![
            reads,
            at(6, 70, (20, 40)),
            at(7, 70, (30, 50)),
            at(6, 80, (60, 70)),
            at(7, 80, (80, 90)),
        ]);
        let index = Index::new(&trace, |socket| (socket == 0).then_some(4));
        assert!(index.is_shared(1, 70));
        assert!(!index.is_shared(1, 80), "one after the other");
        assert_eq!(*index.callers(1, 70), [2]);
        assert_eq!(*index.callers(1, 90), [] as [u32; 0]);
    }

    #[test]
    fn those_that_stand_somewhere_are_found_at_that_time() {
        let long = stay(3, 1, Does::Sleep, (10, 90), 2);
        let short = stay(4, 1, Does::Sleep, (20, 30), 2);
        let runs = stay(8, 1, Does::Runs, (40, 50), NO_STACK);
        let trace = trace(vec![long, short, runs]);
        let index = Index::new(&trace, |_| None);
        let tasks = |stays: Vec<&Stay>| stays.iter().map(|stay| stay.task).collect::<Vec<_>>();
        assert_eq!(tasks(index.standing_in(1, 2, 25 * MS)), [4, 3]);
        assert_eq!(tasks(index.standing_in(1, 2, 60 * MS)), [3]);
        assert_eq!(tasks(index.standing_in(2, 2, 60 * MS)), [] as [u64; 0]);
        assert_eq!(tasks(index.running(1, 45 * MS)), [8]);
        assert_eq!(tasks(index.children((1, 1), 45 * MS)), [8, 3]);
        assert_eq!(
            index.looks(1, (15 * MS, 40 * MS)),
            [20 * MS, 30 * MS, 40 * MS]
        );
    }
}
