//! Thread ids, numbered without holes: a look-up for each of millions of events.

/// Ids a page; most pages of a host's range of ids have no thread that was met.
const PAGE: usize = 1 << 10;
/// No thread of that id was met.
const NONE: u32 = u32::MAX;

/// Which thread has which number.
#[derive(Debug, Default)]
pub(super) struct Tids {
    /// By the upper bits of the id; the kernel's largest id is 2^22 (`PID_MAX_LIMIT`).
    pages: Vec<Option<Box<[u32; PAGE]>>>,
    /// Ids beyond that, which no kernel gives: sorted.
    beyond: Vec<(u32, u32)>,
    all: Vec<u32>,
}

impl Tids {
    /// One beyond the largest id that a page may hold.
    const LIMIT: u32 = 1 << 22;

    /// The number of an id, if it has one.
    pub(super) fn get(&self, tid: u32) -> Option<usize> {
        let number = if tid < Self::LIMIT {
            let page = self.pages.get(tid as usize / PAGE)?.as_deref()?;
            page[tid as usize % PAGE]
        } else {
            let place = self.beyond.binary_search_by_key(&tid, |b| b.0).ok()?;
            self.beyond[place].1
        };
        (number != NONE).then_some(number as usize)
    }

    /// The number of an id, which it is given if it has none.
    pub(super) fn number(&mut self, tid: u32) -> usize {
        if let Some(number) = self.get(tid) {
            return number;
        }
        let number = self.all.len();
        self.all.push(tid);
        if tid < Self::LIMIT {
            let page = tid as usize / PAGE;
            if self.pages.len() <= page {
                self.pages.resize_with(page + 1, || None);
            }
            let page = self.pages[page].get_or_insert_with(|| Box::new([NONE; PAGE]));
            page[tid as usize % PAGE] = number as u32;
        } else {
            let place = self.beyond.partition_point(|b| b.0 < tid);
            self.beyond.insert(place, (tid, number as u32));
        }
        number
    }

    /// Every id that has a number, by number.
    pub(super) fn all(&self) -> impl Iterator<Item = u32> + '_ {
        self.all.iter().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_keep_their_numbers() {
        let mut tids = Tids::default();
        let ids = [7, 0, 4_194_303, 4_194_304, u32::MAX, 1_023, 1_024];
        let numbers: Vec<usize> = ids.iter().map(|&id| tids.number(id)).collect();
        assert_eq!(numbers, [0, 1, 2, 3, 4, 5, 6]);
        for (number, &id) in ids.iter().enumerate() {
            assert_eq!((tids.get(id), tids.number(id)), (Some(number), number));
        }
        assert_eq!((tids.get(8), tids.get(u32::MAX - 1)), (None, None));
        assert_eq!(tids.all().collect::<Vec<_>>(), ids);
    }
}
