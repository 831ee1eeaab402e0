//! All requests of a run, packed: ten million of them fit into some 400 MB.
//!
//! Requests are kept in blocks of [`BLOCK_ROWS`], column by column. A column of a block has one
//! base and, for each request, the distance from it in as few whole bytes as the largest distance
//! needs: what is the same in all requests of a block takes no room at all. Nothing is lost, whatever
//! the values are. Instants count from the request's scheduled one, as they lie close to it.

mod block;
mod field;
mod view;

use block::Block;
pub use block::{BLOCK_ROWS, Chunk};
pub use field::Field;
pub use view::SampleRef;

use crate::sample::Sample;

/// Requests in a fixed order, packed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Samples {
    /// Full ones, but for the last.
    blocks: Vec<Block>,
    len: usize,
}

impl Samples {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The request at a position.
    ///
    /// # Panics
    ///
    /// If there are not so many.
    #[inline]
    pub fn at(&self, position: usize) -> SampleRef<'_> {
        let block = &self.blocks[position / BLOCK_ROWS];
        let row = position % BLOCK_ROWS;
        assert!(row < block.rows(), "there are {} requests", self.len);
        SampleRef::new(block, row as u32)
    }

    /// The first request.
    pub fn first(&self) -> Option<SampleRef<'_>> {
        self.iter().next()
    }

    /// Every request, in order.
    #[inline]
    pub fn iter(&self) -> Iter<'_> {
        Iter {
            blocks: self.blocks.iter(),
            current: None,
            row: 0,
            left: self.len,
        }
    }

    /// The requests themselves, each of which takes 176 bytes: for few of them.
    pub fn to_vec(&self) -> Vec<Sample> {
        self.iter().map(SampleRef::to_sample).collect()
    }

    /// Takes all requests apart, changes them, and packs them again: for few of them.
    pub fn change(&mut self, change: impl FnOnce(&mut Vec<Sample>)) {
        let mut samples = self.to_vec();
        change(&mut samples);
        *self = samples.into();
    }

    /// Appends requests after a number of them that fills whole blocks.
    ///
    /// # Panics
    ///
    /// If the last block is not full.
    pub fn append(&mut self, other: Self) {
        assert!(
            self.len.is_multiple_of(BLOCK_ROWS),
            "all blocks are full but the last"
        );
        self.len += other.len;
        self.blocks.extend(other.blocks);
    }

    /// Packs the requests of a chunk and appends them; the chunk is empty then.
    ///
    /// # Panics
    ///
    /// As [`Samples::append`].
    pub fn push_chunk(&mut self, chunk: &mut Chunk) {
        if chunk.rows() > 0 {
            assert!(
                self.len.is_multiple_of(BLOCK_ROWS),
                "all blocks are full but the last"
            );
            self.len += chunk.rows();
            self.blocks.push(chunk.pack());
        }
    }

    /// Replaces every key that there is by what `of` makes of it.
    pub fn replace_keys(&mut self, of: impl Fn(u32) -> u32) {
        for block in &mut self.blocks {
            block.replace_keys(&of);
        }
    }

    /// Bytes on the heap.
    pub fn heap_bytes(&self) -> usize {
        let blocks = self.blocks.capacity() * size_of::<Block>();
        blocks + self.blocks.iter().map(Block::heap_bytes).sum::<usize>()
    }
}

/// Goes over requests in order.
#[derive(Clone, Debug)]
pub struct Iter<'a> {
    blocks: std::slice::Iter<'a, Block>,
    current: Option<&'a Block>,
    row: u32,
    left: usize,
}

impl<'a> Iterator for Iter<'a> {
    type Item = SampleRef<'a>;

