//! `perf_event_open(2)`: one event on one CPU.

use std::ffi::{CString, c_int, c_ulong};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use rustix::io::Errno;
use rustix::ioctl::{Getter, Opcode, ioctl, opcode};

use super::records::{CALLCHAIN, HEAD, RAW, REGS_USER, STACK_USER, Shape};

// `perf_type_id` and `perf_sw_ids` of linux/perf_event.h.
const TYPE_SOFTWARE: u32 = 1;
const TYPE_TRACEPOINT: u32 = 2;
const SW_CPU_CLOCK: u64 = 0;
const SW_DUMMY: u64 = 9;

// Bits of `perf_event_attr`, in the order of the header.
const DISABLED: u64 = 1 << 0;
const INHERIT: u64 = 1 << 1;
const EXCLUDE_KERNEL: u64 = 1 << 5;
const EXCLUDE_IDLE: u64 = 1 << 7;
const COMM: u64 = 1 << 9;
const FREQUENCY: u64 = 1 << 10;
const TASK: u64 = 1 << 13;
const SAMPLE_ID_ALL: u64 = 1 << 18;
const EXCLUDE_CALLCHAIN_USER: u64 = 1 << 22;
const USE_CLOCKID: u64 = 1 << 25;
const CONTEXT_SWITCH: u64 = 1 << 26;

/// `PERF_EVENT_IOC_ID`. Its header declares a pointer, which is as wide as what it points to on the
/// machines of this tool.
const ID: Opcode = opcode::read::<u64>(b'$', 7);

/// `PERF_FORMAT_LOST` of linux/perf_event.h, since Linux 6.0.
const FORMAT_LOST: u64 = 1 << 4;

/// Part of a program's stack that is kept as a rule: enough for some thirty frames of C.
pub(super) const DUMP_BYTES: u32 = 4096;
/// Return addresses in the kernel that are kept; a wait in a file system has some twenty.
const MOST_FRAMES: u16 = 32;

/// Registers that unwinding begins with, as bits of `enum perf_event_x86_regs`: bp, sp, ip.
#[cfg(target_arch = "x86_64")]
const REGISTERS: u64 = 1 << 6 | 1 << 7 | 1 << 8;
/// As bits of `enum perf_event_arm_regs`: x29 (the frame), x30 (the link), sp, pc.
#[cfg(target_arch = "aarch64")]
const REGISTERS: u64 = 1 << 29 | 1 << 30 | 1 << 31 | 1 << 32;
/// No unwinding by dumps elsewhere.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
const REGISTERS: u64 = 0;

/// `struct perf_event_attr` as kernels since 4.8 know it (`PERF_ATTR_SIZE_VER5`).
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
struct Attributes {
    kind: u32,
    size: u32,
    config: u64,
    sample_period: u64,
    sample_type: u64,
    read_format: u64,
    flags: u64,
    wakeup: u32,
    breakpoint: u32,
    config1: u64,
    config2: u64,
    branch_sample_type: u64,
    sample_regs_user: u64,
    sample_stack_user: u32,
    clockid: i32,
    sample_regs_intr: u64,
    aux_watermark: u32,
    sample_max_stack: u16,
    reserved: u16,
}

/// What to open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// Births, names and ends of threads; every CPU's ring belongs to such an event.
    Tasks,
    /// A tracepoint by its number, without stacks.
    Tracepoint(u64),
    /// A tracepoint with stacks, at every so many hits, with so much of the program's stack.
    Stacks { id: u64, every: u64, bytes: u32 },
    /// A clock that looks so many times a second at what runs, with stacks.
    Clock { hz: u64 },
    /// Nothing: a ring belongs to it that events of unprivileged users write into.
    Nothing,
    /// Whenever a CPU is handed from one thread to any other.
    Handovers,
    /// So often as a tracepoint is hit, which is counted and not written down.
    Count(u64),
    /// When a thread and those that it begets are on a CPU, and their births, names and ends: what
    /// unprivileged users may know of their own threads.
    Switches,
}

impl What {
    /// What its samples hold.
    pub(super) const fn shape(self) -> Shape {
        let (raw, stack) = match self {
            Self::Tasks | Self::Nothing | Self::Handovers | Self::Switches | Self::Count(_) => {
                (false, false)
            }
            Self::Tracepoint(_) => (true, false),
            Self::Stacks { .. } => (true, true),
            Self::Clock { .. } => (false, true),
        };
        Shape {
            raw,
            stack,
            registers: REGISTERS.count_ones() as usize,
        }
    }

