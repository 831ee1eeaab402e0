use super::*;

fn facts(stack: &[(&str, &str)]) -> Facts {
    let frame = |&(function, module): &(&str, &str)| Frame {
        function: function.to_owned(),
        module: module.to_owned(),
        source: String::new(),
    };
    let trace = Trace {
        frames: stack.iter().map(frame).collect(),
        stacks: vec![(0..stack.len() as u32).collect()],
        ..Trace::default()
    };
    Stacks::of(&trace).facts(0)
}

#[test]
fn the_innermost_function_decides() {
    let waiting = facts(&[
        ("schedule", "kernel"),
        ("futex_do_wait", "kernel"),
        ("__lll_lock_wait", "libc.so.6"),
        ("pthread_cond_wait@@GLIBC_2.3.2", "libc.so.6"),
        ("serve", "server"),
    ]);
    assert_eq!(waiting.call, Some(Call::Futex));
    assert_eq!(waiting.waits, Some(Waits::Lock), "the mutex of a condition");
    let parked = facts(&[
        ("futex_wait_queue.constprop.0", "kernel"),
        ("std::sys::sync::condvar::futex::Condvar::wait", "server"),
    ]);
    assert_eq!(
        (parked.call, parked.waits),
        (Some(Call::Futex), Some(Waits::Condition))
    );
}

#[test]
fn locks_are_told_that_are_made_of_conditions() {
    let enter = facts(&[
        ("futex_do_wait", "kernel"),
        ("___pthread_cond_wait", "libc.so.6"),
        ("os::PlatformEvent::park()", "libjvm.so"),
        ("ObjectMonitor::enter(JavaThread*)", "libjvm.so"),
    ]);
    assert_eq!(enter.waits, Some(Waits::Lock));
    let gil = facts(&[
        ("___pthread_cond_timedwait64", "libc.so.6"),
        ("PyCOND_TIMEDWAIT", "python3.11"),
        ("take_gil", "python3.11"),
    ]);
    assert_eq!(gil.waits, Some(Waits::Interpreter));
    let park = ("Parker::park(bool, long)", "libjvm.so");
    let unsafe_park = ("Unsafe_Park", "libjvm.so");
    let reentrant = facts(&[
        park,
        unsafe_park,
        (
            "java.util.concurrent.locks.ReentrantLock.lock",
            "perf-7.map",
        ),
        ("Shop.serve", "perf-7.map"),
    ]);
    assert_eq!(reentrant.waits, Some(Waits::Lock));
    let future = facts(&[
        park,
        unsafe_park,
        ("java.util.concurrent.FutureTask.get", "perf-7.map"),
    ]);
    assert_eq!(future.waits, Some(Waits::Condition));
    let nameless = facts(&[
        ("___pthread_cond_wait", "libc.so.6"),
        park,
        unsafe_park,
        ("0x7f10a4", "perf-7.map"),
    ]);
    assert_eq!(nameless.waits, None, "both end there");
    let stripped = facts(&[
        ("___pthread_cond_wait", "libc.so.6"),
        ("0xc8a1f0", "libjvm.so"),
        ("0xc0f2b2", "libjvm.so"),
        ("Shop.serve", "perf-7.map"),
    ]);
    assert_eq!(stripped.waits, None, "monitors end there too");
    let waits = facts(&[
        ("___pthread_cond_wait", "libc.so.6"),
        ("0xc8a1f0", "libjvm.so"),
        ("JVM_MonitorWait", "libjvm.so"),
    ]);
    assert_eq!(waits.waits, Some(Waits::Condition));
    let further_out = facts(&[
        ("__futex_abstimed_wait_common", "libc.so.6"),
        ("do_wait_for_slot", "server"),
        ("CondvarPool::ReentrantLock", "server"),
    ]);
    assert_eq!(
        further_out.waits, None,
        "the program's own function asked for it"
    );
    let plain = facts(&[("pthread_cond_wait", "libc.so.6"), ("serve", "server")]);
    assert_eq!(plain.waits, Some(Waits::Condition));
}

