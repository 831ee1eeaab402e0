//! With how much privilege slowpath is run.

use std::io;
use std::os::unix::fs::chown;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::sys;

/// The id of the user `nobody` of most distributions.
const NOBODY: u32 = 65_534;
/// Where the system's own programs lie: what a user keeps at home cannot be used by `nobody`.
const SYSTEM: &str =
    "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/usr/local/go/bin";

/// How much slowpath may see.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Tier {
    /// Everything: it is root.
    T2,
    /// What an unprivileged user sees of its own processes.
    T1,
    /// The client's side alone: the target belongs to another user.
    T0,
}

impl Tier {
    pub(crate) const ALL: [Self; 3] = [Self::T2, Self::T1, Self::T0];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::T2 => "t2",
            Self::T1 => "t1",
            Self::T0 => "t0",
        }
    }

    /// What it means, for the page.
    pub(crate) fn meaning(self) -> &'static str {
        match self {
            Self::T2 => "slowpath is root and starts the target",
            Self::T1 => "slowpath and target belong to an unprivileged user",
            Self::T0 => "slowpath is unprivileged and sees nothing of the target's process",
        }
    }

    /// The tier that this user has without further ado.
    pub(crate) fn own() -> Self {
        if sys::is_root() { Self::T2 } else { Self::T1 }
    }

    /// Why it cannot be had here.
    pub(crate) fn refusal(self) -> Option<&'static str> {
        match self {
            Self::T2 if !sys::is_root() => Some("t2 needs root"),
            Self::T0 if !sys::is_root() => {
                Some("t0 needs root, to run slowpath as another user than the target")
            }
            _ => None,
        }
    }

    /// Whether slowpath becomes another user.
    fn is_nobody(self) -> bool {
        self != Self::T2 && sys::is_root()
    }

    /// A command as this tier runs slowpath.
    pub(crate) fn command(self, program: &Path, home: &Path) -> Command {
        let mut command;
        if self.is_nobody() {
            command = Command::new("setpriv");
            command.args([
                &format!("--reuid={NOBODY}"),
                &format!("--regid={NOBODY}"),
                "--clear-groups",
                "--inh-caps=-all",
            ]);
            command.arg(program).env("HOME", home);
        } else {
            command = Command::new(program);
        }
        command.env("PATH", path()).env("NO_COLOR", "1");
        command.stdin(Stdio::null());
        command
    }

    /// Gives a folder to the user that slowpath runs as.
    pub(crate) fn give(self, folder: &Path) -> io::Result<()> {
        if self.is_nobody() {
            chown(folder, Some(NOBODY), Some(NOBODY))?;
        }
        Ok(())
    }

    /// Whether it can reach these files; if not, the first that it cannot.
    pub(crate) fn hidden<'a>(self, files: &[&'a Path]) -> Option<&'a Path> {
        let can_reach = |file: &Path| {
            let mut look = self.command(Path::new("/usr/bin/test"), Path::new("/"));
            look.arg("-r")
                .arg(file)
                .status()
                .is_ok_and(|status| status.success())
        };
        let hidden = |file: &&&Path| self.is_nobody() && !can_reach(file);
        files.iter().find(hidden).copied()
    }
}

/// Where programs are looked for: the system's first.
pub(crate) fn path() -> String {
    let own = std::env::var("PATH").unwrap_or_default();
    format!("{SYSTEM}:{own}")
}

/// The first program of this name on that path.
pub(crate) fn program(name: &str) -> Option<PathBuf> {
    let path = path();
    let places = path.split(':').map(|folder| Path::new(folder).join(name));
    places.into_iter().find(|place| place.is_file())
}
