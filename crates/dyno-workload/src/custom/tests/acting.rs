//! Tests of sessions: order of steps, conditions, iterations, and counts.

use std::sync::Arc;

use dyno_engine::{
    Commits, Dialect, ErrorClass, Isolation, OpError, RequestCompletion, ResultKind, SessionRequest, Type,
    Value,
};

use super::{shop, workload};
use crate::custom::{
    ActorStep, CustomActor, CustomWorkload, InvariantTiming, RowCountMismatch, TransactionEnd,
};
use crate::{Effect, SessionTurn};

const DOLLARS: Dialect = Dialect {
    mark: |number| format!("${number}"),
    from_nothing: "",
    bytes_length: "",
    snapshot: &[],
    call: None,
    prefix: "",
};
const QUESTIONS: Dialect = Dialect { mark: |_| "?".to_owned(), ..DOLLARS };

pub(super) fn words(request: SessionRequest<'_>) -> String {
    match request {
        SessionRequest::Begin(isolation) => {
            format!("begin {}", isolation.words().unwrap_or_default()).trim().to_owned()
        }
        SessionRequest::Commit => "commit".to_owned(),
        SessionRequest::Rollback => "rollback".to_owned(),
        SessionRequest::Edge => "edge".to_owned(),
        SessionRequest::Queue(_) | SessionRequest::Flush | SessionRequest::Fill { .. } => {
            panic!("{request:?}")
        }
        SessionRequest::Execute(statement, values) => {
            let value_text = |value: &Value<'_>| match value {
                Value::Text(bytes) => String::from_utf8_lossy(bytes).into_owned(),
                Value::Int(number) => number.to_string(),
                other => format!("{other:?}"),
            };
            let values: Vec<String> = values.iter().map(value_text).collect();
            format!("{}({})", statement.0, values.join(","))
        }
    }
}

/// The requests of a transaction whose statements return these numbers in order.
pub(super) fn acted(actor: &mut CustomActor, answers: &[u64]) -> Vec<String> {
    let (mut all, mut last, mut answers) = (Vec::new(), None, answers.iter());
    while let Some(step) = actor.step(last) {
        all.push(actor.request(step, words));
        let rows =
            if matches!(step, ActorStep::Execute(_)) { answers.next().copied().unwrap_or(1) } else { 0 };
        last = Some(RequestCompletion { rows, commit_began_ns: None });
    }
    all
}

pub(super) fn actor(workload: &Arc<CustomWorkload>) -> CustomActor {
    CustomActor::new(workload, "sqlite", 1, 0).unwrap_or_else(|fault| panic!("{fault}"))
}

#[test]
fn single_statement_autocommits_and_several_share_transaction() {
    let single_workload = workload("x = 5", "sql = \"UPDATE t SET a = :x\"");
    let mut single = actor(&single_workload);
    single.draw();
    assert_eq!(acted(&mut single, &[]), ["0(5)"]);
    assert_eq!(single_workload.statements("sqlite", DOLLARS).expect("SQL")[0].commits, Commits::Behind);
    let several_workload = workload("", "sql = \"SELECT 1; SELECT 2\"\nisolation = \"serializable\"");
    let mut several = actor(&several_workload);
    several.draw();
    assert_eq!(acted(&mut several, &[]), ["begin SERIALIZABLE", "0()", "1()", "commit"]);
    assert_eq!(several.outcome().ended, TransactionEnd::Committed);
    assert_eq!(several_workload.statements("sqlite", DOLLARS).expect("SQL")[0].commits, Commits::Nothing);
}

#[test]
fn parameters_use_engine_placeholders_and_draw_types() {
    let draws =
        "i = 1\nr = 1.5\nt = \"x\"\nb = { bytes = 3 }\nd = { date = [\"2026-01-01\", \"2026-01-02\"] }";
    let custom_workload = workload(draws, "sql = \"SELECT :i, ':no', :r, :t /* :no */, :b, :d::date, :i\"");
    let statements = custom_workload.statements("sqlite", DOLLARS).expect("SQL");
    assert_eq!(statements[0].sql, "SELECT $1, ':no', $2, $3 /* :no */, $4, $5::date, $6");
    let types = [Type::Int, Type::Real, Type::Text, Type::Bytes, Type::Literal, Type::Int];
    assert_eq!(statements[0].params, types);
    let statements = custom_workload.statements("sqlite", QUESTIONS).expect("SQL");
    assert_eq!(statements[0].sql, "SELECT ?, ':no', ?, ? /* :no */, ?, ?::date, ?");
    let marked = workload("", "sql = \"SELECT a ? 'b'\"");
    assert!(marked.statements("x", DOLLARS).is_ok());
    let fault = marked.statements("x", QUESTIONS).expect_err("a mark").to_string();
    assert!(
        fault.ends_with(
            "workload.toml:6:17: the engine treats ? as a parameter; write :name for a drawn \
                             value, and put a literal question mark in quotes"
        ),
        "{fault}"
    );
}

