//! One stack at a time, frame by frame, out of registers and a piece of memory.

use framehop::{
    CacheNative, FrameAddress, MayAllocateDuringUnwind, UnwindRegsNative, Unwinder, UnwinderNative,
};

use super::Dump;
use super::elf::Bytes;

/// Rules that were found for addresses, for all processes.
pub(super) struct Unwinding(CacheNative<MayAllocateDuringUnwind>);

impl Default for Unwinding {
    fn default() -> Self {
        Self(CacheNative::new())
    }
}

impl std::fmt::Debug for Unwinding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Unwinding").finish_non_exhaustive()
    }
}

/// Where on a stack the unwinder stands.
pub(super) struct Walk<'a> {
    regs: UnwindRegsNative,
    at: Option<FrameAddress>,
    from: u64,
    bytes: &'a [u8],
}

impl<'a> Walk<'a> {
    /// Begins at the innermost function. `highest` is the highest address of code, which on aarch64
    /// separates the bits of a signature from a return address.
    pub(super) fn new(dump: &Dump<'a>, highest: u64) -> Self {
        Self {
            regs: registers(dump, highest),
            at: Some(FrameAddress::from_instruction_pointer(dump.ip)),
            from: dump.sp,
            bytes: dump.bytes,
        }
    }

    /// The address to look up for the function at hand; nothing after the outermost.
    pub(super) fn lookup_address(&self) -> Option<u64> {
        self.at.map(FrameAddress::address_for_lookup)
    }
}

impl Unwinding {
    /// Goes on to the caller; says whether there is one that can be found.
    pub(super) fn step(
        &mut self,
        walk: &mut Walk<'_>,
        unwinder: &UnwinderNative<Bytes, MayAllocateDuringUnwind>,
    ) -> bool {
        let (from, bytes) = (walk.from, walk.bytes);
        let mut read = |address: u64| read_word(from, bytes, address).ok_or(());
        walk.at = walk.at.and_then(|at| {
            let next = unwinder.unwind_frame(at, &mut walk.regs, &mut self.0, &mut read);
            FrameAddress::from_return_address(next.ok()??)
        });
        walk.at.is_some()
    }
}

/// The eight bytes at an address of the dumped memory.
fn read_word(from: u64, bytes: &[u8], address: u64) -> Option<u64> {
    let place = usize::try_from(address.checked_sub(from)?).ok()?;
    let word = bytes.get(place..place.checked_add(8)?)?;
    Some(u64::from_ne_bytes(word.try_into().ok()?))
}

#[cfg(target_arch = "x86_64")]
fn registers(dump: &Dump<'_>, _highest: u64) -> UnwindRegsNative {
    UnwindRegsNative::new(dump.ip, dump.sp, dump.bp)
}

#[cfg(target_arch = "aarch64")]
fn registers(dump: &Dump<'_>, highest: u64) -> UnwindRegsNative {
    let mask = framehop::aarch64::PtrAuthMask::from_max_known_address(highest.max(1));
    UnwindRegsNative::new_with_ptr_auth_mask(mask, dump.lr, dump.sp, dump.bp)
}
