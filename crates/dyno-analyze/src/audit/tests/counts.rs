//! Tests that compare counts of client, database and host.

use std::collections::BTreeMap;

use dyno_plan::{Commit, DriveMode};
use dyno_record::window::WorkCounts;
use dyno_record::{CountingRules, Expected, InvariantResult, Learned, Mean, WorkloadFacts};

use super::counting::{commits, fuzzy, statements};
use super::*;

/// The record of a run whose server has not counted some of the rows.
fn missing_rows(record: &mut RunRecord, counting: CountingRules, rows: i64) {
    record.targets[0].identity.counting = counting;
    shift_whole(record, Counter::RowsWritten, -rows);
}

#[test]
fn audit_counts_are_explained_in_plain_words() {
    let cases = [
        (fixture::sqlite(), "commits", "2,000 acknowledged, database counted 2,000"),
        (
            fixture::postgres(),
            "commits",
            "10,000 acknowledged (8,000 reads and 2,000 updates, each a transaction), database counted 10,000 (3 of Dyno's own left out)",
        ),
        (fixture::postgres(), "rows_updated", "128,000 acknowledged, database counted 128,000"),
        (
            fixture::postgres(),
            "logical_reads",
            "640,000 rows of one block each touched, database counted 704,000 logical reads, 1.10 per row (the excess is index and catalog blocks)",
        ),
        (
            fixture::postgres(),
            "work_unit",
            "8,000 selects × 64 = 512,000 rows, 2,000 updates × 64 = 128,000 rows: all touched",
        ),
    ];
    for (record, name, words) in cases {
        assert_eq!(find(&record, name).detail, words);
    }
}

#[test]
fn custom_workload_is_audited_by_transactions_and_invariants() {
    let custom_run = |missing: u64, after: Result<String, String>| {
        postgres(|record| {
            let money =
                InvariantResult { name: "money".into(), is: None, before: Some("20000".into()), after };
            record.workload = Some(WorkloadFacts {
                scale: 1,
                name: "bank".into(),
                digest: "0".repeat(64),
                writes: true,
                invariants: vec![money],
                ..WorkloadFacts::default()
            });
            let whole = record.whole.as_mut().unwrap();
            let classes = record.classes.iter().map(|class| &class.name);
            let all: u64 = classes.filter_map(|class| whole.ops.get(class)).sum();
            whole.transactions = Some(all - missing);
        })
    };
    let held = custom_run(0, Ok("20000".into()));
    assert_eq!(find(&held, "invariants").detail, "money is 20000 as before");
    let commits = find(&held, "commits_whole");
    assert!(commits.status == Pass, "{}", commits.detail);
    assert!(commits.detail.contains(" that changed rows and "), "{}", commits.detail);
    // No row of this workload is one block.
    for check in ["logical_reads", "heap_reads", "rows_updated", "update_values", "redo_grew", "others"] {
        assert_eq!(find(&held, check).status, Skipped, "{check}");
    }
    assert_ne!(find(&custom_run(5_000, Ok("20000".into())), "commits_whole").status, Pass);
    let broken = custom_run(0, Ok("19999".into()));
    assert_eq!(find(&broken, "invariants").status, Fail);
    assert!(
        find(&broken, "invariants")
            .detail
            .contains("broken by the run: money was 20000 before and is 19999: ")
    );
    let unknown = custom_run(0, Err("no connection".into()));
    let invariant_check = find(&unknown, "invariants");
    assert_eq!(invariant_check.status, Warn, "nothing was found to be broken");
    assert_eq!(
        invariant_check.detail,
        "unknown: money was 20000 before, and could not be queried: no connection"
    );
}

