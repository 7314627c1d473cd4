//! When more sessions bring nothing any more.

/// Less than this times the best throughput before is no rise: repeats of one setting differ by as much.
pub const RISE_MIN: f64 = 1.02;

/// Steps that are still run after throughput no longer rises, so that the bend can be seen and fitted.
pub const STEPS_BEYOND: usize = 2;

/// The index of the step after which a ramp has seen enough: the last of [`STEPS_BEYOND`] steps in a row that did not
/// rise above the best before them. `throughputs` are in order of sessions; `None` while it still rises.
pub fn saturated_at(throughputs: &[f64]) -> Option<usize> {
    let mut best = f64::NEG_INFINITY;
    let mut flat = 0;
    for (i, &throughput) in throughputs.iter().enumerate() {
        // The first step rises above nothing. Little rises that add up are a rise once they exceed the best.
        if i == 0 || throughput >= best * RISE_MIN {
            best = throughput;
            flat = 0;
        } else {
            flat += 1;
        }
        if flat == STEPS_BEYOND {
            return Some(i);
        }
    }
    None
}
