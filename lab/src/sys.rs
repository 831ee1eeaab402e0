//! The kernel calls that std does not offer: all unsafe code of the lab but the lock of `interpreter`.
#![expect(
    unsafe_code,
    reason = "thin wrappers over libc, each call justified where it stands"
)]

use std::cell::UnsafeCell;
use std::io;
use std::mem;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsRawFd, FromRawFd};
use std::time::Duration;

/// Ioctl: bytes in the send queue that have not been sent even once (linux/sockios.h).
const SIOCOUTQNSD: libc::c_ulong = 0x894B;
/// Length of the array of SO_MEMINFO and the place of the drop counter in it
/// (linux/sock_diag.h).
const SK_MEMINFO_VARS: usize = 9;
const SK_MEMINFO_DROPS: usize = 8;
/// Option of IP sockets: the local ports that one may be given (linux/in.h, Linux 6.3).
const IP_LOCAL_PORT_RANGE: libc::c_int = 51;

fn check(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(result)
    }
}

/// SIGTERM and SIGINT, held back from every thread so that one place can wait for them.
pub(crate) struct Termination {
    signals: libc::sigset_t,
}

impl Termination {
    /// Blocks both signals in this thread and in all threads and children it starts later.
    pub(crate) fn block() -> io::Result<Self> {
        // SAFETY: sigset_t is plain data and all-zero is a valid value for it; the set outlives
        // the calls, and the null pointer says that the old mask is not wanted.
        let (error, signals) = unsafe {
            let mut signals: libc::sigset_t = mem::zeroed();
            libc::sigemptyset(&raw mut signals);
            libc::sigaddset(&raw mut signals, libc::SIGTERM);
            libc::sigaddset(&raw mut signals, libc::SIGINT);
            let null = std::ptr::null_mut();
            (
                libc::pthread_sigmask(libc::SIG_BLOCK, &raw const signals, null),
                signals,
            )
        };
        if error == 0 {
            Ok(Self { signals })
        } else {
            Err(io::Error::from_raw_os_error(error))
        }
    }

    /// Returns when one of the two signals has come.
    pub(crate) fn wait(&self) -> io::Result<()> {
        let mut signal = 0;
        // SAFETY: both pointers are to live values of the right type for the whole call.
        let error = unsafe { libc::sigwait(&raw const self.signals, &raw mut signal) };
        if error == 0 {
            Ok(())
        } else {
            Err(io::Error::from_raw_os_error(error))
        }
    }
}

/// Sets the length of the accept queue; listen(2) on a listening socket only changes that.
/// The kernel admits one connection more than this number.
pub(crate) fn set_backlog(listener: &TcpListener, backlog: i32) -> io::Result<()> {
    // SAFETY: the descriptor is open as long as `listener` is borrowed.
    check(unsafe { libc::listen(listener.as_raw_fd(), backlog) }).map(drop)
}

/// Connection attempts that the kernel dropped on this very listener since it was opened.
pub(crate) fn listener_drops(listener: &TcpListener) -> io::Result<u32> {
    let mut counters = [0_u32; SK_MEMINFO_VARS];
    let mut length = mem::size_of_val(&counters) as libc::socklen_t;
    // SAFETY: the buffer is as long as `length` says and the kernel writes no more than that.
    check(unsafe {
        libc::getsockopt(
            listener.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_MEMINFO,
            counters.as_mut_ptr().cast(),
            &raw mut length,
        )
    })?;
    Ok(counters[SK_MEMINFO_DROPS])
}

/// Connects over IPv4 from one of these local ports.
pub(crate) fn connect_from(to: SocketAddr, (first, last): (u16, u16)) -> io::Result<TcpStream> {
    let SocketAddr::V4(to) = to else {
        return Err(io::ErrorKind::Unsupported.into());
    };
    // SAFETY: no pointer is passed; the descriptor is new and has no other owner.
    let stream = unsafe {
        let socket = check(libc::socket(
            libc::AF_INET,
            libc::SOCK_STREAM | libc::SOCK_CLOEXEC,
            0,
        ))?;
        TcpStream::from_raw_fd(socket)
    };
    let range = (u32::from(last) << 16) | u32::from(first);
    let address = libc::sockaddr_in {
        sin_family: libc::AF_INET as libc::sa_family_t,
        sin_port: to.port().to_be(),
        sin_addr: libc::in_addr {
            s_addr: u32::from(*to.ip()).to_be(),
        },
        sin_zero: [0; 8],
    };
    // SAFETY: both values outlive the calls, and their sizes are passed along.
    unsafe {
        check(libc::setsockopt(
            stream.as_raw_fd(),
            libc::IPPROTO_IP,
            IP_LOCAL_PORT_RANGE,
            (&raw const range).cast(),
            mem::size_of_val(&range) as libc::socklen_t,
        ))?;
        check(libc::connect(
            stream.as_raw_fd(),
            (&raw const address).cast(),
            mem::size_of_val(&address) as libc::socklen_t,
        ))?;
    }
    Ok(stream)
}

