//! Sweeps over a platform whose limit is known, because the kernel sets it, and what they say of each point.

use std::process::Command;
use std::time::Instant;

use crate::common::Running;
use crate::common::throttle::Throttle;
use serde_json::Value;

/// Data that no cache here holds.
const DATA: [&str; 6] =
    ["--set", "data.scale=64M", "--set", "data.scan_scale=0 blocks", "--set", "data.block_size=8K"];

/// Runs over that data, sessions upwards.
pub(crate) fn sweep<'a>(url: &'a str, workload: &'a str) -> Vec<&'a str> {
    let head = ["sweep", "--target", url, "--json", "--set", "sweep.sessions=1,2,4,8", "--set", workload];
    let rest = ["--set", "run.warmup=1s", "--set", "run.time=3s", "--set", "sweep.order=up"];
    [&head[..], &DATA, &rest].concat()
}

pub(crate) fn load(url: &str) -> Vec<&str> {
    [&["load", "--target", url][..], &DATA].concat()
}

/// `(sessions, measure)` of each point.
pub(crate) fn points(sweep: &Value, measure: &str) -> Vec<(f64, f64)> {
    let point = |point: &Value| {
        let value = point["measured"][measure].as_f64();
        (point["sessions"].as_f64().unwrap(), value.unwrap_or_else(|| panic!("no {measure} in {point:#}")))
    };
    sweep["points"].as_array().unwrap().iter().map(point).collect()
}

/// How far two accounts of one window may be apart, as a share: each looks at its ends in its own moment.
const SLACK: f64 = 0.08;

/// Single rows by key.
pub(crate) const LOOKUPS: &str = "workload.lookup_pct=100";

/// What a sweep says, and what the throttle let pass in each of its windows, reads per second.
pub(crate) fn measured(throttle: &Throttle, command: Command) -> (Value, Vec<f64>) {
    let mut sweep = Running::of(command);
    let (mut began, mut passed) = (None, Vec::new());
    while let Some(line) = sweep.line() {
        if line == "window" {
            began = Some((Instant::now(), throttle.passed()));
        } else if let Some((since, before)) = began.take_if(|_| line == "draining") {
            passed.push((throttle.passed() - before) as f64 / since.elapsed().as_secs_f64());
        }
    }
    let said = sweep.end();
    let value = serde_json::from_str(&said.out).unwrap_or_else(|error| panic!("{error}: {said:#?}"));
    (value, passed)
}

/// That the record has the reads that the throttle let pass, and the device no fewer; whether the limit was reached by each
/// point, without which there is neither a knee nor a queue to be found: others may keep the processors. `of_observer` are the
/// observer's own reads/s at each point, which the record leaves out and the throttle lets pass.
pub(crate) fn reads_agree(
    said: &Value,
    measure: &str,
    passed: &[f64],
    of_observer: &[f64],
    limit: f64,
) -> bool {
    // Where others keep the processors, much of the work is done while the counters are read, and rates are left out.
    let busy_with_others =
        |point: &Value| point["measured"]["others_cpu_pct"].as_f64().is_some_and(|pct| pct > 25.0);
    let is_left_out = |point: &Value| point["measured"][measure].is_null() && busy_with_others(point);
    if said["points"].as_array().unwrap().iter().any(is_left_out) {
        return false;
    }
    let reads = points(said, measure);
    assert_eq!(reads.len(), passed.len(), "each point has a window: {said:#}");
    for (place, ((sessions, reads), passed)) in reads.iter().zip(passed).enumerate() {
        let own = of_observer.get(place).copied().unwrap_or(0.0);
        let words =
            format!("{sessions} sessions: {reads} reads/s and {own} of the observer, {passed} were let pass");
        assert!(near(reads + own, *passed), "{words}");
        assert!(*passed <= limit * (1.0 + SLACK), "{passed} reads/s, the limit is {limit}");
    }
    // The device has other users, too.
    for ((sessions, reads), passed) in points(said, "device_reads_per_s").iter().zip(passed) {
        assert!(*reads >= passed * (1.0 - SLACK), "{sessions} sessions: {reads} reads/s of the device");
    }
    passed.iter().all(|passed| near(*passed, limit))
}

/// Counts a limit that this machine was too busy to reach.
pub(crate) fn not_reached(what: &str, passed: &[f64]) {
    dyno_testbed::cannot(
        what,
        &format!("others keep the machine too busy to reach the limit: {passed:.0?} reads/s"),
    );
}

/// Sessions at the knee by Kneedle, out of the sentence that a user reads.
pub(crate) fn knee(sweep: &Value) -> f64 {
    let mut findings = sweep["findings"].as_array().unwrap().iter().map(|finding| finding.as_str().unwrap());
    let words = "the knee (Kneedle) lies at ";
    let found = findings.find_map(|finding| Some(finding.split_once(words)?.1));
    let found = found.unwrap_or_else(|| panic!("no knee in {:#}", sweep["findings"]));
    found.split_whitespace().next().unwrap().parse().unwrap()
}

fn near(value: f64, limit: f64) -> bool {
    (value / limit - 1.0).abs() <= SLACK
}
