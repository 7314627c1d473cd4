//! Tests of the model from a client's view.

use super::answers::{int, text};
use super::*;
use crate::{ScriptedValue, WireCounts};

fn execute(
    model: &ModelDatabase,
    session: u64,
    sql: &str,
    executions: &[Vec<ScriptedValue>],
) -> ScriptedAnswer {
    model.execute(session, ScriptedCall { sql, executions, counts: WireCounts::default(), is_parsed: false })
}

#[test]
fn unknown_statement_error_quotes_its_beginning() {
    let model = ModelDatabase::new(ModelOptions::default());
    let session = model.log_on();
    let ScriptedAnswer::RefusedWith(900, text) = execute(&model, session, "MERGE INTO shop", &[vec![]])
    else {
        panic!("it knows no MERGE");
    };
    assert!(text.contains("MERGE INTO shop"), "{text}");
}

#[test]
fn custom_answers_take_precedence_and_are_counted() {
    let taught = |call: ScriptedCall<'_>| call.sql.starts_with("SELECT shop").then(|| answers::number(7));
    let model =
        ModelDatabase::new(ModelOptions { taught: Some(Box::new(taught)), ..ModelOptions::default() });
    let session = model.log_on();
    let answer = execute(&model, session, "SELECT shop FROM dual", &[vec![]]);
    assert!(matches!(answer, ScriptedAnswer::Rows { rows, .. } if rows == [[int(7)]]));
    assert_eq!(model.state.lock().totals().get(Statistic::Executions), 1);
}

/// A model with the table of schema 1 and this number of rows.
fn loaded(keys: i64) -> (ModelDatabase, u64) {
    let model = ModelDatabase::new(ModelOptions::default());
    let session = model.log_on();
    let create = "CREATE TABLE dyno_rows_1 (\n  custid NUMBER NOT NULL,\n  ver NUMBER NOT NULL\n) PCTFREE 99";
    assert!(matches!(execute(&model, session, create, &[vec![]]), ScriptedAnswer::Done));
    let row = |key| std::iter::once(int(key)).chain((2..21).map(|_| text("x"))).collect();
    let insert = "INSERT INTO dyno_rows_1 (custid, ver, c2) VALUES (:custid, 0, :c2)";
    let array: Vec<Vec<ScriptedValue>> = (1..=keys).map(row).collect();
    let inserted = execute(&model, session, insert, &array);
    assert!(matches!(inserted, ScriptedAnswer::Changed(rows) if rows == keys as u64));
    model.end_transaction(session, true);
    (model, session)
}

const UPDATE: &str = "UPDATE /*+ INDEX(t dyno_rows_1_custid) */ dyno_rows_1 t\n   SET ver = ver + 1, c2 = :c2\n \
                      WHERE custid BETWEEN :first_key AND :last_key";

fn update(model: &ModelDatabase, session: u64, first: i64, last: i64) -> ScriptedAnswer {
    execute(model, session, UPDATE, &[vec![text("new"), int(first), int(last)]])
}

#[test]
fn oracle_model_counts_one_block_per_row() {
    let (model, session) = loaded(100);
    let count = |statistic| model.state.lock().totals().get(statistic);
    let (reads, executions) = (count(Statistic::LogicalReads), count(Statistic::Executions));
    let select = "SELECT /*+ INDEX(t dyno_rows_1_custid) */ COUNT(c2) AS row_count FROM dyno_rows_1 t\n WHERE custid \
                  BETWEEN :first_key AND :last_key";
    let answer = execute(&model, session, select, &[vec![int(11), int(20)]]);
    assert!(matches!(answer, ScriptedAnswer::Rows { rows, .. } if rows == [[int(10)]]));
    assert_eq!(count(Statistic::LogicalReads) - reads, 12);
    update(&model, session, 11, 20);
    assert_eq!(count(Statistic::LogicalReads) - reads, 12 + 2 + 10 + 10);
    assert_eq!(count(Statistic::Executions) - executions, 2);
}

#[test]
fn writer_waits_for_locked_rows_and_deadlock_is_refused() {
    let (model, one) = loaded(100);
    let two = model.log_on();
    assert!(matches!(update(&model, one, 1, 10), ScriptedAnswer::Changed(10)));
    assert!(matches!(update(&model, two, 11, 20), ScriptedAnswer::Changed(10)));
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| update(&model, two, 5, 5));
        while model.state.lock().session(two).waits_for != Some(one) {
            std::thread::yield_now();
        }
        assert!(matches!(update(&model, one, 15, 15), ScriptedAnswer::Refused(60, _)));
        model.end_transaction(one, false);
        assert!(matches!(waiting.join().unwrap(), ScriptedAnswer::Changed(1)));
    });
    model.end_transaction(two, true);
    assert_eq!(model.state.lock().totals().get(Statistic::RowLockWaits), 1);
}

#[test]
fn update_slice_commits_in_the_mode_of_its_block() {
    for (commit, syncs) in
        [("COMMIT WRITE IMMEDIATE WAIT", 3), ("COMMIT WRITE BATCH NOWAIT", 0), ("COMMIT", 1)]
    {
        let (model, session) = loaded(100);
        let count = |statistic| model.state.lock().totals().get(statistic);
        let (commits, redo_syncs) = (count(Statistic::Commits), count(Statistic::RedoSyncs));
        let block = format!(
            "DECLARE\n list VARCHAR2(32767) := :list;\nBEGIN\n UPDATE /*+ INDEX(t dyno_rows_1_custid) */ dyno_rows_1 t \
             SET ver = ver + 1, c2 = stamp || tail,\n c20 = hash || '20' || SUBSTR(tails, MOD(turn + 20, 18) * width + 1, width) \
             WHERE custid BETWEEN first_key AND first_key + work_unit - 1; {commit};\nEND;"
        );
        let list: String = [1, 21, 41].map(|first| format!("{first:012}{first:016x}{first:014x}")).concat();
        let binds = vec![text(list), int(10), text("u1"), text("tail"), text("y".repeat(18 * 2)), int(2)];
        let answer = execute(&model, session, &block, &[binds]);
        let ScriptedAnswer::Returned(values) = answer else { panic!("{answer:?}") };
        assert_eq!(values, [int(30), int(3)]);
        assert_eq!(count(Statistic::Commits) - commits, 3);
        assert_eq!(count(Statistic::RedoSyncs) - redo_syncs, syncs, "{commit}");
        let state = model.state.lock();
        let (_, _, row) = state.catalog.rows("DYNO_ROWS_1").unwrap().range(0, 21..=21).next().unwrap();
        assert_eq!(
            (row.version, &*row.columns[0], &*row.columns[18]),
            (1, "u10000000000000015tail", "0000000000001520yy")
        );
    }
}
