//! Tests of transactions that load a table.

use std::sync::Arc;

use dyno_engine::{Bulk as _, RequestCompletion, SessionRequest};

use super::read;
use crate::SessionTurn;
use crate::custom::{CustomActor, CustomWorkload};

const TABLES: &str = r#"
name = "w"
writes = true
[table.a]
rows = 25
primary_key = "id"
columns = { id = { type = "bigint", permutation = [1, 25] }, t = { type = "varchar(9)", text = [1, 9] } }
[table.b]
like = "a"
indexed = "before"
indexes = [["t"]]
logging = false
constraints = ["CHECK (id > 0)"]
"#;

fn own(text: &str) -> Result<Arc<CustomWorkload>, String> {
    read(&[("workload.toml", &format!("{TABLES}{text}"))])
}

/// All rows of a table, as sent to a server.
fn rows(workload: &CustomWorkload, table: usize) -> Vec<u8> {
    let table = &workload.tables()[table];
    let (mut maker, mut out) = (table.row_maker(), Vec::new());
    for number in 1..=table.rows() {
        dyno_engine::Rows::make(&mut maker, number);
        dyno_engine::tables::append_line(&maker, 2, b"", &mut out);
    }
    out
}

#[test]
fn bulk_load_divides_rows_and_each_run_restarts() {
    let workload = own("[transaction.fill]\nload = \"b\"\npart = 10").unwrap();
    let bulk = workload.bulk().unwrap();
    let (a, b) = (&workload.tables()[0], &workload.tables()[1]);
    assert_eq!((a.is_filled_by_runs(), b.is_filled_by_runs(), b.rows()), (false, true, 25));
    assert!(b.is_indexed_first());
    assert!(!b.is_logged());
    assert!(b.constraint_count() == 1);
    assert!(b.index_count() == 1);
    assert_eq!(rows(&workload, 0), rows(&workload, 1), "what is like another has its rows");
    let mut actors = [0, 1].map(|session| CustomActor::new(&workload, "sqlite", 7, session).unwrap());
    for run in 0..2 {
        bulk.begin();
        let mut parts = Vec::new();
        for turn in 0..5 {
            let actor = &mut actors[turn % 2];
            if !actor.take_part() {
                continue;
            }
            actor.draw();
            let turn_result = actor.advance(None, |request| match request {
                SessionRequest::Fill { first, rows } => Ok((first, rows)),
                other => panic!("{other:?}"),
            });
            let Ok(SessionTurn::Asked((first, rows))) = turn_result else { panic!("{turn_result:?}") };
            parts.push((first, rows));
            let over =
                actor.advance(Some(RequestCompletion { rows, commit_began_ns: None }), |_| Ok(())).unwrap();
            assert!(matches!(over, SessionTurn::Over));
            let effect = actor.outcome().effect;
            assert_eq!((effect.all_rows(), effect.commits, effect.transactions), (rows, 1, 1));
        }
        assert_eq!(parts, [(1, 10), (11, 10), (21, 5)], "run {run}");
    }
    bulk.sent(30);
    assert_eq!(bulk.bytes(), 30);
}

#[test]
fn faulty_load_is_reported_with_location() {
    let cases = [
        ("[transaction.fill]\nload = \"c\"", "no table c is described; available: a, b"),
        (
            "[transaction.fill]\nload = \"b\"\nsql = \"SELECT 1\"",
            "a transaction that loads cannot have other steps or settings",
        ),
        ("[transaction.fill]\nsql = \"SELECT 1\"\npart = 5", "part applies only to a transaction that loads"),
        (
            "[transaction.fill]\nload = \"b\"\n[transaction.look]\nsql = \"SELECT 1\"",
            "the mix has other transactions",
        ),
        (
            "[table.c]\nlike = \"b\"\n[transaction.fill]\nload = \"b\"",
            "is like another one itself; write like = \"a\"",
        ),
        ("[table.c]\nlike = \"x\"\n[transaction.fill]\nload = \"b\"", "there is no table x before this one"),
        (
            "[table.c]\nlike = \"a\"\ncolumns = { x = { type = \"text\", text = 3 } }\n[transaction.fill]\nload = \"b\"",
            "its columns are those of the table that it is like",
        ),
        (
            "[table.c]\nlike = \"a\"\nindexed = \"late\"\n[transaction.fill]\nload = \"b\"",
            "\"late\" is not known",
        ),
    ];
    for (text, expected) in cases {
        let message = own(text).expect_err("what is wrong");
        assert!(message.starts_with("w/workload.toml:"), "{message}");
        assert!(message.contains(expected), "{message}");
    }
}
