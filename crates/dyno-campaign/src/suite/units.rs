//! How large a test is at a scale, and how long an operation has to take for a figure.

use dyno_analyze::conclusion::suite::Least;
use dyno_workload::own::suite::Test;

use super::choice::Depth;

/// Units of one operation at this scale.
pub(super) fn units(test: &Test, scale: u32) -> u64 {
    if test.are_units_scaled { test.units.saturating_mul(u64::from(scale)) } else { test.units }
}

/// The shortest time that gives a figure, and what makes the test larger.
pub(super) fn least(test: &Test, depth: Depth) -> Option<Least> {
    let larger = match (test.plan.iter().any(|(key, _)| key == "workload.folder"), depth) {
        (false, _) => "a larger data.scan_scale makes it longer",
        (true, Depth::Quick) => "without --quick it has more data",
        (true, Depth::Usual) => "--full has more data",
        (true, Depth::Full) => "a test of your own can have more data (--from)",
    };
    Some(Least { seconds: test.least?.as_secs_f64(), larger: larger.to_owned() })
}
