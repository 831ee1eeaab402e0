//! The log of slowpath's own performance work, in `investigations/`: slowpath finds nothing wrong with
//! it, every run that it rests on has its figures in the repository, and its pages are up to date.

use std::fs;
use std::path::Path;

use crate::support::{root, slowpath, stderr, stdout};

/// The folder, and what is rendered into it.
const FOLDER: &str = "investigations";
const PAGES: [&str; 2] = ["INVESTIGATIONS.md", "BENCHMARKS.md"];
/// Where runs are stored.
const RUNS: &str = ".slowpath/runs";

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}

/// The log with the runs that are on its page of releases, and with none that a developer has beside.
fn copied() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    copy(&root().join(FOLDER), &folder.path().join(FOLDER));
    let page = fs::read_to_string(root().join(FOLDER).join(PAGES[1])).unwrap();
    let ids = page
        .lines()
        .filter_map(|line| line.strip_prefix("<!-- runs "));
    for id in ids.flat_map(|line| line.split(' ')) {
        let figures = root().join(RUNS).join(id).join("figures.json");
        if figures.is_file() {
            let to = folder.path().join(RUNS).join(id);
            fs::create_dir_all(&to).unwrap();
            fs::copy(figures, to.join("figures.json")).unwrap();
        }
    }
    folder
}

#[test]
fn nothing_is_wrong_with_it_and_its_pages_are_those_of_its_entries() {
    let folder = copied();
    let check = slowpath(folder.path(), &["log", "check"]);
    assert!(check.status.success(), "{}", stderr(&check));
    let said = stdout(&check);
    assert!(said.contains("nothing is wrong"), "{said}");
    let render = slowpath(folder.path(), &["log", "render", "--to", FOLDER]);
    assert!(render.status.success(), "{}", stderr(&render));
    for page in PAGES {
        let read = |root: &Path| fs::read_to_string(root.join(FOLDER).join(page)).unwrap();
        assert!(
            read(folder.path()) == read(&root()),
            "{page} is not what the entries say: slowpath log render --to {FOLDER}"
        );
    }
}
