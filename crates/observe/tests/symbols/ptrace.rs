//! Stops the threads of a process for a moment and takes their registers and stacks.

use std::fs::{self, File};
use std::io;
use std::mem::{MaybeUninit, size_of};
use std::os::unix::fs::FileExt;
use std::ptr;

use slowpath_observe::symbols::{Dump, RawStack, User};

/// The registers and the stack of a thread.
#[derive(Debug)]
pub(crate) struct Taken {
    /// The thread.
    pub(crate) tid: u32,
    /// How it is called.
    pub(crate) name: String,
    ip: u64,
    sp: u64,
    bp: u64,
    lr: u64,
    bytes: Vec<u8>,
}

impl Taken {
    /// As the kernel would have given it.
    pub(crate) fn raw(&self) -> RawStack<'_> {
        RawStack {
            kernel: &[],
            user: User::Dump(Dump {
                ip: self.ip,
                sp: self.sp,
                bp: self.bp,
                lr: self.lr,
                bytes: &self.bytes,
            }),
        }
    }
}

/// Takes the stacks of all threads of a process, `bytes` of each at most.
pub(crate) fn take(pid: u32, bytes: usize) -> io::Result<Vec<Taken>> {
    let memory = File::open(format!("/proc/{pid}/mem"))?;
    let mut all = Vec::new();
    for task in fs::read_dir(format!("/proc/{pid}/task"))? {
        let name = task?.file_name();
        let tid: u32 = name.to_string_lossy().parse().map_err(io::Error::other)?;
        all.extend(take_one(&memory, pid, tid, bytes)?);
    }
    Ok(all)
}

fn take_one(memory: &File, pid: u32, tid: u32, most: usize) -> io::Result<Option<Taken>> {
    let name = fs::read_to_string(format!("/proc/{pid}/task/{tid}/comm")).unwrap_or_default();
    let tid_arg = tid as libc::pid_t;
    request(libc::PTRACE_SEIZE, tid_arg, 0)?;
    let stopped = request(libc::PTRACE_INTERRUPT, tid_arg, 0).and_then(|()| wait_for_stop(tid_arg));
    let regs = stopped.and_then(|()| registers(tid_arg));
    let taken = regs.map(|[ip, sp, bp, lr]| {
        let mut bytes = vec![0; most];
        let read = memory.read_at(&mut bytes, sp).unwrap_or(0);
        bytes.truncate(read);
        Taken {
            tid,
            name: name.trim_end().to_owned(),
            ip,
            sp,
            bp,
            lr,
            bytes,
        }
    });
    request(libc::PTRACE_DETACH, tid_arg, 0)?;
    taken.map(Some)
}

#[expect(unsafe_code, reason = "the C library has no safe way to ask for this")]
fn request(what: libc::c_uint, tid: libc::pid_t, data: usize) -> io::Result<()> {
    // SAFETY: SEIZE, INTERRUPT and DETACH take numbers; no memory is touched.
    let done = unsafe { libc::ptrace(what, tid, ptr::null_mut::<libc::c_void>(), data) };
    if done < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

#[expect(unsafe_code, reason = "the C library has no safe way to ask for this")]
fn wait_for_stop(tid: libc::pid_t) -> io::Result<()> {
    let mut status = 0;
    // SAFETY: `status` lives as long as the call.
    if unsafe { libc::waitpid(tid, &raw mut status, libc::__WALL) } != tid {
        return Err(io::Error::last_os_error());
    }
    if libc::WIFSTOPPED(status) {
        Ok(())
    } else {
        Err(io::Error::other("it has ended"))
    }
}

/// Instruction pointer, stack pointer, frame pointer and link register of a thread that is stopped.
#[expect(unsafe_code, reason = "the C library has no safe way to ask for this")]
fn registers(tid: libc::pid_t) -> io::Result<[u64; 4]> {
    const NT_PRSTATUS: usize = 1;
    let mut regs = MaybeUninit::<libc::user_regs_struct>::zeroed();
    let mut part = libc::iovec {
        iov_base: regs.as_mut_ptr().cast(),
        iov_len: size_of::<libc::user_regs_struct>(),
    };
    // SAFETY: `part` describes `regs`, which outlives the call.
    let done = unsafe { libc::ptrace(libc::PTRACE_GETREGSET, tid, NT_PRSTATUS, &raw mut part) };
    if done < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: zeroes are registers, and the kernel filled in the rest.
    let regs = unsafe { regs.assume_init() };
    #[cfg(target_arch = "x86_64")]
    return Ok([regs.rip, regs.rsp, regs.rbp, 0]);
    #[cfg(target_arch = "aarch64")]
    return Ok([regs.pc, regs.sp, regs.regs[29], regs.regs[30]]);
}
