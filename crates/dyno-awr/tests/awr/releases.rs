//! Tests the layouts of the releases from 9i on, each in a small report made by the rules of
//! Oracle's own scripts.

use dyno_awr::{AwrReport, AwrReportKind, AwrWaitEvent, read_report};

fn read_clean(text: &str) -> AwrReport {
    let report = read_report(text, "report", 1).unwrap();
    assert_eq!(report.issues, [], "{:#?}", report.issues);
    report
}

fn assert_words(report: &AwrReport, expected: &[(&str, Option<&str>)]) {
    for (name, word) in expected {
        assert_eq!(report.word(name), *word, "{name}");
    }
}

fn assert_values(report: &AwrReport, expected: &[(&str, f64)]) {
    for (name, value) in expected {
        assert_eq!(report.value(name), Some(*value), "{name}");
    }
}

fn assert_absent(report: &AwrReport, names: &[&str]) {
    for name in names {
        assert_eq!(report.value(name), None, "{name}");
    }
}

/// Name, waits, seconds, printed mean and its unit, share, class.
type EventRow<'e> = (&'e str, Option<f64>, f64, Option<(f64, &'static str)>, Option<f64>, Option<&'e str>);

fn event_row(event: &AwrWaitEvent) -> EventRow<'_> {
    (
        &event.name,
        event.waits.map(|waits| waits.value),
        event.time_s.unwrap().value,
        event.average.map(|average| (average.reading.value, average.unit.name())),
        event.share_pct.map(|share| share.value),
        event.class.as_deref(),
    )
}

fn event_rows(events: &[AwrWaitEvent]) -> Vec<EventRow<'_>> {
    events.iter().map(event_row).collect()
}

#[test]
fn statspack_9i_report_is_read() {
    let report = read_clean(include_str!("../reports/statspack_9.2.txt"));
    assert_eq!(report.kind, AwrReportKind::Statspack);
    assert_words(
        &report,
        &[
            ("db_name", Some("KIOSK")),
            ("instance", Some("kiosk1")),
            ("version", Some("9.2.0.8.0")),
            ("rac", Some("NO")),
            ("host", Some("kiosk-host")),
            ("platform", None),
            ("cdb", None),
            ("begin_time", Some("03-May-06 09:00:00")),
            ("end_time", Some("03-May-06 10:00:00")),
        ],
    );
    assert_values(
        &report,
        &[
            ("dbid", 900_800_700.0),
            ("inst_num", 1.0),
            ("begin_snap", 11.0),
            ("end_snap", 12.0),
            ("end_cursors_per_session", 0.9),
            ("elapsed_min", 60.0),
            ("load_profile_per_s.redo_size", 1_234_567_890_123.45),
            ("load_profile_per_txn.redo_size", 2_469_135.25),
            ("load_profile_per_s.logical_reads", 20_000.25),
            ("load_profile_per_s.sorts", 12.5),
            ("load_profile_per_s.transactions", 5.0),
            ("efficiency_pct.recursive_call", 45.5),
            ("efficiency_pct.buffer_hit", 98.5),
            ("cache_bytes_begin.std_block_size", 8_192.0),
            ("instance_activity.user commits", 17_900.0),
        ],
    );
    assert_absent(
        &report,
        &["cpus", "db_time_min", "load_profile_per_txn.transactions", "derived.read_iops"],
    );
    assert_eq!(report.top_events_title.as_deref(), Some("Top 5 Timed Events"));
    assert_eq!(
        event_rows(&report.top_events),
        [
            ("db file sequential read", Some(1_082_700.0), 5_413.0, None, Some(60.25), None),
            ("CPU time", None, 2_700.0, None, Some(30.05), None),
            ("log file sync", Some(18_000.0), 270.0, None, Some(3.01), None),
            ("latch free", Some(2_500.0), 25.0, None, Some(0.28), None),
            ("SQL*Net more data to client", Some(40_100.0), 10.0, None, Some(0.11), None),
        ]
    );
    // Two pages of one table; timeouts are counted in a column that is no time.
    assert_eq!(report.all_events.len(), 5);
    assert_eq!(
        event_row(&report.all_events[2]),
        ("latch free", Some(2_500.0), 25.0, Some((10.0, "ms")), None, None)
    );
    assert_eq!(report.background_events[0].time_s.unwrap().value, 105.0);
    assert_eq!(report.tablespaces[0].figures["read_ms"].value, 5.5);
    assert_eq!(report.files[0].file.as_deref(), Some("/u01/oradata/kiosk/shelves01.dbf"));
    assert_eq!(report.statements[0].statements[1].id, "271828182");
    assert_eq!(report.parameters[2].end_value.as_deref(), Some("603979776"));
    let near = |name: &str, expected: f64| (report.value(name).unwrap() - expected).abs() < 1e-9;
    assert!(near("derived.log_file_parallel_write_ms", 6.0));
    assert!(near("derived.log_file_sync_ms", 15.0));
}

