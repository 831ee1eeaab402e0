//! Random numbers of simulations: a portable stream from a seed.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// A seeded stream.
#[derive(Debug)]
pub(crate) struct Draw {
    stream: ChaCha8Rng,
    spare: Option<f64>,
}

impl Draw {
    /// The stream of a seed and a number that keeps simulations of the same seed apart.
    pub(crate) fn new(seed: u64, stream: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(stream);
        Self {
            stream: rng,
            spare: None,
        }
    }

    /// Uniform, strictly between 0 and 1.
    pub(crate) fn uniform(&mut self) -> f64 {
        ((self.stream.next_u64() >> 11) as f64 + 0.5) / 2f64.powi(53)
    }

    /// Standard normal (Marsaglia & Bray 1964, the polar method).
    pub(crate) fn normal(&mut self) -> f64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        loop {
            let (x, y) = (2.0 * self.uniform() - 1.0, 2.0 * self.uniform() - 1.0);
            let square = x * x + y * y;
            if square > 0.0 && square < 1.0 {
                let scale = (-2.0 * square.ln() / square).sqrt();
                self.spare = Some(y * scale);
                return x * scale;
            }
        }
    }
}