/// Drops this share of the segments that come to a connection, as if they had been lost on the way.
pub(crate) fn lose(stream: &TcpStream, share: f64) -> io::Result<()> {
    const LOAD: u16 = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
    const JUMP: u16 = (libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K) as u16;
    const RETURN: u16 = (libc::BPF_RET | libc::BPF_K) as u16;
    let step = |code, (jt, jf), k| libc::sock_filter { code, jt, jf, k };
    let random = (libc::SKF_AD_OFF + libc::SKF_AD_RANDOM) as u32;
    let mut steps = [
        step(LOAD, (0, 0), random),
        step(JUMP, (1, 0), (share * f64::from(u32::MAX)) as u32),
        step(RETURN, (0, 0), 0),
        step(RETURN, (0, 0), u32::MAX),
    ];
    let program = libc::sock_fprog {
        len: steps.len() as u16,
        filter: steps.as_mut_ptr(),
    };
    // SAFETY: the program and its steps outlive the call, which copies them.
    check(unsafe {
        libc::setsockopt(
            stream.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_ATTACH_FILTER,
            (&raw const program).cast(),
            mem::size_of_val(&program) as libc::socklen_t,
        )
    })
    .map(drop)
}

/// Bytes that were written to the socket and that TCP has not sent yet.
pub(crate) fn unsent_bytes(stream: &TcpStream) -> io::Result<i32> {
    let mut unsent: libc::c_int = 0;
    // SAFETY: this ioctl writes one int to the pointer, which is to a live int.
    check(unsafe { libc::ioctl(stream.as_raw_fd(), SIOCOUTQNSD, &raw mut unsent) })?;
    Ok(unsent)
}

/// Sets how many descriptors this process may have open; never more than it was allowed to begin with.
pub(crate) fn limit_files(most: u64) -> io::Result<()> {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: the pointer is to a live rlimit, which the kernel fills in.
    check(unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) })?;
    limit.rlim_cur = limit.rlim_max.min(most);
    // SAFETY: the pointer is to a live rlimit, which the kernel reads.
    check(unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit) }).map(drop)
}

/// Has the kernel end this process when the thread that started it does.
pub(crate) fn end_with_parent() -> io::Result<()> {
    // SAFETY: this option takes one number and touches no memory.
    check(unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) }).map(drop)
}

/// The listener that a parent gave as standard input.
pub(crate) fn inherited_listener() -> TcpListener {
    // SAFETY: descriptor 0 is open, and the caller uses it for nothing else.
    unsafe { TcpListener::from_raw_fd(0) }
}

/// Bytes that came and were not read.
pub(crate) fn unread_bytes(stream: &TcpStream) -> io::Result<i32> {
    let mut unread: libc::c_int = 0;
    // SAFETY: this ioctl writes one int to the pointer, which is to a live int.
    check(unsafe { libc::ioctl(stream.as_raw_fd(), libc::FIONREAD, &raw mut unread) })?;
    Ok(unread)
}

/// Waits without limit until a descriptor is ready; being interrupted counts as ready.
pub(crate) fn poll(descriptors: &mut [libc::pollfd]) -> io::Result<()> {
    let count = descriptors.len() as libc::nfds_t;
    // SAFETY: pointer and count describe one live, exclusively borrowed slice.
    match check(unsafe { libc::poll(descriptors.as_mut_ptr(), count, -1) }) {
        Err(error) if error.kind() != io::ErrorKind::Interrupted => Err(error),
        _ => Ok(()),
    }
}

/// Waits in poll(2) for nothing but the end of so many milliseconds.
pub(crate) fn poll_for(millis: libc::c_int) -> io::Result<()> {
    // SAFETY: there are no descriptors to point to.
    match check(unsafe { libc::poll(std::ptr::null_mut(), 0, millis) }) {
        Err(error) if error.kind() != io::ErrorKind::Interrupted => Err(error),
        _ => Ok(()),
    }
}

/// Asks all processes of a group to end, or makes them.
pub(crate) fn end_group(group: u32, at_once: bool) -> io::Result<()> {
    let signal = if at_once {
        libc::SIGKILL
    } else {
        libc::SIGTERM
    };
    // SAFETY: kill(2) takes plain numbers; a negative one names the group.
    check(unsafe { libc::kill(-(group as libc::pid_t), signal) }).map(drop)
}

/// Whether this process may do what root may.
pub(crate) fn is_root() -> bool {
    // SAFETY: geteuid(2) takes nothing and cannot fail.
    unsafe { libc::geteuid() == 0 }
}

/// CPU time that the calling thread has used.
pub(crate) fn thread_cpu() -> Duration {
    let mut now = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the pointer is to a live timespec; the clock exists on every Linux, so the call
    // cannot fail.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut now) };
    Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
}

