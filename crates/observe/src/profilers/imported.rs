//! Profiles from files: taken elsewhere, at some time, of what a run measured.

use slowpath_core::profile_pass::{PassLoad, ProfilePass, ProfileSource, Waited};
use slowpath_core::timeline::Gap;

use super::{folded, jfr, speedscope};
use crate::pprof::gather::Gather;
use crate::pprof::kinds::{Kind, kind};
use crate::pprof::profile::{self, Profile};

/// Fewer slices do not show how far samples are from independent.
const SLICES_LEAST: u16 = 3;
/// How recordings of Java begin, which only `jfr` reads.
const RECORDING: &[u8] = b"FLR\0";
/// How files that are packed by gzip begin (RFC 1952).
const GZIP: &[u8] = &[0x1f, 0x8b];
/// What innermost functions are called where a lock is released: Go's mutex profile. In the block
/// profile they wait.
const LET_GO: [&str; 3] = [
    "Unlock",
    "runtime.unlock",
    "runtime._LostContendedRuntimeLock",
];

/// Who writes a profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// `profile.proto`, packed or not.
    Pprof,
    /// A line for each stack.
    Folded,
    /// JSON for speedscope.
    Speedscope,
    /// `jfr print --json`.
    Jfr,
}

impl Format {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Pprof, Self::Folded, Self::Speedscope, Self::Jfr];

    /// As on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pprof => "pprof",
            Self::Folded => "folded",
            Self::Speedscope => "speedscope",
            Self::Jfr => "jfr",
        }
    }

    /// The format with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name)
    }

    /// The format that a file probably has; `None` if it is none of a profile.
    pub fn of(bytes: &[u8]) -> Option<Self> {
        if bytes.starts_with(GZIP) || profile::read(bytes).is_ok() {
            return Some(Self::Pprof);
        }
        if bytes.starts_with(RECORDING) {
            return Some(Self::Jfr);
        }
        let text = std::str::from_utf8(bytes).ok()?;
        // Both say so at the begin: other JSON of this size is not searched.
        let begin = &text[..text.floor_char_boundary(4096)];
        if text.starts_with('{') {
            if begin.contains(speedscope::SCHEMA) {
                return Some(Self::Speedscope);
            }
            return begin.contains("\"jdk.").then_some(Self::Jfr);
        }
        folded::is_one(text).then_some(Self::Folded)
    }

    const fn source(self) -> ProfileSource {
        match self {
            Self::Pprof => ProfileSource::Pprof,
            Self::Folded | Self::Speedscope => ProfileSource::Stacks,
            Self::Jfr => ProfileSource::Jfr,
        }
    }
}

/// A file.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// Its name, as it is reported.
    pub name: &'a str,
    /// What stands in it.
    pub bytes: &'a [u8],
}

