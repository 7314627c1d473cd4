//! Statements that begin or end transactions.

use dyno_engine::Isolation;

use dyno_workload::custom::syntax::{SourceText, WorkloadError};

/// The effect of a statement on transactions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Control {
    Begin { isolation: Option<Isolation>, reads_only: bool },
    End { rolls_back: bool },
}

/// The effect of the statement `text` on transactions; `None` if it has another purpose.
///
/// # Errors
/// Workloads cannot express the statement.
pub(super) fn control(text: &SourceText) -> Result<Option<Control>, WorkloadError> {
    let upper = text.letters.to_ascii_uppercase().replace(',', " ");
    let words: Vec<&str> = upper.split_whitespace().collect();
    let refuse = |problem: &str, hint: &str| Err(text.fault(0, problem.to_owned(), hint));
    let behind = |from: usize| {
        let named = matches!(words.get(from), Some(&("WORK" | "TRANSACTION")));
        &words[from + usize::from(named)..]
    };
    match words.as_slice() {
        ["BEGIN", ..] => begin(text, behind(1)).map(Some),
        ["START", "TRANSACTION", rest @ ..] => begin(text, rest).map(Some),
        ["COMMIT" | "ROLLBACK", "PREPARED", ..] | ["PREPARE", "TRANSACTION", ..] => {
            refuse("a transaction in two phases has no counterpart", "end it with END")
        }
        ["ROLLBACK", "TO", ..] => Ok(None),
        ["COMMIT" | "END" | "ROLLBACK" | "ABORT", ..] => match behind(1) {
            [] | ["AND", "NO", "CHAIN"] => {
                Ok(Some(Control::End { rolls_back: matches!(words[0], "ROLLBACK" | "ABORT") }))
            }
            ["TO", ..] => Ok(None),
            _ => refuse("the transaction continues after its end", "write END, then BEGIN"),
        },
        _ => Ok(None),
    }
}

fn begin(text: &SourceText, modes: &[&str]) -> Result<Control, WorkloadError> {
    let (mut isolation, mut reads_only) = (None, false);
    let mut rest = modes;
    loop {
        rest = match rest {
            // PostgreSQL takes fewer locks for it, so without READ ONLY it would be a different measurement.
            [] if reads_only && isolation == Some(Isolation::Serializable) => {
                let hint = "take READ ONLY out, or write REPEATABLE READ READ ONLY";
                return Err(text.fault(0, "SERIALIZABLE with READ ONLY has no counterpart", hint));
            }
            [] => return Ok(Control::Begin { isolation, reads_only }),
            ["READ", "ONLY", rest @ ..] => {
                reads_only = true;
                rest
            }
            ["READ", "WRITE", rest @ ..] | ["NOT", "DEFERRABLE", rest @ ..] => rest,
            ["ISOLATION", "LEVEL", rest @ ..] => {
                let (level, length) = match rest {
                    ["SERIALIZABLE", ..] => (Isolation::Serializable, 1),
                    ["REPEATABLE", "READ", ..] => (Isolation::RepeatableRead, 2),
                    // PostgreSQL implements both as READ COMMITTED.
                    ["READ", "COMMITTED" | "UNCOMMITTED", ..] => (Isolation::ReadCommitted, 2),
                    _ => {
                        return Err(text.fault(
                            0,
                            "no such isolation level",
                            "write SERIALIZABLE, REPEATABLE READ or READ COMMITTED",
                        ));
                    }
                };
                isolation = Some(level);
                &rest[length..]
            }
            [word, ..] => {
                let problem = format!("BEGIN with {word} has no counterpart");
                return Err(text.fault(
                    0,
                    problem,
                    "only ISOLATION LEVEL …, READ ONLY and READ WRITE have one",
                ));
            }
        };
    }
}
