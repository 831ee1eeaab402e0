use super::*;

#[test]
fn rings_are_powers_of_two_and_bounded_in_all() {
    assert_eq!(ring_bytes(2), RING_BYTES);
    for cpus in [0, 1, 3, 48, 100, 1024, 8192] {
        let bytes = ring_bytes(cpus);
        assert!(bytes.is_power_of_two() && bytes >= SMALLEST_RING_BYTES);
        assert!(bytes * cpus <= ALL_RINGS_BYTES || bytes == SMALLEST_RING_BYTES);
    }
}

/// The formats of this kernel; none where they may not be read.
fn formats() -> Option<Vec<(Kind, Format)>> {
    match super::super::tracefs::formats(Path::new("/proc")) {
        Ok(formats) => Some(formats),
        Err(error) => {
            println!("skipped: {error}");
            None
        }
    }
}

fn open_with(formats: &[(Kind, Format)], files: usize) -> Result<Session, SessionError> {
    Session::open(Path::new("/proc"), formats, Scope::default(), files)
}

/// The session; none where users may open no such events, and a failure of the test otherwise.
fn permitted(opened: Result<Session, SessionError>) -> Option<Session> {
    match opened {
        Err(SessionError::Refused { source, .. })
            if source.kind() == io::ErrorKind::PermissionDenied =>
        {
            println!("skipped: {source}");
            None
        }
        opened => Some(opened.unwrap()),
    }
}

/// Makes the kernel refuse a tracepoint: it has none of that number.
fn spoil(formats: &mut [(Kind, Format)], spoilt: Kind) {
    let format = formats.iter_mut().find(|(kind, _)| *kind == spoilt);
    format.expect("this kernel supports it").1.id = u64::from(u32::MAX);
}

#[test]
fn one_tracepoint_that_is_refused_takes_nothing_else_with_it() {
    let Some(mut formats) = formats() else { return };
    spoil(&mut formats, Kind::Read);
    let Some(mut session) = permitted(open_with(&formats, 4096)) else {
        return;
    };
    let signals = session.gaps().iter().map(|gap| gap.signal.as_str());
    assert_eq!(
        signals.collect::<Vec<_>>(),
        ["trace.tcp:tcp_rcv_space_adjust"]
    );
    assert!(
        session.gaps()[0].reason.contains("on CPU"),
        "{:?}",
        session.gaps()
    );
    let tids = Tids::covering(&BTreeSet::from([std::process::id()]), None);
    let scope = Scope {
        tids,
        ports: BTreeSet::from([80]),
        has_unix: false,
        infers: false,
    };
    session.follow(scope.clone()).unwrap();
    assert_eq!(*session.scope(), scope);
    spoil(&mut formats, Kind::Waking);
    let refused = open_with(&formats, 4096).unwrap_err();
    assert!(
        refused.to_string().contains("sched:sched_waking"),
        "{refused}"
    );
}

#[test]
fn writes_are_not_inferred_where_the_begins_of_calls_are_refused() {
    let Some(mut formats) = formats() else { return };
    formats.retain(|(kind, _)| *kind != Kind::Wrote);
    let Some(session) = permitted(open_with(&formats, 4096)) else {
        return;
    };
    assert!(session.infers());
    spoil(&mut formats, Kind::Call);
    let session = open_with(&formats, 4096).unwrap();
    assert!(!session.infers());
    let signals: Vec<&str> = session.gaps().iter().map(|g| g.signal.as_str()).collect();
    let both = [
        "trace.raw_syscalls:sys_enter",
        "trace.sock:sock_send_length",
    ];
    assert!(
        both.iter().all(|signal| signals.contains(signal)),
        "{signals:?}"
    );
}

#[test]
fn whom_to_follow_is_told_again_where_it_was_refused() {
    let Some(formats) = formats() else { return };
    let Some(mut session) = permitted(open_with(&formats, 4096)) else {
        return;
    };
    let tids = Tids::covering(&BTreeSet::from([std::process::id()]), None);
    let scope = Scope {
        tids,
        ports: BTreeSet::new(),
        has_unix: false,
        infers: false,
    };
    // As if the kernel had no room for some event: it has none of that number.
    let (last, id) = (session.means.points.len() - 1, session.means.points[0].id);
    let first = std::mem::replace(&mut session.means.points[0].id, u64::from(u32::MAX));
    assert_eq!(first, id);
    session.follow(scope.clone()).unwrap_err();
    assert_ne!(*session.scope(), scope, "not all follow");
    let conditions = |session: &Session, place: usize| -> Vec<Option<String>> {
        let lights = session
            .cpus
            .iter()
            .map(|cpu| cpu.light[place].condition.clone());
        lights.collect()
    };
    let point = &session.means.points[1];
    let wanted = scope.condition(point.kind, point.with_ports);
    assert!(
        conditions(&session, 1).iter().all(|of| *of == wanted),
        "the others do"
    );
    session.means.points[0].id = id;
    session.follow(scope.clone()).unwrap();
    assert_eq!(*session.scope(), scope);
    let of_all = 0..=last;
    for (place, point) in of_all.zip(&session.means.points) {
        let wanted = scope.condition(point.kind, point.with_ports);
        assert!(conditions(&session, place).iter().all(|of| *of == wanted));
    }
}

#[test]
fn with_few_files_less_is_traced_and_with_fewer_nothing() {
    let Some(formats) = formats() else { return };
    let cpus = cpus::online(Path::new("/proc")).unwrap().len();
    let Some(session) = permitted(open_with(&formats, cpus * 4 + 2)) else {
        return;
    };
    assert_eq!(session.means.points.len(), 2);
    assert!(!session.may_take_stacks());
    let gaps = session.gaps().iter();
    // Where writes are recorded no other tracepoint stands in for that.
    let least = formats.len() - 2;
    assert!(gaps.filter(|gap| gap.reason.contains("files")).count() >= least);
    let refused = open_with(&formats, cpus * 4 + 1).unwrap_err();
    assert!(matches!(refused, SessionError::NoFiles { .. }), "{refused}");
}