#[test]
fn writes_that_mostly_change_no_row_cause_a_warning() {
    let checked = |all: u64, empty: u64| {
        let record = postgres(|record| {
            record.workload = Some(WorkloadFacts {
                scale: 1,
                name: "bank".into(),
                digest: "0".repeat(64),
                ..WorkloadFacts::default()
            });
            let ops = record.ops.get_mut("all").unwrap();
            (ops.write_statements, ops.empty_writes) = (all, empty);
        });
        let check = find(&record, "empty_writes");
        (check.status, check.detail)
    };
    let (status, words) = checked(1_734, 1_569);
    assert_eq!(status, Warn);
    assert!(words.starts_with("1,569 of 1,734 statements that write changed no row (90.5 %)"), "{words}");
    assert_eq!((checked(1_734, 12).0, checked(10, 10).0, checked(0, 0).0), (Pass, Skipped, Skipped));
}

#[test]
fn invariant_with_expected_value_shows_if_run_broke_it() {
    let check_invariant = |before: Option<&str>, after: &str| {
        let record = postgres(|record| {
            let before = before.map(str::to_owned);
            let zero = InvariantResult {
                name: "torn".into(),
                is: Some("0".into()),
                before,
                after: Ok(after.into()),
            };
            record.workload = Some(WorkloadFacts {
                scale: 1,
                name: "bank".into(),
                digest: "0".repeat(64),
                invariants: vec![zero],
                ..WorkloadFacts::default()
            });
        });
        let check = find(&record, "invariants");
        (check.status, check.detail)
    };
    assert_eq!(check_invariant(Some("0"), "0"), (Pass, "torn hold".to_owned()));
    let (status, words) = check_invariant(Some("0"), "3");
    assert!(status == Fail, "{words}");
    assert!(words.starts_with("broken by the run: torn is 3 and must be 0"), "{words}");
    let (status, words) = check_invariant(Some("3"), "3");
    assert!(status == Fail, "{words}");
    assert!(words.starts_with("broken before the run: torn was 3 before and is 3"), "{words}");
    assert!(!words.contains("lost, torn"), "{words}");
    // An invariant that holds only after the run has worked is no fault.
    assert_eq!(check_invariant(Some("3"), "0").0, Pass);
}

