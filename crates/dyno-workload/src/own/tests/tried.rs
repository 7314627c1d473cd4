//! Transactions that were taken back are tried again: as a whole, or the part of several that was.

use dyno_engine::{Done, ErrorClass};

use super::acting::{acted, actor, words};
use super::workload;
use crate::own::Step;

#[test]
fn a_transaction_is_tried_again_with_the_same_values() {
    let own = workload(
        "x = { uniform = [1, 1_000_000] }\ny = { uniform = [1, 1_000_000], per = \"statement\" }",
        "sql = \"SELECT :x, :y; SELECT :x, :y\"\nretries = 2",
    );
    let mut actor = actor(&own);
    actor.draw();
    let first = acted(&mut actor, &[]);
    assert!(actor.again());
    assert_eq!(acted(&mut actor, &[]), first);
    assert!(actor.again() && !actor.again());
    actor.draw();
    assert_ne!(acted(&mut actor, &[]), first);
    assert!(actor.again());
}

#[test]
fn of_several_transactions_the_one_that_was_taken_back_is_tried_again() {
    let own = workload(
        "x = { uniform = [1, 1_000_000], per = \"statement\" }",
        r#"
commit = "each"
retries = 2
steps = [
  { sql = "UPDATE t SET a = :x" },
  { repeat = 3, counter = "n", steps = [{ transaction = [{ sql = "SELECT :n, :x", read = "got" }, { sql = "UPDATE t SET a = :got, b = :x" }] }] },
]"#,
    );
    let mut whole = actor(&own);
    whole.draw();
    // Rows of the six statements after the first: each update changes one.
    let all = acted(&mut whole, &[1, 7, 1, 8, 1, 9, 1]);
    assert_eq!(whole.outcome().effect.commits, 4);

    let mut actor = actor(&own);
    actor.draw();
    // It fails in the update of the second turn, where two transactions have committed.
    let (mut did, mut last, mut rows) = (Vec::new(), None, [1, 7, 1, 8].into_iter());
    loop {
        let step = actor.step(last).expect("there is more to do");
        let is_statement = matches!(step, Step::Execute(_));
        let Some(rows) = (if is_statement { rows.next() } else { Some(0) }) else { break };
        did.push(actor.request(step, words));
        last = Some(Done { rows, commit_began_ns: None });
    }
    let failed = actor.failed(ErrorClass::Retryable);
    assert!(failed.is_open && failed.may_again, "{failed:?}");
    assert_eq!(actor.outcome().effect.commits, 2);
    assert!(actor.again());
    did.truncate(5);
    did.extend(acted(&mut actor, &[8, 1, 9, 1]));
    assert_eq!(did, all);
    assert_eq!(actor.outcome(), whole.outcome());
    assert!(actor.again() && !actor.again());
}