#[test]
fn a_worker_of_tokio_is_idle_only_where_it_waits_for_tasks() {
    let worker = "tokio::runtime::scheduler::multi_thread::worker::run";
    let park = "tokio::runtime::scheduler::multi_thread::park::Inner::park_condvar";
    let wait = ("std::sys::sync::condvar::futex::Condvar::wait", "server");
    assert!(facts(&[("syscall", "libc.so.6"), wait, (park, "server")]).idle);
    let lock = (
        "std::sys::sync::mutex::futex::Mutex::lock_contended",
        "server",
    );
    let task = facts(&[
        ("syscall", "libc.so.6"),
        lock,
        ("handle", "server"),
        (worker, "server"),
    ]);
    assert!(!task.idle && task.named);
    assert_eq!(task.waits, Some(Waits::Lock));
}

#[test]
fn methods_are_known_as_either_version_of_symbol_names_writes_them() {
    let read = "<std::sys::sync::rwlock::futex::RwLock>::read_contended";
    assert_eq!(
        path(read),
        "std::sys::sync::rwlock::futex::RwLock::read_contended"
    );
    let trait_of = "<alloc::vec::Vec<fn(u8) -> u8> as core::clone::Clone>::clone";
    assert_eq!(path(trait_of), "alloc::vec::Vec<fn(u8) -> u8>::clone");
    // The first `as` belongs to the argument.
    let nested = "<a::Cell<<b::T as c::U>::V> as d::E>::get";
    assert_eq!(path(nested), "a::Cell<<b::T as c::U>::V>::get");
    for same in ["serve", "<unclosed", "a::b<c>::d"] {
        assert_eq!(path(same), same);
    }
    let slow = "<parking_lot::raw_mutex::RawMutex>::lock_slow";
    for lock in [read, slow] {
        let facts = facts(&[
            ("syscall", "libc.so.6"),
            (lock, "server"),
            ("handle", "server"),
        ]);
        assert_eq!(facts.waits, Some(Waits::Lock), "{lock}");
    }
}

#[test]
fn runtimes_disks_and_sleeps_are_known() {
    let go = facts(&[("futex_wait", "kernel"), ("runtime.stopm", "server")]);
    assert!(go.idle);
    let disk = facts(&[("io_schedule", "kernel"), ("filemap_read", "kernel")]);
    assert!(disk.disk && disk.call.is_none());
    assert_eq!(
        facts(&[("clock_nanosleep", "libc.so.6")]).call,
        Some(Call::Sleep)
    );
    assert_eq!(facts(&[("do_nanosleep", "server")]).call, Some(Call::Sleep));
    let java = facts(&[
        ("futex_wait", "kernel"),
        ("os::PlatformEvent::park(long)", "libjvm.so"),
        ("JavaThread::sleep(long)", "libjvm.so"),
    ]);
    assert_eq!(java.call, Some(Call::Sleep));
    assert!(!facts(&[("0x48be43", "server")]).named);
}

#[test]
fn no_stack_tells_nothing() {
    let stacks = Stacks::of(&Trace::default());
    assert_eq!(stacks.facts(NO_STACK), Facts::default());
    assert_eq!(stacks.facts(7), Facts::default());
}

#[test]
fn a_condition_in_the_interpreters_own_file_is_its_lock() {
    let cond = ("___pthread_cond_timedwait64", "libc.so.6");
    let gil = facts(&[
        ("__lll_lock_wait", "libc.so.6"),
        ("__pthread_mutex_cond_lock", "libc.so.6"),
        cond,
        ("0x4f92c0", "python3.11"),
        ("_PyEval_EvalFrameDefault", "python3.11"),
    ]);
    assert_eq!(gil.waits, Some(Waits::Interpreter));
    let library = facts(&[
        cond,
        ("blas_thread_wait", "libopenblas.so.0"),
        ("_PyEval_EvalFrameDefault", "python3.11"),
    ]);
    assert_eq!(library.waits, Some(Waits::Condition));
    let semaphore = facts(&[
        ("__new_sem_wait_slow64", "libc.so.6"),
        ("PyThread_acquire_lock_timed", "python3.11"),
    ]);
    assert_eq!(semaphore.waits, None);
}