#[test]
fn counts_are_checked_against_learned_and_declared_cost() {
    let learned_run = |said: Option<f64>, learned: f64, error: f64, shift_by: i64| {
        postgres(|record| {
            let class_expectation = |class: &str, mean: f64| {
                let counters = BTreeMap::from([(Counter::RowsWritten, Mean { mean, error })]);
                let declared = said.filter(|_| class == "update").map(|said| (Counter::RowsWritten, said));
                Expected {
                    calls: false,
                    class: class.to_owned(),
                    said: declared.into_iter().collect(),
                    learned: Some(Learned { transactions: 100, alone_us: 100.0, rows: None, counters }),
                }
            };
            record.workload = Some(WorkloadFacts {
                scale: 1,
                name: "bank".into(),
                digest: "0".repeat(64),
                writes: true,
                expected: vec![class_expectation("select", 0.0), class_expectation("update", learned)],
                ..WorkloadFacts::default()
            });
            // The fixture's counters hold 64 rows of each update.
            shift(record, Counter::RowsWritten, shift_by);
        })
    };
    let as_learned = find(&learned_run(None, 64.0, 0.0, 0), "expected");
    assert_eq!(as_learned.status, Pass, "{}", as_learned.detail);
    assert_eq!(
        as_learned.detail,
        "rows written: 0.00 of each select, 64.00 of each update are 128,000, and the database counted 128,000"
    );
    // A trigger that writes in addition, or another session.
    let more = find(&learned_run(None, 64.0, 0.0, 20_000), "expected");
    assert!(more.status == Warn, "{}", more.detail);
    assert!(more.detail.contains("other sessions add to the count"), "{}", more.detail);
    // The excess counts as background activity, and all other counters of the database are marked
    // with it.
    let judged = |mut record: RunRecord| {
        let some = record.metrics["logical_reads_per_s"].clone();
        record.metrics.insert("rows_written_per_s".to_owned(), some);
        record.counters.own.clear();
        judge(&mut record);
        record
    };
    let (alone, beside) =
        (judged(learned_run(None, 64.0, 0.0, 0)), judged(learned_run(None, 64.0, 0.0, 20_000)));
    let rows = |record: &RunRecord| record.whose["rows_written_per_s"].clone();
    assert!(!rows(&alone).marked, "{:?}", rows(&alone));
    assert!(rows(&alone).others_pct == Some(0.0), "{:?}", rows(&alone));
    assert_eq!(rows(&alone).scope, dyno_record::AttributionScope::Database, "no test tables are counted");
    assert!(!alone.whose["logical_reads_per_s"].marked);
    // 20,000 of 148,000, minus what may be chance.
    assert!(rows(&beside).marked, "{:?}", rows(&beside));
    assert!((rows(&beside).others_pct.unwrap() - 12.6).abs() < 0.1, "{:?}", rows(&beside));
    let reads = &beside.whose["logical_reads_per_s"];
    assert!(reads.marked, "{reads:?}");
    assert!(reads.why.contains("rows written (12.6 %) in this database"), "{reads:?}");
    assert!(!beside.whose["ops_per_s"].marked);
    assert_eq!(find(&learned_run(None, 60.0, 2.0, 0), "expected").status, Pass, "as sure as it was learned");
    // Where the window says nothing, the whole run is compared.
    let mut blurred = learned_run(None, 64.0, 0.0, 0);
    let counted = WorkCounts { ops: [("update".to_owned(), 1_000)].into(), ..WorkCounts::default() };
    window(&mut blurred).unsure = Some((counted.clone(), WorkCounts::default()));
    window(&mut blurred).counted = Some(counted);
    let whole = find(&blurred, "expected");
    assert!(whole.status == Pass, "{whole:?}");
    assert!(whole.observed == "256,000", "{whole:?}");
    // The same where as much work lies at the window boundaries as was done.
    let updates = |ops| WorkCounts { ops: [("update".to_owned(), ops)].into(), ..WorkCounts::default() };
    let mut wide = learned_run(None, 64.0, 0.0, -63_000);
    window(&mut wide).counted = Some(updates(1_000));
    window(&mut wide).unsure = Some((updates(499), WorkCounts::default()));
    let whole = find(&wide, "expected");
    assert!(whole.status == Pass, "{whole:?}");
    assert!(whole.observed == "256,000", "{whole:?}");
    wide.whole = None;
    assert_eq!(find(&wide, "expected").status, Skipped, "{wide:?}");
    // Declared effects take precedence over learned ones.
    assert_eq!(find(&learned_run(Some(64.0), 3.0, 0.0, 0), "expected").status, Pass);
    let wrong = find(&learned_run(Some(3.0), 64.0, 0.0, 0), "expected");
    assert!(wrong.status == Fail, "{}", wrong.detail);
    assert!(wrong.detail.contains("what the workload states"), "{}", wrong.detail);
}

#[test]
fn rows_no_longer_found_by_transactions_are_reported() {
    let record = |learned: f64, rows: u64| {
        postgres(|record| {
            let class_of = |class: &str, mean: f64| Expected {
                calls: false,
                class: class.to_owned(),
                said: BTreeMap::new(),
                learned: Some(Learned {
                    transactions: 100,
                    alone_us: 100.0,
                    rows: Some(mean),
                    counters: BTreeMap::new(),
                }),
            };
            let expected = record.classes.iter().map(|class| class_of(&class.name, learned)).collect();
            record.workload =
                Some(WorkloadFacts { name: "bank".into(), expected, ..WorkloadFacts::default() });
            let ops: BTreeMap<String, u64> =
                record.ops.iter().map(|(name, ops)| (name.clone(), ops.count)).collect();
            window(record).counted = Some(WorkCounts { ops, rows_read: rows, ..WorkCounts::default() });
        })
    };
    let operations = fixture::postgres().ops.values().map(|ops| ops.count).max().unwrap();
    assert_eq!(find(&record(2.0, 2 * operations), "rows_found").status, Pass);
    let few = find(&record(2.0, operations / 2), "rows_found");
    assert!(few.status == Warn, "{few:?}");
    assert!(few.detail.contains("check whether rows were deleted"), "{few:?}");
    assert_eq!(find(&record(2.0, 0), "rows_found").status, Fail, "the table was emptied");
    assert_eq!(find(&record(0.0, 0), "rows_found").status, Skipped, "nothing was ever read");
}