#[test]
fn statspack_10g_report_is_read() {
    let report = read_clean(include_str!("../reports/statspack_10.2.txt"));
    assert_words(
        &report,
        &[
            ("db_name", None),
            ("instance", Some("depot")),
            ("version", Some("10.2.0.4.0")),
            ("rac", Some("YES")),
            ("host", Some("depot-host.examp")),
            ("platform", None),
            ("startup_time", Some("01-May-08 07:30")),
        ],
    );
    assert_values(
        &report,
        &[
            ("dbid", 700_600_500.0),
            ("cpus", 4.0),
            ("memory_mb", 16_384.0),
            ("begin_snap", 501.0),
            ("elapsed_min", 30.0),
            ("load_profile_per_s.physical_writes", 60.25),
            ("cache_bytes_end.shared_pool_size", 603_979_776.0),
            ("host_cpu.user_pct", 25.5),
            ("host_cpu.cpu_wait_pct", 12.0),
            ("instance_cpu.busy_cpu_pct", 91.66),
            ("time_model_s.DB time", 2_700.0),
            ("derived.avg_active_sessions", 1.5),
            ("rac_load_per_s.global_cache_blocks_received", 40.5),
            ("rac_efficiency_pct.buffer_access_disk", 0.4),
        ],
    );
    assert_eq!(
        event_row(&report.top_events[4]),
        ("enq: TX - row lock contention", Some(9.0), 9.0, Some((1_001.0, "ms")), Some(0.3), None)
    );
    assert_eq!(report.all_events[1].timeouts_pct.unwrap().value, 0.0);
    assert_eq!(report.all_events[1].average.unwrap().reading.value, 2.0);
    assert_eq!(report.histograms[0].waits.unwrap().value, 217_000.0);
    assert_eq!(report.histograms[1].bands.last().unwrap().share_pct.value, 100.0);
}

