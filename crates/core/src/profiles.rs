//! What a target's runtime reported of its own code: profiles of Go, fetched while requests were under
//! way.
//!
//! Goroutines wait in user space, where the kernel sees nothing of them. A dump says where all of
//! them stand at an instant; the profile of locks says whose letting go of a lock ended the waits
//! of others, and how long these had been. Positions in this module point into the tables of
//! [`Profiles`].

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::nanos::Span;
use crate::profile_pass::ProfilePass;

/// All profiles of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profiles {
    /// The places in the code that stacks are made of.
    pub lines: Vec<CodeLine>,
    /// Stacks: positions in `lines`, innermost first.
    pub stacks: Vec<Vec<u32>>,
    /// Waits for locks in the measured windows, by where the lock was released.
    pub releases: Vec<Release>,
    /// Where goroutines stood, in order of time.
    pub dumps: Vec<Dump>,
    /// What the profiling pass after the repeats showed, which is kept in files of its own; `None`
    /// without one.
    #[serde(skip)]
    pub pass: Option<Box<ProfilePass>>,
}

/// The end of a function's name that a profile hid.
pub const UNNAMED: &str = ".?";

/// A place in the code.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CodeLine {
    /// The function, with its package: `main.(*Store).flush`.
    pub function: String,
    /// Its file, without folders; empty if not known.
    pub file: String,
    /// The line; 0 if not known.
    pub line: u32,
}

impl fmt::Display for CodeLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.function)?;
        match (self.file.as_str(), self.line) {
            ("", _) => Ok(()),
            (file, 0) => write!(f, " ({file})"),
            (file, line) => write!(f, " ({file}:{line})"),
        }
    }
}

/// Waits for locks that ended because one place released them: Go's mutex profile, after the
/// window less before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Release {
    /// The repeat of the run.
    pub repeat: u16,
    /// Where the lock was released.
    pub stack: u32,
    /// How often a goroutine waited for that.
    pub count: u64,
    /// How long they waited, all together.
    pub delay_ns: u64,
}

/// Where all goroutines stood at one instant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dump {
    /// The repeat of the run.
    pub repeat: u16,
    /// From asking for it to its last byte: the instant lies within.
    pub span: Span,
    /// The stacks, each once.
    pub standing: Vec<Standing>,
}

/// Goroutines with one stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Standing {
    /// The stack.
    pub stack: u32,
    /// How many.
    pub goroutines: u32,
}

/// What became of the profiles of one repeat.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProfileFacts {
    /// Where they were fetched.
    pub from: String,
    /// Dumps of goroutines that were taken.
    pub dumps: u64,
    /// How long the median dump took, from asking to its last byte: what it costs the target at
    /// most.
    pub dump_ns: u64,
    /// Dumps that could not be read, or that there was no room for.
    pub dropped: u64,
    /// Whether the mutex profile could be fetched before and after the window.
    pub locks: bool,
}

impl Profiles {
    /// Whether there is nothing.
    pub const fn is_empty(&self) -> bool {
        self.dumps.is_empty() && self.releases.is_empty()
    }

    /// The places of a stack, innermost first.
    pub fn stack(&self, stack: u32) -> impl DoubleEndedIterator<Item = &CodeLine> {
        let lines = self.stacks.get(stack as usize).into_iter().flatten();
        lines.filter_map(|&line| self.lines.get(line as usize))
    }

    /// Whether all positions point to something.
    pub fn is_whole(&self) -> bool {
        let stacks = self.releases.iter().map(|release| release.stack);
        let standing = self.dumps.iter().flat_map(|dump| &dump.standing);
        let mut stacks = stacks.chain(standing.map(|standing| standing.stack));
        let mut lines = self.stacks.iter().flatten();
        stacks.all(|stack| (stack as usize) < self.stacks.len())
            && lines.all(|&line| (line as usize) < self.lines.len())
    }

    /// Appends what came later; its positions are made ours.
    pub fn append(&mut self, later: Self) {
        let lines = self.lines.len() as u32;
        let stacks = self.stacks.len() as u32;
        self.lines.extend(later.lines);
        let moved = later.stacks.into_iter();
        self.stacks
            .extend(moved.map(|stack| stack.into_iter().map(|l| l + lines).collect()));
        let moved = later.releases.into_iter();
        self.releases.extend(moved.map(|release| Release {
            stack: release.stack + stacks,
            ..release
        }));
        let moved = later.dumps.into_iter();
        self.dumps.extend(moved.map(|mut dump| {
            for standing in &mut dump.standing {
                standing.stack += stacks;
            }
            dump
        }));
    }

    /// The profiles of some repeats, with the numbers that `of` gives these.
    #[must_use]
    pub fn renumbered(&self, of: impl Fn(u16) -> Option<u16>) -> Self {
        let releases = self.releases.iter().filter_map(|release| {
            let repeat = of(release.repeat)?;
            Some(Release { repeat, ..*release })
        });
        let dumps = self.dumps.iter().filter_map(|dump| {
            let repeat = of(dump.repeat)?;
            Some(Dump {
                repeat,
                ..dump.clone()
            })
        });
        Self {
            lines: self.lines.clone(),
            stacks: self.stacks.clone(),
            releases: releases.collect(),
            dumps: dumps.collect(),
            pass: self.pass.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nanos::Nanos;

    fn line(function: &str) -> CodeLine {
        CodeLine {
            function: function.to_owned(),
            file: "main.go".to_owned(),
            line: 7,
        }
    }

    fn profiles(repeat: u16, name: &str) -> Profiles {
        let at = Nanos::new(1 + u64::from(repeat));
        Profiles {
            lines: vec![line("main.main"), line(name)],
            stacks: vec![vec![1, 0]],
            releases: vec![Release {
                repeat,
                stack: 0,
                count: 1,
                delay_ns: 5,
            }],
            dumps: vec![Dump {
                repeat,
                span: Span::new(at, at),
                standing: vec![Standing {
                    stack: 0,
                    goroutines: 2,
                }],
            }],
            pass: None,
        }
    }

    #[test]
    fn what_is_appended_keeps_its_meaning() {
        let mut all = profiles(0, "main.a");
        all.append(profiles(1, "main.b"));
        assert!(all.is_whole());
        for (dump, name) in all.dumps.iter().zip(["main.a", "main.b"]) {
            let innermost = all.stack(dump.standing[0].stack).next().unwrap();
            assert_eq!(innermost.function, name);
        }
        assert_eq!(all.releases[1].stack, 1);
        let second = all.renumbered(|repeat| repeat.checked_sub(1));
        assert_eq!((second.dumps.len(), second.dumps[0].repeat), (1, 0));
        assert_eq!(
            second.releases,
            [all.releases[1]].map(|r| Release { repeat: 0, ..r })
        );
        all.stacks[1][0] = 9;
        assert!(!all.is_whole());
    }

    #[test]
    fn places_are_printed_as_far_as_they_are_known() {
        let mut place = line("main.flush");
        assert_eq!(place.to_string(), "main.flush (main.go:7)");
        place.line = 0;
        assert_eq!(place.to_string(), "main.flush (main.go)");
        place.file.clear();
        assert_eq!(place.to_string(), "main.flush");
    }
}
