//! Raising or lifting the CPU quota of a cgroup, version 1 (`cpu.cfs_quota_us`) or 2 (`cpu.max`).

use std::fs;
use std::path::{Path, PathBuf};

use super::restore::overwrite;
use super::{InterventionError, Reach, Restore, WayBack, file_error};
use crate::guardian::Guardian;

/// What version 2 and this crate call the absence of a quota.
const UNLIMITED: &str = "max";

/// The kernel refuses shorter quotas (`min_cfs_quota_period`, 1 ms).
const QUOTA_MIN_US: u64 = 1_000;

/// What the quota becomes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NewQuota {
    /// No quota at this cgroup.
    Unlimited,
    /// So many times the present one; above 1 for a raise.
    Times(f64),
}

/// The CPU quota of one cgroup.
#[derive(Debug)]
pub struct CpuQuota {
    folder: PathBuf,
    new: NewQuota,
    /// What was reached, and what the file says since.
    reach: Option<(Reach, String)>,
    back: WayBack,
}

impl CpuQuota {
    /// Of the cgroup whose CPU controller's files are in `folder`.
    pub fn new(folder: &Path, new: NewQuota) -> Self {
        Self {
            folder: folder.to_owned(),
            new,
            reach: None,
            back: WayBack::default(),
        }
    }

    /// See [`super::Intervention::prerequisites`].
    pub fn prerequisites(&self) -> Result<(), InterventionError> {
        let limit = Limit::read(&self.folder)?;
        self.goal(&limit)?;
        overwrite(&limit.file, &limit.original)
    }

    /// See [`super::Intervention::apply`].
    pub fn apply(&mut self, guardian: &Guardian) -> Result<Reach, InterventionError> {
        if let Some((reach, _)) = &self.reach {
            return Ok(reach.clone());
        }
        let limit = Limit::read(&self.folder)?;
        let goal = self.goal(&limit)?;
        let written = limit.written(goal.quota_us);
        let restore = Restore::File {
            path: limit.file.clone(),
            value: limit.original.clone(),
            only_if: Some(written.clone()),
        };
        self.back.add(guardian, restore)?;
        if let Err(error) = overwrite(&limit.file, &written) {
            // The first error says why; the value is still the old one.
            let _ = self.undo(guardian);
            return Err(error);
        }
        let now = goal.quota_us.map_or_else(
            || "no CPU quota".to_owned(),
            |quota_us| {
                format!(
                    "a quota of {:.2} CPUs",
                    quota_us as f64 / limit.period_us as f64
                )
            },
        );
        let text = format!(
            "{now} instead of {:.2} CPUs in {}",
            goal.before,
            self.folder.display()
        );
        let reach = Reach {
            text,
            limited_by: goal.limited_by,
        };
        self.reach = Some((reach.clone(), written));
        Ok(reach)
    }

    /// Checks that the quota is still the one that was set: a manager of containers may have
    /// written its own since.
    pub fn refresh(&mut self, guardian: &Guardian) -> Result<Reach, InterventionError> {
        guardian.check()?;
        let Some((reach, written)) = &self.reach else {
            return Err(InterventionError::Futile {
                reason: "no quota was set".to_owned(),
            });
        };
        if Limit::read(&self.folder)?.original != *written {
            let what = format!("the quota that was set in {}", self.folder.display());
            return Err(InterventionError::Gone { what });
        }
        Ok(reach.clone())
    }

    /// See [`super::Intervention::undo`].
    pub fn undo(&mut self, guardian: &Guardian) -> Result<(), InterventionError> {
        self.back.go(guardian)?;
        self.reach = None;
        Ok(())
    }

    /// What to set, in view of the cgroups above.
    fn goal(&self, limit: &Limit) -> Result<Goal, InterventionError> {
        let quota_us = limit.quota_us.ok_or_else(|| InterventionError::Futile {
            reason: format!("{} has no CPU quota", self.folder.display()),
        })?;
        let before = quota_us as f64 / limit.period_us as f64;
        let above = tightest_above(&self.folder);
        if let Some((folder, cpus)) = above.as_ref().filter(|(_, cpus)| *cpus <= before) {
            return Err(InterventionError::Futile {
                reason: format!("{} limits to {cpus:.2} CPUs as well", folder.display()),
            });
        }
        let wanted_us = match self.new {
            NewQuota::Unlimited => None,
            NewQuota::Times(times) => Some(((quota_us as f64 * times) as u64).max(QUOTA_MIN_US)),
        };
        // Version 1 refuses a quota above the parent's; version 2 takes it without effect.
        let bound_us = above
            .as_ref()
            .map(|(_, cpus)| (cpus * limit.period_us as f64) as u64);
        let is_bound = bound_us.is_some_and(|bound| wanted_us.is_none_or(|wanted| wanted > bound));
        Ok(Goal {
            before,
            quota_us: wanted_us.map(|wanted| wanted.min(bound_us.unwrap_or(wanted))),
            limited_by: above.filter(|_| is_bound).map(|(folder, cpus)| {
                format!("{} still limits to {cpus:.2} CPUs", folder.display())
            }),
        })
    }
}

struct Goal {
    before: f64,
    quota_us: Option<u64>,
    limited_by: Option<String>,
}

/// The quota of one cgroup as its file says it.
#[derive(Debug, PartialEq, Eq)]
struct Limit {
    file: PathBuf,
    original: String,
    quota_us: Option<u64>,
    period_us: u64,
    is_v2: bool,
}

