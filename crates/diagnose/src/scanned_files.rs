//! Requests that look at many files: they list folders, and ask for the size or the age of what is in them.

use slowpath_attribution::{Actor, Holder, Path, Phase, Slice, State};
use slowpath_core::nanos::MILLISECOND;

/// Functions of the C library and of Go that look at a file or list a folder, without the underscores that some begin with.
const LOOKS: [&str; 14] = [
    "stat",
    "stat64",
    "lstat",
    "lstat64",
    "fstatat",
    "fstatat64",
    "statx",
    "xstat",
    "lxstat",
    "readdir",
    "readdir64",
    "getdents64",
    "syscall.fstatat",
    "syscall.ReadDirent",
];
/// What to do about it.
pub(crate) const REMEDY: &str = "look at fewer files in a request: keep a list of them, or look through them outside of requests";
/// Of what slow requests compute so much is looking at files, and of what others compute less than half of that: all open what they serve.
/// Where PHP collects 15,000 old sessions it is 3 in 4 of the samples taken in that function; what remains matches their names.
const SLOW_LEAST: f64 = 0.4;
/// So many samples of so many slow requests show them at it: of fewer it is chance what else they do.
const SAMPLES_LEAST: usize = 10;
const REQUESTS_LEAST: usize = 3;
/// Slow requests compute for so long, in which 2,500 files are examined (`find -newer` takes 2 µs of CPU time for each of 15,000 in
/// memory, the median of five).
const EACH_LEAST_NS: u64 = 5 * MILLISECOND;

/// Whether slow requests look at many files, and others do not.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ScannedFiles {
    are_some: bool,
}

impl ScannedFiles {
    pub(crate) fn of(actors: &[Actor], paths: &[Path]) -> Self {
        let share = |slow: bool| {
            let own = paths.iter().filter(|path| path.slow == slow);
            let own = own.flat_map(|path| &path.slices).filter(|s| is_own(s));
            let (mut looks_ns, mut all_ns) = (0, 0);
            for slice in own {
                let stack = actors.get(slice.actor as usize).map(|actor| &actor.stack);
                let Some(stack) = stack.filter(|stack| !stack.is_empty()) else {
                    continue;
                };
                all_ns += slice.len_ns();
                looks_ns += if looks(stack) { slice.len_ns() } else { 0 };
            }
            (all_ns > 0).then(|| looks_ns as f64 / all_ns as f64)
        };
        let slow = paths.iter().filter(|path| path.slow);
        let counts: Vec<usize> = slow
            .map(|path| looking(actors, path))
            .filter(|&n| n > 0)
            .collect();
        let are_seen =
            counts.len() >= REQUESTS_LEAST && counts.iter().sum::<usize>() >= SAMPLES_LEAST;
        let are_some = are_seen
            && share(true).is_some_and(|slow| {
                slow >= SLOW_LEAST && share(false).is_some_and(|others| 2.0 * others < slow)
            });
        Self { are_some }
    }

    /// The parts of a slow request in which it does so: what it computes, which is for these files.
    pub(crate) fn parts<'p>(self, actors: &[Actor], path: &'p Path) -> Vec<&'p Slice> {
        let own: Vec<&Slice> = path.slices.iter().filter(|s| is_own(s)).collect();
        let is_long = own.iter().map(|slice| slice.len_ns()).sum::<u64>() >= EACH_LEAST_NS;
        if self.are_some && path.slow && is_long && looking(actors, path) > 0 {
            own
        } else {
            Vec::new()
        }
    }

    /// Whether they do.
    pub(crate) const fn are_some(self) -> bool {
        self.are_some
    }
}

/// How many samples of a request show it looking at a file.
fn looking(actors: &[Actor], path: &Path) -> usize {
    let own = path.slices.iter().filter(|slice| is_own(slice));
    let stacks = own.filter_map(|slice| actors.get(slice.actor as usize));
    stacks.filter(|actor| looks(&actor.stack)).count()
}

fn is_own(slice: &Slice) -> bool {
    slice.state == State::OnCpu
        && slice.phase == Phase::Service
        && slice.holder == Holder::ThisRequest
}

/// Whether a stack is where a file is examined.
fn looks(stack: &[String]) -> bool {
    let is_look = |frame: &String| {
        let name = frame.split(' ').next().unwrap_or_default();
        LOOKS.contains(&name.trim_start_matches('_'))
    };
    stack.iter().any(is_look)
}

#[cfg(test)]
mod tests {
    use slowpath_attribution::Basis;

    use super::*;

    const MS: u64 = MILLISECOND;

    /// A request that computes for so long while it looks at files, and so long elsewhere.
    fn path(slow: bool, looks_ns: u64, else_ns: u64) -> Path {
        let slice = |begin, end, actor| Slice {
            begin,
            end,
            phase: Phase::Service,
            state: State::OnCpu,
            holder: Holder::ThisRequest,
            activity: State::OnCpu,
            actor,
            basis: Basis::Traced,
        };
        Path {
            sample: 0,
            slow,
            weight: 1.0,
            slices: vec![
                slice(0, looks_ns, 0),
                slice(looks_ns, looks_ns + else_ns, 1),
            ],
        }
    }

    #[test]
    fn slow_requests_that_look_at_many_files_are_those_that_others_are_not_like() {
        let actor = |frame: &str| Actor {
            stack: vec![frame.to_owned(), "main (server)".to_owned()],
            ..Actor::default()
        };
        let actors = [
            actor("__fstatat64 (libc.so.6)"),
            actor("render_stat (server)"),
        ];
        let parts = |slow: Path, other: Option<Path>, count: usize| {
            let paths: Vec<Path> = std::iter::repeat_n(slow, count).chain(other).collect();
            let files = ScannedFiles::of(&actors, &paths);
            files.parts(&actors, &paths[0]).len()
        };
        let (scans, other) = (path(true, 20 * MS, 10 * MS), path(false, MS, 9 * MS));
        assert_eq!(parts(scans.clone(), Some(other.clone()), 10), 2);
        // Few were seen, or no others were.
        assert_eq!(parts(scans.clone(), Some(other.clone()), 9), 0);
        assert_eq!(parts(scans.clone(), None, 10), 0);
        // All are so, or it computes something else, or for a moment.
        assert_eq!(parts(scans, Some(path(false, 2 * MS, MS)), 10), 0);
        let renders = path(true, 5 * MS, 20 * MS);
        assert_eq!(parts(renders, Some(other.clone()), 10), 0);
        assert_eq!(parts(path(true, 3 * MS, MS), Some(other), 10), 0);
    }
}
