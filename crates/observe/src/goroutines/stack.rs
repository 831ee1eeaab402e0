//! The stack of a goroutine that does not run: its frame pointers, and what it has put there.

use super::memory::word;

/// Functions on a stack; servers stand some twenty deep.
const MOST_FRAMES: usize = 64;
/// So much of a stack, from its innermost end, is searched for what the runtime has put there: the functions in which it parks a
/// goroutine take less.
const SEARCHED_BYTES: usize = 1_024;
/// Pointers on a stack that are followed at most.
const MOST_POINTERS: usize = 64;
/// Nothing is mapped below (`vm.mmap_min_addr`).
const LEAST_ADDRESS: u64 = 4_096;
/// Addresses of a program end here on amd64.
const HIGHEST_ADDRESS: u64 = 1 << 47;

/// A piece of a stack that begins at the stack pointer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece<'b> {
    pub(super) sp: u64,
    pub(super) bytes: &'b [u8],
}

impl Piece<'_> {
    /// What stands at an address.
    fn at(&self, address: u64) -> Option<u64> {
        let offset = usize::try_from(address.checked_sub(self.sp)?).ok()?;
        word(self.bytes, offset)
    }

    /// Where the calls return to, innermost first: the instruction at hand, then by the chain of frame pointers.
    pub(super) fn frames(&self, pc: u64, bp: u64) -> Vec<u64> {
        let mut all = vec![pc];
        let mut frame = bp;
        while all.len() < MOST_FRAMES {
            let back = frame.checked_add(8).and_then(|at| self.at(at));
            let Some(back) = back.filter(|back| *back >= LEAST_ADDRESS) else {
                break;
            };
            all.push(back);
            match self.at(frame) {
                // A caller's frame lies above.
                Some(next) if next > frame => frame = next,
                _ => break,
            }
        }
        all
    }

    /// Pointers to something beside the stack, each once.
    pub(super) fn pointers(&self, (low, high): (u64, u64)) -> Vec<u64> {
        let most = self.bytes.len().min(SEARCHED_BYTES);
        let mut all: Vec<u64> = Vec::new();
        for at in (0..most).step_by(8) {
            let Some(pointer) = word(self.bytes, at) else {
                break;
            };
            let may_be = pointer.is_multiple_of(8)
                && (LEAST_ADDRESS..HIGHEST_ADDRESS).contains(&pointer)
                && !(low..high).contains(&pointer);
            if may_be && all.len() < MOST_POINTERS && !all.contains(&pointer) {
                all.push(pointer);
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn bytes(words: &[u64]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_ne_bytes()).collect()
    }

    #[test]
    fn frames_are_chained_upwards() {
        // Two frames: the pointer to the next one, and where it returns to.
        let memory = bytes(&[7, 0x1020, 0x40_1000, 9, 0x1030, 0x40_2000, 0, 0x40_3000]);
        let piece = Piece {
            sp: 0x1000,
            bytes: &memory,
        };
        assert_eq!(
            piece.frames(0x40_0500, 0x1008),
            [0x40_0500, 0x40_1000, 0x40_2000, 0x40_3000]
        );
        assert_eq!(piece.frames(1, 0), [1], "no frame pointer");
        assert_eq!(piece.frames(1, 0x9000), [1], "beyond what was read");
    }

    #[test]
    fn pointers_lead_away_from_the_stack() {
        let memory = bytes(&[0x1008, 0xc000_1000, 3, 0xc000_1000, 0xc000_1004, 1 << 60]);
        let piece = Piece {
            sp: 0x1000,
            bytes: &memory,
        };
        assert_eq!(piece.pointers((0x1000, 0x2000)), [0xc000_1000]);
    }

    proptest! {
        #[test]
        fn whatever_stands_there_is_read_to_an_end(
            bytes: Vec<u8>, words: Vec<u64>, sp: u64, pc: u64, bp: u64, near in 0..256_u64,
        ) {
            let chain: Vec<u8> = words.iter().flat_map(|w| (sp.wrapping_add(w % 256)).to_ne_bytes()).collect();
            for bytes in [&bytes, &chain] {
                let piece = Piece { sp, bytes };
                for bp in [bp, sp.wrapping_add(near)] {
                    prop_assert!(piece.frames(pc, bp).len() <= MOST_FRAMES);
                }
                prop_assert!(piece.pointers((sp, u64::MAX)).len() <= MOST_POINTERS);
            }
        }
    }
}
