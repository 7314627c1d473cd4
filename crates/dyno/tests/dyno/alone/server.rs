//! A server on a throttled device: the limit is found, and so are the knee and the waits.

use crate::common::json::ExpectJson;
use crate::common::throttle::Throttle;
use crate::common::{TestEnv, find_check};
use dyno_testbed::Postgres;

use super::sweeps::{
    LOOKUPS, assert_reads_agree, knee_sessions, load, run_throttled, skip_unreached_limit, sweep,
};

#[test]
fn throttled_server_shows_its_limit_and_waits() {
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
    let scenario = format!("PostgreSQL on a device of {LIMIT} reads/s");
    let Some(throttle) = Throttle::limit_reads(&scenario, &server.data_dir(), LIMIT) else { return };
    let (desk, url) = (TestEnv::new(), server.url());
    assert_eq!(desk.dyno(&load(&url)).code, 0);
    throttle.add_process(server.pid().unwrap());
    let sweep = [&sweep(&url, LOOKUPS)[..], &["--verbose"]].concat();
    let (sweep_result, passed) = run_throttled(&throttle, desk.command(&sweep));
    let of_observer = |point: &serde_json::Value| {
        let (_, run) = desk.json(&["show", point["runs"][0].text()]);
        let reads = run["counters"]["observer"]["physical_reads"].as_f64().unwrap_or(0.0);
        reads / run["window"]["seconds"].number()
    };
    let of_observer: Vec<f64> = sweep_result["points"].items().iter().map(of_observer).collect();
    let is_reached =
        assert_reads_agree(&sweep_result, "physical_reads_per_s", &passed, &of_observer, LIMIT.into());
    if is_reached {
        // As above: the first point may be a few percent below the others.
        assert!(knee_sessions(&sweep_result) <= 2.0, "{:#}", sweep_result["findings"]);
    } else {
        skip_unreached_limit(&scenario, &passed);
    }
    let (_, last) = desk.json(&["show", "last"]);
    let events = last["waits"]["events"].items();
    assert_eq!(events[0]["event"], "DataFileRead", "{events:#?}");
    // Compares samples with the server's own clock over the same window: the share of active time that
    // sessions spent in reads. It is nearly all of it unless others use the processors.
    let counted = |name: &str| last["counters"]["portable"][name]["delta"].number();
    let clocked = 100.0 * counted("physical_read_time") / counted("db_time");
    let sampled = events[0]["share_pct"].number();
    // All sessions are in one queue, so each sample counts as one observation, whatever number of them it
    // finds there.
    let looks = last["waits"]["samples"].number();
    let chance = 500.0 * (clocked / 100.0 * (1.0 - clocked / 100.0).max(0.05) / looks).sqrt();
    assert!(
        (sampled - clocked).abs() <= chance + 5.0,
        "{sampled} % sampled, {clocked} % clocked: {events:#?}"
    );
    // If others use the processors, much of the work lies at the window's boundaries, and the two are not
    // compared.
    let compared = find_check(&last, "physical_reads")["status"].text().to_owned();
    let is_alone = find_check(&last, "processor")["status"] == "pass";
    let expected: &[&str] = if is_reached && is_alone { &["pass"] } else { &["pass", "skipped"] };
    assert!(expected.contains(&compared.as_str()), "{:#}", last["audit"]);
}