#[test]
fn awr_10g_report_is_read() {
    let text = read_clean(include_str!("../reports/awr_10.2.txt"));
    let html = read_clean(include_str!("../reports/awr_10.2.html"));
    for report in [&text, &html] {
        assert_eq!(report.kind, AwrReportKind::Awr);
        assert_words(
            report,
            &[
                ("db_name", Some("DEPOT")),
                ("instance", Some("depot2")),
                ("version", Some("10.2.0.4.0")),
                ("rac", Some("YES")),
                ("host", Some("depot-host2")),
                ("platform", None),
                ("end_time", Some("16-Feb-13 06:00:16")),
            ],
        );
        assert_values(
            report,
            &[
                ("begin_snap", 3_726.0),
                ("elapsed_min", 59.43),
                ("db_time_min", 25.21),
                ("load_profile_per_s.redo_size", 68_225.0),
                ("load_profile_per_txn.redo_size", 12_794.53),
                ("load_profile_per_s.transactions", 5.33),
                ("efficiency_pct.recursive_call", 42.33),
            ],
        );
        assert_absent(report, &["cpus", "load_profile_per_s.read_io_requests"]);
        assert_eq!(report.top_events_title.as_deref(), Some("Top 5 Timed Events"));
        assert_eq!(event_rows(&report.top_events).len(), 5);
        assert_eq!(event_row(&report.top_events[0]), ("CPU time", None, 1_405.0, None, Some(92.9), None));
        let (name, waits, time, average, share, _) = event_row(&report.top_events[1]);
        assert_eq!(
            (name, waits, time, average, share),
            ("db file sequential read", Some(40_533.0), 181.0, Some((4.0, "ms")), Some(12.0))
        );
    }
    assert_values(
        &text,
        &[
            ("rac_load_per_s.estd_interconnect_traffic_kb", 28.34),
            ("os_stats.BUSY_TIME", 180_000.0),
            ("instance_activity_begin.session cursor cache count", 1_234_567.0),
            ("instance_activity_per_hour.log switches (derived)", 2.02),
        ],
    );
    assert_eq!(text.wait_classes.len(), 2);
    assert_eq!(text.statements[0].statements[0].figures["total_pct"].value, 66.2);
    assert_eq!(text.statements[1].statements[0].figures["cluster_pct"].value, 2.5);
}

#[test]
fn statspack_12c_wrapped_host_and_idle_events_are_read() {
    let report = read_clean(include_str!("../reports/statspack_12.1.txt"));
    assert_words(
        &report,
        &[("host", Some("till-host")), ("platform", Some("Linux x86 64-bit")), ("db_name", None)],
    );
    assert_values(&report, &[("cpus", 4.0), ("cores", 2.0), ("sockets", 1.0), ("db_time_min", 15.0)]);
    assert_eq!(report.top_events[0].name, "LGWR worker group idle");
    assert_eq!(event_row(&report.top_events[4]), ("CPU time", None, 360.0, None, Some(4.9), None));
    // Where only the last caption was too long, its end is on a line of its own.
    let text = include_str!("../reports/statspack_11.2.txt");
    for end in
        ["\n)\n~~~~ ---", "\n                                                                 )\n~~~~ ---"]
    {
        let report = read_clean(&text.replace("(G)\n~~~~ ---", &format!("(G{end}")));
        assert_words(&report, &[("host", Some("till-host")), ("platform", Some("Linux x86 64-bit"))]);
        assert_values(&report, &[("cpus", 4.0)]);
    }
}

#[test]
fn awr_19c_global_text_report_is_read() {
    let report = read_clean(include_str!("../reports/awr_19_global.txt"));
    assert_eq!(report.kind, AwrReportKind::AwrRacGlobal);
    assert_words(
        &report,
        &[
            ("db_name", Some("SHOP")),
            ("version", Some("19.0.0.0.0")),
            ("rac", Some("YES")),
            ("cdb", Some("NO")),
            ("instance", None),
            ("host", None),
        ],
    );
    assert_values(
        &report,
        &[
            ("begin_snap", 70.0),
            ("end_snap", 71.0),
            ("elapsed_min", 30.05),
            ("db_time_min", 90.25),
            ("load_profile_per_s.logical_reads", 30_000.75),
            ("load_profile_per_s.transactions", 60.75),
            ("redo_size_kb_per_s", 450.75),
            ("time_model_s.DB time", 5_415.0),
            ("derived.read_iops", 2_400.0),
            ("derived.cpu_busy_pct", 15.0),
        ],
    );
    let title = "Top Timed Foreground Events, instance '*' (cluster-wide)";
    assert_eq!(report.top_events_title.as_deref(), Some(title));
    assert_eq!(
        event_rows(&report.top_events),
        [
            (
                "db file sequential read",
                Some(3_600_000.0),
                1_800.0,
                Some((500.0, "us")),
                Some(33.24),
                Some("User I/O")
            ),
            ("DB CPU", None, 1_350.75, None, Some(24.94), None),
            ("log file sync", Some(90_000.0), 180.0, Some((2.0, "ms")), Some(3.32), Some("Commit")),
        ]
    );
    let two = &report.instances[1];
    assert_eq!((two.number, two.words["host"].as_str()), (2, "shop-two"));
    assert_eq!(two.figures["load_profile_per_s.logical_reads"].reading.value, 10_000.5);
    assert_eq!(two.figures["cpus"].reading.value, 8.0);
    assert_eq!(two.figures["avg_active_sessions"].reading.value, 1.0);
}

