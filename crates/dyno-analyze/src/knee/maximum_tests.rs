//! Tests that no sentence about a ramp names a maximum below what was measured on it.

use proptest::prelude::*;

use super::*;
use crate::number::figure;
use crate::scalability::{Scalability, fitted};

fn ramp(throughputs: &[f64]) -> Vec<LoadPoint> {
    throughputs
        .iter()
        .zip(0..)
        .map(|(&x, i)| LoadPoint::new(f64::from(1 << i), x).with_latency(100.0))
        .collect()
}

/// Uses few resamples: they affect intervals but no maximum.
fn scalability(loads: &[LoadPoint]) -> Result<Scalability, FitError> {
    Ok(fitted(loads, loads.iter().map(|load| load.sessions).fold(0.0, f64::max), 1, 1))
}

/// All sentences about a ramp: its fit, its knee, its peak.
fn said(loads: &[LoadPoint]) -> Vec<String> {
    let fit = scalability(loads);
    let mut lines: Vec<String> = fit.iter().map(|fit| fit.sentence("ops_per_s")).collect();
    if let Ok(fit) = &fit {
        lines.extend(fit.fits.iter().map(|one| fit.words(one, "ops_per_s")));
    }
    lines.extend(knee(loads, &fit, None).sentences("ops_per_s"));
    lines
}

/// The figure before ` operations/s` in the sentence that starts with `begin`.
fn claimed(sentence: &str, begin: &str) -> Option<f64> {
    let (_, rest) = sentence.split_once(begin)?;
    let (before, _) = rest.split_once(" operations/s")?;
    before.rsplit(' ').next()?.replace(',', "").parse().ok()
}

/// Asserts that every claimed maximum is at least the measured one, and that the knee lies neither
/// above nor behind it.
fn hold(loads: &[LoadPoint]) {
    let most = loads.iter().map(|load| load.throughput).fold(0.0, f64::max);
    let printed: f64 = figure(most).replace(',', "").parse().unwrap();
    let at = loads.iter().find(|load| load.throughput == most).unwrap().sessions;
    for sentence in said(loads) {
        for begin in ["cannot exceed ", "predicted peak at ", "(Universal Scalability Law) lies at "] {
            if let Some(claim) = claimed(&sentence, begin) {
                assert!(claim >= printed, "{printed} was measured: {sentence}");
            }
        }
        if let Some(knee) = claimed(&sentence, "(Kneedle) lies at ") {
            assert!(knee <= printed, "{printed} was the most: {sentence}");
        }
    }
    if let Ok(knee) = knee(loads, &scalability(loads), None).kneedle {
        assert!(knee.sessions <= at, "the knee at {} lies behind the maximum at {at}", knee.sessions);
    }
}

#[test]
fn law_contradicted_by_data_is_not_shown() {
    // A ramp with one high point: Amdahl's law explains half of it, and has its limit far below that point.
    let loads = ramp(&[610.0, 1_130.0, 1_420.0, 2_419.0, 1_700.0, 1_790.0, 1_850.0]);
    let fit = scalability(&loads).unwrap();
    let amdahl = fit.fit(ScalabilityLaw::Amdahl);
    assert!(amdahl.holds(), "{amdahl:?}");
    assert!(!fit.shows(amdahl), "{amdahl:?}");
    let sentence = fit.sentence("ops_per_s");
    assert!(
        sentence.contains("would allow less than the 2,419 operations/s measured at 8 sessions"),
        "{sentence}"
    );
    assert!(!sentence.contains("cannot exceed"), "{sentence}");
    hold(&loads);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn knee_claims_agree_with_any_measured_ramp(throughputs in prop::collection::vec(1.0..1e5f64, 6..9)) {
        hold(&ramp(&throughputs));
    }

    #[test]
    fn noisy_saturating_ramp_has_no_claim_below_measured_maximum(
        sigma in 0.005..0.5f64,
        kappa in 0.0..0.005f64,
        noise in prop::collection::vec(0.8..1.2f64, 6..10),
    ) {
        let at = |n: f64| 1_000.0 * n / (1.0 + sigma * (n - 1.0) + kappa * n * (n - 1.0));
        let throughputs: Vec<f64> = noise.iter().zip(0..).map(|(noise, i)| noise * at(f64::from(1 << i))).collect();
        hold(&ramp(&throughputs));
    }
}