const BRANCHES: &str = r#"
steps = [
  { sql = "SELECT 1", read = "n" },
  { if = "n > 2 and not (n = 4)", steps = [{ sql = "SELECT 2" }], else = [{ sql = "SELECT 3 + :n" }] },
  { sql = "UPDATE t SET a = :twice", count = "changed", rows = [1, 2] },
  { rollback = "changed = 0" },
  { repeat = "n % 3", counter = "turn", steps = [{ sql = "SELECT :turn" }] },
]"#;

#[test]
fn workload_steps_follow_statement_results() {
    let custom_workload = workload("twice = { expr = \"2 * n\" }", BRANCHES);
    let mut actor = actor(&custom_workload);
    let mut case = |answers: &[u64], expected: &[&str]| {
        actor.draw();
        assert_eq!(acted(&mut actor, answers), expected, "{answers:?}");
        actor.outcome()
    };
    let outcome = case(&[3, 1, 1], &["begin", "0()", "1()", "3(6)", "commit"]);
    assert_eq!(
        (outcome.ended, outcome.effect),
        (
            TransactionEnd::Committed,
            Effect {
                rows: [2, 1, 0, 0],
                commits: 1,
                transactions: 1,
                write_statements: 1,
                ..Effect::default()
            }
        )
    );
    case(&[4, 1, 2], &["begin", "0()", "2(4)", "3(8)", "4(1)", "commit"]);
    let outcome = case(&[5, 1, 0], &["begin", "0()", "1()", "3(10)", "rollback"]);
    let row_count_mismatch = outcome.row_count_mismatch.expect("no row was changed");
    assert_eq!(
        (outcome.ended, row_count_mismatch.wanted, row_count_mismatch.got),
        (TransactionEnd::RolledBack, (1, 2), 0)
    );
    let outcome = case(&[5, 1, 3], &["begin", "0()", "1()", "3(10)", "4(1)", "4(2)", "commit"]);
    assert!(matches!(outcome.row_count_mismatch, Some(RowCountMismatch { got: 3, .. })));
    let outcome = case(&[2, 1, 1], &["begin", "0()", "2(2)", "3(4)", "4(1)", "4(2)", "commit"]);
    assert_eq!(outcome.row_count_mismatch, None);
}

#[test]
fn values_are_redrawn_once_per_declared_scope() {
    let draws = "s = { sequence = [1, 1000], per = \"session\" }\nt = { sequence = [1, 1000] }\n\
                 r = { sequence = [1, 1000], per = \"repeat\" }\nx = { sequence = [1, 1000], per = \"statement\" }\n\
                 of_r = { expr = \"r * 100\" }";
    let steps = r#"
steps = [
  { sql = "SELECT :s, :t, :x" },
  { repeat = 2, steps = [{ sql = "SELECT :s, :t, :r, :of_r, :x" }, { sql = "SELECT :t, :r, :x" }] },
]"#;
    let custom_workload = workload(draws, steps);
    let mut actor = actor(&custom_workload);
    actor.draw();
    let first = ["begin", "0(1,1,1)", "1(1,1,1,100,2)", "2(1,1,3)", "1(1,1,2,200,4)", "2(1,2,5)", "commit"];
    assert_eq!(acted(&mut actor, &[]), first);
    actor.draw();
    assert_eq!(acted(&mut actor, &[])[1..3], ["0(1,2,6)", "1(1,2,3,300,7)"]);
}

#[test]
fn empty_repeat_loops_terminate() {
    let custom_workload = workload(
        "",
        "commit = \"end\"\nsteps = [{ sql = \"SELECT 1\", read = \"n\" }, { repeat = \"n\", steps = [{ repeat = 0, steps = [{ sql = \"SELECT 2\" }] }] }]",
    );
    let mut actor = actor(&custom_workload);
    actor.draw();
    assert_eq!(acted(&mut actor, &[u64::MAX]), ["begin", "0()", "commit"]);
}

