//! Tests published fits, the tables of source documents, and laws with known coefficients.

use proptest::prelude::*;

use super::*;

const SEED: u64 = 1;

/// SPEC SDM91 on a Sun SPARCcenter 2000, 1994, as in the demo data of the R package `usl`: script executions per hour
/// against simulated users.
const SDM91: [(f64, f64); 7] = [
    (1.0, 64.9),
    (18.0, 995.9),
    (36.0, 1_652.4),
    (72.0, 1_853.2),
    (108.0, 1_828.9),
    (144.0, 1_775.0),
    (216.0, 1_702.2),
];

fn loads(points: &[(f64, f64)]) -> Vec<LoadPoint> {
    points.iter().map(|&(sessions, throughput)| LoadPoint::new(sessions, throughput)).collect()
}

fn near(value: f64, expected: f64, share: f64) -> bool {
    (value - expected).abs() <= expected.abs() * share
}

#[test]
fn usl_fit_of_spec_sdm91_matches_published_values() {
    // The readme of the R package `usl` 3.0: alpha 0.0277285, beta 0.0001044, gamma 89.9952330; its
    // tests: peak at 97, fitted values 90, 1078, 1541, 1850, 1879, 1822, 1646.
    let model = scalability(&loads(&SDM91), SEED).unwrap();
    let fit = model.fit(ScalabilityLaw::Usl);
    let Coefficients { lambda, sigma, kappa } = fit.coefficients;
    assert!(near(sigma, 0.027_728_5, 1e-4), "σ {sigma}");
    assert!(near(kappa, 0.000_104_4, 1e-3), "κ {kappa}");
    assert!(near(lambda, 89.995_233, 1e-4), "λ {lambda}");
    assert_eq!(fit.coefficients.peak().unwrap().sessions.round(), 97.0);
    let fitted: Vec<f64> = SDM91.iter().map(|&(n, _)| fit.coefficients.at(n).round()).collect();
    assert_eq!(fitted, [90.0, 1_078.0, 1_541.0, 1_850.0, 1_879.0, 1_822.0, 1_646.0]);
    assert!(near(fit.r_squared, 0.989_561, 1e-5), "R² {}", fit.r_squared);
    // Seven single runs do not justify a third coefficient; the sentence says what the chosen law
    // cannot show.
    assert_eq!(model.chosen, ScalabilityLaw::Amdahl);
    let sentence = model.sentence("ops_per_s");
    assert!(sentence.contains("measured throughput fell by 8.1 % from 72 to 216 sessions"), "{sentence}");
}

#[test]
fn repeated_measurements_justify_third_coefficient() {
    let thrice =
        |load: LoadPoint| LoadPoint { repeats: 3, scatter: 2.0 * (0.01 * load.throughput).powi(2), ..load };
    let ramp: Vec<LoadPoint> = loads(&SDM91).into_iter().map(thrice).collect();
    let model = scalability(&ramp, SEED).unwrap();
    assert_eq!(model.chosen, ScalabilityLaw::Usl);
    assert!(
        near(model.best().coefficients.sigma, 0.027_728_5, 1e-4),
        "weights that are all the same change nothing"
    );
}

#[test]
fn usl_fit_recovers_known_coefficients() {
    // tests/coef.R of the R package `usl`: throughput computed with 0.02, 0.02 and 1, in four
    // decimals.
    let points = [(1.0, 1.0), (2.0, 1.8868), (4.0, 3.0769), (6.0, 3.5294), (8.0, 3.5398), (10.0, 3.3557)];
    let Coefficients { lambda, sigma, kappa } =
        scalability(&loads(&points), SEED).unwrap().fit(ScalabilityLaw::Usl).coefficients;
    assert!(near(sigma, 0.02, 1e-3));
    assert!(near(kappa, 0.02, 1e-3));
    assert!(near(lambda, 1.0, 1e-3));
}

