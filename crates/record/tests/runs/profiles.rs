//! What the target's runtime reported is read back as it was, finished or not.

use slowpath_core::nanos::{Nanos, Span};
use slowpath_core::profile_pass::{CpuSamples, ProfilePass};
use slowpath_core::profiles::{CodeLine, Dump, Profiles, Release, Standing};
use slowpath_record::RunWriter;

use crate::arbitrary::manifest;

fn profiles(repeat: u16) -> Profiles {
    let line = |function: &str, line| CodeLine {
        function: function.to_owned(),
        file: "main.go".to_owned(),
        line,
    };
    let dump = |at: u64, goroutines| Dump {
        repeat,
        span: Span::new(Nanos::new(at), Nanos::new(at + 3)),
        standing: vec![Standing {
            stack: 1,
            goroutines,
        }],
    };
    let at = 10 + 100 * u64::from(repeat);
    Profiles {
        lines: vec![line("main.main", 7), line("main.(*Größe).flush", 39)],
        stacks: vec![vec![1, 0], vec![0], Vec::new()],
        releases: vec![Release {
            repeat,
            stack: 0,
            count: 3,
            delay_ns: 5 + u64::from(repeat),
        }],
        dumps: vec![dump(at, 1), dump(at + 20, 70_000)],
        pass: None,
    }
}

#[test]
fn profiles_come_back() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("run");
    let writer = RunWriter::create(&run, &manifest()).unwrap();
    writer.profiles(0, &profiles(0)).unwrap();
    writer.profiles(1, &Profiles::default()).unwrap();
    writer.profiles(2, &profiles(2)).unwrap();
    let mut all = profiles(0);
    all.append(profiles(2));
    assert_eq!(*slowpath_record::read(&run).unwrap().profiles, all);
    writer.finish(&manifest()).unwrap();
    assert_eq!(*slowpath_record::read(&run).unwrap().profiles, all);
    assert!(!run.join("profiles/1.json").exists());
}

#[test]
fn a_file_of_profiles_that_was_changed_or_is_gone_is_damage() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("run");
    let writer = RunWriter::create(&run, &manifest()).unwrap();
    let mut broken = profiles(0);
    broken.stacks[0][0] = 9;
    writer.profiles(0, &broken).unwrap();
    let error = slowpath_record::read(&run).unwrap_err().to_string();
    assert!(error.contains("not in its table"), "{error}");
    writer.profiles(0, &profiles(0)).unwrap();
    writer.finish(&manifest()).unwrap();
    slowpath_record::read(&run).unwrap();
    let path = run.join("profiles/0.json");
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[20] ^= 1;
    std::fs::write(&path, &bytes).unwrap();
    let error = slowpath_record::read(&run).unwrap_err().to_string();
    assert!(error.contains("checksum"), "{error}");
    std::fs::remove_file(&path).unwrap();
    slowpath_record::read(&run).unwrap_err();
}

#[test]
fn a_profiling_pass_comes_back_and_damage_of_it_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("run");
    let writer = RunWriter::create(&run, &manifest()).unwrap();
    assert_eq!(slowpath_record::read(&run).unwrap().profiles.pass, None);
    let own = profiles(0);
    let mut pass = ProfilePass {
        lines: own.lines,
        stacks: own.stacks,
        slices: 2,
        cpu: vec![CpuSamples {
            slice: 1,
            stack: 1,
            count: 7,
        }],
        locks: Some(Vec::new()),
        ..ProfilePass::default()
    };
    let raw = [("cpu-0.pb.gz".to_owned(), b"as it came".to_vec())];
    writer.profile_pass(&pass, &raw).unwrap();
    let read = || slowpath_record::read(&run).unwrap().profiles.pass.clone();
    assert_eq!(read().as_deref(), Some(&pass));
    pass.cpu[0].slice = 2;
    writer.profile_pass(&pass, &raw).unwrap();
    let error = slowpath_record::read(&run).unwrap_err().to_string();
    assert!(error.contains("not in its table"), "{error}");
    pass.slices = 3;
    writer.profile_pass(&pass, &raw).unwrap();
    writer.finish(&manifest()).unwrap();
    assert_eq!(read().as_deref(), Some(&pass));
    let kept = std::fs::read(run.join("profiling/cpu-0.pb.gz")).unwrap();
    assert_eq!(kept, b"as it came");
    // What is imported later follows it.
    let imported = ProfilePass {
        imported: true,
        ..ProfilePass::default()
    };
    slowpath_record::write_imported_profiles(&run, &imported, &raw).unwrap();
    assert_eq!(read().as_deref(), Some(&pass));
    let path = run.join("profiling/pass.json");
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[20] ^= 1;
    std::fs::write(&path, &bytes).unwrap();
    let error = slowpath_record::read(&run).unwrap_err().to_string();
    assert!(error.contains("checksum"), "{error}");
}

#[test]
fn imported_profiles_lie_beside_a_run_and_replace_each_other() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("run");
    let writer = RunWriter::create(&run, &manifest()).unwrap();
    writer.finish(&manifest()).unwrap();
    let import = |of: &str| {
        let pass = ProfilePass {
            imported: true,
            from: of.to_owned(),
            ..ProfilePass::default()
        };
        let raw = [(of.to_owned(), b"as it came".to_vec())];
        slowpath_record::write_imported_profiles(&run, &pass, &raw).unwrap();
        let read = slowpath_record::read(&run).unwrap().profiles.pass.clone();
        assert_eq!(read.as_deref(), Some(&pass));
    };
    import("a.txt");
    import("b.txt");
    assert!(!run.join("profiling-imported/a.txt").exists());
    assert!(run.join("profiling-imported/b.txt").exists());
}