impl Limit {
    fn read(folder: &Path) -> Result<Self, InterventionError> {
        let v2 = folder.join("cpu.max");
        let is_v2 = v2.exists();
        let file = if is_v2 {
            v2
        } else {
            folder.join("cpu.cfs_quota_us")
        };
        let read = |file: &Path| {
            let text = fs::read_to_string(file).map_err(|source| file_error(file, source))?;
            Ok::<_, InterventionError>(text.trim().to_owned())
        };
        let original = read(&file)?;
        let odd = |text: &str| InterventionError::Io {
            what: folder.display().to_string(),
            source: std::io::Error::other(format!("{text:?} is no CPU quota")),
        };
        let (quota, period) = if is_v2 {
            let (quota, period) = original.split_once(' ').ok_or_else(|| odd(&original))?;
            (quota.to_owned(), period.to_owned())
        } else {
            (original.clone(), read(&folder.join("cpu.cfs_period_us"))?)
        };
        let quota_us = match quota.as_str() {
            UNLIMITED | "-1" => None,
            number => Some(number.parse().map_err(|_| odd(&original))?),
        };
        let period_us = period.parse().ok().filter(|&period| period > 0);
        let period_us = period_us.ok_or_else(|| odd(&period))?;
        Ok(Self {
            file,
            original,
            quota_us,
            period_us,
            is_v2,
        })
    }

    /// What the file takes for a quota and the period that it has.
    fn written(&self, quota_us: Option<u64>) -> String {
        match (self.is_v2, quota_us) {
            (true, None) => format!("{UNLIMITED} {}", self.period_us),
            (true, Some(quota_us)) => format!("{quota_us} {}", self.period_us),
            (false, None) => "-1".to_owned(),
            (false, Some(quota_us)) => quota_us.to_string(),
        }
    }
}

/// The tightest quota of the cgroups above, in CPUs.
fn tightest_above(folder: &Path) -> Option<(PathBuf, f64)> {
    let above = folder.ancestors().skip(1).map_while(|folder| {
        // The root of version 2 has no quota file, and above it there is no cgroup.
        let limit = Limit::read(folder).ok()?;
        Some((
            folder.to_owned(),
            limit
                .quota_us
                .map(|quota| quota as f64 / limit.period_us as f64),
        ))
    });
    above
        .filter_map(|(folder, cpus)| Some((folder, cpus?)))
        .min_by(|a, b| a.1.total_cmp(&b.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder with files like those of a cgroup of version 2.
    fn v2(folder: &Path, text: &str) {
        fs::create_dir_all(folder).unwrap();
        fs::write(folder.join("cpu.max"), format!("{text}\n")).unwrap();
    }

    fn goal(folder: &Path, new: NewQuota) -> Result<Goal, InterventionError> {
        CpuQuota::new(folder, new).goal(&Limit::read(folder)?)
    }

    #[test]
    fn both_versions_are_read_and_written() {
        let dir = tempfile::tempdir().unwrap();
        v2(dir.path(), "20000 100000");
        let limit = Limit::read(dir.path()).unwrap();
        assert_eq!((limit.quota_us, limit.period_us), (Some(20_000), 100_000));
        assert_eq!(limit.written(None), "max 100000");
        assert_eq!(limit.written(Some(40_000)), "40000 100000");

        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("cpu.cfs_quota_us"), "-1\n").unwrap();
        fs::write(dir.path().join("cpu.cfs_period_us"), "50000\n").unwrap();
        let limit = Limit::read(dir.path()).unwrap();
        assert_eq!((limit.quota_us, limit.period_us), (None, 50_000));
        assert_eq!(limit.written(None), "-1");
        assert_eq!(limit.written(Some(7_000)), "7000");

        let dir = tempfile::tempdir().unwrap();
        v2(dir.path(), "much");
        assert!(matches!(
            Limit::read(dir.path()),
            Err(InterventionError::Io { .. })
        ));
        assert!(matches!(
            Limit::read(&dir.path().join("absent")),
            Err(InterventionError::Gone { .. })
        ));
    }

    #[test]
    fn nothing_is_raised_above_a_parent() {
        let dir = tempfile::tempdir().unwrap();
        let (parent, child) = (dir.path().to_owned(), dir.path().join("a/b"));
        v2(&parent, "50000 100000");
        v2(&dir.path().join("a"), "max 100000");
        v2(&child, "40000 200000");

        let raised = goal(&child, NewQuota::Times(2.0)).unwrap();
        assert_eq!((raised.quota_us, raised.limited_by), (Some(80_000), None));
        let bound = goal(&child, NewQuota::Times(4.0)).unwrap();
        assert_eq!(bound.quota_us, Some(100_000));
        assert!(bound.limited_by.unwrap().contains("0.50 CPUs"));
        let lifted = goal(&child, NewQuota::Unlimited).unwrap();
        assert_eq!(lifted.quota_us, None);
        assert!(lifted.limited_by.is_some());

        v2(&parent, "20000 100000");
        assert!(matches!(
            goal(&child, NewQuota::Times(2.0)),
            Err(InterventionError::Futile { .. })
        ));
    }

    #[test]
    fn without_a_quota_there_is_nothing_to_raise() {
        let dir = tempfile::tempdir().unwrap();
        v2(dir.path(), "max 100000");
        assert!(matches!(
            goal(dir.path(), NewQuota::Unlimited),
            Err(InterventionError::Futile { .. })
        ));
    }
}