#[test]
fn raytracer_fit_with_contention_only_has_no_peak() {
    // BRL-CAD on an SGI Origin 2000 (Gunther 2007, chapter 5; demo data of `usl`). The optimum within bounds lies at
    // κ = 0, as scipy.optimize.least_squares finds too: σ 0.0577708, λ 21.848843, sum of squares 697.2378.
    let processors = [1.0, 4.0, 8.0, 12.0, 16.0, 20.0, 24.0, 28.0, 32.0, 48.0, 64.0];
    let rays = [20.0, 78.0, 130.0, 170.0, 190.0, 200.0, 210.0, 230.0, 260.0, 280.0, 310.0];
    let points: Vec<_> = processors.into_iter().zip(rays).collect();
    let model = scalability(&loads(&points), SEED).unwrap();
    let usl = model.fit(ScalabilityLaw::Usl).coefficients;
    assert!(near(usl.sigma, 0.057_770_8, 1e-5));
    assert!(usl.kappa < 1e-12);
    assert!(near(usl.lambda, 21.848_843, 1e-6));
    assert_eq!(model.chosen, ScalabilityLaw::Amdahl);
    assert!(near(model.best().coefficients.ceiling().unwrap(), 378.2, 1e-3));
    assert_eq!(model.best().coefficients.peak(), None);
}

#[test]
fn ramps_of_the_scaling_document_are_fitted() {
    // Logical reads per second of slob-scaling-oracle.csv; expected σ, κ, λ from scipy.optimize.least_squares.
    let sessions = [1.0, 2.0, 4.0, 6.0, 8.0, 10.0, 12.0];
    let variants: [(&str, [u32; 7], [f64; 3]); 3] = [
        (
            "11.2.0.3",
            [958_991, 1_785_514, 3_262_005, 4_644_773, 5_075_633, 5_585_903, 6_029_701],
            [0.033_720_1, 0.004_212_47, 955_693.5],
        ),
        (
            "12.1.0.1-noncdb",
            [834_591, 1_544_973, 2_904_410, 4_119_930, 4_446_362, 4_779_060, 5_103_530],
            [0.016_189_2, 0.006_037_65, 825_474.5],
        ),
        (
            "12.1.0.1-cdb",
            [850_671, 1_562_317, 2_913_040, 4_079_829, 4_413_406, 4_694_817, 5_023_686],
            [0.021_469_2, 0.006_091_98, 838_568.5],
        ),
    ];
    for (variant, reads, expected) in variants {
        let points: Vec<_> = sessions.into_iter().zip(reads.map(f64::from)).collect();
        let model = scalability(&loads(&points), SEED).unwrap();
        let Coefficients { lambda, sigma, kappa } = model.fit(ScalabilityLaw::Usl).coefficients;
        for (value, wanted) in [sigma, kappa, lambda].into_iter().zip(expected) {
            assert!(near(value, wanted, 1e-4), "{variant}: {value} for {wanted}");
        }
        assert_eq!(
            model.chosen,
            ScalabilityLaw::Amdahl,
            "{variant}: seven points do not pay for a third coefficient"
        );
    }
}

#[test]
fn published_flash_and_server_ramps_are_fitted() {
    // random-read-flash-oracle.csv, read IOPS against jobs: the law has its peak where the document
    // has it, at 64.
    let flash = [32_731, 63_901, 121_679, 230_022, 387_952, 510_868, 533_028, 510_848];
    let points: Vec<_> = (0..8).map(|i| f64::from(1 << i)).zip(flash.map(f64::from)).collect();
    let model = scalability(&loads(&points), SEED).unwrap();
    assert_eq!(model.chosen, ScalabilityLaw::Usl);
    let Coefficients { lambda, sigma, kappa } = model.best().coefficients;
    assert!(near(sigma, 0.038_650_7, 1e-4));
    assert!(near(kappa, 0.000_233_048, 1e-4));
    assert!(near(lambda, 37_951.98, 1e-4));
    assert_eq!(model.best().coefficients.peak().unwrap().sessions.round(), 64.0);
    // server-in-memory-oracle.csv, rows per second against jobs: no contention at all, up to all 32 threads.
    let scan = [2.953e6, 6.303e6, 1.282e7, 2.521e7, 4.762e7, 6.885e7];
    let lookup = [2.5e4, 4.959e4, 9.917e4, 2.0e5, 3.871e5, 5.12e5];
    for (rows, kappa) in [(scan, 0.000_543_276), (lookup, 0.000_701_853)] {
        let points: Vec<_> = (0..6).map(|i| f64::from(1 << i)).zip(rows).collect();
        let usl = scalability(&loads(&points), SEED).unwrap().fit(ScalabilityLaw::Usl).coefficients;
        assert!(usl.sigma < 1e-9, "{usl:?}");
        assert!(near(usl.kappa, kappa, 1e-4), "{usl:?}");
    }
}