#[test]
fn query_cache_hits_are_not_counted_as_table_work() {
    let record = |hits: f64| {
        postgres(|record| {
            record.counters.native.insert("status.Qcache_hits".into(), hits);
            shift(record, Counter::Commits, -1);
        })
    };
    assert_eq!(find(&record(0.0), "cached_results").status, Pass);
    assert_eq!(find(&record(0.0), "commits").status, Warn, "one is missing");
    assert_eq!(find(&record(1_000.0), "cached_results").status, Warn);
    let most = find(&record(8_000.0), "cached_results");
    assert!(most.status == Fail, "{most:?}");
    assert!(most.detail.contains("query_cache_type = OFF"), "{most:?}");
    assert_eq!(find(&record(8_000.0), "commits").status, Skipped, "hits are no transactions of the server");
    assert_eq!(find(&record(1.0), "commits").status, Pass, "the one that is missing may be the hit");
    let fewer = |missing: i64| {
        let mut record = record(1.0);
        shift(&mut record, Counter::Commits, 1 - missing);
        record
    };
    assert_eq!(find(&fewer(3), "commits").status, Warn, "one hit explains one");
}

#[test]
fn late_snapshot_may_include_work_after_window_boundary() {
    let read_in = |snapshot_us: f64| {
        postgres(|r| {
            window(r).snapshot_us.1 = snapshot_us;
            shift(r, Counter::Commits, 1_000);
        })
    };
    assert_eq!(find(&read_in(1_000.0), "commits").status, Fail);
    assert_eq!(find(&read_in(1_500_000.0), "commits").status, Fail, "nothing is booked within a second");
    let late = find(&read_in(3_000_000.0), "commits");
    assert!(late.status == Pass, "{late:?}");
    assert!(late.detail.contains("1,000 apart"), "{late:?}");
}

#[test]
fn platform_that_counts_commits_only_passes_with_its_commits() {
    let alone = |spoil: fn(&mut RunRecord)| {
        postgres(|r| {
            r.targets[0].identity.counting = commits();
            // Reads are no transactions there.
            shift(r, Counter::Commits, -8_000);
            spoil(r);
        })
    };
    let commits = find(&alone(|_| ()), "commits");
    assert!(commits.status == Pass, "{commits:?}");
    assert!(commits.detail.starts_with("2,000 acknowledged"), "{commits:?}");
    let missing = find(&alone(|r| shift(r, Counter::Commits, -1_500)), "commits");
    assert_eq!(missing.status, Fail);
    let unsynced = find(
        &alone(|r| {
            r.plan.workload.commit = Commit::Plsql;
            shift(r, Counter::RedoSyncs, -995);
        }),
        "durable_commits",
    );
    assert!(unsynced.status == Warn, "{unsynced:?}");
    assert!(unsynced.detail.contains("workload.commit=plsql"), "{unsynced:?}");
}

#[test]
fn single_session_commits_need_one_sync_each() {
    let with_syncs = |syncs| {
        let record = sqlite(|r| {
            r.plan.run.sessions_per_schema = 1;
            r.gate.sessions = 1;
            r.counters.portable.insert(Counter::RedoSyncs, moved(Counter::RedoSyncs, syncs));
        });
        find(&record, "durable_commits")
    };
    let durable = with_syncs(2_000);
    assert_eq!(durable.status, Pass, "{durable:?}");
    let partly = with_syncs(1_200);
    assert_eq!(partly.status, Warn, "{partly:?}");
}