#[test]
fn nested_repeats_are_limited_to_a_million() {
    let inner = "{ repeat = 1_000_000, steps = [{ if = \"0\", steps = [{ sql = \"SELECT 1\" }] }] }";
    let custom_workload = workload("", &format!("steps = [{{ repeat = 1_000_000, steps = [{inner}] }}]"));
    let mut actor = actor(&custom_workload);
    actor.draw();
    assert_eq!(acted(&mut actor, &[]), ["begin", "commit"]);
}

#[test]
fn shop_workload_is_read_and_described() {
    let workload = shop();
    assert_eq!((workload.name(), workload.writes()), ("shop", true));
    assert_eq!(workload.engines().collect::<Vec<_>>(), ["mysql"]);
    let described = workload.described("sqlite").expect("SQL");
    let trips: Vec<_> =
        described.iter().map(|one| (one.name.as_str(), one.round_trips, one.statements.len())).collect();
    let expected = [
        ("order", (8, Some(20)), 6),
        ("pay", (4, Some(4)), 2),
        ("look", (1, Some(1)), 1),
        ("top", (1, Some(1)), 1),
    ];
    assert_eq!(trips, expected);
    let steps = [
        "take_number, 1 row",
        "read_number → number",
        "add_order, 1 row",
        "repeat lines, line counts",
        "  read_stock → left",
        "  rollback if left < quantity",
        "  take_stock, 1 row",
        "  add_line, 1 row",
    ];
    assert_eq!(described[0].steps, steps);
    assert!(workload.described_draws("sqlite").expect("SQL").iter().all(|draw| draw.used));
    assert_eq!(workload.invariants("mysql", InvariantTiming::Run).expect("SQL").len(), 2);
    assert_eq!(
        (workload.setup("mysql").expect("SQL").len(), workload.teardown("mysql").expect("SQL").len()),
        (9, 4)
    );
    let statements = workload.statements("mysql", QUESTIONS).expect("SQL");
    assert!(statements.last().expect("the last").sql.contains("MAX_EXECUTION_TIME"));
    let classes = workload.classes();
    let class_facts: Vec<_> = classes
        .of_operations()
        .iter()
        .map(|class| (class.name.as_str(), class.share.percent, class.commits, class.rows_per_op))
        .collect();
    let expected = [
        ("order", Some(45), 1, None),
        ("pay", Some(43), 1, None),
        ("look", Some(10), 0, None),
        ("top", Some(2), 0, None),
    ];
    assert_eq!(class_facts, expected);
}

#[test]
fn shop_order_rolls_back_when_an_item_is_sold_out() {
    let workload = shop();
    let mut actor = actor(&workload);
    while actor.draw().place() != Some(0) {}
    let all = acted(&mut actor, &[1, 7, 1, 0]);
    assert_eq!(all.len(), 6, "{all:?}");
    assert_eq!((all[0].as_str(), all[5].as_str()), ("begin READ COMMITTED", "rollback"));
    assert!(all[3].contains(",7,2026-"), "{all:?}");
    assert_eq!(Isolation::ReadCommitted.words(), Some("READ COMMITTED"));
}

const COLUMNS: &str = r#"
steps = [
  { sql = "SELECT id, price, city FROM t", read = ["id", "price", "city"], rows = [0, 1], count = "found" },
  { if = "price > 1.25", steps = [{ sql = "SELECT :id, :price, :city, :said, :said_json, :half" }] },
  { sql = "UPDATE t SET a = 1 RETURNING b", read = ["id"] },
  { sql = "SELECT :id, :found" },
]"#;
const OF_COLUMNS: &str = "said = { template = \":city/:price/:id\" }\nsaid_json = { json = '{ \"city\": :city }' }\nhalf = { expr = \"price / 2\" }";