#[test]
fn too_few_loads_are_refused_with_the_minimum() {
    let error = scalability(&loads(&SDM91[..5]), SEED).unwrap_err();
    assert_eq!(error.to_string(), "5 different loads are too few for a scalability fit: measure at least 6");
    // Six runs at one load are one load.
    assert_eq!(scalability(&loads(&[(4.0, 9.0); 6]), SEED), Err(FitError::TooFew { found: 1 }));
    assert_eq!(scalability(&[], SEED), Err(FitError::TooFew { found: 0 }));
    let mut zero = loads(&SDM91);
    zero[2].throughput = 0.0;
    let error = scalability(&zero, SEED).unwrap_err().to_string();
    assert!(error.starts_with("0 per second at 36 sessions cannot be fitted"), "{error}");
}

#[test]
fn scalability_fit_weights_points_by_repeats() {
    // An outlier measured once hardly changes a fit whose other points were measured a hundred
    // times.
    let truth = Coefficients { lambda: 100.0, sigma: 0.05, kappa: 0.001 };
    let mut ramp: Vec<LoadPoint> = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0]
        .into_iter()
        .map(|n| LoadPoint { repeats: 100, ..LoadPoint::new(n, truth.at(n)) })
        .collect();
    ramp[5].throughput *= 0.7;
    let equal = scalability(&ramp, SEED).unwrap().fit(ScalabilityLaw::Usl).coefficients;
    ramp[5].repeats = 1;
    let weighed = scalability(&ramp, SEED).unwrap().fit(ScalabilityLaw::Usl).coefficients;
    let off = |found: Coefficients| (found.at(32.0) / truth.at(32.0) - 1.0).abs();
    assert!(off(weighed) < 0.01, "{} {}", off(weighed), off(equal));
    assert!(off(equal) > 0.05, "{} {}", off(weighed), off(equal));
}

#[test]
fn confidence_intervals_contain_fit_and_are_reproducible() {
    let model = scalability(&loads(&SDM91), SEED).unwrap();
    let Fit { coefficients, intervals, .. } = model.fit(ScalabilityLaw::Usl);
    let within = |interval: ConfidenceInterval, value: f64| interval.low <= value && value <= interval.high;
    assert!(within(intervals.lambda, coefficients.lambda));
    assert!(within(intervals.sigma, coefficients.sigma));
    assert!(within(intervals.kappa, coefficients.kappa));
    // The R package's standard errors are 0.0091 for σ and 0.00002 for κ: a 95 % interval is some four of them wide.
    let width = |interval: ConfidenceInterval| interval.high - interval.low;
    assert!((0.5..2.0).contains(&(width(intervals.sigma) / (4.0 * 0.009_121_7))), "{intervals:?}");
    assert!((0.5..2.0).contains(&(width(intervals.kappa) / (4.0 * 0.000_019_9))), "{intervals:?}");
    assert_eq!(model, scalability(&loads(&SDM91), SEED).unwrap());
    assert_ne!(model, scalability(&loads(&SDM91), SEED + 1).unwrap());
}

