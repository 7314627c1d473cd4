//! Determines the effect of statements in scripts beyond changes to rows: locks, savepoints, cursors.

use dyno_engine::sql_tokens::SqlTokenKind;

use super::effect::{StatementEffect, classify_statement};
use super::split::SplitStatement;
use crate::custom::fault::{SourceText, WorkloadError};

/// Where a statement is valid, and its effect.
enum Step {
    /// It returns and changes no rows.
    Controls { in_transaction: bool },
    /// It returns rows, for example FETCH.
    Reads { in_transaction: bool },
    /// It runs code with unknown effect.
    Calls,
}

/// The effect of a step that runs this statement; `alone` if it is outside a transaction.
///
/// # Errors
/// The statement is not allowed in a transaction, or has no meaning outside one.
pub fn classify_step(
    text: &SourceText,
    piece: &SplitStatement,
    alone: bool,
) -> Result<StatementEffect, WorkloadError> {
    let words = words(text, piece);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let fault = |problem: &str, hint: &str| text.fault(piece.at.start, problem, hint);
    let step = match step(&words) {
        Ok(Some(step)) => step,
        Ok(None) => return classify_statement(text, piece),
        Err((problem, hint)) => return Err(fault(problem, hint)),
    };
    let (does, in_transaction) = match step {
        Step::Controls { in_transaction } => (StatementEffect::Controls, in_transaction),
        Step::Reads { in_transaction } => (StatementEffect::Reads, in_transaction),
        Step::Calls => (StatementEffect::Calls, false),
    };
    match in_transaction && alone {
        true => Err(fault(
            "a statement that has a meaning only within a transaction",
            "write `commit = \"end\"`, or put it into a step with `transaction`; in a script of pgbench, write BEGIN before it",
        )),
        false => Ok(does),
    }
}

/// The words of a statement in upper case.
fn words(text: &SourceText, piece: &SplitStatement) -> Vec<String> {
    let words = piece.tokens.iter().filter(|token| token.kind == SqlTokenKind::Word);
    words.map(|token| text.letters[token.at.clone()].to_ascii_uppercase()).collect()
}

/// The effect of the statement with these words; `None` if [`classify_statement`] handles it. The error
/// contains problem and hint.
fn step(words: &[&str]) -> Result<Option<Step>, (&'static str, &'static str)> {
    let within = Step::Controls { in_transaction: true };
    Ok(Some(match words {
        ["SAVEPOINT", ..] | ["RELEASE", ..] => within,
        ["ROLLBACK", "TO", ..] | ["ROLLBACK", "WORK" | "TRANSACTION", "TO", ..] => within,
        ["SET", "CONSTRAINTS", ..] => within,
        ["SET", "LOCAL", "TRANSACTION", ..] | ["SET", "TRANSACTION" | "SESSION", ..] => {
            return Err((
                "a statement that sets how transactions or sessions are",
                "take it out: `isolation` of a transaction sets its level, and SET LOCAL anything else for one transaction",
            ));
        }
        ["SET", "LOCAL", "SYNCHRONOUS_COMMIT", ..] => {
            return Err((
                "a statement that sets how commits wait",
                "take it out, and write `commit = \"nowait\"` into [workload] of the plan: the result then says so",
            ));
        }
        ["SET", "LOCAL", ..] => within,
        ["SET" | "RESET" | "DISCARD", ..] => {
            return Err((
                "a statement that sets the session, which later transactions would have too",
                "write SET LOCAL within the transaction, or set it for the role or the database: ALTER ROLE … SET",
            ));
        }
        ["LOCK", "TABLES", ..] | ["LOCK", .., "READ" | "WRITE"] | ["UNLOCK", ..] => {
            return Err((
                "LOCK TABLES commits the transaction that it stands in",
                "lock rows with SELECT … FOR UPDATE",
            ));
        }
        ["LOCK", ..] => within,
        ["NOTIFY", ..] => Step::Controls { in_transaction: false },
        ["LISTEN" | "UNLISTEN", ..] => {
            return Err((
                "a session of a workload takes no notifications",
                "take it out; NOTIFY can be sent",
            ));
        }
        ["DECLARE", _, ..]
            if words.contains(&"CURSOR") && words.contains(&"HOLD") && !words.contains(&"WITHOUT") =>
        {
            return Err((
                "a cursor that stays open behind its transaction",
                "take WITH HOLD out: fetch its rows within the transaction",
            ));
        }
        ["DECLARE", _, ..] if words.contains(&"CURSOR") => within,
        ["FETCH", ..] => Step::Reads { in_transaction: true },
        ["MOVE" | "CLOSE", ..] => within,
        ["DO", ..] => Step::Calls,
        ["EXPLAIN", rest @ ..] => match rest.iter().any(|word| matches!(*word, "ANALYZE" | "ANALYSE")) {
            // With ANALYZE it executes the statement that it explains.
            true => Step::Calls,
            false => Step::Reads { in_transaction: false },
        },
        ["PREPARE" | "EXECUTE" | "DEALLOCATE", ..] => {
            return Err((
                "a statement that prepares others, which sessions do by themselves",
                "write the prepared statement itself, with :name for its values: workload.protocol = \"prepared\" prepares it",
            ));
        }
        ["CREATE", "TEMP" | "TEMPORARY", ..] | ["CREATE", "LOCAL" | "GLOBAL", "TEMP" | "TEMPORARY", ..] => {
            return Err((
                "a temporary table, which the session would keep between transactions",
                "make a table in the file of [setup] (UNLOGGED is nearest to a temporary one), and delete its rows in the transaction",
            ));
        }
        ["COPY", ..] => {
            return Err((
                "COPY moves rows by a protocol of its own",
                "write INSERT with several rows, or fill a table by [table]",
            ));
        }
        _ => return Ok(None),
    }))
}