#[test]
fn audit_finds_manipulated_counts() {
    use Counter::{Commits, LogicalReads, RedoBytes, RedoSyncs, RowsWritten};
    let native = |name: &'static str, delta: f64| {
        move |r: &mut RunRecord| *r.counters.native.get_mut(name).unwrap() += delta
    };
    check_cases(vec![
        ("commits", Fail, "are missing", sqlite(|r| shift(r, Commits, -500))),
        ("commits", Warn, "1 are missing", sqlite(|r| shift(r, Commits, -1))),
        ("commits", Fail, "more: other sessions", sqlite(|r| shift(r, Commits, 500))),
        ("commits", Fail, "are missing", postgres(|r| shift(r, Commits, -500))),
        ("commits", Pass, "6 more are within", postgres(|r| shift(r, Commits, 6))),
        // Through a pooler each session may cause some more.
        (
            "commits",
            Pass,
            "18 more are within",
            postgres(|r| {
                r.targets[0].identity.counting.commits_per_session_max = 3;
                shift(r, Commits, 18);
            }),
        ),
        ("commits", Warn, "1 are missing", postgres(|r| shift(r, Commits, -1))),
        ("commits", Warn, "more: other sessions", postgres(|r| shift(r, Commits, 300))),
        ("commits", Fail, "more: other sessions", postgres(|r| shift(r, Commits, 5_000))),
        ("commits_whole", Fail, "1 are missing", sqlite(|r| shift_whole(r, Commits, -1))),
        ("commits_whole", Fail, "1 are missing", postgres(|r| shift_whole(r, Commits, -1))),
        (
            "commits_whole",
            Pass,
            "3 failed operations",
            sqlite(|r| {
                shift_whole(r, Commits, 3);
                r.whole.as_mut().unwrap().errors = 3;
            }),
        ),
        ("logical_reads", Fail, "fewer than the rows", postgres(|r| shift(r, LogicalReads, -100_000))),
        ("others", Fail, "other sessions caused 9,000,000", postgres(|r| shift(r, LogicalReads, 9_000_000))),
        ("logical_reads_whole", Fail, "fewer", sqlite(|r| shift_whole(r, LogicalReads, -1_400_000))),
        ("heap_reads", Fail, "fewer than the rows", postgres(native("dyno.rows.heap_blks_hit", -20_000.0))),
        ("rows_updated", Fail, "are missing", postgres(native("dyno.rows.n_tup_upd", -2_000.0))),
        (
            "rows_updated",
            Fail,
            "128,000 are missing",
            postgres(|r| {
                r.counters.native.remove("dyno.rows.n_tup_upd");
            }),
        ),
        ("rows_updated", Fail, "more: other sessions", sqlite(|r| shift(r, RowsWritten, 50_000))),
        ("rows_updated_whole", Fail, "1 are missing", sqlite(|r| shift_whole(r, RowsWritten, -1))),
        // Some row counters lose one now and then, but none loses many.
        ("rows_updated_whole", Pass, "1 less, as rows are", sqlite(|r| missing_rows(r, fuzzy(), 1))),
        ("rows_updated_whole", Fail, "1 are missing", sqlite(|r| missing_rows(r, statements(), 1))),
        ("rows_updated_whole", Fail, "10,000 are missing", sqlite(|r| missing_rows(r, fuzzy(), 10_000))),
        ("update_values", Fail, "255 hold", sqlite(|r| r.whole.as_mut().unwrap().verified_rows.1 -= 1)),
        (
            "update_values",
            Warn,
            "none was read back",
            sqlite(|r| r.whole.as_mut().unwrap().verified_rows = (0, 0)),
        ),
        (
            "redo_grew",
            Fail,
            "0 B of redo",
            sqlite(|r| {
                r.counters.portable.insert(RedoBytes, moved(RedoBytes, 0));
            }),
        ),
        (
            "redo_grew",
            Fail,
            "less than the new values",
            postgres(|r| {
                r.counters.portable.insert(RedoBytes, moved(RedoBytes, 128_000));
            }),
        ),
        // What sessions wrote before all had passed the begin is in no reading of the server.
        ("redo_grew", Pass, "of redo", postgres(|r| read_behind(r, 0.48))),
        ("redo_grew", Fail, "less than the new values", postgres(|r| read_behind(r, 0.3))),
        ("redo_grew", Pass, "in the whole run", postgres(|r| read_behind(r, 1.0))),
        (
            "redo_grew",
            Fail,
            "less than the new values",
            postgres(|r| {
                read_behind(r, 1.0);
                r.whole.as_mut().unwrap().counters.portable.insert(RedoBytes, moved(RedoBytes, 6_000_000));
            }),
        ),
        (
            "durable_commits",
            Warn,
            "synchronous=full",
            sqlite(|r| {
                r.counters.portable.insert(RedoSyncs, moved(RedoSyncs, 3));
            }),
        ),
    ]);
}