#[test]
fn scalability_fit_is_described_in_words() {
    let model = scalability(&loads(&SDM91), SEED).unwrap();
    let sentence = model.words(model.fit(ScalabilityLaw::Usl), "ops_per_s");
    assert!(
        sentence.starts_with(
            "the Universal Scalability Law, R² 0.990: 90.0 operations/s with one session, contention σ 2.77 % (95 %: "
        ),
        "{sentence}"
    );
    assert!(sentence.contains("predicted peak at 97 sessions (95 %: "), "{sentence}");
    assert!(sentence.ends_with("with 1,884 operations/s"), "{sentence}");
    let short = Scalability { sessions_max: 72.0, ..model };
    let slow = short.words(model.fit(ScalabilityLaw::Usl), "ops_per_s");
    assert!(slow.ends_with(", beyond the 72 measured: an extrapolation"), "{slow}");
    let linear: Vec<_> = (1..=6).map(|n| (f64::from(n), 50.0 * f64::from(n))).collect();
    let sentence = scalability(&loads(&linear), SEED).unwrap().sentence("ops_per_s");
    assert_eq!(
        sentence,
        "linear scaling, R² 1.000: 50.0 operations/s with one session, the same again with each more \
         session; no limit in sight"
    );
}

proptest! {
    #[test]
    fn fit_recovers_each_scalability_law(lambda in 1.0..1e6, sigma in 0.01..0.8, kappa in 1e-5..1e-2) {
        let ramp = |truth: Coefficients| -> Vec<LoadPoint> {
            (0..8).map(|i| f64::from(1 << i)).map(|n| LoadPoint::new(n, truth.at(n))).collect()
        };
        let laws = [
            (ScalabilityLaw::Usl, Coefficients { lambda, sigma, kappa }),
            (ScalabilityLaw::Amdahl, Coefficients { lambda, sigma, kappa: 0.0 }),
            (ScalabilityLaw::Linear, Coefficients { lambda, sigma: 0.0, kappa: 0.0 }),
        ];
        for (law, truth) in laws {
            let model = fitted(&ramp(truth), 128.0, SEED, 1);
            prop_assert_eq!(model.chosen, law);
            let best = model.best().coefficients;
            prop_assert!(near(best.lambda, truth.lambda, 1e-5), "{:?} for {:?}", best, truth);
            prop_assert!((best.sigma - truth.sigma).abs() < 1e-5, "{:?} for {:?}", best, truth);
            prop_assert!((best.kappa - truth.kappa).abs() < 1e-6, "{:?} for {:?}", best, truth);
        }
    }

    #[test]
    fn fit_of_any_ramp_stays_within_bounds(throughputs in prop::collection::vec(1e-3..1e9, 6..12)) {
        let ramp: Vec<_> = (1..).map(f64::from).zip(throughputs).map(|(n, x)| LoadPoint::new(n, x)).collect();
        let model = fitted(&ramp, 12.0, SEED, 1);
        let squares = model.fits.map(|fit| sum_of_squares(&ramp, &fit.coefficients));
        // A law with more coefficients never has a larger error.
        prop_assert!(squares[1] <= squares[0] * (1.0 + 1e-9) && squares[2] <= squares[1] * (1.0 + 1e-9));
        for fit in model.fits {
            let Coefficients { lambda, sigma, kappa } = fit.coefficients;
            prop_assert!(lambda > 0.0 && (0.0..=1.0).contains(&sigma) && kappa >= 0.0, "{:?}", fit);
            prop_assert!(lambda.is_finite() && kappa.is_finite() && fit.r_squared <= 1.0 && fit.aicc.is_finite());
        }
    }
}

#[test]
fn law_that_fits_nothing_is_not_reported_as_a_fit() {
    // One session is fastest, then throughput drops: a queue of writers behind one lock behaves
    // like this.
    let falling =
        [(1.0, 25_700.0), (2.0, 5_100.0), (4.0, 17_200.0), (8.0, 4_300.0), (12.0, 17_700.0), (24.0, 3_300.0)];
    let model = scalability(&loads(&falling), SEED).unwrap();
    assert!(!model.best().holds(), "R² {}", model.best().r_squared);
    let sentence = model.sentence("ops_per_s");
    assert!(sentence.starts_with("no law fits: the nearest, "), "{sentence}");
    // A platform that one session saturates has no variance to explain: the result is a contention
    // of 100 %.
    let flat = [(1.0, 1_000.0), (2.0, 1_010.0), (4.0, 995.0), (8.0, 1_004.0), (12.0, 1_001.0), (24.0, 997.0)];
    let flat_model = scalability(&loads(&flat), SEED).unwrap();
    assert!(flat_model.best().r_squared < 0.5);
    assert!(flat_model.best().holds());
}
