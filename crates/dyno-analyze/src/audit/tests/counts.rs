//! Counts of client, database and host against each other.

use std::collections::BTreeMap;

use dyno_plan::{Commit, Drive};
use dyno_record::window::Counted;
use dyno_record::{CountingRules, Expected, Invariant, Learned, Mean, OwnWorkload};

use super::counting::{commits, fuzzy, statements};
use super::*;

/// The record of a run whose server has not counted some of the rows.
fn missing_rows(record: &mut RunRecord, counting: CountingRules, rows: i64) {
    record.targets[0].identity.counting = counting;
    shift_whole(record, Counter::RowsWritten, -rows);
}

#[test]
fn counts_are_said_in_plain_words() {
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
            "640,000 rows of one block each touched, database counted 704,000 logical reads, 1.10 per row: the rest is no row's own block",
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
fn a_workload_of_the_users_own_is_held_against_transactions_and_invariants() {
    let own = |missing: u64, after: Result<String, String>| {
        postgres(|record| {
            let money = Invariant { name: "money".into(), is: None, before: Some("20000".into()), after };
            record.workload = Some(OwnWorkload {
                scale: 1,
                name: "bank".into(),
                digest: "0".repeat(64),
                writes: true,
                invariants: vec![money],
                ..OwnWorkload::default()
            });
            let whole = record.whole.as_mut().unwrap();
            let classes = record.classes.iter().map(|class| &class.name);
            let all: u64 = classes.filter_map(|class| whole.ops.get(class)).sum();
            whole.transactions = Some(all - missing);
        })
    };
    let held = own(0, Ok("20000".into()));
    assert_eq!(find(&held, "invariants").detail, "money is 20000 as before");
    let commits = find(&held, "commits_whole");
    assert!(
        commits.status == Pass && commits.detail.contains(" that changed rows and "),
        "{}",
        commits.detail
    );
    // Nothing of it is a row of one block.
    for check in ["logical_reads", "heap_reads", "rows_updated", "update_values", "redo_grew", "others"] {
        assert_eq!(find(&held, check).status, Skipped, "{check}");
    }
    assert_ne!(find(&own(5_000, Ok("20000".into())), "commits_whole").status, Pass);
    let broken = own(0, Ok("19999".into()));
    assert_eq!(find(&broken, "invariants").status, Fail);
    assert!(find(&broken, "invariants").detail.starts_with("money was 20000 before and is 19999: "));
    let unknown = own(0, Err("no connection".into()));
    assert!(find(&unknown, "invariants").detail.contains("nobody knows what it is: no connection"));
}

#[test]
fn transactions_are_held_against_what_they_do_alone_and_what_is_said_of_them() {
    let own = |said: Option<f64>, learned: f64, error: f64, shift_by: i64| {
        postgres(|record| {
            let of = |class: &str, mean: f64| {
                let counters = BTreeMap::from([(Counter::RowsWritten, Mean { mean, error })]);
                let said = said.filter(|_| class == "update").map(|said| (Counter::RowsWritten, said));
                Expected {
                    calls: false,
                    class: class.to_owned(),
                    said: said.into_iter().collect(),
                    learned: Some(Learned { transactions: 100, alone_us: 100.0, counters }),
                }
            };
            record.workload = Some(OwnWorkload {
                scale: 1,
                name: "bank".into(),
                digest: "0".repeat(64),
                writes: true,
                expected: vec![of("select", 0.0), of("update", learned)],
                ..OwnWorkload::default()
            });
            // The fixture's counters hold 64 rows of each update.
            shift(record, Counter::RowsWritten, shift_by);
        })
    };
    let as_learned = find(&own(None, 64.0, 0.0, 0), "expected");
    assert_eq!(as_learned.status, Pass, "{}", as_learned.detail);
    assert_eq!(
        as_learned.detail,
        "rows written: 0.00 of each select, 64.00 of each update are 128,000, and the database counted 128,000"
    );
    // A trigger that writes beside them, or somebody else.
    let more = find(&own(None, 64.0, 0.0, 20_000), "expected");
    assert!(more.status == Warn && more.detail.contains("others do it beside the run"), "{}", more.detail);
    // What lies beyond it is told as others', and all else that the database counts is marked with it.
    let judged = |mut record: RunRecord| {
        let some = record.metrics["logical_reads_per_s"].clone();
        record.metrics.insert("rows_written_per_s".to_owned(), some);
        record.counters.own.clear();
        judge(&mut record);
        record
    };
    let (alone, beside) = (judged(own(None, 64.0, 0.0, 0)), judged(own(None, 64.0, 0.0, 20_000)));
    let rows = |record: &RunRecord| record.whose["rows_written_per_s"].clone();
    assert!(!rows(&alone).marked && rows(&alone).others_pct == Some(0.0), "{:?}", rows(&alone));
    assert_eq!(rows(&alone).scope, dyno_record::Scope::Database, "no test tables are counted");
    assert!(!alone.whose["logical_reads_per_s"].marked);
    // 20,000 of 148,000, less what may be chance.
    assert!(
        rows(&beside).marked && (rows(&beside).others_pct.unwrap() - 12.6).abs() < 0.1,
        "{:?}",
        rows(&beside)
    );
    let reads = &beside.whose["logical_reads_per_s"];
    assert!(reads.marked && reads.why.contains("rows written (12.6 %) in this database"), "{reads:?}");
    assert!(!beside.whose["ops_per_s"].marked);
    assert_eq!(find(&own(None, 60.0, 2.0, 0), "expected").status, Pass, "as sure as it was learned");
    // Where the window says nothing, the whole run does.
    let mut blurred = own(None, 64.0, 0.0, 0);
    let counted = Counted { ops: [("update".to_owned(), 1_000)].into(), ..Counted::default() };
    window(&mut blurred).unsure = Some((counted.clone(), Counted::default()));
    window(&mut blurred).counted = Some(counted);
    let whole = find(&blurred, "expected");
    assert!(whole.status == Pass && whole.observed == "256,000", "{whole:?}");
    // What is said goes before what was learned.
    assert_eq!(find(&own(Some(64.0), 3.0, 0.0, 0), "expected").status, Pass);
    let wrong = find(&own(Some(3.0), 64.0, 0.0, 0), "expected");
    assert!(wrong.status == Fail && wrong.detail.contains("what the workload says"), "{}", wrong.detail);
}

#[test]
fn a_snapshot_that_came_late_may_hold_work_from_beyond_the_edge() {
    let read_in = |snapshot_us: f64| {
        postgres(|r| {
            window(r).snapshot_us.1 = snapshot_us;
            shift(r, Counter::Commits, 1_000);
        })
    };
    assert_eq!(find(&read_in(1_000.0), "commits").status, Fail);
    assert_eq!(find(&read_in(1_500_000.0), "commits").status, Fail, "nothing is booked within a second");
    let late = find(&read_in(3_000_000.0), "commits");
    assert!(late.status == Pass && late.detail.contains("1,000 apart"), "{late:?}");
}

#[test]
fn where_commits_alone_are_counted_the_plan_says_why_they_do_not_wait() {
    let alone = |spoil: fn(&mut RunRecord)| {
        postgres(|r| {
            r.targets[0].identity.counting = commits();
            // Reads are no transactions there.
            shift(r, Counter::Commits, -8_000);
            spoil(r);
        })
    };
    let commits = find(&alone(|_| ()), "commits");
    assert!(commits.status == Pass && commits.detail.starts_with("2,000 acknowledged"), "{commits:?}");
    let missing = find(&alone(|r| shift(r, Counter::Commits, -1_500)), "commits");
    assert_eq!(missing.status, Fail);
    let unsynced = find(
        &alone(|r| {
            r.plan.workload.commit = Commit::Plsql;
            shift(r, Counter::RedoSyncs, -995);
        }),
        "durable_commits",
    );
    assert!(unsynced.status == Warn && unsynced.detail.contains("workload.commit=plsql"), "{unsynced:?}");
}

#[test]
fn the_page_cache_is_made_visible() {
    let record = postgres(|r| {
        r.hosts[0].counters.insert("device.vda.reads".into(), 600.0);
        r.hosts[0].counters.insert("device.vda.read_bytes".into(), 600.0 * 8_192.0);
    });
    let check = find(&record, "physical_reads");
    assert_eq!(check.status, Warn);
    assert_eq!(
        check.detail,
        "database asked for 20,000 blocks (164 MB), vda read 600 times (4.92 MB): 97.0 % came from the operating system's page cache, so physical reads are not the storage's"
    );
}

#[test]
fn spoiled_counts_are_found() {
    use Counter::{Commits, LogicalReads, RedoBytes, RedoSyncs, RowsWritten};
    let native = |name: &'static str, by: f64| {
        move |r: &mut RunRecord| *r.counters.native.get_mut(name).unwrap() += by
    };
    check_cases(vec![
        ("commits", Fail, "are missing", sqlite(|r| shift(r, Commits, -500))),
        ("commits", Warn, "1 are missing", sqlite(|r| shift(r, Commits, -1))),
        ("commits", Fail, "more: others", sqlite(|r| shift(r, Commits, 500))),
        ("commits", Fail, "are missing", postgres(|r| shift(r, Commits, -500))),
        ("commits", Pass, "8 more are within", postgres(|r| shift(r, Commits, 8))),
        // Through a pooler each session may cause some more.
        (
            "commits",
            Pass,
            "52 more are within",
            postgres(|r| {
                r.targets[0].identity.counting.commits_per_session_max = 3;
                shift(r, Commits, 52);
            }),
        ),
        ("commits", Warn, "1 are missing", postgres(|r| shift(r, Commits, -1))),
        ("commits", Warn, "more: others", postgres(|r| shift(r, Commits, 300))),
        ("commits", Fail, "more: others", postgres(|r| shift(r, Commits, 5_000))),
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
        ("others", Fail, "others had 9,000,000", postgres(|r| shift(r, LogicalReads, 9_000_000))),
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
        ("rows_updated", Fail, "more: others", sqlite(|r| shift(r, RowsWritten, 50_000))),
        ("rows_updated_whole", Fail, "1 are missing", sqlite(|r| shift_whole(r, RowsWritten, -1))),
        // Some counters of rows lose one now and then, and none loses many.
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

/// The server was read such a share of the window after the first session had passed its begin, and has redo of a part of it.
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
fn rows_that_updates_have_moved_together_are_no_missing_work() {
    // A thousand updates a second of one row leave its block no room, and then rows share blocks: fewer are read.
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
fn dead_row_versions_show_in_read_only_runs() {
    let record = postgres(|r| {
        r.ops.remove("update");
        r.ops.remove("commit");
        r.counters.native.insert("dyno.rows.heap_blks_hit".into(), 700_000.0);
    });
    let check = find(&record, "heap_reads");
    assert_eq!((check.status, check.detail.contains("dead versions")), (Warn, true), "{}", check.detail);
}

#[test]
fn slices_are_counted_as_transactions_of_their_own() {
    let server = |r: &mut RunRecord| {
        r.plan.workload.drive = Drive::Server;
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
fn servers_that_cannot_flush_get_a_second_of_room() {
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

/// The record of a run on a server that knows rows of all tables by kind, its logs' among them.
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
fn rows_of_a_log_that_is_a_table_are_no_updates() {
    let logged = logging(|r| {
        shift(r, Counter::RowsWritten, 40_000);
        r.counters.native.insert("status.Handler_write".into(), 40_000.0);
    });
    let check = find(&logged, "rows_updated");
    assert_eq!(
        (check.status, check.detail.as_str()),
        (Pass, "128,000 acknowledged, database counted 128,000")
    );
    let others = logging(|r| *r.counters.native.get_mut("status.Handler_update").unwrap() += 40_000.0);
    assert_eq!(find(&others, "rows_updated").status, Fail);
}

#[test]
fn workers_that_commit_are_allowed_for_where_there_are_such() {
    let more = |workers_commit| {
        postgres(|r| {
            r.targets[0].identity.counting.workers_commit = workers_commit;
            shift(r, Counter::Commits, 21);
        })
    };
    assert_eq!(find(&more(true), "commits").status, Pass);
    let without = find(&more(false), "commits");
    assert_eq!(without.status, Warn, "{without:?}");
    assert!(without.detail.contains("21 more: others commit"), "{without:?}");
}

#[test]
fn transactions_of_another_process_in_the_same_file_are_told() {
    let with = |more: f64| {
        let mut record = fixture::sqlite();
        let own = record.counters.get(Counter::Commits).unwrap() as f64;
        record.counters.native.insert("file.transactions".into(), own + more);
        record.counters.native.insert("file.own_transactions".into(), own);
        record
    };
    assert_eq!(find(&with(0.0), "commits").status, Pass);
    let few = find(&with(60.0), "commits");
    assert!(few.status == Warn && few.detail.contains("of another process"), "{few:?}");
    assert_eq!(find(&with(500.0), "commits").status, Fail);
}

#[test]
fn scans_where_the_database_chooses_say_which_way_they_took() {
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
    let found = find(&scans(100.0, 100.0), "scan_path");
    assert!(found.status == Pass && found.detail.contains("measured storage"), "{}", found.detail);
    let found = find(&scans(100.0, 0.0), "scan_path");
    assert!(found.status == Pass && found.detail.contains("through the cache"), "{}", found.detail);
    let found = find(&scans(100.0, 40.0), "scan_path");
    assert!(found.status == Warn && found.detail.contains("40 of 100 full scans"), "{}", found.detail);
    assert_eq!(find(&fixture::postgres(), "scan_path").status, Skipped);
}

#[test]
fn commits_of_parallel_workers_are_those_that_were_learned() {
    let record = |learned: f64, counted: f64| {
        postgres(|record| {
            let of = |class: &str, commits: f64| {
                let counters = BTreeMap::from([(Counter::Commits, Mean { mean: commits, error: 0.0 })]);
                let learned = Learned { transactions: 100, alone_us: 500.0, counters };
                Expected { class: class.into(), learned: Some(learned), ..Expected::default() }
            };
            record.workload = Some(OwnWorkload {
                name: "bank".into(),
                expected: vec![of("select", learned), of("update", 1.0)],
                ..OwnWorkload::default()
            });
            record.targets[0].identity.counting.parallel_commit = true;
            let selects = record.ops["select"].count as f64;
            shift(record, Counter::Commits, (selects * counted) as i64);
        })
    };
    let two = find(&record(3.0, 2.0), "commits");
    assert!(two.status == Pass && two.detail.contains("more are of parallel workers"), "{two:?}");
    assert_eq!(find(&record(3.0, 1.0), "commits").status, Pass, "under load there are fewer");
    assert_ne!(find(&record(3.0, 4.0), "commits").status, Pass, "others commit, too");
    assert_ne!(find(&record(1.0, 2.0), "commits").status, Pass, "a statement alone had no workers");
    let mut unlearned = record(3.0, 2.0);
    unlearned.workload.as_mut().unwrap().expected.clear();
    unlearned.whole.as_mut().unwrap().transactions = Some(10_000);
    let found = find(&unlearned, "commits_whole");
    assert!(found.status == Fail && found.detail.contains("a run with a warm-up"), "{found:?}");
}
