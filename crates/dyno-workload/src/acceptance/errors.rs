//! Step 7: provokes errors and checks their classes.

use std::sync::mpsc::channel;
use std::time::Duration;

use dyno_engine::{
    BlockOp, ErrorClass, Isolation, OpError, ResultKind, SessionRequest, Statement, StatementId, Target,
    TargetError, TargetErrorKind, Type, Value,
};
use dyno_plan::{Commit, DataSpec, DriveMode, Redo};
use dyno_record::AcceptanceFinding;

use super::{
    AcceptanceScope, Findings, not_applicable, not_proved, of_advice, proved, scratch, session_of, wrong,
};
use crate::blocks::Operated;
use crate::conformance::{AcknowledgedWork, failed, read_only, session, statements};

/// The longest wait for the server to resolve a deadlock; longer than its detection interval.
const DEADLOCK_WITHIN: Duration = Duration::from_secs(90);

pub(super) fn classed(scope: &AcceptanceScope<'_>, spec: &DataSpec) -> Findings {
    let target = scope.target;
    let from = target.dialect().from_nothing;
    let prefix = target.dialect().prefix;
    let missing_table = format!("SELECT COUNT(*) FROM {prefix}no_such_table");
    let mut findings = vec![
        refused(target, "syntax", format!("SELEC 7{from}"), TargetErrorKind::Database),
        refused(target, "missing table", missing_table, TargetErrorKind::Data),
    ];
    findings.push(scratch::with_table(target, || duplicate_key(target))?);
    findings.push(deadlock(target, spec)?);
    findings.push(of_advice(read_only::refused_writes(target)?));
    findings.push(of_advice(statements::broken_off(target, spec, &mut AcknowledgedWork::default())?));
    Ok(findings)
}

/// Checks a statement that the server must refuse: with an error of `kind` when prepared, or with a fatal error when executed.
fn refused(target: &dyn Target, name: &str, sql: String, kind: TargetErrorKind) -> AcceptanceFinding {
    let opened = session_of(target, vec![Statement::read("refused", sql, &[], ResultKind::Number)]);
    let mut session = match opened {
        Ok(session) => session,
        Err(error) if error.kind == kind => {
            return proved(name, format!("refused when it was prepared: {}", error.message));
        }
        Err(error) => {
            return wrong(
                name,
                format!("refused as {:?} and not as {kind:?}: {}", error.kind, error.message),
            );
        }
    };
    let outcome = session.execute(StatementId(0), &[]);
    session.close();
    match outcome {
        Err(error) => of_class(name, &error, ErrorClass::Fatal),
        Ok(_) => wrong(name, "the database executed a statement that it must refuse"),
    }
}

/// The finding about an error that must have the class `class`.
fn of_class(name: &str, error: &OpError, class: ErrorClass) -> AcceptanceFinding {
    let words = format!("code {}, {}: {}", error.code, error.class.name(), error.message);
    match error.class == class {
        true => proved(name, words),
        false => wrong(name, format!("{words}; it must be {}", class.name())),
    }
}

/// Inserts a second row with the same primary key.
fn duplicate_key(target: &dyn Target) -> Result<AcceptanceFinding, TargetError> {
    let insert =
        format!("INSERT INTO {} (id) VALUES ({})", scratch::name(target), (target.dialect().mark)(1));
    let mut session = session_of(target, vec![Statement::write("insert", insert, &[Type::Int])])?;
    let mut insert = || session.execute(StatementId(0), &[Value::Int(1)]);
    insert().map_err(|error| failed(&error))?;
    let outcome = insert();
    session.close();
    Ok(match outcome {
        Err(error) => of_class("duplicate key", &error, ErrorClass::Fatal),
        Ok(_) => wrong("duplicate key", "the database accepted two rows with the same primary key"),
    })
}

/// Makes two sessions wait for each other's rows: the server must roll back one, as a retryable error.
fn deadlock(target: &dyn Target, spec: &DataSpec) -> Result<AcceptanceFinding, TargetError> {
    const NAME: &str = "deadlock";
    if target.capabilities().load_parallel_max <= 1 {
        return Ok(not_applicable(
            NAME,
            "the engine has one writer at a time, so two cannot wait for each other",
        ));
    }
    let open = || session(target, spec, DriveMode::Client, Commit::Wait, Redo::Lite);
    let mut pair = [open()?, open()?];
    let ranges = [1, 1 + spec.rows / 2];
    for (session, first) in pair.iter_mut().zip(ranges) {
        session.session.ask(SessionRequest::Begin(Isolation::Platform)).map_err(|error| failed(&error))?;
        session.execute(BlockOp::Update { first, number: 70_001 }).map_err(|error| failed(&error))?;
    }
    let crossed = pair.iter_mut().zip(ranges.into_iter().rev());
    let (sender, outcomes) = channel();
    let errors: Option<Vec<Box<OpError>>> = std::thread::scope(|scope| {
        let mut interrupters = Vec::new();
        for (session, first) in crossed {
            interrupters.push(session.session.interrupter());
            let sender = sender.clone();
            scope.spawn(move || {
                let outcome = session.execute(BlockOp::Update { first, number: 70_002 }).map(|_| ());
                if outcome.is_err() {
                    // Its locks keep the other session waiting.
                    let _ = session.session.ask(SessionRequest::Rollback);
                }
                // If both took too long, nobody receives this.
                let _ = sender.send(outcome.err());
            });
        }
        let answers: Result<Vec<_>, _> = (0..2).map(|_| outcomes.recv_timeout(DEADLOCK_WITHIN)).collect();
        if answers.is_err() {
            interrupters.iter().for_each(|interrupter| interrupter.interrupt());
        }
        answers.ok().map(|answers| answers.into_iter().flatten().collect())
    });
    pair.into_iter().for_each(rolled_back);
    Ok(match errors.as_deref() {
        None => not_proved(NAME, format!("it was not resolved within {} s", DEADLOCK_WITHIN.as_secs())),
        Some([]) => wrong(NAME, "two sessions changed the same rows in crossed order, and none was refused"),
        Some([first, ..]) => of_class(NAME, first, ErrorClass::Retryable),
    })
}

/// Rolls back the transaction of a session and closes the session.
fn rolled_back(mut session: Operated) {
    let _ = session.session.ask(SessionRequest::Rollback);
    session.close();
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_record::AcceptanceVerdict::{Proved, Wrong};

    #[test]
    fn error_of_unexpected_class_is_wrong() {
        let error =
            OpError { class: ErrorClass::Fatal, code: "1213".to_owned(), message: "deadlock".to_owned() };
        assert_eq!(of_class("deadlock", &error, ErrorClass::Retryable).verdict, Wrong);
        assert_eq!(of_class("deadlock", &error, ErrorClass::Fatal).verdict, Proved);
    }
}