    fn attributes(self) -> Attributes {
        let shape = self.shape();
        let mut attributes = Attributes {
            size: size_of::<Attributes>() as u32,
            sample_type: HEAD,
            flags: DISABLED | SAMPLE_ID_ALL | USE_CLOCKID,
            clockid: libc::CLOCK_MONOTONIC,
            ..Attributes::default()
        };
        if shape.raw {
            attributes.sample_type |= RAW;
        }
        if shape.stack {
            attributes.sample_type |= CALLCHAIN | REGS_USER | STACK_USER;
            attributes.sample_regs_user = REGISTERS;
            attributes.sample_max_stack = MOST_FRAMES;
            if REGISTERS != 0 {
                attributes.flags |= EXCLUDE_CALLCHAIN_USER;
                attributes.sample_stack_user = match self {
                    Self::Stacks { bytes, .. } => bytes,
                    _ => DUMP_BYTES,
                };
            }
        }
        let more = match self {
            Self::Tasks => (TYPE_SOFTWARE, SW_DUMMY, 0, TASK | COMM),
            Self::Tracepoint(id) => (TYPE_TRACEPOINT, id, 1, 0),
            Self::Stacks { id, every, .. } => (TYPE_TRACEPOINT, id, every.max(1), 0),
            Self::Clock { hz } => (TYPE_SOFTWARE, SW_CPU_CLOCK, hz, FREQUENCY | EXCLUDE_IDLE),
            Self::Handovers => (TYPE_SOFTWARE, SW_DUMMY, 0, CONTEXT_SWITCH),
            Self::Count(id) => (TYPE_TRACEPOINT, id, 0, 0),
            Self::Nothing => (TYPE_SOFTWARE, SW_DUMMY, 0, EXCLUDE_KERNEL),
            Self::Switches => {
                let of_threads = TASK | COMM | CONTEXT_SWITCH | INHERIT;
                (TYPE_SOFTWARE, SW_DUMMY, 0, EXCLUDE_KERNEL | of_threads)
            }
        };
        (attributes.kind, attributes.config, attributes.sample_period) = (more.0, more.1, more.2);
        attributes.flags |= more.3;
        attributes
    }
}

/// An event that is open on one CPU. It ends when this is dropped, or the process is.
#[derive(Debug)]
pub(crate) struct Event {
    fd: OwnedFd,
    /// What its records call it.
    pub(super) id: u64,
    /// Whether it reports how many of its records were lost.
    counts_lost: bool,
}

impl Event {
    /// Opens an event on a CPU, whatever thread runs there; it does not count yet.
    pub(super) fn open(what: What, cpu: u32) -> io::Result<Self> {
        Self::open_for(what, None, cpu)
    }

    /// Opens an event on a CPU for when `thread` runs there (0 is the calling one), without one
    /// for any thread; it does not count yet.
    pub(crate) fn open_for(what: What, thread: Option<u32>, cpu: u32) -> io::Result<Self> {
        let mut attributes = what.attributes();
        // What only counts has no records, and what is inherited counts for each thread.
        if thread.is_none() && !matches!(what, What::Count(_)) {
            attributes.read_format = FORMAT_LOST;
        }
        match Self::open_as(&attributes, thread, cpu) {
            // A kernel that knows no such format.
            Err(error) if Errno::from_io_error(&error) == Some(Errno::INVAL) => {
                attributes.read_format = 0;
                Self::open_as(&attributes, thread, cpu)
            }
            opened => opened,
        }
    }

    #[expect(unsafe_code, reason = "perf_event_open(2) has no wrapper")]
    fn open_as(attributes: &Attributes, thread: Option<u32>, cpu: u32) -> io::Result<Self> {
        /// `PERF_FLAG_FD_CLOEXEC`.
        const CLOEXEC: c_ulong = 8;
        let thread = thread.map_or(-1, |thread| thread as libc::pid_t);
        let no_group: c_int = -1;
        // SAFETY: the kernel reads `size` bytes after the pointer, which is what there is.
        let fd = unsafe {
            libc::syscall(
                libc::SYS_perf_event_open,
                std::ptr::from_ref(attributes),
                thread,
                cpu as c_int,
                no_group,
                CLOEXEC,
            )
        };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the kernel has just given us this descriptor.
        let fd = unsafe { OwnedFd::from_raw_fd(fd as c_int) };
        let id = id_of(&fd)?;
        let counts_lost = attributes.read_format == FORMAT_LOST;
        Ok(Self {
            fd,
            id,
            counts_lost,
        })
    }

    /// Lets its records go into the ring of `other`, which is on the same CPU.
    pub(crate) fn write_into(&self, other: &Self) -> io::Result<()> {
        let fd = other.fd.as_raw_fd();
        self.control(opcode::none(b'$', 5), fd as c_ulong)
    }

