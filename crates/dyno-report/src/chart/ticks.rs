//! Chooses round numbers for the ticks of an axis.

/// Round values that cover `0..=max` in steps of 1, 2, 2.5 or 5 × 10ⁿ: about `wanted` of them, the last at or above `max`.
pub(crate) fn linear(max: f64, wanted: usize) -> Vec<f64> {
    let max = if max.is_finite() && max > 0.0 { max } else { 1.0 };
    let step = round_step(max / wanted.max(1) as f64);
    let count = (max / step - 1e-9).ceil().max(1.0) as usize;
    (0..=count).map(|i| i as f64 * step).collect()
}

/// Like [`linear`], with clock steps: 1, 2, 5, 10, 15, 30 of a unit of 60.
pub(crate) fn clock(max: f64, wanted: usize) -> Vec<f64> {
    const STEPS: [f64; 7] = [1.0, 2.0, 5.0, 10.0, 15.0, 20.0, 30.0];
    let rough = max / wanted.max(1) as f64;
    let step = [1.0, 60.0, 3_600.0]
        .into_iter()
        .flat_map(|unit| STEPS.map(|step| step * unit))
        .find(|&step| step >= rough && step >= 1.0);
    match step {
        Some(step) if max >= 1.0 => {
            let count = (max / step + 1e-9).floor() as usize;
            (0..=count).map(|i| i as f64 * step).collect()
        }
        _ => linear(max, wanted),
    }
}

/// The next of 1, 2, 2.5, 5, 10 × 10ⁿ at or above `rough`.
fn round_step(rough: f64) -> f64 {
    let power = 10f64.powf(rough.log10().floor());
    [1.0, 2.0, 2.5, 5.0].into_iter().find(|digit| digit * power >= rough * 0.999_999).unwrap_or(10.0) * power
}

/// Ticks of a logarithmic axis: 1, 2, 5 × 10ⁿ, with the outermost ticks enclosing `min..=max`.
pub(crate) fn log(min: f64, max: f64) -> Vec<f64> {
    let first = min.log10().floor() as i32;
    let last = max.log10().floor() as i32;
    let all: Vec<f64> =
        (first..=last + 1).flat_map(|power| [1.0, 2.0, 5.0].map(|digit| digit * 10f64.powi(power))).collect();
    let begin = all.iter().rposition(|&tick| tick <= min * 1.000_001).unwrap_or(0);
    let end = all.iter().position(|&tick| tick >= max * 0.999_999).unwrap_or(all.len() - 1);
    all[begin..=end.max(begin)].to_vec()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn axis_ticks_are_round_numbers() {
        assert_eq!(linear(31_204.0, 5), [0.0, 10_000.0, 20_000.0, 30_000.0, 40_000.0]);
        assert_eq!(linear(100.0, 5), [0.0, 20.0, 40.0, 60.0, 80.0, 100.0]);
        assert_eq!(linear(0.0, 5).len(), 6);
        assert_eq!(clock(10.0, 5), [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]);
        assert_eq!(clock(600.0, 5), [0.0, 120.0, 240.0, 360.0, 480.0, 600.0]);
        assert_eq!(log(61.0, 1_240.0), [50.0, 100.0, 200.0, 500.0, 1_000.0, 2_000.0]);
        assert_eq!(log(100.0, 100.0), [100.0]);
    }

    proptest! {
        #[test]
        fn linear_ticks_reach_the_maximum(max in 1e-6f64..1e12, wanted in 2usize..9) {
            let ticks = linear(max, wanted);
            prop_assert!(*ticks.last().unwrap() >= max * 0.999_999);
            prop_assert!(ticks.len() <= wanted + 2, "{} ticks", ticks.len());
        }

        #[test]
        fn logarithmic_ticks_enclose_all_values(min in 1e-3f64..1e9, factor in 1.0f64..1e6) {
            let ticks = log(min, min * factor);
            prop_assert!(ticks[0] <= min * 1.001 && *ticks.last().unwrap() >= min * factor * 0.999);
        }
    }
}
