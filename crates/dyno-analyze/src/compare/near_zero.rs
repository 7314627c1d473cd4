//! Detects figures too small for a percentage.
//!
//! 0.004 MB/s is twice 0.002 MB/s, but the difference is meaningless: both come from rounding or a
//! background process. A figure is nearly zero where one step of its last printed digit is more
//! than a tenth of it. Differences are then reported in the unit itself.

use dyno_record::Unit;

/// Steps of the last printed digit below which a figure is nearly zero.
const STEPS: f64 = 10.0;

/// One step of the last significant digit of a figure in this unit.
fn step(unit: Unit) -> f64 {
    match unit {
        Unit::Percent
        | Unit::PerSecond
        | Unit::BlocksPerSecond
        | Unit::RowsPerSecond
        | Unit::Microseconds => 0.1,
        Unit::MegabytesPerSecond | Unit::Sessions => 0.01,
        Unit::BytesPerSecond => 10_000.0,
        Unit::Bytes => 1_000.0,
        Unit::Seconds => 0.000_1,
        Unit::Count | Unit::Blocks | Unit::Rows => 0.1,
    }
}

/// Whether a percentage of `value` is meaningless.
pub fn is_near_zero(unit: Unit, value: f64) -> bool {
    value.abs() < STEPS * step(unit)
}

/// The difference of `b` from `a` in percent of `a`; absent where `a` is nearly zero.
pub fn difference_pct(unit: Unit, a: f64, b: f64) -> Option<f64> {
    let difference = 100.0 * (b - a) / a.abs();
    (!is_near_zero(unit, a) && difference.is_finite()).then_some(difference)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percent_difference_needs_a_meaningful_base() {
        assert_eq!(difference_pct(Unit::MegabytesPerSecond, 0.002, 0.004), None);
        assert_eq!(difference_pct(Unit::Percent, 0.3, 12.0), None);
        assert_eq!(difference_pct(Unit::PerSecond, 0.0, 0.0), None);
        assert_eq!(difference_pct(Unit::MegabytesPerSecond, 2.0, 4.0), Some(100.0));
        assert_eq!(
            difference_pct(Unit::PerSecond, 1_000.0, 0.0),
            Some(-100.0),
            "to nothing is a percent of something"
        );
    }
}
