//! The number of units in a test's operation, and how long an operation must take to give a result.

use dyno_analyze::conclusion::suite::Least;
use dyno_workload::custom::suite::Test;

use super::choice::Depth;

/// Number of units of one operation at this scale.
pub(super) fn units(test: &Test, scale: u32) -> u64 {
    if test.are_units_scaled { test.units.saturating_mul(u64::from(scale)) } else { test.units }
}

/// The shortest operation that gives a result, and a hint on how to make the test larger.
pub(super) fn least(test: &Test, depth: Depth) -> Option<Least> {
    let larger = match (test.plan.iter().any(|(key, _)| key == "workload.folder"), depth) {
        (false, _) => "a larger data.scan_scale makes it longer",
        (true, Depth::Quick) => "without --quick it has more data",
        (true, Depth::Usual) => "--full has more data",
        (true, Depth::Full) => "a test of your own can have more data (--from)",
    };
    Some(Least { seconds: test.least?.as_secs_f64(), larger: larger.to_owned() })
}
