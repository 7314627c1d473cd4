//! Tests the three knees of one ramp, and the words where there is none.

use super::*;
use crate::scalability::scalability;

/// random-read-flash-oracle.csv: read IOPS against jobs; latency by Little's law.
fn flash() -> Vec<LoadPoint> {
    let iops = [32_731.0, 63_901.0, 121_679.0, 230_022.0, 387_952.0, 510_868.0, 533_028.0, 510_848.0];
    (0..8)
        .map(|i| f64::from(1 << i))
        .zip(iops)
        .map(|(jobs, iops)| LoadPoint::new(jobs, iops).with_latency(jobs / iops * 1e6))
        .collect()
}

#[test]
fn three_knee_definitions_give_three_answers() {
    let loads = flash();
    let knee = knee(&loads, &scalability(&loads, 1), Some(50.0));
    assert_eq!(
        knee.sentences("physical_read_requests_per_s"),
        [
            "the knee (Kneedle) lies at 32 sessions: 510,868 read requests/s at 62.6 µs on average",
            "the peak (Universal Scalability Law) lies at 64 sessions: 555,230 read requests/s",
            "the highest point within 50.0 µs lies at 16 sessions: 387,952 read requests/s at 41.2 µs on average",
        ]
    );
}

#[test]
fn peak_beyond_measured_load_is_an_extrapolation() {
    let loads: Vec<LoadPoint> = flash().into_iter().take(6).collect();
    let knee = knee(&loads, &scalability(&loads, 1), None);
    let [_, peak, limit] = knee.sentences("ops_per_s");
    assert!(peak.ends_with("(beyond the 32 measured: an extrapolation)"), "{peak}");
    assert_eq!(limit, "the highest point within a latency limit: no latency limit was given");
}

#[test]
fn throughput_that_falls_in_between_does_not_rise_evenly() {
    let measured = |throughput: [f64; 3]| {
        let loads = [1.0, 2.0, 4.0].into_iter().zip(throughput).map(|(n, rate)| LoadPoint::new(n, rate));
        knee_index(&loads.collect::<Vec<_>>())
    };
    let why = measured([683.0, 568.0, 833.0]).unwrap_err();
    assert_eq!(why, "throughput does not rise evenly: no knee in the measured range");
    assert!(measured([100.0, 200.0, 400.0]).unwrap_err().starts_with("throughput rises evenly"));
}

#[test]
fn missing_knee_is_explained() {
    let loads: Vec<LoadPoint> =
        (1..=4).map(|n| LoadPoint::new(f64::from(n), 50.0 * f64::from(n)).with_latency(2e4)).collect();
    let knee = knee(&loads, &scalability(&loads, 1), Some(1_000.0));
    assert_eq!(
        knee.sentences("ops_per_s"),
        [
            "the knee (Kneedle): throughput rises evenly: no knee in the measured range",
            "the peak (Universal Scalability Law): 4 different loads are too few for a scalability fit: measure at least 6",
            "the highest point within 1.00 ms: no point holds 1.00 ms: the nearest takes 20.0 ms at 1 session",
        ]
    );
}

#[test]
fn highest_throughput_within_limit_may_precede_last_point() {
    // Throughput falls while latency still keeps the limit: the result is the peak, not the last
    // point.
    let ramp = [(8.0, 900.0), (16.0, 1_000.0), (32.0, 950.0)];
    let loads: Vec<LoadPoint> = ramp.iter().map(|&(n, x)| LoadPoint::new(n, x).with_latency(500.0)).collect();
    assert_eq!(within_limit(&loads, 500.0), Within::Highest(1));
    assert_eq!(within_limit(&[LoadPoint::new(1.0, 1.0)], 500.0), Within::Unknown);
}

#[test]
fn platform_saturated_by_first_session_has_its_knee_there() {
    // Noise on a plateau has a shape too, and Kneedle alone would find a knee at 8 sessions.
    let plateau = [(1.0, 499.0), (2.0, 500.0), (4.0, 501.0), (8.0, 503.0), (16.0, 503.2)];
    let loads: Vec<LoadPoint> = plateau.iter().map(|&(n, x)| LoadPoint::new(n, x)).collect();
    let knee = knee(&loads, &scalability(&loads, 1), None);
    assert_eq!(knee.kneedle.map(|knee| knee.sessions), Ok(1.0));
}
