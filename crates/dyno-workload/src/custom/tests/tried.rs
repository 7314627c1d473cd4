//! Tests of retries after a rollback: of a whole transaction, or of one part.

use dyno_engine::{ErrorClass, RequestCompletion};

use super::acting::{acted, actor, words};
use super::workload;
use crate::custom::ActorStep;

#[test]
fn retried_transaction_uses_the_same_values() {
    let custom_workload = workload(
        "x = { uniform = [1, 1_000_000] }\ny = { uniform = [1, 1_000_000], per = \"statement\" }",
        "sql = \"SELECT :x, :y; SELECT :x, :y\"\nretries = 2",
    );
    let mut actor = actor(&custom_workload);
    actor.draw();
    let first = acted(&mut actor, &[]);
    assert!(actor.retry());
    assert_eq!(acted(&mut actor, &[]), first);
    assert!(actor.retry());
    assert!(!actor.retry());
    actor.draw();
    assert_ne!(acted(&mut actor, &[]), first);
    assert!(actor.retry());
}

#[test]
fn retry_repeats_only_the_rolled_back_transaction() {
    let custom_workload = workload(
        "x = { uniform = [1, 1_000_000], per = \"statement\" }",
        r#"
commit = "each"
retries = 2
steps = [
  { sql = "UPDATE t SET a = :x" },
  { repeat = 3, counter = "n", steps = [{ transaction = [{ sql = "SELECT :n, :x", read = "got" }, { sql = "UPDATE t SET a = :got, b = :x" }] }] },
]"#,
    );
    let mut whole = actor(&custom_workload);
    whole.draw();
    // Rows of the six statements after the first: each update changes one.
    let all = acted(&mut whole, &[1, 7, 1, 8, 1, 9, 1]);
    assert_eq!(whole.outcome().effect.commits, 4);

    let mut actor = actor(&custom_workload);
    actor.draw();
    // It fails in the update of the second iteration, after two transactions have committed.
    let (mut did, mut last, mut rows) = (Vec::new(), None, [1, 7, 1, 8].into_iter());
    loop {
        let step = actor.step(last).expect("there is more to do");
        let is_statement = matches!(step, ActorStep::Execute(_));
        let Some(rows) = (if is_statement { rows.next() } else { Some(0) }) else { break };
        did.push(actor.request(step, words));
        last = Some(RequestCompletion { rows, commit_began_ns: None });
    }
    let failed = actor.failed(ErrorClass::Retryable);
    assert!(failed.is_open, "{failed:?}");
    assert!(failed.may_again, "{failed:?}");
    assert_eq!(actor.outcome().effect.commits, 2);
    assert!(actor.retry());
    did.truncate(5);
    did.extend(acted(&mut actor, &[8, 1, 9, 1]));
    assert_eq!(did, all);
    assert_eq!(actor.outcome(), whole.outcome());
    assert!(actor.retry());
    assert!(!actor.retry());
}
