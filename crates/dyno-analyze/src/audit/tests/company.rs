//! Tests of background activity: in the database, in its test tables, on its server, at work.

use dyno_record::{ForeignActivity, OtherSessions, Waits};

use super::*;

fn own(counter: Counter, less: i64) -> impl FnOnce(&mut RunRecord) {
    move |record| *record.counters.own.get_mut(&counter).unwrap() -= less
}

fn elsewhere(counter: Counter, moved: i64) -> impl FnOnce(&mut RunRecord) {
    move |record| {
        record.counters.elsewhere.insert(counter, moved);
    }
}

fn at_work(sessions: f64) -> impl FnOnce(&mut RunRecord) {
    move |record| {
        let Waits::Sampled { company, .. } = &mut record.waits else { panic!() };
        let other = OtherSessions {
            database: "shop".into(),
            program: "psql".into(),
            here: false,
            average_sessions: sessions,
        };
        *company = ForeignActivity::Sampled { average_active_sessions: sessions, seen: vec![other] };
    }
}

/// Rows written by sessions that were seen at work now and then.
fn rows_of_others(rows: i64) -> impl FnOnce(&mut RunRecord) {
    move |record| {
        elsewhere(Counter::RowsWritten, rows)(record);
        at_work(0.04)(record);
    }
}

#[test]
fn background_activity_is_reported_with_its_share() {
    use Counter::{LogicalReads, PhysicalReads, RowsRead, RowsWritten};
    check_cases(vec![
        ("others", Pass, "0 %", postgres(|_| {})),
        ("others", Pass, "other sessions caused", postgres(own(LogicalReads, 6_000))),
        (
            "others",
            Warn,
            "other sessions caused 14,080 of 704,000 logical reads (2.0 %)",
            postgres(own(LogicalReads, 14_080)),
        ),
        ("others", Fail, "include their work", postgres(own(PhysicalReads, 1_500))),
        (
            "others_test_tables",
            Warn,
            "other sessions read them too",
            postgres(|r| shift(r, RowsRead, 10_000)),
        ),
        (
            "others_test_tables",
            Fail,
            "other sessions read them too",
            postgres(|r| shift(r, RowsRead, 50_000)),
        ),
        ("others_server", Pass, "wrote 0 rows", postgres(|_| {})),
        (
            "others_server",
            Pass,
            "other sessions on the server committed 0 transactions in other databases and read 0 blocks there",
            postgres(|r| {
                r.counters.elsewhere.remove(&RowsWritten);
            }),
        ),
        ("others_server", Pass, "wrote 90 rows", postgres(elsewhere(RowsWritten, 90))),
        ("others_server", Warn, "of the redo is theirs", postgres(elsewhere(RowsWritten, 3_000))),
        ("others_server", Fail, "set target.shared = true", postgres(rows_of_others(128_000))),
        (
            "others_server",
            Warn,
            "may have been written before the window",
            postgres(elsewhere(RowsWritten, 128_000)),
        ),
        ("others_server", Fail, "of the server's logical reads", postgres(elsewhere(LogicalReads, 100_000))),
        ("others_server", Pass, "read 9,000 blocks", postgres(elsewhere(LogicalReads, 9_000))),
        ("others_sessions", Pass, "none was seen", postgres(|_| {})),
        ("others_sessions", Pass, "hardly any", postgres(at_work(0.03))),
        ("others_sessions", Warn, "psql in database shop", postgres(at_work(0.1))),
        ("others_sessions", Fail, "beside 3.92 of the run", postgres(at_work(1.0))),
    ]);
}

#[test]
fn shared_server_turns_only_server_findings_into_warnings() {
    let shared = |spoil: Box<dyn FnOnce(&mut RunRecord)>| {
        postgres(|record| {
            spoil(record);
            record.plan.target.shared = true;
        })
    };
    check_cases(vec![
        ("others_server", Warn, "are marked", shared(Box::new(rows_of_others(128_000)))),
        ("others_sessions", Warn, "are marked", shared(Box::new(at_work(1.0)))),
        // The database's own counters are not affected by that.
        ("others", Fail, "include their work", shared(Box::new(own(Counter::PhysicalReads, 1_500)))),
    ]);
}

#[test]
fn observer_reads_do_not_count_as_rows_of_the_run() {
    let observer = |blocks| {
        postgres(move |record: &mut RunRecord| {
            record.counters.observer.insert(Counter::LogicalReads, blocks);
        })
    };
    check_cases(vec![
        (
            "logical_reads",
            Pass,
            "640,000 logical reads and 64,000 of Dyno's own observer, 1.00 per row",
            observer(64_000),
        ),
        ("logical_reads", Fail, "fewer than the rows", observer(164_000)),
    ]);
}

#[test]
fn catalog_reads_beyond_observer_queries_are_background() {
    let system = |blocks: f64| {
        postgres(|record| {
            record.counters.native.insert("dyno.system.blks_fetched".into(), blocks);
        })
    };
    check_cases(vec![
        ("others", Pass, "4,000 logical reads were of the catalog", system(4_000.0)),
        ("others", Fail, "include their work", system(60_000.0)),
    ]);
}

#[test]
fn redo_not_written_by_own_sessions_is_foreign_only_if_others_ran() {
    let half_own = |record: &mut RunRecord| {
        let all = record.counters.get(Counter::RedoBytes).unwrap();
        record.counters.own.insert(Counter::RedoBytes, all / 2);
    };
    let with_other_session = postgres(|record| {
        half_own(record);
        at_work(0.1)(record);
    });
    // What a session wrote before its connection was lost is in no session's count.
    let cut = postgres(|record| {
        half_own(record);
        at_work(0.1)(record);
        record.errors.push(tally("connection", 1, 1));
    });
    check_cases(vec![
        ("others_server", Pass, "wrote 0 rows", postgres(half_own)),
        ("others_server", Pass, "wrote 0 rows", cut),
        (
            "others_server",
            Fail,
            "50.0 % of the redo is theirs (all redo that the run's own sessions did not write)",
            with_other_session,
        ),
    ]);
}

#[test]
fn read_only_run_tolerates_little_redo_of_other_sessions() {
    let reading = |redo: i64| {
        postgres(|record| {
            record.ops.remove("update");
            record.ops.remove("commit");
            let now = record.counters.get(Counter::RedoBytes).unwrap();
            shift(record, Counter::RedoBytes, redo - now);
            record.counters.portable.insert(Counter::RowsWritten, moved(Counter::RowsWritten, 0));
            rows_of_others(500)(record);
        })
    };
    check_cases(vec![
        ("others_server", Warn, "100 % of the redo", reading(1_000_000)),
        ("others_server", Fail, "100 % of the redo", reading(50_000_000)),
    ]);
}
