//! The guardian itself: what runs in the helper process.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufRead, Write};
use std::process::ExitCode;
use std::time::Duration;

use super::hold::Hold;
use super::wire::{Answer, Order};
use crate::interventions::Restore;
use crate::target::family::Family;

/// How long processes may take to end after SIGTERM once slowpath is gone: shorter than in an
/// orderly stop, since the user has their prompt back and expects the port to be free.
const GRACE: Duration = Duration::from_secs(1);

/// Serves as the guardian of the process at the other end of stdin, until that process is gone
/// and everything is set right.
pub fn serve() -> ExitCode {
    detach();
    let mut duties = Duties::default();
    let mut answers = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        let Ok(line) = line else { break };
        let answer = match serde_json::from_str(&line) {
            Ok(order) => duties.take(order),
            Err(error) => Answer::Refused(error.to_string()),
        };
        // An answer whose reader is gone means that the end of stdin comes next.
        let _ = serde_json::to_writer(&mut answers, &answer)
            .map_err(io::Error::from)
            .and_then(|()| answers.write_all(b"\n"))
            .and_then(|()| answers.flush());
    }
    let complaints = duties.settle();
    for complaint in &complaints {
        // stderr may be gone together with slowpath.
        let _ = writeln!(io::stderr(), "slowpath guardian: {complaint}");
    }
    if complaints.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Out of reach of what ends slowpath: the keys of its terminal, a signal to its process group.
fn detach() {
    // Refused only to the leader of a group, which is out of reach of the keys already.
    let _ = rustix::process::setsid();
    // The working folder would keep a mount busy.
    let _ = rustix::process::chdir("/");
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT] {
        #[expect(
            unsafe_code,
            reason = "neither std nor rustix can set a signal's disposition"
        )]
        // SAFETY: `SIG_IGN` installs no handler, so no code of ours ever runs in a signal.
        unsafe {
            libc::signal(signal, libc::SIG_IGN);
        }
    }
}

/// What there is to do when slowpath is gone.
#[derive(Debug, Default)]
struct Duties {
    restores: BTreeMap<u64, Restore>,
    families: BTreeMap<u64, Family>,
    /// The thread that does not go on.
    hold: Option<Hold>,
}

impl Duties {
    fn take(&mut self, order: Order) -> Answer {
        match order {
            Order::Ping => {}
            Order::Restore { id, restore } => {
                self.restores.insert(id, restore);
            }
            Order::Kill { id, family } => {
                self.families.insert(id, family);
            }
            Order::Forget { id } => {
                self.restores.remove(&id);
                self.families.remove(&id);
            }
            Order::Pause { thread, most_ms } => {
                // One at a time: the other goes on first.
                self.hold = None;
                match Hold::begin(thread, Duration::from_millis(most_ms)) {
                    Ok(hold) => self.hold = Some(hold),
                    Err(answer) => return answer,
                }
            }
            Order::Resume => self.hold = None,
        }
        Answer::Done
    }

    /// Does it; returns what could not be done. Settings come first: they take no time, and they
    /// outlive the processes.
    fn settle(self) -> Vec<String> {
        let mut complaints = Vec::new();
        // What is to end, or to be changed back, may have to run for that.
        drop(self.hold);
        for restore in self.restores.into_values().rev() {
            if let Err(error) = restore.carry_out() {
                complaints.push(error.to_string());
            }
        }
        for family in self.families.into_values() {
            let ended = family.end(&mut BTreeSet::new(), GRACE, &mut |_| {});
            complaints.extend(
                ended
                    .left
                    .iter()
                    .map(|pid| format!("process {pid} does not end")),
            );
        }
        complaints
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &std::path::Path, value: &str) -> Restore {
        Restore::File {
            path: path.to_owned(),
            value: value.to_owned(),
            only_if: None,
        }
    }

    #[test]
    fn restores_newest_first_and_not_what_is_forgotten() {
        let dir = tempfile::tempdir().unwrap();
        let (a, b) = (dir.path().join("a"), dir.path().join("b"));
        std::fs::write(&a, "changed").unwrap();
        std::fs::write(&b, "changed").unwrap();
        let mut duties = Duties::default();
        duties.take(Order::Restore {
            id: 1,
            restore: file(&a, "oldest"),
        });
        duties.take(Order::Restore {
            id: 2,
            restore: file(&a, "newer"),
        });
        duties.take(Order::Restore {
            id: 3,
            restore: file(&b, "done already"),
        });
        duties.take(Order::Forget { id: 3 });
        assert_eq!(duties.settle(), Vec::<String>::new());
        assert_eq!(std::fs::read_to_string(a).unwrap(), "oldest");
        assert_eq!(std::fs::read_to_string(b).unwrap(), "changed");
    }

    #[test]
    fn what_cannot_be_restored_is_said_and_stops_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let good = dir.path().join("good");
        std::fs::write(&good, "changed").unwrap();
        let mut duties = Duties::default();
        duties.take(Order::Restore {
            id: 1,
            restore: file(&good, "original"),
        });
        duties.take(Order::Restore {
            id: 2,
            restore: file(dir.path(), "a folder"),
        });
        assert_eq!(duties.settle().len(), 1);
        assert_eq!(std::fs::read_to_string(good).unwrap(), "original");
    }
}
