//! A server on a device that lets little pass: the limit is found, and so are the knee and the waits.

use crate::common::throttle::Throttle;
use crate::common::{Desk, check};
use dyno_testbed::Postgres;

use super::sweeps::{LOOKUPS, knee, load, measured, not_reached, reads_agree, sweep};

#[test]
fn a_throttled_server_shows_its_limit_and_what_it_waits_for() {
    let Some(version) = Postgres::available().into_iter().rfind(|version| version.major >= 16) else {
        return dyno_testbed::skip(
            "a server on a throttled device",
            "it takes PostgreSQL 16 for direct reads",
        );
    };
    const LIMIT: u32 = 1_000;
    let settings = [
        ("debug_io_direct", "data"),
        ("shared_buffers", "1MB"),
        ("autovacuum", "off"),
        ("track_io_timing", "on"),
    ];
    let server = Postgres::start(&version, &settings);
    let what = format!("PostgreSQL on a device of {LIMIT} reads/s");
    let Some(throttle) = Throttle::reads(&what, &server.data_dir(), LIMIT) else { return };
    let (desk, url) = (Desk::new(), server.url());
    assert_eq!(desk.dyno(&load(&url)).code, 0);
    throttle.take(server.pid().unwrap());
    let sweep = [&sweep(&url, LOOKUPS)[..], &["--verbose"]].concat();
    let (said, passed) = measured(&throttle, desk.command(&sweep));
    let of_observer = |point: &serde_json::Value| {
        let (_, run) = desk.json(&["show", point["runs"][0].as_str().unwrap()]);
        let reads = run["counters"]["observer"]["physical_reads"].as_f64().unwrap_or(0.0);
        reads / run["window"]["seconds"].as_f64().unwrap()
    };
    let of_observer: Vec<f64> = said["points"].as_array().unwrap().iter().map(of_observer).collect();
    let is_reached = reads_agree(&said, "physical_reads_per_s", &passed, &of_observer, LIMIT.into());
    if is_reached {
        // As above: the first point may be a few percent below the others.
        assert!(knee(&said) <= 2.0, "{:#}", said["findings"]);
    } else {
        not_reached(&what, &passed);
    }
    let (_, last) = desk.json(&["show", "last"]);
    let events = last["waits"]["events"].as_array().unwrap();
    assert_eq!(events[0]["event"], "DataFileRead", "{events:#?}");
    // Samples against the server's own clock over the same window: how much of the time that its sessions were at work they
    // spent in reads, which is nearly all of it unless others have the processors.
    let counted = |name: &str| last["counters"]["portable"][name]["delta"].as_f64().unwrap();
    let clocked = 100.0 * counted("physical_read_time") / counted("db_time");
    let sampled = events[0]["share_pct"].as_f64().unwrap();
    // All sessions are in the same queue, so that a sample is one look, however many of them it finds there.
    let looks = last["waits"]["samples"].as_f64().unwrap();
    let chance = 500.0 * (clocked / 100.0 * (1.0 - clocked / 100.0).max(0.05) / looks).sqrt();
    assert!(
        (sampled - clocked).abs() <= chance + 5.0,
        "{sampled} % sampled, {clocked} % clocked: {events:#?}"
    );
    // Where others keep the processors, much of the work lies on the window's ends, and the two are not compared.
    let compared = check(&last, "physical_reads")["status"].as_str().unwrap().to_owned();
    let expected: &[&str] = if is_reached { &["pass"] } else { &["pass", "skipped"] };
    assert!(expected.contains(&compared.as_str()), "{:#}", last["audit"]);
}