/// The requests of a transaction whose statements return these rows.
fn acted_with(actor: &mut CustomActor, rows: &[&[Value<'_>]]) -> Result<Vec<String>, String> {
    let (mut all, mut last, mut rows) = (Vec::new(), None, rows.iter());
    actor.draw();
    while let Some(step) = actor.step(last) {
        all.push(actor.request(step, words));
        let row = if matches!(step, ActorStep::Execute(_)) {
            rows.next().copied().unwrap_or_default()
        } else {
            &[]
        };
        actor.read(|column| row.get(column).copied()).map_err(|error| error.message)?;
        last = Some(RequestCompletion { rows: u64::from(!row.is_empty()), commit_began_ns: None });
    }
    Ok(all)
}

#[test]
fn last_row_columns_become_values_of_later_steps() {
    let custom_workload = workload(OF_COLUMNS, COLUMNS);
    let statements = custom_workload.statements("sqlite", DOLLARS).expect("SQL");
    assert_eq!(statements[0].answer, ResultKind::Columns);
    assert_eq!(
        statements[1].params,
        [Type::Literal, Type::Literal, Type::Literal, Type::Text, Type::Literal, Type::Literal]
    );
    assert_eq!(statements[3].params, [Type::Literal, Type::Int]);
    let mut actor = actor(&custom_workload);
    let first = [Value::Int(7), Value::Text(b"1.50"), Value::Text("K\"öln".as_bytes())];
    let requests = acted_with(&mut actor, &[&first, &[], &[Value::Real(0.5)]]).expect("columns");
    let all = "1(7,1.50,K\"öln,K\"öln/1.50/7,{ \"city\": \"K\\\"öln\" },Real(0.75))";
    assert_eq!(requests, ["begin", "0()", all, "2()", "3(Real(0.5),1)", "commit"]);
    assert_eq!(
        actor.outcome().effect,
        Effect { rows: [1, 1, 0, 0], commits: 1, transactions: 1, write_statements: 1, ..Effect::default() }
    );
    // Without a row all columns are NULL, which is 0 in an expression, and an update that returns no row
    // changed none.
    let without_row = acted_with(&mut actor, &[]).expect("columns");
    assert_eq!(without_row, ["begin", "0()", "2()", "3(Null,0)", "commit"]);
    assert_eq!(
        actor.outcome().effect,
        Effect {
            rows: [0; 4],
            commits: 0,
            transactions: 1,
            write_statements: 1,
            empty_writes: 1,
            empty_commits: 1,
            ..Effect::default()
        }
    );
    let described = custom_workload.described("sqlite").expect("SQL");
    assert_eq!(
        described[0].steps[0],
        "SELECT id, price, city FROM t, 0 to 1 rows → id, price, city, rows → found"
    );
}

#[test]
fn unreadable_result_columns_are_located() {
    let custom_workload = workload(OF_COLUMNS, COLUMNS);
    let case = |row: &[Value<'_>], expected: &str| {
        let message = acted_with(&mut actor(&custom_workload), &[row]).expect_err("what is wrong");
        let located_message = message.rsplit_once("w/").map(|(_, told)| told.to_owned()).expect("a place");
        assert_eq!(located_message, format!("workload.toml:10:12: t_1: {expected}"));
    };
    let long = vec![b'x'; 1_025];
    let text = Value::Text(b"many");
    case(
        &[Value::Int(1), text, text],
        "price cannot be read: an expression needs a number, but it is \"many\"",
    );
    case(&[Value::Int(1), Value::Null], "city cannot be read: the result has 2 columns, but 3 are read");
    case(
        &[Value::Int(1), Value::Null, Value::Text(&long)],
        "city cannot be read: it is 1025 bytes long, but at most 1024 are allowed",
    );
    case(&[Value::Bytes(b"1")], "id cannot be read: it is bytes, not a text");
}

#[test]
fn null_percentage_of_draws_applies_to_statements_and_retries() {
    let draws = "x = { uniform = [1, 100], null_pct = 25 }\nalways = { text = 3, null_pct = 100 }\n\
                 of_x = { expr = \"x * 100\" }\nnever = { uniform = [1, 9], null_pct = 0 }";
    let custom_workload =
        workload(draws, "sql = \"SELECT :x, :of_x, :always, :never; SELECT :x\"\nretries = 1");
    let mut actor = actor(&custom_workload);
    let mut nulls = 0;
    for _ in 0..1_000 {
        actor.draw();
        let all = acted(&mut actor, &[]);
        let is_null = all[1].starts_with("0(Null,");
        nulls += usize::from(is_null);
        // The value is the same for each statement and each time; derived values use what was drawn.
        assert_eq!(all[2] == "1(Null)", is_null, "{all:?}");
        assert!(!all[1].contains(",0,Null,"), "{all:?}");
        assert!(all[1].contains(",Null,"), "{all:?}");
        assert!(!all[1].ends_with("Null)"), "{all:?}");
        assert!(actor.retry());
        assert_eq!(acted(&mut actor, &[]), all);
    }
    assert!((200..300).contains(&nulls), "{nulls} of 1,000");
}

/// The requests of a session, with `;` after each answered one; every statement finds one row, with 7 in its
/// first column.
fn sent(actor: &mut CustomActor) -> String {
    actor.draw();
    let (mut said, mut last, mut kept) = (String::new(), None, 0);
    loop {
        let turn = actor.advance(last, |request| {
            let (inner, is_kept) = match request {
                SessionRequest::Queue(inner) => (*inner, true),
                other => (other, false),
            };
            let word = match inner {
                SessionRequest::Begin(_) => "begin".to_owned(),
                SessionRequest::Execute(statement, _) => statement.0.to_string(),
                SessionRequest::Commit => "commit".to_owned(),
                SessionRequest::Rollback => "rollback".to_owned(),
                SessionRequest::Flush => "flush".to_owned(),
                SessionRequest::Queue(_) | SessionRequest::Edge | SessionRequest::Fill { .. } => {
                    panic!("{request:?}")
                }
            };
            said.push_str(&word);
            said.push(if is_kept { ' ' } else { ';' });
            kept += usize::from(is_kept);
            Ok(())
        });
        match turn.expect("all find their rows") {
            SessionTurn::Over => return said,
            SessionTurn::Rests(_) => {
                said.push_str("rest;");
                last = None;
            }
            SessionTurn::Asked(()) => {
                actor.queued(&vec![1; std::mem::take(&mut kept)]);
                actor.read(|_| Some(Value::Int(7))).expect("numbers");
                last = Some(RequestCompletion { rows: 1, commit_began_ns: None });
            }
        }
    }
}

#[test]
fn pipelined_requests_are_held_until_answer_is_needed() {
    let change = "{ sql = \"UPDATE t SET a = 1\" }";
    let checked = "{ sql = \"UPDATE t SET a = 2\", rows = 1 }";
    let read = "{ sql = \"SELECT a FROM t\", read = \"x\" }";
    let rest = "{ sleep = \"10ms\" }";
    for (steps, together, alone, trips) in [
        (vec![change, change], "begin 0 1 commit;", "begin;0;1;commit;", (1, Some(1))),
        // Expected row counts are checked before the commit.
        (vec![change, checked], "begin 0 1 flush;commit;", "begin;0;1;commit;", (2, Some(2))),
        (vec![checked, read, change], "begin 0 1;2 commit;", "begin;0;1;2;commit;", (2, Some(2))),
        (vec![change, rest], "begin 0 flush;rest;commit;", "begin;0;rest;commit;", (2, Some(2))),
        (vec![change, "{ rollback = \"1 > 0\" }"], "begin 0 rollback;", "begin;0;rollback;", (1, Some(1))),
    ] {
        let custom_workload =
            workload("", &format!("commit = \"end\"\npipeline = true\nsteps = [{}]", steps.join(", ")));
        assert_eq!(custom_workload.described("any").expect("SQL")[0].pipelined, Some(trips), "{steps:?}");
        let mut piped = actor(&custom_workload).pipelining(true);
        assert_eq!(sent(&mut piped), together);
        let effect = piped.outcome().effect;
        let mut plain = actor(&custom_workload);
        assert_eq!(sent(&mut plain), alone);
        assert_eq!(effect, plain.outcome().effect, "{steps:?}");
        // Nothing of one transaction is left for the next.
        assert_eq!(sent(&mut piped), together);
    }
}

/// Checks that requests queued after a statement with a long answer fit into the sockets, for values of any
/// length.
#[test]
fn pipelined_requests_are_bounded_by_bytes() {
    let steps = |lengths: &[usize]| -> String {
        let update_step = |bytes: &usize| format!("{{ sql = \"UPDATE t SET a = :of_{bytes}\" }}");
        lengths.iter().map(update_step).collect::<Vec<_>>().join(", ")
    };
    let draws = "of_9 = { text = 9 }\nof_20000 = { text = 20_000 }\nof_40000 = { text = 40_000 }\n";
    let many: String = (0..63).map(|number| format!("{number} ")).collect();
    for (lengths, together) in [
        // The first statement may have any length.
        (&[40_000, 9, 9][..], "begin 0 1 2 commit;"),
        (&[9, 20_000, 20_000], "begin 0 1 flush;2 commit;"),
        (&[9, 40_000, 9, 40_000], "begin 0 flush;1 2 flush;3 commit;"),
        (&[9; 70], &format!("begin {}63;64 65 66 67 68 69 commit;", many)),
    ] {
        let transaction = format!("commit = \"end\"\npipeline = true\nsteps = [{}]", steps(lengths));
        let custom_workload = workload(draws, &transaction);
        let mut piped = actor(&custom_workload).pipelining(true);
        assert_eq!(sent(&mut piped), together, "{lengths:?}");
        assert_eq!(sent(&mut piped), together, "{lengths:?}");
    }
}

#[test]
fn failed_pipeline_is_rolled_back_and_resent() {
    let custom_workload = workload(
        "",
        "commit = \"end\"\npipeline = true\nretries = 1\nsteps = [{ sql = \"UPDATE t SET a = 1\" }]",
    );
    let mut actor = actor(&custom_workload).pipelining(true);
    actor.draw();
    let conflict =
        || Box::new(OpError { class: ErrorClass::Retryable, code: "40001".into(), message: String::new() });
    let failed = actor.advance(None, |request| match request {
        SessionRequest::Queue(_) => Ok(()),
        _ => Err(conflict()),
    });
    assert!(failed.is_err());
    // The server skipped the commit with the requests before it.
    let left = actor.failed(ErrorClass::Retryable);
    assert!(left.is_open);
    assert!(left.may_again);
    assert!(actor.retry());
    let turn = actor.advance(None, |_| Ok(()));
    assert_eq!(turn.expect("nothing fails"), SessionTurn::Asked(()));
    actor.queued(&[0, 1]);
    assert_eq!(
        actor.advance(Some(RequestCompletion::default()), |_| Ok(())).expect("it is over"),
        SessionTurn::Over
    );
    let effect = actor.outcome().effect;
    assert_eq!((effect.commits, effect.transactions, effect.rows), (1, 1, [0, 1, 0, 0]));
}

#[test]
fn commit_is_in_doubt_if_connection_is_lost_during_it() {
    let lost = ErrorClass::Connection;
    // A single statement that commits separately.
    let single_workload = workload("x = 5", "sql = \"UPDATE t SET a = :x\"");
    let mut single = actor(&single_workload);
    single.draw();
    assert!(!single.failed(lost).in_doubt, "nothing was sent");
    single.step(None);
    assert!(single.failed(lost).in_doubt);
    assert!(!single.failed(ErrorClass::Retryable).in_doubt, "the server has answered");
    // A transaction with several statements: only its commit can be in doubt.
    let several_workload = workload("", "commit = \"end\"\nsteps = [{ sql = \"UPDATE t SET a = 1\" }]");
    let mut several = actor(&several_workload);
    several.draw();
    let mut observed_steps = Vec::new();
    let mut last = None;
    while let Some(step) = several.step(last) {
        // The state does not change: an open transaction is not asked again here.
        observed_steps.push((several.request(step, words), several.is_in_doubt(lost)));
        last = Some(RequestCompletion { rows: 1, commit_began_ns: None });
    }
    let doubts: Vec<bool> = observed_steps.iter().map(|(_, in_doubt)| *in_doubt).collect();
    assert_eq!(doubts, [false, false, true], "{observed_steps:?}");
    // A read-only transaction is never in doubt.
    let read_workload = workload("", "sql = \"SELECT 1\"");
    let mut reads = actor(&read_workload);
    reads.draw();
    reads.step(None);
    assert!(!reads.failed(lost).in_doubt);
}

#[test]
fn writes_that_change_no_row_are_counted() {
    let custom_workload = workload("x = 5", "sql = \"UPDATE t SET a = :x\"");
    let mut actor = actor(&custom_workload);
    actor.draw();
    acted(&mut actor, &[0]);
    let effect = actor.outcome().effect;
    assert_eq!((effect.write_statements, effect.empty_writes), (1, 1));
    actor.draw();
    acted(&mut actor, &[3]);
    let effect = actor.outcome().effect;
    assert_eq!((effect.write_statements, effect.empty_writes), (1, 0));
}
