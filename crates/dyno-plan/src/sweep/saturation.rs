//! Detects when more sessions no longer increase throughput.

/// A throughput below this multiple of the best so far is no rise: repeats of one setting differ by as much.
pub const RISE_MIN: f64 = 1.02;

/// Steps to run after throughput stops rising, so that the bend is visible and can be fitted.
pub const STEPS_BEYOND: usize = 2;

/// The index of the step after which a ramp can stop: the last of [`STEPS_BEYOND`] consecutive steps without a rise above
/// the best before them. `throughputs` are in order of sessions; `None` while throughput still rises.
pub fn saturated_at(throughputs: &[f64]) -> Option<usize> {
    let mut best = f64::NEG_INFINITY;
    let mut flat = 0;
    for (i, &throughput) in throughputs.iter().enumerate() {
        // The first step always counts as a rise. Several small rises count once their sum exceeds the best.
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
