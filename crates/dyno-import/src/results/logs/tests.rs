//! Tests with results in the formats that the tools print.

use super::*;

fn read(text: &str) -> (&'static str, Vec<LogRun>) {
    read_lines(text.as_bytes()).unwrap().unwrap().unwrap()
}

fn problem(text: &str) -> String {
    read_lines(text.as_bytes()).unwrap().unwrap_err()
}

/// The metrics `names` of the imported record.
fn values<const N: usize>(run: &LogRun, names: [&str; N]) -> [f64; N] {
    names.map(|name| run.metrics.get(name).unwrap_or_else(|| panic!("{name}: {run:?}")).0)
}

const SYSBENCH: &str = "sysbench 1.0.20 (using system LuaJIT 2.1.0)\n\nRunning the test with following options:\nNumber of threads: 16\n\
    [ 10s ] thds: 16 tps: 900.00 qps: 18000.00 (r/w/o: 1/2/3) lat (ms,95%): 99.00 err/s: 0.00 reconn/s: 0.00\nSQL statistics:\n    queries performed:\n        read:  14\n        total: 20\n    \
    transactions:                        6190   (1031.71 per sec.)\n    queries:  123800 (20634.24 per sec.)\n    ignored errors: 0 (0.00 per sec.)\n\n\
    General statistics:\n    total time:                          6.0089s\n    total number of events: 6190\n\nLatency (ms):\n         min:  5.21\n         avg:  15.50\n         \
    max:  120.33\n         95th percentile:  21.89\n         sum:  95981.33\n";

#[test]
fn sysbench_result_is_read_apart_from_progress_lines() {
    let (tool, runs) = read(&format!("{SYSBENCH}{}", SYSBENCH.replace("threads: 16", "threads: 32")));
    assert_eq!((tool, runs.len()), ("sysbench", 2));
    assert_eq!((runs[0].sessions, runs[1].sessions, runs[0].seconds), (Some(16), Some(32), Some(6.0089)));
    let names = ["ops_per_s", "queries_per_s", "service_mean_us", "service_p95_us", "service_max_us"];
    assert_eq!(values(&runs[0], names), [1031.71, 20634.24, 15_500.0, 21_890.0, 120_330.0]);
    let rated = SYSBENCH.replace("threads: 16", "threads: 16\nTarget transaction rate: 1000/sec");
    assert_eq!(values(&read(&rated).1[0], ["response_p95_us"]), [21_890.0]);
}

const PGBENCH: &str = "pgbench (16.2)\nprogress: 5.0 s, 900.0 tps, lat 9.0 ms stddev 1.0, 0 failed\ntransaction type: <builtin: TPC-B (sort of)>\n\
    scaling factor: 10\nquery mode: prepared\nnumber of clients: 8\nnumber of threads: 2\nduration: 60 s\n\
    number of transactions actually processed: 61912\nnumber of failed transactions: 0 (0.000%)\nlatency average = 7.755 ms\n\
    latency stddev = 2.1 ms\ntps = 1031.7 (without initial connection time)\n";

#[test]
fn pgbench_results_of_old_and_new_versions_are_read() {
    let (tool, runs) = read(PGBENCH);
    assert_eq!((tool, runs[0].sessions, runs[0].seconds), ("pgbench", Some(8), Some(60.0)));
    assert_eq!(values(&runs[0], ["ops_per_s", "service_mean_us"]), [1031.7, 7755.0]);
    assert_eq!(runs[0].labels["scaling factor"], "10");
    let old = PGBENCH.replace(
        "tps = 1031.7 (without initial connection time)",
        "tps = 1000 (including connections establishing)\ntps = 1031.7 (excluding connections establishing)\n\
         SQL script 1: a.sql\n - 5 transactions (1.0% of total, tps = 7)\n - latency average = 1 ms",
    );
    assert_eq!(values(&read(&old).1[0], ["ops_per_s", "service_mean_us"]), [1031.7, 7755.0]);
    let progress: String = PGBENCH.lines().take(2).map(|line| format!("{line}\n")).collect();
    assert!(problem(&progress).contains("without its result"));
}

