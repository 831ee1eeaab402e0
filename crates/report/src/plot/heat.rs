//! Heat maps of bounded size: counts on a grid, whatever the number of requests.

use std::fmt::Write as _;

/// Shades of a heat map. More than eight cannot be distinguished.
pub(crate) const LEVELS: usize = 8;

/// Counts on a grid over the unit square.
#[derive(Clone, Debug)]
pub(crate) struct Heat {
    columns: usize,
    rows: usize,
    counts: Vec<u64>,
}

impl Heat {
    /// An empty grid.
    pub(crate) fn new(columns: usize, rows: usize) -> Self {
        Self {
            columns,
            rows,
            counts: vec![0; columns * rows],
        }
    }

    /// Counts one thing at a place of the unit square, its edges included.
    pub(crate) fn add(&mut self, x: f64, y: f64) {
        let cell = |place: f64, cells: usize| ((place * cells as f64) as usize).min(cells - 1);
        let (column, row) = (cell(x, self.columns), cell(y, self.rows));
        self.counts[row * self.columns + column] += 1;
    }

    /// Adds the counts of a grid of the same size.
    pub(crate) fn add_all(&mut self, other: &Self) {
        for (count, other) in self.counts.iter_mut().zip(&other.counts) {
            *count += other;
        }
    }

    /// Path data of all cells of each shade, in cells from the upper left corner; index 0 is the
    /// lightest. Shades are steps of the logarithm of the count, so that a single slow request
    /// stays visible beside thousands of fast ones.
    pub(crate) fn paths(&self) -> [String; LEVELS] {
        let most = self.counts.iter().copied().max().unwrap_or(0);
        let mut paths: [String; LEVELS] = Default::default();
        for (row, cells) in self.counts.chunks(self.columns).enumerate() {
            let from_top = self.rows - 1 - row;
            let mut column = 0;
            // Neighbours of one shade become one rectangle.
            for run in cells.chunk_by(|&a, &b| level(a, most) == level(b, most)) {
                if let Some(level) = level(run[0], most) {
                    let width = run.len();
                    let _ = write!(paths[level], "M{column} {from_top}h{width}v1h-{width}z");
                }
                column += run.len();
            }
        }
        paths
    }

    /// The grid as a `viewBox`.
    pub(crate) fn view_box(&self) -> String {
        format!("0 0 {} {}", self.columns, self.rows)
    }
}

fn level(count: u64, most: u64) -> Option<usize> {
    if count == 0 {
        return None;
    }
    let share = (count as f64).ln_1p() / (most as f64).ln_1p();
    Some(((share * LEVELS as f64) as usize).min(LEVELS - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_beside_many_is_seen_and_neighbours_are_joined() {
        let mut heat = Heat::new(4, 2);
        heat.add(0.0, 0.0);
        for _ in 0..10_000 {
            heat.add(0.5, 1.0);
            heat.add(1.0, 1.0);
        }
        let paths = heat.paths();
        assert_eq!(paths[LEVELS - 1], "M2 0h2v1h-2z");
        assert_eq!(paths[0], "M0 1h1v1h-1z");
        assert!(paths[1..LEVELS - 1].iter().all(String::is_empty));
    }

    #[test]
    fn an_empty_grid_draws_nothing() {
        assert!(Heat::new(3, 3).paths().iter().all(String::is_empty));
    }
}
