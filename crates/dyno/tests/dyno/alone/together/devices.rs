//! SQLite on throttled devices: the limit is found, and so is the knee.

use crate::alone::sweeps::{
    LOOKUPS, assert_reads_agree, knee_sessions, load, points, run_throttled, skip_unreached_limit, sweep,
};
use crate::common::TestEnv;
use crate::common::throttle::Throttle;

#[test]
fn slow_device_read_limit_is_found() {
    assert_limit_is_found(500);
}

#[test]
fn faster_device_read_limit_is_found() {
    assert_limit_is_found(2_000);
}

/// Asserts that a sweep on a device of `limit` reads/s finds this limit.
fn assert_limit_is_found(limit: u32) {
    let desk = TestEnv::new();
    let scenario = format!("SQLite on a device of {limit} reads/s");
    let Some(throttle) = Throttle::limit_reads(&scenario, desk.path(), limit) else { return };
    let url = format!("sqlite:{}?direct=on&cache=64K", desk.file("data.db").display());
    assert_eq!(desk.dyno(&load(&url)).code, 0);
    let sweep = [&sweep(&url, LOOKUPS)[..], &["--verbose"]].concat();
    let (sweep_result, passed) = run_throttled(&throttle, throttle.wrap_command(&desk.command(&sweep)));
    if !assert_reads_agree(&sweep_result, "physical_read_requests_per_s", &passed, &[], f64::from(limit)) {
        return skip_unreached_limit(&scenario, &passed);
    }
    // A single session saturates the device, and further sessions only wait. The share of lookups found
    // in the cache varies by a few percent from point to point. Therefore the second point may be the first
    // one near the maximum.
    assert!(knee_sessions(&sweep_result) <= 2.0, "{:#}", sweep_result["findings"]);
    let latency = points(&sweep_result, "service_mean_us");
    let factor = latency[3].1 / latency[0].1;
    assert!((6.0..=10.0).contains(&factor), "8 sessions wait 8 times as long: {latency:?}");
}
