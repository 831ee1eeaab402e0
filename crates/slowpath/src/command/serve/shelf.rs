//! What is stored, read once: a file is read again only after it has changed.

use std::collections::BTreeMap;
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::SystemTime;

use serde::Deserialize;
use slowpath_core::figures::RunFigures;
use slowpath_experiment::history::{Ask, History, history};
use slowpath_experiment::log::{Benchmarks, benchmarks};
use slowpath_record::{files, read_figures, read_manifest};
use slowpath_report::site::Headline;

use super::answer::Trouble;
use crate::{command, stored};

/// What was judged of scenarios is kept for the next time it is viewed: so many of each kind.
const JUDGED_KEPT: usize = 16;

/// The store, as far as it was read.
#[derive(Debug)]
pub(super) struct Shelf {
    root: PathBuf,
    kept: Mutex<BTreeMap<String, (Stamp, Arc<Shelved>)>>,
    headlines: Mutex<BTreeMap<String, (Stamp, Option<Headline>)>>,
    histories: Mutex<BTreeMap<String, Arc<Judged<History>>>>,
    benchmarks: Mutex<BTreeMap<String, Arc<Judged<Benchmarks>>>>,
    /// One run is judged at a time: each takes both CPUs and its memory.
    pub(super) judging: Mutex<()>,
}

/// The runs that something was made of.
type Runs = Vec<(String, Stamp)>;

/// What was made of runs, by the first request for it; others that come in that time wait for it instead of
/// making the same once more, which would take the CPU from the first.
#[derive(Debug)]
struct Judged<T> {
    of: Runs,
    made: OnceLock<Arc<T>>,
}

/// What shows that a file is still the one that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    bytes: u64,
    changed: Option<SystemTime>,
}

impl Stamp {
    fn of(metadata: &Metadata) -> Self {
        Self {
            bytes: metadata.len(),
            changed: metadata.modified().ok(),
        }
    }
}

/// A directory of the store.
#[derive(Clone, Debug)]
pub(super) struct Stored {
    /// Its name.
    pub(super) id: String,
    pub(super) what: Arc<Shelved>,
    stamp: Stamp,
}

/// What a directory of the store holds.
#[derive(Debug)]
pub(super) enum Shelved {
    /// A run with its figures.
    Figures(Box<RunFigures>),
    /// A measured run that was not judged.
    Unjudged(Named),
    /// A sweep.
    Sweep(Named),
    /// A comparison of `slowpath ab`.
    Ab(Named),
    /// Something that cannot be read.
    Broken {
        /// Why.
        what: String,
        /// What to do about it.
        remedy: String,
    },
}

/// What sweeps, comparisons and manifests have in common.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Named {
    #[serde(default)]
    pub(super) name: String,
    #[serde(default)]
    pub(super) release: Option<String>,
    pub(super) began: String,
}

impl Stored {
    /// The instant at which it began, as it is written; empty if that is not known.
    pub(super) fn began(&self) -> &str {
        match &*self.what {
            Shelved::Figures(run) => &run.began,
            Shelved::Unjudged(of) | Shelved::Sweep(of) | Shelved::Ab(of) => &of.began,
            Shelved::Broken { .. } => "",
        }
    }

    /// The scenario, as far as it is known.
    pub(super) fn name(&self) -> &str {
        match &*self.what {
            Shelved::Figures(run) => &run.name,
            Shelved::Unjudged(of) | Shelved::Sweep(of) | Shelved::Ab(of) => &of.name,
            Shelved::Broken { .. } => "",
        }
    }

    /// The release, if one was named.
    pub(super) fn release(&self) -> Option<&str> {
        match &*self.what {
            Shelved::Figures(run) => run.release.as_deref(),
            Shelved::Unjudged(of) | Shelved::Sweep(of) | Shelved::Ab(of) => of.release.as_deref(),
            Shelved::Broken { .. } => None,
        }
    }

    /// Its figures, if it has some.
    pub(super) fn figures(&self) -> Option<&RunFigures> {
        match &*self.what {
            Shelved::Figures(run) => Some(run),
            _ => None,
        }
    }

    /// What it is called in a few words.
    pub(super) fn words(&self) -> String {
        let release = self
            .release()
            .map_or(String::new(), |name| format!(" {name}"));
        format!("{}{release}, {}", self.name(), self.began())
    }
}

impl Shelf {
    pub(super) fn new(root: PathBuf) -> Self {
        Self {
            root,
            kept: Mutex::default(),
            headlines: Mutex::default(),
            histories: Mutex::default(),
            benchmarks: Mutex::default(),
            judging: Mutex::default(),
        }
    }

    /// The directory of a run that is stored.
    pub(super) fn dir(&self, id: &str) -> PathBuf {
        self.root.join(id)
    }

