//! Who owns the lock at an address, as far as the lock itself shows. Pure.

/// How many bytes of a lock are read: a mutex of glibc up to its kind.
pub(super) const LOCK_BYTES: usize = 20;

/// The bit of a lock word by which the releasing thread knows that others wait
/// (`FUTEX_WAITERS` of `linux/futex.h`).
const WAITERS: u32 = 0x8000_0000;
/// The bits of a lock word that are the owner's thread id (`FUTEX_TID_MASK`).
const TID_MASK: u32 = 0x3fff_ffff;

/// The values of the lock word of a mutex of glibc that is held (`sysdeps/nptl/lowlevellock.h`):
/// without waiters, or perhaps with some.
const HELD: [u32; 2] = [1, 2];
/// What a mutex of glibc may have in its kind (`nptl/pthreadP.h`): one of four types, robust,
/// inheriting or protecting priorities, shared between processes, with or without elision.
const KINDS: u32 = 0x3f3;
/// The bits of the kind that are its type.
const TYPE_MASK: u32 = 3;
/// The type of a mutex that its owner may lock again: only that has a count.
const RECURSIVE: u32 = 1;

/// The thread that owns the lock whose futex word begins `bytes`, in the process's own numbers;
/// 0 if it is not known. `is_thread` says whether a number is a thread of the process: a lock of
/// another kind has something else in the same place, and that is a thread by rare chance only.
///
/// Known are locks whose word holds the owner, as the kernel wants it for priority inheritance and
/// robust lists and musl keeps it for all but its plainest mutex, and `pthread_mutex_t` of glibc on
/// 64-bit machines (`sysdeps/nptl/bits/struct_mutex.h`: `__lock`, `__count`, `__owner`, `__nusers`,
/// `__kind`). Locks of Go, of Rust's standard library and of parking_lot know no owner.
pub(super) fn owner(bytes: &[u8], is_thread: impl Fn(u32) -> bool) -> u32 {
    let word = |n: usize| {
        let four = bytes.get(4 * n..4 * n + 4)?;
        Some(u32::from_ne_bytes(four.try_into().ok()?))
    };
    let Some(lock) = word(0) else { return 0 };
    if lock & WAITERS != 0 {
        let owner = lock & TID_MASK;
        return if is_thread(owner) { owner } else { 0 };
    }
    let (Some(count), Some(owner), Some(users), Some(kind)) = (word(1), word(2), word(3), word(4))
    else {
        return 0;
    };
    let is_mutex = HELD.contains(&lock)
        && kind & !KINDS == 0
        && (count == 0 || kind & TYPE_MASK == RECURSIVE)
        && users != 0;
    if is_mutex && is_thread(owner) {
        owner
    } else {
        0
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const HOLDER: u32 = 77;
    const NEXT: u32 = 78;
    const NOBODY: u32 = 79;

    fn lock(words: [u32; 5]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_ne_bytes()).collect()
    }

    fn owner_of(words: [u32; 5]) -> u32 {
        owner(&lock(words), |tid| tid == HOLDER || tid == NEXT)
    }

    #[test]
    fn a_held_mutex_names_its_owner() {
        for kind in [0, 1, 2, 3, 0x80, 0x100, 0x200, 0x40] {
            assert_eq!(owner_of([2, 0, 77, 1, kind]), 77, "{kind:#x}");
            assert_eq!(owner_of([1, 0, 78, 1, kind]), 78, "{kind:#x}");
        }
        assert_eq!(owner_of([2, 3, 77, 1, RECURSIVE]), 77);
    }

    #[test]
    fn a_word_with_the_owner_in_it_needs_nothing_else() {
        assert_eq!(owner_of([WAITERS | HOLDER, 9, 9, 9, 0xffff]), 77);
        assert_eq!(owner_of([WAITERS | 0x4000_0000 | NEXT, 0, 0, 0, 0]), 78);
        assert_eq!(
            owner(&lock([WAITERS | HOLDER, 0, 0, 0, 0])[..4], |tid| tid == 77),
            77
        );
        assert_eq!(
            owner_of([WAITERS | NOBODY, 0, 77, 1, 0]),
            0,
            "no thread of the process"
        );
    }

    #[test]
    fn what_is_no_held_mutex_has_no_owner() {
        for (words, why) in [
            ([0, 0, 77, 1, 0], "free"),
            ([3, 0, 77, 1, 0], "no lock word"),
            ([2, 0, 79, 1, 0], "no thread of the process"),
            ([2, 0, 0, 1, 0], "no owner"),
            ([2, 5, 77, 1, 0], "a count of one that is not recursive"),
            ([2, 0, 77, 0, 0], "without users"),
            ([2, 0, 77, 1, 0x4], "no kind"),
            ([2, 0, 77, 1, 0x7f00_0000], "half of a pointer for a kind"),
        ] {
            assert_eq!(owner_of(words), 0, "{why}");
        }
        assert_eq!(owner(&[], |_| true), 0);
        assert_eq!(owner(&lock([2, 0, 77, 1, 0])[..19], |_| true), 0, "cut off");
    }

    proptest! {
        #[test]
        fn an_owner_is_always_a_thread(bytes in proptest::collection::vec(any::<u8>(), 0..32),
                                       tids in proptest::collection::vec(any::<u32>(), 0..4)) {
            let found = owner(&bytes, |tid| tids.contains(&tid));
            prop_assert!(found == 0 || tids.contains(&found));
        }

        #[test]
        fn every_held_mutex_is_recognised(tid in 1_u32..0x3fff_ffff, lock_word in 1_u32..3,
                                          kind in 0_u32..4, shared in any::<bool>()) {
            let kind = kind | if shared { 0x80 } else { 0 };
            let bytes = lock([lock_word, 0, tid, 1, kind]);
            prop_assert_eq!(owner(&bytes, |t| t == tid), tid);
            prop_assert_eq!(owner(&bytes, |_| false), 0);
        }
    }
}