    /// Has the kernel test a condition before it writes a record. Once for an event.
    pub(super) fn filter(&self, condition: &str) -> io::Result<()> {
        let text = CString::new(condition)?;
        let code = opcode::write::<*const u8>(b'$', 6);
        self.control(code, text.as_ptr() as c_ulong)
    }

    pub(crate) fn enable(&self) -> io::Result<()> {
        self.control(opcode::none(b'$', 0), 0)
    }

    /// How often it happened while it was on.
    pub(super) fn count(&self) -> io::Result<u64> {
        let mut count = [0; 8];
        match rustix::io::read(&self.fd, &mut count)? {
            8 => Ok(u64::from_ne_bytes(count)),
            _ => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }

    /// How many of its records were lost since it was opened, for want of room in the ring; `None`
    /// if the kernel does not count that.
    pub(super) fn lost(&self) -> Option<u64> {
        let mut told = [0; 16];
        let whole = self.counts_lost && rustix::io::read(&self.fd, &mut told) == Ok(told.len());
        whole.then(|| u64::from_ne_bytes(told[8..].try_into().expect("it is the second half")))
    }

    pub(super) fn disable(&self) -> io::Result<()> {
        self.control(opcode::none(b'$', 1), 0)
    }

    #[expect(unsafe_code, reason = "the requests of perf events have no wrapper")]
    fn control(&self, request: rustix::ioctl::Opcode, argument: c_ulong) -> io::Result<()> {
        // SAFETY: each request above comes with the argument that linux/perf_event.h declares for
        // it; pointers are to live data that outlives the call.
        let answer = unsafe { libc::ioctl(self.fd.as_raw_fd(), request.into(), argument) };
        if answer < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(())
    }
}

/// What the records of an event call it.
#[expect(unsafe_code, reason = "the requests of perf events have no wrapper")]
fn id_of(event: &OwnedFd) -> io::Result<u64> {
    // SAFETY: this request writes a number of 64 bits to the given address, which is what the
    // wrapper makes room for.
    let id = unsafe { ioctl(event, Getter::<ID, u64>::new()) };
    Ok(id?)
}

impl AsFd for Event {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

    use super::super::kinds::Kind;
    use super::super::ring::Ring;
    use super::super::{records, tracefs};
    use super::*;

    #[test]
    fn the_attributes_have_the_size_of_version_five() {
        assert_eq!(size_of::<Attributes>(), 112);
    }

    #[test]
    fn losses_are_counted() {
        const CALLS: u64 = 1000;
        let formats = match tracefs::formats(Path::new("/proc")) {
            Ok(formats) => formats,
            Err(error) => return println!("skipped: {error}"),
        };
        let id = formats
            .iter()
            .find(|(kind, _)| *kind == Kind::Call)
            .unwrap()
            .1
            .id;
        let allowed = sched_getaffinity(None).unwrap();
        let cpu = (0..CpuSet::MAX_CPU)
            .find(|&cpu| allowed.is_set(cpu))
            .unwrap();
        let calls = std::thread::spawn(move || {
            let mut only = CpuSet::new();
            only.set(cpu);
            sched_setaffinity(None, &only).unwrap();
            let event = Event::open(What::Tracepoint(id), cpu as u32)?;
            let tid = rustix::thread::gettid().as_raw_nonzero();
            event.filter(&format!("common_pid=={tid}&&id=={}", libc::SYS_getppid))?;
            let mut ring = Ring::map(&event, rustix::param::page_size())?;
            event.enable()?;
            (0..CALLS).for_each(|_| _ = rustix::process::getppid());
            event.disable()?;
            let mut bytes = Vec::new();
            ring.drain(&mut bytes);
            io::Result::Ok((event.lost(), bytes))
        });
        let (lost, bytes) = match calls.join().unwrap() {
            Ok((Some(lost), bytes)) => (lost, bytes),
            Ok((None, _)) => return println!("skipped: this kernel does not count losses"),
            Err(error) => {
                assert_eq!(error.kind(), io::ErrorKind::PermissionDenied, "{error}");
                return println!("skipped: {error}");
            }
        };
        let (mut at, mut written) = (0, 0);
        while let Some(length) = records::length(&bytes[at..]) {
            at += length;
            written += 1;
        }
        assert!(lost > 0 && written > 0, "{lost} lost, {written} written");
        assert_eq!(written + lost, CALLS);
    }

    #[test]
    fn requests_are_those_of_the_header() {
        assert_eq!(opcode::none(b'$', 5), 0x2405);
        #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
        {
            assert_eq!(opcode::write::<*const u8>(b'$', 6), 0x4008_2406);
            assert_eq!(ID, 0x8008_2407);
        }
    }
}
