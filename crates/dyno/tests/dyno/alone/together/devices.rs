//! SQLite on devices that let little pass: the limit is found, and so is the knee.

use crate::alone::sweeps::{LOOKUPS, knee, load, measured, not_reached, points, reads_agree, sweep};
use crate::common::Desk;
use crate::common::throttle::Throttle;

#[test]
fn reads_of_a_slow_device_reach_its_limit_and_no_more() {
    assert_limit_is_found(500);
}

#[test]
fn reads_of_a_faster_device_reach_its_limit_and_no_more() {
    assert_limit_is_found(2_000);
}

/// That a sweep on a device of `limit` reads/s finds just that.
fn assert_limit_is_found(limit: u32) {
    let desk = Desk::new();
    let what = format!("SQLite on a device of {limit} reads/s");
    let Some(throttle) = Throttle::reads(&what, desk.path(), limit) else { return };
    let url = format!("sqlite:{}?direct=on&cache=64K", desk.file("data.db").display());
    assert_eq!(desk.dyno(&load(&url)).code, 0);
    let sweep = [&sweep(&url, LOOKUPS)[..], &["--verbose"]].concat();
    let (said, passed) = measured(&throttle, throttle.around(&desk.command(&sweep)));
    if !reads_agree(&said, "physical_read_requests_per_s", &passed, &[], f64::from(limit)) {
        return not_reached(&what, &passed);
    }
    // A single session saturates it, and all that the others bring is waiting. Lookups find a few percent more or less of
    // their reads in the cache from point to point, which may make the second one the first near the maximum.
    assert!(knee(&said) <= 2.0, "{:#}", said["findings"]);
    let latency = points(&said, "service_mean_us");
    let factor = latency[3].1 / latency[0].1;
    assert!((6.0..=10.0).contains(&factor), "8 sessions wait 8 times as long: {latency:?}");
}