#[test]
fn pluggable_database_report_in_text_is_read() {
    let text = include_str!("../reports/awr_19_pdb.txt");
    for title in ["(PDB snapshots)", "(root snapshots)"] {
        let report = read_clean(&text.replace("(PDB snapshots)", title));
        assert_eq!(report.kind, AwrReportKind::AwrPdb);
        assert_values(
            &report,
            &[("begin_snap", 37.0), ("end_sessions", 0.0), ("load_profile_per_s.redo_size", 2.4)],
        );
        assert_absent(&report, &["io_profile_per_s.redo_requests", "derived.redo_iops"]);
        assert_eq!(report.containers[0].name, "SHOPPDB");
        assert_eq!(report.top_events[0].average.unwrap().seconds().value, 52.86);
    }
}

#[test]
fn awr_23ai_report_is_read() {
    let report = read_clean(include_str!("../reports/awr_23_cdb.html"));
    assert_words(
        &report,
        &[
            ("db_name", Some("SHOP")),
            ("version", Some("23.0.0.0.0")),
            ("cdb", Some("YES")),
            ("instance", Some("shop1")),
            ("host", Some("shop-one.example.com")),
            ("platform", Some("Linux x86 64-bit")),
        ],
    );
    assert_values(
        &report,
        &[
            ("begin_snap", 700.0),
            ("cpus", 16.0),
            ("load_profile_per_s.logical_reads", 64_000.5),
            ("load_profile_per_s.user_logons", 0.5),
            ("load_profile_per_s.transactions", 300.0),
        ],
    );
    assert_eq!(report.containers.len(), 2);
    assert_eq!(
        event_row(&report.top_events[0]),
        (
            "db file sequential read",
            Some(5_400_000.0),
            2_700.5,
            Some((500.09, "us")),
            Some(37.4),
            Some("User I/O")
        )
    );
}

/// The same report as the scripts write it and as SQL*Plus spools it with headings.
#[test]
fn spooled_reports_of_each_release_equal_plain_ones() {
    for text in [
        include_str!("../reports/awr_10.2.txt"),
        include_str!("../reports/awr_19_pdb.txt"),
        include_str!("../reports/awr_19_global.txt"),
        include_str!("../reports/statspack_10.2.txt"),
    ] {
        let plain = crate::facts::facts(&read_clean(text));
        for (first, dashes) in (0..14).flat_map(|first| [(first, 0), (first, 80)]) {
            let mut spooled = String::new();
            for (i, line) in text.replace('\u{c}', "").lines().enumerate() {
                if i % 14 == first {
                    spooled.push_str("\nOUTPUT\n");
                    spooled.push_str(&"-".repeat(dashes));
                    spooled.push_str(if dashes > 0 { "\n" } else { "" });
                }
                spooled.push_str(line);
                spooled.push('\n');
            }
            let report = read_report(&spooled, "report", 1).unwrap();
            let mismatches =
                crate::facts::differences(&format!("from {first}"), &plain, &crate::facts::facts(&report));
            assert!(mismatches.is_empty(), "{mismatches:#?} {:#?}", report.issues);
            assert!(report.issues.is_empty(), "{mismatches:#?} {:#?}", report.issues);
        }
    }
}
