//! Which CPUs are online.

use std::fs;
use std::io;
use std::path::Path;

/// Where the kernel lists them; `/proc/stat` may show a container less than events can be opened on.
const ONLINE: &str = "/sys/devices/system/cpu/online";

/// The numbers of the CPUs that are online, in ascending order and at least one.
///
/// # Errors
/// When neither sysfs nor procfs lists any.
pub(crate) fn online(proc_root: &Path) -> io::Result<Vec<u32>> {
    let listed = fs::read_to_string(ONLINE).ok().and_then(|text| list(&text));
    if let Some(numbers) = listed.filter(|numbers| !numbers.is_empty()) {
        return Ok(numbers);
    }
    let path = proc_root.join("stat");
    let numbers: Vec<u32> = in_stat(&fs::read_to_string(&path)?).collect();
    if numbers.is_empty() {
        let what = format!("{ONLINE} and {} list no CPU", path.display());
        return Err(io::Error::other(what));
    }
    Ok(numbers)
}

/// Reads a list such as `0-3,8`.
fn list(text: &str) -> Option<Vec<u32>> {
    let mut numbers = Vec::new();
    for part in text.trim().split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        numbers.extend(first.parse().ok()?..=last.parse::<u32>().ok()?);
    }
    Some(numbers)
}

/// The CPUs in the text of `/proc/stat`.
fn in_stat(stat: &str) -> impl Iterator<Item = u32> {
    let number = |line: &str| {
        let (name, _) = line.split_once(' ')?;
        name.strip_prefix("cpu")?.parse().ok()
    };
    stat.lines().filter_map(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_lists_are_read() {
        assert_eq!(list("0-2,5,8-9\n"), Some(vec![0, 1, 2, 5, 8, 9]));
        assert_eq!(list("0\n"), Some(vec![0]));
        assert_eq!(list("x\n"), None);
        let stat = in_stat("cpu  1 2\ncpu0 1 2\ncpu3 1 2\nintr 5\n");
        assert_eq!(stat.collect::<Vec<_>>(), [0, 3]);
    }

    #[test]
    fn this_machine_has_some() {
        assert!(!online(Path::new("/proc")).unwrap().is_empty());
    }
}