/// The server was read at this share of the window after the first session had passed its begin.
/// Its redo covers only the rest.
fn read_behind(record: &mut RunRecord, share: f64) {
    let window = record.window.as_mut().unwrap();
    window.edge_us_max.0 = share * window.seconds * 1e6;
    record.counters.portable.insert(Counter::RedoBytes, moved(Counter::RedoBytes, 6_000_000));
    record
        .whole
        .as_mut()
        .unwrap()
        .counters
        .portable
        .insert(Counter::RedoBytes, moved(Counter::RedoBytes, 600_000_000));
}

#[test]
fn rows_sharing_blocks_after_updates_are_not_missing_work() {
    // A thousand updates a second of one row leave its block no room. Rows then share blocks, so
    // fewer are read.
    let moved = |fetched: f64| {
        postgres(move |r| {
            let hit = r.counters.native["dyno.rows.heap_blks_hit"];
            r.counters.native.insert("dyno.rows.heap_blks_hit".into(), hit / 2.0);
            r.counters.native.insert("dyno.rows.idx_tup_fetch".into(), fetched * hit);
            r.counters.native.insert("dyno.rows.bitmap_tup_fetch".into(), hit);
        })
    };
    let record = moved(0.2);
    let check = find(&record, "heap_reads");
    assert_eq!(
        (check.status, check.detail.contains("yet all rows fetched")),
        (Warn, true),
        "{}",
        check.detail
    );
    let record = moved(-0.5);
    let check = find(&record, "heap_reads");
    assert_eq!(
        (check.status, check.detail.contains("fewer than the rows")),
        (Fail, true),
        "{}",
        check.detail
    );
}

#[test]
fn dead_row_versions_are_reported_in_read_only_runs() {
    let record = postgres(|r| {
        r.ops.remove("update");
        r.ops.remove("commit");
        r.counters.native.insert("dyno.rows.heap_blks_hit".into(), 700_000.0);
    });
    let check = find(&record, "heap_reads");
    assert_eq!((check.status, check.detail.contains("dead versions")), (Warn, true), "{}", check.detail);
}

#[test]
fn server_slices_are_counted_as_separate_transactions() {
    let server = |r: &mut RunRecord| {
        r.plan.workload.drive = DriveMode::Server;
        r.ops.insert("slice".into(), OpStats { count: 100, ..OpStats::default() });
        ops(r, "commit").untimed = Some("inside the database".into());
        // 100 slices, 2,000 commits inside them, 3 of Dyno's own.
        r.counters.portable.insert(Counter::Commits, moved(Counter::Commits, 2_103));
    };
    let record = postgres(server);
    let check = find(&record, "commits");
    assert_eq!(check.status, Pass);
    assert!(check.detail.starts_with(
        "2,100 acknowledged (100 slices and 2,000 commits inside them), database counted 2,100"
    ));
    assert_eq!(find(&record, "untimed").status, Pass);
}

