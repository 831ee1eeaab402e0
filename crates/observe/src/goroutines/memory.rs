//! Many places in the memory of another process, read at once while it runs on.

use rustix::io::Errno;

/// Places that one call reads; the kernel takes up to 1024 (`UIO_MAXIOV`).
const MOST_AT_ONCE: usize = 1024;

/// A place in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Range {
    pub(super) address: u64,
    pub(super) bytes: usize,
}

/// What was read: one place after the other.
#[derive(Debug, Default)]
pub(super) struct Bytes {
    all: Vec<u8>,
    /// Where each place begins in it, and whether it could be read.
    places: Vec<(usize, bool)>,
}

impl Bytes {
    /// What stands at a place; `None` if nothing is mapped there.
    pub(super) fn get(&self, place: usize) -> Option<&[u8]> {
        let &(begin, is_read) = self.places.get(place)?;
        let end = self
            .places
            .get(place + 1)
            .map_or(self.all.len(), |next| next.0);
        self.all.get(begin..end).filter(|_| is_read)
    }
}

/// Eight bytes as a number; `None` beyond the end.
pub(super) fn word(bytes: &[u8], at: usize) -> Option<u64> {
    let word = bytes.get(at..at.checked_add(8)?)?;
    Some(u64::from_ne_bytes(word.try_into().ok()?))
}

/// Four bytes as a number; `None` beyond the end.
pub(super) fn half(bytes: &[u8], at: usize) -> Option<u32> {
    let half = bytes.get(at..at.checked_add(4)?)?;
    Some(u32::from_ne_bytes(half.try_into().ok()?))
}

/// Reads places of process `pid`. What is not mapped is left out of the result, and is no error.
///
/// # Errors
///
/// [`Errno::PERM`] if this user may not look, [`Errno::SRCH`] if the process ended.
pub(super) fn read(pid: u32, ranges: &[Range]) -> Result<Bytes, Errno> {
    let total = ranges.iter().map(|range| range.bytes).sum();
    let mut bytes = Bytes {
        all: vec![0; total],
        places: Vec::with_capacity(ranges.len()),
    };
    let mut at = 0;
    while bytes.places.len() < ranges.len() {
        let rest = &ranges[bytes.places.len()..];
        let asked = &rest[..rest.len().min(MOST_AT_ONCE)];
        let count = match read_some(pid, asked, &mut bytes.all[at..]) {
            Ok(count) => count,
            Err(Errno::FAULT) => 0,
            Err(error) => return Err(error),
        };
        // The transfer ends at the first place that cannot be read.
        let mut given = 0;
        let mut is_broken = false;
        for range in asked {
            is_broken = given + range.bytes > count;
            bytes.places.push((at, !is_broken));
            at += range.bytes;
            given += range.bytes;
            if is_broken {
                break;
            }
        }
        debug_assert!(is_broken || given == count);
    }
    Ok(bytes)
}

/// One word of process `pid`.
pub(super) fn read_word(pid: u32, address: u64) -> Option<u64> {
    let range = Range { address, bytes: 8 };
    let bytes = read(pid, &[range]).ok()?;
    word(bytes.get(0)?, 0)
}

/// A piece of memory of process `pid`.
pub(super) fn read_one(pid: u32, address: u64, bytes: usize) -> Option<Vec<u8>> {
    let read = read(pid, &[Range { address, bytes }]).ok()?;
    read.get(0).map(<[u8]>::to_vec)
}

/// Reads as many of `ranges` as can be read from the first on, and says how many bytes.
#[expect(
    unsafe_code,
    reason = "process_vm_readv(2) has no safe wrapper: it is given where to write"
)]
fn read_some(pid: u32, ranges: &[Range], into: &mut [u8]) -> Result<usize, Errno> {
    let theirs: Vec<libc::iovec> = ranges
        .iter()
        .map(|range| libc::iovec {
            iov_base: std::ptr::without_provenance_mut(range.address as usize),
            iov_len: range.bytes,
        })
        .collect();
    let ours = libc::iovec {
        iov_base: into.as_mut_ptr().cast(),
        iov_len: into.len(),
    };
    // SAFETY: `ours` is live memory of that length for the time of the call, and the kernel writes no more than that; it only
    // reads what the other process has at `theirs`, and checks those addresses itself.
    let count = unsafe {
        libc::process_vm_readv(
            pid as libc::pid_t,
            &raw const ours,
            1,
            theirs.as_ptr(),
            theirs.len() as libc::c_ulong,
            0,
        )
    };
    if count < 0 {
        let error = std::io::Error::last_os_error();
        return Err(Errno::from_io_error(&error).unwrap_or(Errno::IO));
    }
    Ok(count as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_be_read_is_and_the_rest_is_not() {
        let own: Vec<[u8; 24]> = (0..2_500).map(|n| [n as u8; 24]).collect();
        let holes = [0, 1, 1_023, 1_024, 2_000, 2_499];
        let range = |(place, text): (usize, &[u8; 24])| Range {
            address: if holes.contains(&place) {
                8
            } else {
                text.as_ptr() as u64
            },
            bytes: 1 + place % 24,
        };
        let ranges: Vec<Range> = own.iter().enumerate().map(range).collect();
        let found = read(std::process::id(), &ranges).unwrap();
        for (place, text) in own.iter().enumerate() {
            let expected = (!holes.contains(&place)).then(|| &text[..=place % 24]);
            assert_eq!(found.get(place), expected, "{place}");
        }
        assert_eq!(found.get(ranges.len()), None);
    }

    #[test]
    fn numbers_end_with_the_bytes() {
        let bytes = [1, 0, 0, 0, 2, 0, 0, 0, 3];
        assert_eq!(word(&bytes, 0), Some(1 | 2 << 32));
        assert_eq!((word(&bytes, 2), half(&bytes, 4)), (None, Some(2)));
        assert_eq!((half(&bytes, 6), word(&bytes, usize::MAX)), (None, None));
    }

    #[test]
    fn a_process_that_is_not_there_is_an_error() {
        let range = Range {
            address: 4_096,
            bytes: 8,
        };
        assert_eq!(read(i32::MAX as u32, &[range]).err(), Some(Errno::SRCH));
    }
}