    /// Everything, the newest first.
    pub(super) fn all(&self) -> Result<Vec<Stored>, Trouble> {
        let mut found = Vec::new();
        let entries = match std::fs::read_dir(&self.root) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(found),
            Err(error) => return Err(self.unreadable(&error)),
        };
        let mut kept = locked(&self.kept);
        let mut left = BTreeMap::new();
        for entry in entries {
            let entry = entry.map_err(|error| self.unreadable(&error))?;
            let Ok(id) = entry.file_name().into_string() else {
                continue;
            };
            if ulid::Ulid::from_string(&id).is_err() {
                continue;
            }
            let dir = entry.path();
            let Some((kind, stamp)) = Kind::of(&dir) else {
                continue;
            };
            let what = match kept.remove(&id) {
                Some((known, what)) if known == stamp => what,
                _ => Arc::new(kind.read(&dir)),
            };
            left.insert(id.clone(), (stamp, Arc::clone(&what)));
            found.push(Stored { id, what, stamp });
        }
        // What is gone is forgotten.
        *kept = left;
        drop(kept);
        found.sort_by_cached_key(|one| {
            let began: Option<jiff::Timestamp> = one.began().parse().ok();
            std::cmp::Reverse((began, one.id.clone()))
        });
        Ok(found)
    }

    fn unreadable(&self, error: &std::io::Error) -> Trouble {
        Trouble::broken(
            format!("{} cannot be read: {error}", self.root.display()),
            "start `slowpath serve` where .slowpath can be read",
        )
    }

    /// What was judged of a run; `None` if nothing was, or nothing that can be read.
    pub(super) fn headline(&self, id: &str) -> Option<Headline> {
        let path = self.dir(id).join(files::REPORT_JSON);
        let stamp = Stamp::of(&std::fs::metadata(&path).ok()?);
        if let Some((known, headline)) = locked(&self.headlines).get(id)
            && *known == stamp
        {
            return headline.clone();
        }
        let text = std::fs::read(&path).ok()?;
        let headline: Option<Headline> = serde_json::from_slice(&text).ok();
        locked(&self.headlines).insert(id.to_owned(), (stamp, headline.clone()));
        headline
    }

    /// The history of a scenario, judged once for as long as its runs stay as they are.
    pub(super) fn history(&self, all: &[Stored], name: &str, ask: &Ask) -> Arc<History> {
        let key = format!("{name}\0{:?}\0{:?}", ask.endpoint, ask.metric);
        once(&self.histories, key, all, name, |runs| history(runs, ask))
    }

    /// The releases of a scenario, made once for as long as its runs stay as they are.
    pub(super) fn benchmarks(&self, all: &[Stored], name: &str) -> Arc<Benchmarks> {
        once(&self.benchmarks, name.to_owned(), all, name, |runs| {
            benchmarks(runs)
        })
    }
}

/// What is made of the runs of a scenario, in order of time; what was made of the same before is kept.
fn once<T>(
    kept: &Mutex<BTreeMap<String, Arc<Judged<T>>>>,
    key: String,
    all: &[Stored],
    name: &str,
    make: impl FnOnce(Vec<&RunFigures>) -> T,
) -> Arc<T> {
    let own: Vec<&Stored> = all.iter().filter(|one| one.name() == name).collect();
    let of: Runs = own.iter().map(|one| (one.id.clone(), one.stamp)).collect();
    let judged = place(kept, key, of);
    let made = judged.made.get_or_init(|| {
        let mut runs: Vec<&RunFigures> = own.iter().filter_map(|one| one.figures()).collect();
        stored::sort(&mut runs);
        Arc::new(make(runs))
    });
    Arc::clone(made)
}

/// The place of what is made of these runs, whether it was made already or not.
fn place<T>(
    kept: &Mutex<BTreeMap<String, Arc<Judged<T>>>>,
    key: String,
    of: Runs,
) -> Arc<Judged<T>> {
    let mut kept = locked(kept);
    if let Some(known) = kept.get(&key)
        && known.of == of
    {
        return Arc::clone(known);
    }
    if kept.len() >= JUDGED_KEPT {
        kept.clear();
    }
    let judged = Arc::new(Judged {
        of,
        made: OnceLock::new(),
    });
    kept.insert(key, Arc::clone(&judged));
    judged
}

/// What is kept is whole whatever happened to who held it.
fn locked<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The file that says what a directory is.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Figures,
    Manifest,
    Sweep,
    Ab,
}

impl Kind {
    /// What a directory is, and the stamp of the file that says so; `None` if nothing does.
    fn of(dir: &Path) -> Option<(Self, Stamp)> {
        [Self::Figures, Self::Manifest, Self::Sweep, Self::Ab]
            .into_iter()
            .find_map(|kind| {
                let metadata = std::fs::metadata(dir.join(kind.file())).ok()?;
                Some((kind, Stamp::of(&metadata)))
            })
    }

    const fn file(self) -> &'static str {
        match self {
            Self::Figures => files::FIGURES,
            Self::Manifest => files::MANIFEST,
            Self::Sweep => command::sweep::again::FILE,
            Self::Ab => command::ab::again::FILE,
        }
    }

    fn read(self, dir: &Path) -> Shelved {
        let broken = |what: String, remedy: &str| Shelved::Broken {
            what,
            remedy: remedy.to_owned(),
        };
        match self {
            Self::Figures => match read_figures(dir) {
                Ok(Some(figures)) => Shelved::Figures(Box::new(figures)),
                Ok(None) => Self::Manifest.read(dir),
                Err(error) => broken(
                    error.to_string(),
                    "delete that file: a measured run is judged again without it",
                ),
            },
            Self::Manifest => match read_manifest(dir) {
                Ok(manifest) => Shelved::Unjudged(Named {
                    name: manifest.plan.scenario.name,
                    release: manifest.plan.release,
                    began: manifest.began,
                }),
                Err(error) => broken(
                    error.to_string(),
                    "bring the run's directory from where it was recorded once more, or remove it",
                ),
            },
            Self::Sweep | Self::Ab => match named(&dir.join(self.file())) {
                Ok(of) if matches!(self, Self::Sweep) => Shelved::Sweep(of),
                Ok(of) => Shelved::Ab(of),
                Err(what) => broken(what, "its windows and blocks are runs of their own"),
            },
        }
    }
}

fn named(path: &Path) -> Result<Named, String> {
    let told = |error: String| format!("cannot read {}: {error}", path.display());
    let text = std::fs::read(path).map_err(|error| told(error.to_string()))?;
    serde_json::from_slice(&text).map_err(|error| told(error.to_string()))
}