#[test]
fn rubys_functions_without_names_are_known_by_where_else_they_stand() {
    let frame = |function: &str| Frame {
        function: function.to_owned(),
        module: "libruby-3.1.so.3.1.2".to_owned(),
        source: String::new(),
    };
    let names = [
        "pthread_cond_wait",
        "rb_native_cond_wait",
        "0x20ec80",
        "0x20f310",
        "rb_io_wait",
        "rb_vm_exec",
    ];
    let trace = Trace {
        frames: names.iter().map(|name| frame(name)).collect(),
        // Let in after a wait for data; let in after a sleep; asleep.
        stacks: vec![vec![0, 1, 2, 4, 5], vec![0, 1, 2, 3, 5], vec![0, 1, 3, 5]],
        ..Trace::default()
    };
    let stacks = Stacks::of(&trace);
    let told = [0, 1, 2].map(|stack| stacks.facts(stack).waits);
    let let_in = Some(Waits::Interpreter);
    assert_eq!(told, [let_in, let_in, Some(Waits::Condition)]);
}

/// What stacks of functions of an interpreter show, innermost first.
fn facts_of(stacks: &[&str]) -> Vec<Facts> {
    let mut trace = Trace::default();
    for stack in stacks {
        let mut places = Vec::new();
        for function in stack.split(' ') {
            let frame = Frame {
                function: function.to_owned(),
                module: "python3.11".to_owned(),
                source: String::new(),
            };
            let known = trace.frames.iter().position(|f| *f == frame);
            places.push(known.unwrap_or_else(|| {
                trace.frames.push(frame);
                trace.frames.len() - 1
            }) as u32);
        }
        trace.stacks.push(places);
    }
    let all = Stacks::of(&trace);
    (0..trace.stacks.len() as u32)
        .map(|stack| all.facts(stack))
        .collect()
}

/// Which of the stacks collect garbage.
fn collect(stacks: &[&str]) -> Vec<bool> {
    facts_of(stacks)
        .iter()
        .map(|facts| facts.collects)
        .collect()
}

#[test]
fn a_spin_lock_is_known_by_the_function_that_takes_it() {
    let stacks = [
        "core::sync::atomic::atomic_load spin::mutex::spin::SpinMutex<T,R>::lock index::row",
        "pthread_spin_lock find",
        "index::rebuild index::main",
        "pthread_spin_unlock find",
    ];
    let spins: Vec<bool> = facts_of(&stacks).iter().map(|facts| facts.spins).collect();
    assert_eq!(spins, [true, true, false, false]);
}

#[test]
fn a_stripped_collector_is_known_by_the_functions_of_types_that_it_calls() {
    let eval = "_PyEval_EvalFrameDefault";
    let of = |inner: &str| format!("{inner} 0xde 0x9c 0xca {eval}");
    let dict = of("PyDict_Type.tp_traverse");
    // What visits references, and visitors of types that programs make.
    let visit = of("0x1d PyTuple_Type.tp_traverse");
    let own = of("0x1d 0x5b");
    let itself = format!("0x9c 0xca {eval}");
    // What calls functions of all kinds calls the collector as well.
    let call = format!("PyObject_Repr 0xca {eval}");
    let stacks = [
        &dict, &visit, &visit, &dict, &own, &own, &own, &itself, &call, &call, &call, &call,
    ];
    let stacks: Vec<&str> = stacks.iter().map(|stack| stack.as_str()).collect();
    let collects = collect(&stacks);
    assert_eq!(collects, [[true; 8].as_slice(), &[false; 4]].concat());
    assert_eq!(collect(&[&own, &itself, &call]), [false; 3]);
}

#[test]
fn the_kernels_own_work_is_no_disk() {
    let close = facts(&[
        ("__flush_work", "kernel"),
        ("fsnotify_destroy_group", "kernel"),
        ("inotify_release", "kernel"),
    ]);
    assert!(close.kernel_work && !close.disk && close.io.is_none());
    // The compiler's copy of a function is that function.
    assert!(facts(&[("synchronize_rcu_normal.part.0", "kernel")]).kernel_work);
    // XFS waits for its log by flushing a queue of work, and any file system may do so when it syncs.
    for outer in ["xfs_log_force", "do_fsync"] {
        let sync = facts(&[("__flush_workqueue", "kernel"), (outer, "kernel")]);
        assert!(!sync.kernel_work && sync.io == Some(Io::Sync), "{outer}");
    }
    let disk = facts(&[("__flush_work", "kernel"), ("io_schedule", "kernel")]);
    assert!(!disk.kernel_work && disk.disk);
}