    #[inline]
    fn next(&mut self) -> Option<SampleRef<'a>> {
        loop {
            if let Some(block) = self.current
                && (self.row as usize) < block.rows()
            {
                self.row += 1;
                self.left -= 1;
                return Some(SampleRef::new(block, self.row - 1));
            }
            (self.current, self.row) = (Some(self.blocks.next()?), 0);
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for Iter<'_> {}

impl<'a> IntoIterator for &'a Samples {
    type Item = SampleRef<'a>;
    type IntoIter = Iter<'a>;

    fn into_iter(self) -> Iter<'a> {
        self.iter()
    }
}

impl FromIterator<Sample> for Samples {
    fn from_iter<T: IntoIterator<Item = Sample>>(samples: T) -> Self {
        let mut packed = Self::default();
        let mut chunk = Chunk::default();
        for sample in samples {
            chunk.push(&sample);
            if chunk.is_full() {
                packed.push_chunk(&mut chunk);
            }
        }
        packed.push_chunk(&mut chunk);
        packed
    }
}

impl From<Vec<Sample>> for Samples {
    fn from(samples: Vec<Sample>) -> Self {
        samples.into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use rand_chacha::ChaCha8Rng;
    use rand_core::{Rng, SeedableRng};

    use super::*;
    use crate::nanos::Nanos;
    use crate::sample::{NONE, Outcome, Phase, Stage};

    /// A number of any size, and now and then an end of the range.
    fn any(random: &mut ChaCha8Rng) -> u64 {
        match random.next_u32() % 8 {
            0 => 0,
            1 => u64::MAX,
            bits => random.next_u64() >> (8 * bits),
        }
    }

    fn sample(random: &mut ChaCha8Rng, wild: bool) -> Sample {
        let mut at = |usual: u64| {
            let some = !random.next_u32().is_multiple_of(3);
            let ns = if wild { any(random) } else { usual };
            some.then_some(Nanos::new(ns))
        };
        let instants = [
            at(5_000),
            at(5_003),
            at(6_000),
            at(1_000),
            at(9_000),
            at(12_000),
        ];
        let [
            connect_begin,
            connected,
            secured,
            connection_since,
            sent,
            first_byte,
        ] = instants;
        let (first_event, gap_begin) = (at(14_000), at(15_000));
        Sample {
            scheduled: at(4_000).unwrap_or(Nanos::new(1)),
            ready: at(4_500).unwrap_or(Nanos::new(1)),
            done: at(20_000).unwrap_or(Nanos::new(1)),
            connect_begin,
            connected,
            secured,
            connection_since,
            sent,
            first_byte,
            first_event,
            gap_begin,
            gap_ns: any(random),
            received_bytes: any(random),
            idle_before_ns: any(random),
            sent_bytes: any(random) as u32,
            serial: any(random) as u32,
            connection: any(random) as u32,
            index_on_connection: any(random) as u32,
            in_flight: any(random) as u32,
            events: any(random) as u32,
            key: if random.next_u32().is_multiple_of(4) {
                NONE
            } else {
                any(random) as u32
            },
            user: any(random) as u32,
            repeat: any(random) as u16,
            endpoint: any(random) as u16,
            local_port: any(random) as u16,
            status: any(random) as u16,
            errno: any(random) as u16,
            stage: [Stage::Warmup, Stage::Measured][random.next_u32() as usize % 2],
            outcome: Outcome::ALL[random.next_u32() as usize % Outcome::ALL.len()],
            phase: Phase::ALL[random.next_u32() as usize % Phase::ALL.len()],
        }
    }

    fn some(seed: u64, count: usize, wild: bool) -> Vec<Sample> {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        (0..count).map(|_| sample(&mut random, wild)).collect()
    }

    #[test]
    fn what_is_packed_is_unpacked() {
        for (seed, count) in [0, 1, 2, 63, BLOCK_ROWS, 3 * BLOCK_ROWS + 7]
            .into_iter()
            .enumerate()
        {
            for wild in [false, true] {
                let samples = some(seed as u64, count, wild);
                let packed: Samples = samples.iter().cloned().collect();
                assert_eq!((packed.len(), packed.iter().len()), (count, count));
                assert_eq!(packed.to_vec(), samples);
                for (position, sample) in samples.iter().enumerate() {
                    assert_eq!(packed.at(position).to_sample(), *sample);
                    assert_eq!(packed.at(position).latency_ns(), sample.latency_ns());
                    if !wild {
                        assert_eq!(packed.at(position).lag_ns(), sample.lag_ns());
                    }
                }
                assert_eq!(packed, samples.into());
            }
        }
    }

    #[test]
    fn the_ends_of_the_range_are_kept_side_by_side() {
        let due = |ns, done| Sample {
            done: Nanos::new(done),
            sent: Some(Nanos::new(ns)),
            received_bytes: done,
            ..Sample::due(Nanos::new(ns))
        };
        let samples = vec![
            due(1, u64::MAX),
            due(u64::MAX, 1),
            due(1 << 63, 1),
            due(1, 1 << 63),
        ];
        assert_eq!(Samples::from(samples.clone()).to_vec(), samples);
    }

    #[test]
    fn what_all_have_alike_takes_no_room() {
        let due = |serial: u32| Sample {
            serial,
            ..Sample::due(Nanos::new(1_000 + u64::from(serial) * 10_000))
        };
        let packed: Samples = (0..10 * BLOCK_ROWS as u32).map(due).collect();
        let each = packed.heap_bytes() as f64 / packed.len() as f64;
        assert!(
            each < 4.0,
            "{each}: three bytes of an instant, and what a block costs"
        );
    }

    #[test]
    fn parts_are_joined_and_keys_replaced() {
        let samples = some(7, 2 * BLOCK_ROWS + 5, false);
        let (first, second) = samples.split_at(BLOCK_ROWS);
        let mut joined = Samples::from(first.to_vec());
        joined.append(second.to_vec().into());
        assert_eq!(joined.to_vec(), samples);
        joined.replace_keys(|key| key ^ 1);
        let changed = |sample: &Sample| match sample.key {
            NONE => NONE,
            key => key ^ 1,
        };
        let keys: Vec<u32> = joined.iter().map(SampleRef::key).collect();
        assert_eq!(keys, samples.iter().map(changed).collect::<Vec<_>>());
    }
}