/// Reads profiles: those of the CPU time are slices, one after the other. Of waits there is one, or
/// two of which the second counted on where the first had ended.
///
/// # Errors
/// With all that is wrong, each with its file.
pub fn read(format: Option<Format>, files: &[Source<'_>]) -> Result<ProfilePass, Vec<String>> {
    let mut reading = Reading::new();
    for file in files {
        let Some(format) = format.or_else(|| Format::of(file.bytes)) else {
            reading.wrong(file, "it is no profile that is known");
            continue;
        };
        match reading.add(format, file.bytes) {
            Ok(()) => {}
            Err(mistakes) => {
                for what in mistakes {
                    reading.wrong(file, &what);
                }
            }
        }
    }
    reading.done(files)
}

struct Reading {
    gather: Gather,
    pass: ProfilePass,
    source: Option<ProfileSource>,
    /// Profiles of what releases locks, and of what waits.
    locks: Vec<Profile>,
    blocks: Vec<Profile>,
    /// The newest of profiles in which no wait was counted yet: they are of both.
    empty: Option<Profile>,
    mistakes: Vec<String>,
}

impl Reading {
    fn new() -> Self {
        Self {
            gather: Gather::new(0),
            pass: ProfilePass {
                imported: true,
                ..ProfilePass::default()
            },
            source: None,
            locks: Vec::new(),
            blocks: Vec::new(),
            empty: None,
            mistakes: Vec::new(),
        }
    }

    fn wrong(&mut self, file: &Source<'_>, what: &str) {
        self.mistakes.push(format!("{}: {what}", file.name));
    }

    fn add(&mut self, format: Format, bytes: &[u8]) -> Result<(), Vec<String>> {
        let source = *self.source.get_or_insert(format.source());
        if source != format.source() {
            let what =
                "it was taken by another sampler than the files before it: import each alone";
            return Err(vec![what.to_owned()]);
        }
        let one = |why: String| vec![why];
        let slice = self.pass.slices;
        let (slices, cpu) = match format {
            Format::Pprof => return self.add_pprof(bytes).map_err(one),
            Format::Jfr => return self.add_recording(bytes).map_err(one),
            Format::Speedscope => (
                1,
                speedscope::read(bytes, slice, &mut self.gather).map_err(one)?,
            ),
            Format::Folded => {
                let text = std::str::from_utf8(bytes);
                let text = text.map_err(|_| one("it is no text".to_owned()))?;
                (1, folded::read(text, slice, &mut self.gather)?)
            }
        };
        self.pass.cpu.extend(cpu);
        self.pass.slices = slice.saturating_add(slices);
        Ok(())
    }

    fn add_pprof(&mut self, bytes: &[u8]) -> Result<(), String> {
        let profile = profile::read(bytes)?;
        match kind(&profile)? {
            Kind::Cpu(_) => {
                let (cpu, _) = self.gather.cpu(self.pass.slices, &profile)?;
                self.pass.cpu.extend(cpu);
                self.pass.slices = self.pass.slices.saturating_add(1);
                let sampled_ns = &mut self.pass.sampled_ns;
                *sampled_ns = sampled_ns.saturating_add(profile.duration_ns);
            }
            Kind::Waits(_) if profile.samples.is_empty() => {
                let newer = self
                    .empty
                    .take()
                    .filter(|known| known.time_ns > profile.time_ns);
                self.empty = Some(newer.unwrap_or(profile));
            }
            Kind::Waits(_) if is_of_locks(&profile) => self.locks.push(profile),
            Kind::Waits(_) => self.blocks.push(profile),
        }
        Ok(())
    }

    fn add_recording(&mut self, bytes: &[u8]) -> Result<(), String> {
        if bytes.starts_with(RECORDING) {
            let print = jfr::PRINT.join(" ");
            return Err(format!(
                "a recording, which `jfr {print} FILE > it.json` makes readable"
            ));
        }
        let recorded = jfr::read(bytes, None, &mut self.gather)?;
        let first = self.pass.slices;
        self.pass.slices = first.saturating_add(recorded.slices);
        self.pass
            .cpu
            .extend(recorded.cpu.into_iter().map(|mut samples| {
                samples.slice = samples.slice.saturating_add(first);
                samples
            }));
        self.pass.sampled_ns = self.pass.sampled_ns.saturating_add(recorded.length_ns);
        self.pass.load.window_ns = self.pass.sampled_ns;
        self.pass
            .locks
            .get_or_insert_default()
            .extend(recorded.waits);
        Ok(())
    }

    fn done(mut self, files: &[Source<'_>]) -> Result<ProfilePass, Vec<String>> {
        let both = [
            std::mem::take(&mut self.locks),
            std::mem::take(&mut self.blocks),
        ];
        let [locks, blocks] = both.map(|profiles| match &profiles[..] {
            [] => None,
            [alone] => {
                let empty = self.empty.clone();
                let first = empty.filter(|empty| empty.time_ns <= alone.time_ns);
                let first = first.unwrap_or_else(|| Profile::before(alone));
                Some(self.between(&first, alone))
            }
            [first, second] => Some(self.between(first, second)),
            _ => {
                let what = "more than two profiles of waits: name the first and the last";
                self.mistakes.push(what.to_owned());
                None
            }
        });
        self.pass.locks = self.pass.locks.take().or(locks);
        self.pass.blocks = blocks;
        let waits = [&self.pass.locks, &self.pass.blocks];
        let waits = waits.into_iter().flatten().map(Vec::len).sum::<usize>();
        if self.mistakes.is_empty() && self.pass.cpu.is_empty() && waits == 0 {
            let names: Vec<&str> = files.iter().map(|file| file.name).collect();
            self.mistakes
                .push(format!("{}: nothing was counted", names.join(", ")));
        }
        if !self.mistakes.is_empty() {
            return Err(self.mistakes);
        }
        let names: Vec<&str> = files.iter().map(|file| file.name).collect();
        self.pass.from = names.join(", ");
        self.pass.source = self.source.unwrap_or_default();
        self.lacking();
        let tables = self.gather.done();
        (self.pass.lines, self.pass.stacks) = (tables.lines, tables.stacks);
        Ok(self.pass)
    }

    /// What was waited between two readings, and how long that was.
    fn between(&mut self, first: &Profile, second: &Profile) -> Vec<Waited> {
        let length_ns = match second.time_ns.checked_sub(first.time_ns) {
            _ if second.duration_ns > 0 => second.duration_ns,
            Some(length_ns) if first.time_ns > 0 => length_ns,
            _ => 0,
        };
        if first.time_ns > second.time_ns && second.duration_ns == 0 {
            let what = "the second profile of waits was taken before the first: name them in order";
            self.mistakes.push(what.to_owned());
        }
        let load = &mut self.pass.load;
        *load = PassLoad {
            window_ns: load.window_ns.max(length_ns),
            ..PassLoad::default()
        };
        self.gather.waited(first, second)
    }

    /// Notes what limits what the files say.
    fn lacking(&mut self) {
        let mut gap = |signal: &str, reason: &str, remedy: &str| {
            self.pass.gaps.push(Gap {
                signal: signal.to_owned(),
                reason: reason.to_owned(),
                remedy: remedy.to_owned(),
            });
        };
        if !self.pass.cpu.is_empty() && self.pass.slices < SLICES_LEAST {
            let reason = "samples without their time: how many of them are independent is not \
                          known, and five are taken for one";
            let remedy = "import three profiles or more at once, taken one after the other";
            gap("profile.cpu", reason, remedy);
        }
        if self.pass.locks.is_some() && self.pass.load.window_ns == 0 {
            let reason = "the profile of locks counts since the target's start and says not how \
                          long ago that is: what a request waits does not follow, and no lead does";
            let remedy = "import two, the older one first, or one of /debug/pprof/mutex?seconds=30";
            gap("profile.mutex", reason, remedy);
        }
    }
}

/// Whether a profile of waits says what released locks: what most of its time is charged to.
fn is_of_locks(profile: &Profile) -> bool {
    let Ok(Kind::Waits(places)) = kind(profile) else {
        return false;
    };
    let (mut let_go, mut all) = (0.0, 0.0);
    for sample in &profile.samples {
        let weight = places.time_ns(sample) as f64;
        all += weight;
        let first = profile.stack(&sample.stack).next();
        let named = |name: &str| first.is_some_and(|line| line.function.contains(name));
        if LET_GO.iter().any(|name| named(name)) {
            let_go += weight;
        }
    }
    let_go > all / 2.0
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(text: &str) -> Source<'_> {
        Source {
            name: "a.txt",
            bytes: text.as_bytes(),
        }
    }

    #[test]
    fn files_are_slices_and_their_makes_are_known() {
        let files = [
            "main;hot 90\nmain;other 10\n",
            "main;hot 30\n",
            "main;hot 3\nmain 1\n",
        ];
        let files = files.map(of);
        assert_eq!(Format::of(files[0].bytes), Some(Format::Folded));
        let pass = read(None, &files).unwrap();
        assert!(pass.is_whole() && pass.imported && pass.gaps.is_empty());
        assert_eq!((pass.slices, pass.source), (3, ProfileSource::Stacks));
        assert_eq!(pass.cpu.iter().map(|s| s.count).sum::<u64>(), 134);
        let alone = read(Some(Format::Folded), &files[..1]).unwrap();
        assert!(alone.gaps[0].reason.contains("five are taken for one"));
    }

    #[test]
    fn all_mistakes_are_told_with_their_files() {
        let recording = Source {
            name: "it.jfr",
            bytes: b"FLR\0\0\x02",
        };
        let files = [of("a;b 1\n"), recording, of("{}"), of("a;b\nc;d\n")];
        let mistakes = read(None, &files).unwrap_err();
        assert!(
            mistakes[0].starts_with("it.jfr: it was taken by another"),
            "{mistakes:?}"
        );
        assert_eq!(mistakes[1], "a.txt: it is no profile that is known");
        let mistakes = read(None, &[recording]).unwrap_err();
        assert!(mistakes[0].contains("`jfr print --json"), "{mistakes:?}");
        let mistakes = read(Some(Format::Folded), &[of("a;b\nc;d\n")]).unwrap_err();
        assert_eq!(mistakes.len(), 2);
        let mistakes = read(Some(Format::Folded), &[of("a;b 0\n")]).unwrap_err();
        assert!(mistakes[0].contains("nothing was counted"));
        assert_eq!(Format::of(b"name,value\na,1\n"), None);
        assert_eq!(Format::of(br#"{"results":[]}"#), None);
    }

    proptest! {
        #[test]
        fn whatever_the_bytes_are_a_pass_is_whole(
            bytes in prop::collection::vec(any::<u8>(), 0..200),
            format in 0_usize..5,
        ) {
            let format = Format::ALL.get(format).copied();
            let file = Source { name: "a", bytes: &bytes };
            match read(format, &[file, file]) {
                Ok(pass) => prop_assert!(pass.is_whole()),
                Err(mistakes) => prop_assert!(!mistakes.is_empty()),
            }
        }
    }
}
