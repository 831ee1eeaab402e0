use proptest::prelude::*;

use super::*;

const V1_MOUNTS: &str = "\
31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755
32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct
34 31 0:31 / /sys/fs/cgroup/cpuset rw,relatime - cgroup cgroup rw,cpuset
";
const V2_MOUNTS: &str =
    "25 23 0:22 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";

fn place(groups: &str, mounts: &str) -> Result<Place, NoPlace> {
    place_of("cpu", groups, mounts, Path::new("/sys"))
}

#[test]
fn a_controller_is_found_in_its_own_hierarchy_or_in_the_unified_one() {
    let v1 = place(
        "4:cpuset:/\n3:cpu,cpuacct:/app/web\n0::/ignored\n",
        V1_MOUNTS,
    )
    .unwrap();
    assert_eq!(v1.version, Version::V1);
    assert_eq!(
        v1.directory(),
        Path::new("/sys/fs/cgroup/cpu,cpuacct/app/web")
    );
    let v2 = place("0::/system.slice/web.service\n", V2_MOUNTS).unwrap();
    assert_eq!(v2.version, Version::V2);
    assert_eq!(
        v2.directory(),
        Path::new("/sys/fs/cgroup/system.slice/web.service")
    );
    assert_eq!(place("0::/\n", V1_MOUNTS), Err(NoPlace::NotMounted));
    assert_eq!(place("", V2_MOUNTS), Err(NoPlace::NotMounted));
}

#[test]
fn a_mount_of_a_part_of_the_hierarchy_shows_what_lies_below_it() {
    let mounts = "25 23 0:22 /docker/abc /sys/fs/cgroup ro - cgroup2 cgroup2 rw\n";
    let inside = place("0::/docker/abc/web\n", mounts).unwrap();
    assert_eq!(inside.directory(), Path::new("/sys/fs/cgroup/web"));
    let root = place("0::/docker/abc\n", mounts).unwrap();
    assert_eq!(root.directory().to_str(), Some("/sys/fs/cgroup"));
    for group in ["/docker/other", "/docker/abc/../other"] {
        let outside = place(&format!("0::{group}\n"), mounts);
        assert_eq!(
            outside,
            Err(NoPlace::Outside {
                group: group.to_owned()
            })
        );
    }
}

#[test]
fn the_group_with_a_quota_governs_whoever_started_it() {
    let root = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| {
        let path = root.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    write("proc/self/mountinfo", V2_MOUNTS);
    write("proc/7/cgroup", "0::/user\n");
    write("proc/8/cgroup", "0::/user/limited/inner\n");
    write("proc/9/cgroup", "0::/user\n");
    write("sys/fs/cgroup/user/limited/cpu.max", "20000 100000\n");
    write("sys/fs/cgroup/user/limited/inner/cpu.max", "max 100000\n");
    let of = |pids: &[u32]| {
        let found = governing(&root.path().join("proc"), &root.path().join("sys"), pids);
        found.map(|path| path.strip_prefix(root.path()).unwrap().to_owned())
    };
    let limited = Path::new("sys/fs/cgroup/user/limited");
    assert_eq!(of(&[7, 8]).as_deref(), Some(limited));
    assert_eq!(of(&[4, 7, 8]).as_deref(), Some(limited), "one is gone");
    let own = Path::new("sys/fs/cgroup/user");
    assert_eq!(of(&[7, 9]).as_deref(), Some(own));
    assert_eq!(of(&[4]), None);
}

#[test]
fn escaped_blanks_in_mount_points_are_undone() {
    assert_eq!(unescaped(r"/a\040b\134c"), Path::new(r"/a b\c"));
    assert_eq!(unescaped(r"/a\9"), Path::new(r"/a\9"));
}

#[test]
fn quotas_are_read_in_both_dialects() {
    let limit = |quota_us, period_us| {
        Some(Limit {
            quota_us,
            period_us,
        })
    };
    assert_eq!(parse_max("max 100000\n"), limit(None, 100_000));
    assert_eq!(parse_max("20000 100000\n"), limit(Some(20_000), 100_000));
    assert_eq!(parse_cfs("-1\n", "100000\n"), limit(None, 100_000));
    assert_eq!(
        parse_cfs("50000\n", "100000\n"),
        limit(Some(50_000), 100_000)
    );
    assert_eq!(parse_max("many 100000"), None);
}

#[test]
fn throttling_is_in_nanoseconds_in_both_dialects() {
    let v1 = parse_throttling(
        "nr_periods 74\nnr_throttled 67\nthrottled_time 5000\n",
        Version::V1,
    );
    let v2 = "usage_usec 9\nnr_periods 74\nnr_throttled 67\nthrottled_usec 5\n";
    assert_eq!(v1, parse_throttling(v2, Version::V2));
    assert!(v1.is_some_and(|t| t.periods == 74));
}

#[test]
fn a_group_without_bandwidth_control_was_never_throttled() {
    let root = parse_throttling("usage_usec 9\nuser_usec 4\nsystem_usec 5\n", Version::V2);
    assert!(root.is_some_and(|t| t.periods == 0 && t.throttled_periods == 0));
    assert_eq!(parse_throttling("", Version::V2), None);
    assert_eq!(parse_throttling("nr_bursts 0\n", Version::V1), None);
}

proptest! {
    #[test]
    fn no_text_makes_a_parser_panic(a in "(.|\n){0,120}", b in r"[\\0-9a-f:, /-]{0,80}") {
        for text in [&a, &b] {
            let _ = place(text, V1_MOUNTS);
            let _ = place("0::/x\n", &format!("{V2_MOUNTS}{text}\n1 1 1 {text} - {text}"));
            let _ = (parse_max(text), parse_cfs(text, &b), unescaped(text));
            let _ = parse_throttling(text, Version::V1);
            let _ = parse_throttling(&format!("nr_periods {text}"), Version::V2);
        }
    }
}