#[test]
fn pgbench_log_gives_exact_rates_and_refuses_missing_parts() {
    let line = |client: u32, number: u32, latency: u32, at_us: u32| {
        format!("{client} {number} {latency} 0 1700000000 {at_us:06}\n")
    };
    let log: String = (1..=10)
        .map(|number| line(number % 2, number.div_ceil(2), 1_000 * number, number * 50_000))
        .collect();
    let (tool, runs) = read(&log);
    // From the start of the first transaction, 49 ms, to the end of the last, 500 ms.
    assert_eq!((tool, runs[0].sessions, runs[0].seconds), ("pgbench -l", Some(2), Some(0.451)));
    let names = ["ops_per_s", "service_mean_us", "service_p50_us", "service_p95_us"];
    assert_eq!(values(&runs[0], names), [10.0 / 0.451, 5_500.0, 5_000.0, 10_000.0]);
    assert_eq!(runs[0].started_at.unwrap().to_string(), "2023-11-14T22:13:20.049Z");
    let sampled = format!("{}{}", line(0, 1, 5, 1), line(0, 90, 5, 2));
    assert!(problem(&sampled).contains("transactions are missing"));
    assert!(problem(&line(3, 1, 5, 1)).contains("clients are missing"));
    assert!(problem(&format!("{log}0 9")).contains("line 11"));
}

#[test]
fn hammerdb_result_has_users_and_separate_nopm_and_tpm() {
    let (tool, runs) = read(
        "Vuser 1:2 Active Virtual Users configured\nVuser 1:Timing test period of 5 in minutes\n\
         Vuser 1:TEST RESULT : System achieved 5390 NOPM from 16373 MySQL TPM\n",
    );
    assert_eq!((tool, runs[0].sessions, runs[0].seconds), ("HammerDB", Some(2), Some(300.0)));
    let names = ["new_orders_per_s", "database_transactions_per_s"];
    assert_eq!(values(&runs[0], names), [5390.0 / 60.0, 16373.0 / 60.0]);
    assert!(!runs[0].metrics.contains_key("ops_per_s"));
}

#[test]
fn go_tpc_result_has_all_classes() {
    let (tool, runs) = read(
        "Finished\n[Summary] NEW_ORDER - Takes(s): 60.0, Count: 1500, TPM: 1500.0, Sum(ms): 60000.0, Avg(ms): 40.0, 50th(ms): 39.0, 90th(ms): 50.3, 95th(ms): 54.5, \
         99th(ms): 71.3, 99.9th(ms): 71.3, Max(ms): 71.3\n[Summary] NEW_ORDER_ERR - Takes(s): 60.0, Count: 2, TPM: 2.0\n\
         tpmC: 1500.0, tpmTotal: 3000.0, efficiency: 106.8%\n",
    );
    assert_eq!((tool, runs.len(), runs[0].seconds), ("go-tpc", 1, Some(60.0)));
    let names = ["ops_per_s", "new_orders_per_s", "new_order_per_s", "new_order_p95_us"];
    assert_eq!(values(&runs[0], names), [50.0, 25.0, 25.0, 54_500.0]);
    assert_eq!(runs[0].labels["new_order_err"], "2");
}

#[test]
fn only_benchbase_summary_json_is_read() {
    let (tool, runs) = read(
        r#"{"Start timestamp (milliseconds)": 1700000000000, "Elapsed Time (nanoseconds)": 60000000000, "DBMS Type": "POSTGRES", "Benchmark Type": "tpcc",
            "terminals": "8", "scalefactor": "1", "Latency Distribution": {"Median Latency (microseconds)": 900, "95th Percentile Latency (microseconds)": 1500},
            "Throughput (requests/second)": 150.5, "Goodput (requests/second)": 149.25}"#,
    );
    assert_eq!((tool, runs[0].sessions, runs[0].seconds), ("BenchBase", Some(8), Some(60.0)));
    let names = ["ops_per_s", "requests_per_s", "service_p50_us", "service_p95_us"];
    assert_eq!(values(&runs[0], names), [149.25, 150.5, 900.0, 1500.0]);
    for text in ["{\"id\": 1}", "a,b\n1,2\n", "", "Threads: 8\nTPS: 100\n"] {
        assert_eq!(read_lines(text.as_bytes()).unwrap().unwrap(), None, "{text}");
    }
}
