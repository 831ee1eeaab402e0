//! What an experiment that could not see what it looked for takes to see it.

use slowpath_core::nanos::SECOND;

use crate::design::Design;
use crate::experiment::{Hypothesis, Outcome};
use crate::judge::unseen;
use crate::power::pairs_to_see;

/// No experiment is made again that takes longer: hosts drift, and the user waits.
const LENGTH_MOST_NS: u64 = 300 * SECOND;

/// The pairs of blocks that the same experiment needs, by how much its own blocks scatter, where it is
/// undecided only because that was more than it had been planned for; `None` otherwise, and where as many as
/// take five minutes are no more than it had.
///
/// The scatter of the first and not its effect says how many, so that the choice favours no verdict (an
/// internal pilot: Wittes & Brittain 1990, <https://doi.org/10.1002/sim.4780090113>), and what is made again
/// is judged by its own blocks alone. Two looks at p < [`ALPHA`](crate::ALPHA) see an effect that is not there
/// in fewer than two of a hundred.
pub fn pairs_wanted(design: &Design, outcome: &Outcome, hypothesis: &Hypothesis) -> Option<usize> {
    let (effect, scatter) = unseen(design, outcome, hypothesis)?;
    let had = design.blocks.len() / 2;
    let most = (LENGTH_MOST_NS / (2 * design.slot_ns().max(1))) as usize;
    (most > had).then(|| pairs_to_see(effect, scatter, had + 1, most))
}
