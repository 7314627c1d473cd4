//! Tests errors of the database, and objects that it creates but that are invalid: class, kind and message.

use std::sync::{Arc, Mutex};

use dyno_engine::{
    Claim, ErrorClass, Holder, LockPurpose, OpError, ResultKind, SessionRequest, Statement, StatementId,
    TargetErrorKind, Type, Value,
};
use dyno_testbed::{ScriptedAnswer, ScriptedCall, ScriptedOptions, ScriptedType};

use crate::answers::{each_release, server, target, text};
use crate::sessions::setup;

/// The result of a query that the database rejects with this error.
fn refusal_error(options: ScriptedOptions, code: u32, text: &'static str) -> Box<OpError> {
    let server = server(options, move |ScriptedCall { sql, executions: binds, .. }| {
        // Parsing the statement succeeds.
        let is_parsed = binds[0].len() > 1;
        (sql.starts_with("SELECT refused") && !is_parsed).then_some(ScriptedAnswer::Refused(code, text))
    });
    let target = target(&server, "");
    let statement = Statement::read(
        "refused",
        "SELECT refused FROM t WHERE k = :1".to_owned(),
        &[Type::Int],
        ResultKind::Row,
    );
    let mut session = target.session(&setup(vec![statement])).unwrap();
    let error = session.ask(SessionRequest::Execute(StatementId(0), &[Value::Int(1)])).unwrap_err();
    // The connection and the session remain usable.
    session.ask(SessionRequest::Begin(dyno_engine::Isolation::Serializable)).unwrap();
    session.close();
    error
}

#[test]
fn oracle_errors_have_expected_class() {
    each_release(|options| {
        for (code, text, class, expected_text) in [
            (
                54,
                "ORA-00054: resource busy and acquire with NOWAIT specified",
                ErrorClass::Retryable,
                "ORA-00054",
            ),
            (
                60,
                "ORA-00060: deadlock detected while waiting for resource",
                ErrorClass::Retryable,
                "ORA-00060",
            ),
            (1_555, "ORA-01555: snapshot too old", ErrorClass::Retryable, "ORA-01555"),
            (
                8_177,
                "ORA-08177: can't serialize access for this transaction",
                ErrorClass::Retryable,
                "ORA-08177",
            ),
            (600, "ORA-00600: internal error code, arguments: [1]", ErrorClass::Fatal, "ORA-00600"),
            (1_000, "ORA-01000: maximum open cursors exceeded", ErrorClass::Fatal, "ORA-01000"),
            (1_653, "ORA-01653: unable to extend table D.T by 8", ErrorClass::Fatal, "ORA-01653"),
            (3_113, "ORA-03113: end-of-file on communication channel", ErrorClass::Connection, "ORA-03113"),
            (3_135, "ORA-03135: connection lost contact", ErrorClass::Connection, "ORA-03135"),
            (
                604,
                "ORA-00604: error occurred at recursive SQL level 1\nORA-00060: deadlock detected while waiting for resource\n",
                ErrorClass::Retryable,
                "ORA-00060: deadlock",
            ),
            (
                12_801,
                "ORA-12801: error signaled in parallel query server P000\nORA-01555: snapshot too old\n",
                ErrorClass::Retryable,
                "ORA-01555: snapshot",
            ),
            (
                6_550,
                "ORA-06550: line 1, column 7:\nPLS-00201: identifier 'X' must be declared\n",
                ErrorClass::Fatal,
                "PLS-00201: identifier 'X' must be declared",
            ),
        ] {
            let error = refusal_error(options, code, text);
            assert_eq!(error.class, class, "{code}: {error:?}");
            assert!(error.message.contains(expected_text), "{code}: {error:?}");
        }
    });
}

#[test]
fn missing_grant_error_names_the_package() {
    each_release(|options| {
        let server = server(options, |ScriptedCall { sql, .. }| {
            let text = "ORA-06550: line 2, column 15:\nPLS-00201: identifier 'SYS.DBMS_LOCK' must be declared\nORA-06550: line 2, \
                    column 3:\nPL/SQL: Statement ignored\n";
            sql.contains("DBMS_LOCK").then_some(ScriptedAnswer::Refused(6_550, text))
        });
        let held = target(&server, "").lock(&Holder::this_process(LockPurpose::Run), Claim::Alone);
        let words = format!("{held:?}");
        assert!(words.contains("DBMS_LOCK"), "{words}");
    });
}

#[test]
fn procedure_with_compile_errors_is_refused_with_their_text() {
    each_release(|options| {
        let server = server(options, |ScriptedCall { sql, executions: binds, .. }| {
            if sql.contains("user_errors") {
                assert!(binds[0].is_empty() || binds[0][0] == text("PAY"), "{binds:?}");
                let columns = vec![
                    ("LINE", ScriptedType::Text),
                    ("POSITION", ScriptedType::Text),
                    ("TEXT", ScriptedType::Text),
                ];
                let rows =
                    vec![vec![text("3"), text("5"), text("PL/SQL: ORA-00942: table or view does not exist")]];
                return Some(ScriptedAnswer::Rows { columns, rows });
            }
            sql.starts_with("CREATE OR REPLACE PROCEDURE").then_some(ScriptedAnswer::CreatedWithErrors)
        });
        let target = target(&server, "");
        let setup =
            "CREATE OR REPLACE PROCEDURE pay(amount NUMBER) AS BEGIN UPDATE nothing SET x = amount; END;";
        let error = target.script(&[setup], &mut |_| Ok(())).unwrap_err();
        assert_eq!(error.kind, TargetErrorKind::Database);
        assert!(
            error.message.contains("PAY was created with compilation errors: line 3, column 5"),
            "{error:?}"
        );
    });
}

#[test]
fn oracle_session_sets_formats_before_first_query() {
    each_release(|options| {
        let statements = Arc::new(Mutex::new(Vec::new()));
        let keep = Arc::clone(&statements);
        let server = server(options, move |ScriptedCall { sql, .. }| {
            keep.lock().unwrap().push(sql.to_owned());
            None
        });
        let target = target(&server, "");
        let statement =
            Statement::read("one", "SELECT 1 FROM t WHERE k = :1".to_owned(), &[Type::Int], ResultKind::Row);
        target.session(&setup(vec![statement])).unwrap().close();
        let statements = statements.lock().unwrap();
        let formats =
            statements.iter().position(|sql| sql.contains("NLS_NUMERIC_CHARACTERS = '.,'")).unwrap();
        let query = statements.iter().position(|sql| sql.starts_with("SELECT 1 FROM t")).unwrap();
        assert!(formats < query, "{statements:?}");
    });
}
