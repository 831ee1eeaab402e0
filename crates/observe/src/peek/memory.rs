//! The memory of another process.

use rustix::io::Errno;

use super::locks::LOCK_BYTES;

/// Places asked for in one call; the kernel takes up to 1024 (`UIO_MAXIOV`).
const MOST_AT_ONCE: usize = 64;

/// What stands at an address; `None` if nothing is mapped there.
pub(super) type Found = Option<[u8; LOCK_BYTES]>;

/// The first bytes at each of `addresses` in the memory of process `pid`.
///
/// # Errors
///
/// [`Errno::PERM`] if this user may not look, [`Errno::SRCH`] if the process ended.
pub(super) fn peek(pid: u32, addresses: &[u64]) -> Result<Vec<Found>, Errno> {
    let mut found = Vec::with_capacity(addresses.len());
    while found.len() < addresses.len() {
        let rest = &addresses[found.len()..];
        let mut places = [[0; LOCK_BYTES]; MOST_AT_ONCE];
        let asked = rest.len().min(MOST_AT_ONCE);
        match read(pid, &rest[..asked], &mut places) {
            // A place that cannot be read ends the transfer without an error, unless it is the
            // first.
            Ok(count) if count > 0 => found.extend(places[..count].iter().copied().map(Some)),
            Ok(_) | Err(Errno::FAULT) => found.push(None),
            Err(error) => return Err(error),
        }
    }
    Ok(found)
}

/// Reads as many of `addresses` as can be read from the first on, and says how many.
#[expect(
    unsafe_code,
    reason = "process_vm_readv(2) has no safe wrapper: it is given where to write"
)]
fn read(
    pid: u32,
    addresses: &[u64],
    places: &mut [[u8; LOCK_BYTES]; MOST_AT_ONCE],
) -> Result<usize, Errno> {
    let theirs: Vec<libc::iovec> = addresses
        .iter()
        .map(|&address| libc::iovec {
            iov_base: std::ptr::without_provenance_mut(address as usize),
            iov_len: LOCK_BYTES,
        })
        .collect();
    let asked = theirs.len().min(MOST_AT_ONCE);
    let ours = libc::iovec {
        iov_base: places.as_mut_ptr().cast(),
        iov_len: asked * LOCK_BYTES,
    };
    // SAFETY: `ours` is live memory of that length for the time of the call; the kernel only reads
    // what the other process has at `theirs`, and checks those addresses itself.
    let count = unsafe {
        libc::process_vm_readv(
            pid as libc::pid_t,
            &raw const ours,
            1,
            theirs.as_ptr(),
            asked as libc::c_ulong,
            0,
        )
    };
    if count < 0 {
        let error = std::io::Error::last_os_error();
        return Err(Errno::from_io_error(&error).unwrap_or(Errno::IO));
    }
    Ok(count as usize / LOCK_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_be_read_is_and_the_rest_is_not() {
        let words: Vec<[u8; LOCK_BYTES]> = (0..200).map(|n| [n; LOCK_BYTES]).collect();
        let mut addresses: Vec<u64> = words.iter().map(|w| w.as_ptr() as u64).collect();
        for hole in [0, 1, 63, 64, 150, 199] {
            addresses[hole] = 8;
        }
        let found = peek(std::process::id(), &addresses).unwrap();
        assert_eq!(found.len(), addresses.len());
        for (place, found) in found.iter().enumerate() {
            let expected = (addresses[place] != 8).then(|| words[place]);
            assert_eq!(*found, expected, "{place}");
        }
        assert_eq!(peek(std::process::id(), &[]).unwrap(), []);
    }

    #[test]
    fn a_process_that_is_not_there_is_an_error() {
        assert_eq!(peek(i32::MAX as u32, &[4096]), Err(Errno::SRCH));
    }
}
