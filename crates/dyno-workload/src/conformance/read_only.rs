//! Checks that read-only sessions can read and cannot write.

use std::sync::Arc;

use dyno_engine::{
    Isolation, MonotonicClock, ResultKind, Session, SessionRequest, SessionSetup, Statement, StatementId,
    Target, TargetError, TargetErrorKind,
};
use dyno_plan::{Commit, Connect, StatementProtocol};
use dyno_record::{Advice, Severity};

use super::{advice, failed, failed_check, passed};

const CHECK: &str = "read-only sessions";
const ONLY: StatementId = StatementId(0);

/// Tries reads and writes in read-only sessions of both kinds of connection, alone and in a transaction.
pub(crate) fn refused_writes(target: &dyn Target) -> Result<Advice, TargetError> {
    if !target.capabilities().read_only_sessions {
        let finding = "sessions cannot be made read-only on this engine";
        return Ok(advice(CHECK, Severity::Note, finding, ""));
    }
    let rows = format!("{}rows_1", target.dialect().prefix);
    let read = Statement::read(
        "read",
        format!("SELECT custid FROM {rows} WHERE custid <= 7"),
        &[],
        ResultKind::Rows,
    );
    let delete = Statement::write("delete", format!("DELETE FROM {rows} WHERE custid = -1"), &[]);
    for connect in [Connect::Session, Connect::Transaction] {
        for (statement, is_write) in [(&read, false), (&delete, true)] {
            let outcome = match open(target, statement, connect) {
                // A database in memory ends with its connection.
                Err(error) if error.kind == TargetErrorKind::Unsupported => continue,
                Err(error) if is_write && tells_way_out(&format!("{error} {}", error.hint)) => continue,
                Err(error) => return Err(error),
                Ok(session) => attempt(session, is_write)?,
            };
            if let Some(wrong) = outcome {
                return Ok(failed_check(CHECK, format!("{wrong} (connect = \"{}\")", connect.name())));
            }
        }
    }
    Ok(passed(CHECK, "read-only sessions read, and the database refused their writes".to_owned()))
}

fn open(
    target: &dyn Target,
    statement: &Statement,
    connect: Connect,
) -> Result<Box<dyn Session>, TargetError> {
    target.session(&SessionSetup {
        number: 0,
        statements: [statement.clone()].into(),
        rehearsal: None,
        commit: Commit::Wait,
        protocol: StatementProtocol::Prepared,
        connect,
        blocks: None,
        bulk: None,
        read_only: true,
        slices: false,
        clock: Arc::new(MonotonicClock::default()),
    })
}

fn tells_way_out(message: &str) -> bool {
    message.contains("writes = true")
}

/// Executes the only statement of `session` on its first and on a new connection; returns the problem, if there is one.
fn attempt(mut session: Box<dyn Session>, is_write: bool) -> Result<Option<String>, TargetError> {
    for is_new_connection in [false, true] {
        if is_new_connection {
            session.disconnect();
            session.reconnect()?;
        }
        for is_in_transaction in [false, true] {
            let mut act = || {
                if is_in_transaction {
                    session.ask(SessionRequest::Begin(Isolation::Platform))?;
                }
                session.execute(ONLY, &[])
            };
            match act() {
                Ok(done) if !is_write && done.rows == 7 => {}
                Err(error) if is_write && tells_way_out(&error.message) => {}
                other => return Ok(Some(format!("is_write is {is_write}, and it gave {other:?}"))),
            }
            if is_in_transaction {
                session.ask(SessionRequest::Rollback).map_err(|error| failed(&error))?;
            }
        }
    }
    session.close();
    Ok(None)
}