#[test]
fn commit_check_allows_one_second_if_server_cannot_flush_counters() {
    let late = |flushes: bool| {
        postgres(|r| {
            let counting = &mut r.targets[0].identity.counting;
            (counting.at_edges, counting.unseen_s) = (flushes, if flushes { 0.0 } else { 1.0 });
            shift(r, Counter::Commits, -900);
        })
    };
    assert_eq!(find(&late(false), "commits").status, Pass);
    assert_eq!(find(&late(true), "commits").status, Fail);
}

/// The record of a run on a server that counts rows of all tables by kind, its logs included.
fn logging(spoil: impl FnOnce(&mut RunRecord)) -> RunRecord {
    postgres(|r| {
        r.targets[0].identity.counting = statements();
        for counters in [&mut r.counters, &mut r.whole.as_mut().unwrap().counters] {
            counters.native.retain(|name, _| !name.starts_with("dyno.rows."));
            let rows = counters.get(Counter::RowsWritten).unwrap() as f64;
            counters.native.insert("status.Handler_update".into(), rows);
        }
        spoil(r);
    })
}

#[test]
fn log_table_rows_do_not_count_as_updates() {
    let logged = logging(|r| {
        shift(r, Counter::RowsWritten, 40_000);
        r.counters.native.insert("status.Handler_write".into(), 40_000.0);
    });
    let check = find(&logged, "rows_updated");
    assert_eq!(
        (check.status, check.detail.as_str()),
        (Pass, "128,000 acknowledged, database counted 128,000")
    );
    let foreign_updates =
        logging(|r| *r.counters.native.get_mut("status.Handler_update").unwrap() += 40_000.0);
    assert_eq!(find(&foreign_updates, "rows_updated").status, Fail);
}

#[test]
fn commits_of_background_workers_are_tolerated() {
    let more = |workers_commit| {
        postgres(|r| {
            r.targets[0].identity.counting.workers_commit = workers_commit;
            shift(r, Counter::Commits, 6);
        })
    };
    assert_eq!(find(&more(true), "commits").status, Pass);
    let vacuumed = |vacuums: f64| {
        postgres(|r| {
            shift(r, Counter::Commits, 18);
            r.counters.native.insert("pg_stat_database.autovacuums".into(), vacuums);
        })
    };
    assert_eq!(find(&vacuumed(2.0), "commits").status, Pass);
    assert_eq!(find(&vacuumed(1.0), "commits").status, Warn, "18 more than a round and one vacuum take");
    let without = find(&more(false), "commits");
    assert_eq!(without.status, Warn, "{without:?}");
    assert!(without.detail.contains("6 more: other sessions commit"), "{without:?}");
}

#[test]
fn other_transactions_in_the_sqlite_file_are_reported() {
    let with = |more: f64| {
        let mut record = fixture::sqlite();
        let run_commits = record.counters.get(Counter::Commits).unwrap() as f64;
        record.counters.native.insert("file.transactions".into(), run_commits + more);
        record.counters.native.insert("file.own_transactions".into(), run_commits);
        record
    };
    assert_eq!(find(&with(0.0), "commits").status, Pass);
    let few = find(&with(60.0), "commits");
    assert!(few.status == Warn, "{few:?}");
    assert!(few.detail.contains("of another process"), "{few:?}");
    assert_eq!(find(&with(500.0), "commits").status, Fail);
}