/// Steps CLOCK_REALTIME by an offset. The kernel adds it atomically, so that a step and its
/// opposite cancel exactly, which reading the clock and setting it again would not do.
pub(crate) fn step_clock(step_us: i64) -> io::Result<()> {
    // SAFETY: timex is plain data, and all-zero asks for nothing.
    let mut request: libc::timex = unsafe { mem::zeroed() };
    request.modes = libc::ADJ_SETOFFSET;
    request.time.tv_sec = step_us.div_euclid(1_000_000);
    request.time.tv_usec = step_us.rem_euclid(1_000_000);
    // SAFETY: the pointer is to a live timex, which the kernel reads and fills in.
    check(unsafe { libc::adjtimex(&raw mut request) }).map(drop)
}

/// The C library's lock (pthread_mutex_lock(3)) around a value. The lock lives on the heap, since
/// it must not move.
pub(crate) struct PthreadMutex<T> {
    lock: Box<UnsafeCell<libc::pthread_mutex_t>>,
    value: UnsafeCell<T>,
}

// SAFETY: the value is touched by one thread at a time, the one that holds the lock, and the lock
// is made for being taken by any thread.
unsafe impl<T: Send> Sync for PthreadMutex<T> {}
// SAFETY: no thread holds the lock of one that moves, since `locked` borrows it.
unsafe impl<T: Send> Send for PthreadMutex<T> {}

impl<T> PthreadMutex<T> {
    /// An unlocked one of the default kind.
    pub(crate) fn new(value: T) -> Self {
        Self {
            lock: Box::new(UnsafeCell::new(libc::PTHREAD_MUTEX_INITIALIZER)),
            value: UnsafeCell::new(value),
        }
    }

    /// Does something with the value while the lock is held. It must not panic: the lock would
    /// never be free again.
    pub(crate) fn locked<R>(&self, work: impl FnOnce(&mut T) -> R) -> R {
        // SAFETY: the pointer is to a live, initialised lock; the default kind cannot fail.
        unsafe { libc::pthread_mutex_lock(self.lock.get()) };
        // SAFETY: the holder of the lock is alone with the value.
        let result = work(unsafe { &mut *self.value.get() });
        // SAFETY: as for the lock above, and this thread holds it.
        unsafe { libc::pthread_mutex_unlock(self.lock.get()) };
        result
    }
}

/// Keeps the calling thread, and those that it starts from now on, on one CPU.
pub(crate) fn stay_on(cpu: usize) -> io::Result<()> {
    // SAFETY: cpu_set_t is plain data, all-zero is the empty set, and CPU_SET checks its range.
    let set = unsafe {
        let mut set: libc::cpu_set_t = mem::zeroed();
        libc::CPU_SET(cpu, &mut set);
        set
    };
    // SAFETY: the pointer is to a live set of the size given; 0 is the calling thread.
    check(unsafe { libc::sched_setaffinity(0, mem::size_of_val(&set), &raw const set) }).map(drop)
}

/// The last CPU that the calling thread may run on.
pub(crate) fn last_cpu() -> io::Result<usize> {
    // SAFETY: cpu_set_t is plain data, and all-zero is the empty set.
    let mut set: libc::cpu_set_t = unsafe { mem::zeroed() };
    // SAFETY: the pointer is to a live set of the size given; 0 is the calling thread.
    check(unsafe { libc::sched_getaffinity(0, mem::size_of_val(&set), &raw mut set) })?;
    let cpus = 0..8 * mem::size_of_val(&set);
    // SAFETY: the range is that of the set.
    let last = cpus
        .rev()
        .find(|&cpu| unsafe { libc::CPU_ISSET(cpu, &set) });
    last.ok_or_else(|| io::Error::other("there is no CPU to run on"))
}

/// Advises the kernel that its cache of a part of a file will not be needed: it forgets
/// what is on the disk as well.
pub(crate) fn forget(file: &std::fs::File, offset: u64, length: u64) -> io::Result<()> {
    let (offset, length) = (offset as libc::off_t, length as libc::off_t);
    let fd = std::os::fd::AsRawFd::as_raw_fd(file);
    // SAFETY: posix_fadvise(2) takes plain numbers; the descriptor is open.
    match unsafe { libc::posix_fadvise(fd, offset, length, libc::POSIX_FADV_DONTNEED) } {
        0 => Ok(()),
        code => Err(io::Error::from_raw_os_error(code)),
    }
}

/// Makes a named pipe.
pub(crate) fn named_pipe(path: &std::ffi::CStr) -> io::Result<()> {
    // SAFETY: the pointer is to a string that ends with a zero.
    check(unsafe { libc::mkfifo(path.as_ptr(), 0o600) }).map(drop)
}

/// Makes standard error another name of an open file.
pub(crate) fn standard_error_to(file: &std::fs::File) -> io::Result<()> {
    // SAFETY: dup2(2) takes plain numbers; both descriptors are open.
    check(unsafe { libc::dup2(std::os::fd::AsRawFd::as_raw_fd(file), 2) }).map(drop)
}

/// Standard error without the lock and the buffer that the library puts around it; never closed.
pub(crate) fn standard_error_raw() -> mem::ManuallyDrop<std::fs::File> {
    // SAFETY: the descriptor is open as long as the process lives, and is not closed here.
    mem::ManuallyDrop::new(unsafe { std::os::fd::FromRawFd::from_raw_fd(2) })
}