#[test]
fn scan_path_is_reported_when_database_chooses_it() {
    let scans = |long: f64, direct: f64| {
        postgres(|r| {
            r.targets[0].identity.counting.scans = commits().scans;
            let scan = r.ops["select"].clone();
            r.ops.insert("scan".into(), scan);
            let counted = r.window.as_mut().unwrap().counted.get_or_insert_default();
            counted.ops.insert("scan".into(), 100);
            for (name, value) in [
                ("sysstat.table scans (long tables)", long),
                ("sysstat.table scans (direct read)", direct),
                ("sysstat.physical reads", 1_000.0),
                ("sysstat.physical reads direct", 10.0 * direct),
            ] {
                r.counters.native.insert(name.into(), value);
            }
        })
    };
    let direct_check = find(&scans(100.0, 100.0), "scan_path");
    assert!(direct_check.status == Pass, "{}", direct_check.detail);
    assert!(direct_check.detail.contains("measured storage"), "{}", direct_check.detail);
    let cached_check = find(&scans(100.0, 0.0), "scan_path");
    assert!(cached_check.status == Pass, "{}", cached_check.detail);
    assert!(cached_check.detail.contains("through the cache"), "{}", cached_check.detail);
    let mixed_check = find(&scans(100.0, 40.0), "scan_path");
    assert!(mixed_check.status == Warn, "{}", mixed_check.detail);
    assert!(mixed_check.detail.contains("40 of 100 full scans"), "{}", mixed_check.detail);
    assert_eq!(find(&fixture::postgres(), "scan_path").status, Skipped);
}

#[test]
fn parallel_worker_commits_match_learned_cost() {
    let record = |learned: f64, counted: f64| {
        postgres(|record| {
            let class_expectation = |class: &str, commits: f64| {
                let counters = BTreeMap::from([(Counter::Commits, Mean { mean: commits, error: 0.0 })]);
                let learned = Learned { transactions: 100, alone_us: 500.0, rows: None, counters };
                Expected { class: class.into(), learned: Some(learned), ..Expected::default() }
            };
            record.workload = Some(WorkloadFacts {
                name: "bank".into(),
                expected: vec![class_expectation("select", learned), class_expectation("update", 1.0)],
                ..WorkloadFacts::default()
            });
            record.targets[0].identity.counting.parallel_commit = true;
            let selects = record.ops["select"].count as f64;
            shift(record, Counter::Commits, (selects * counted) as i64);
        })
    };
    let two = find(&record(3.0, 2.0), "commits");
    assert!(two.status == Pass, "{two:?}");
    assert!(two.detail.contains("more come from parallel workers"), "{two:?}");
    assert_eq!(find(&record(3.0, 1.0), "commits").status, Pass, "under load there are fewer");
    assert_ne!(find(&record(3.0, 4.0), "commits").status, Pass, "others commit, too");
    assert_ne!(find(&record(1.0, 2.0), "commits").status, Pass, "a statement alone had no workers");
    let mut unlearned = record(3.0, 2.0);
    unlearned.workload.as_mut().unwrap().expected.clear();
    unlearned.whole.as_mut().unwrap().transactions = Some(10_000);
    let unlearned_check = find(&unlearned, "commits_whole");
    assert!(unlearned_check.status == Fail, "{unlearned_check:?}");
    assert!(unlearned_check.detail.contains("a run with a warm-up"), "{unlearned_check:?}");
}

#[test]
fn commit_rate_contradicted_by_audit_is_absent() {
    let judged = |shift_by: i64| {
        let mut record = fixture::sqlite();
        record.status = dyno_record::Status::Failed;
        record.metrics.insert(
            "commits_per_s".into(),
            dyno_record::Metric::Value { value: 400.0, unit: dyno_record::Unit::PerSecond },
        );
        shift(&mut record, Counter::Commits, shift_by);
        judge(&mut record);
        record
    };
    let impossible = judged(-1_500);
    assert_eq!(find(&impossible, "commits").status, Fail);
    let metric = &impossible.metrics["commits_per_s"];
    assert!(
        matches!(metric, dyno_record::Metric::Absent { absent } if absent.contains("the audit contradicts it")),
        "{metric:?}"
    );
    assert!(judged(0).metrics["commits_per_s"].value().is_some());
}
