//! Tests errors by number: the class for a session, the kind for a program, the message and the hint.

use dyno_engine::{
    ErrorClass, Isolation, ResultKind, SessionRequest, Statement, StatementId, TargetErrorKind, Type, Value,
};
use dyno_testbed::{ScriptedAnswer, ScriptedCall, ScriptedGreeting, ScriptedOptions};

use crate::answers::{each_release, server, target};
use crate::sessions::setup;

use ErrorClass::{Connection, Fatal, Retryable};
use TargetErrorKind::{Database, Denied, Full, Privilege, Unreachable};

/// The database's text, the class for an operation, the kind for a program, words of the message, and words
/// of the hint.
type Case = (&'static str, ErrorClass, TargetErrorKind, &'static str, &'static str);

const CASES: &[Case] = &[
    (
        "ORA-00054: resource busy and acquire with NOWAIT specified or timeout expired",
        Retryable,
        Database,
        "ORA-00054: resource busy",
        "V$LOCKED_OBJECT",
    ),
    (
        "ORA-00060: deadlock detected while waiting for resource",
        Retryable,
        Database,
        "ORA-00060",
        "same order",
    ),
    ("ORA-00600: internal error code, arguments: [kdsgrp1]", Fatal, Database, "[kdsgrp1]", "alert log"),
    ("ORA-01000: maximum open cursors exceeded", Fatal, Database, "ORA-01000", "raise open_cursors"),
    ("ORA-01403: no data found\nORA-06512: at line 3", Fatal, Database, "ORA-01403", "handle NO_DATA_FOUND"),
    ("ORA-01536: space quota exceeded for tablespace 'USERS'", Fatal, Full, "'USERS'", "QUOTA"),
    (
        "ORA-01555: snapshot too old: rollback segment number 9",
        Retryable,
        Database,
        "ORA-01555",
        "undo_retention",
    ),
    ("ORA-01653: unable to extend table D.T by 8 in tablespace USERS", Fatal, Full, "USERS", "AUTOEXTEND"),
    ("ORA-03113: end-of-file on communication channel", Connection, Unreachable, "ORA-03113", "alert log"),
    ("ORA-03135: connection lost contact", Connection, Unreachable, "ORA-03135", "firewalls"),
    (
        "ORA-06550: line 1, column 7:\nPLS-00201: identifier 'PAY' must be declared\nORA-06550: line 1, column 7:\n\
         PL/SQL: Statement ignored",
        Fatal,
        Privilege,
        "ORA-06550: line 1, column 7: PLS-00201: identifier 'PAY'",
        "grant this user",
    ),
    (
        "ORA-06550: line 2, column 1:\nPLS-00103: Encountered the symbol \"END\"",
        Fatal,
        Database,
        "PLS-00103",
        "compiler",
    ),
    (
        "ORA-08177: can't serialize access for this transaction",
        Retryable,
        Database,
        "ORA-08177",
        "read committed",
    ),
    ("ORA-12170: TNS:Connect timeout occurred", Fatal, Database, "ORA-12170", "database link"),
    (
        "ORA-12514: TNS:listener does not currently know of service requested\nORA-02063: preceding line from FAR",
        Fatal,
        Database,
        "ORA-12514",
        "database link",
    ),
    (
        "ORA-12516: TNS:listener could not find available handler",
        Fatal,
        Database,
        "ORA-12516",
        "database link",
    ),
];

fn number_of(text: &str) -> u32 {
    text[4..9].parse().unwrap()
}

/// Checks that the result is equal however the error arrives.
fn assert_refusals(options: ScriptedOptions, refuse: fn(u32, &'static str) -> ScriptedAnswer, resets: u64) {
    for &(text, class, kind, said, hint) in CASES {
        let number = number_of(text);
        let server = server(options, move |ScriptedCall { sql, executions, .. }| {
            let is_executed = executions[0].len() <= 1;
            (sql.contains("refused") && is_executed).then(|| refuse(number, text))
        });
        let target = target(&server, "");
        let statement =
            Statement::write("refused", "UPDATE refused SET c = 1 WHERE k = :1".to_owned(), &[Type::Int]);
        let mut session = target.session(&setup(vec![statement])).unwrap();
        let error = session.ask(SessionRequest::Execute(StatementId(0), &[Value::Int(1)])).unwrap_err();
        assert_eq!((error.class, error.code.as_str()), (class, &text[..9]), "{error:?}");
        assert!(error.message.contains(said), "{error:?}");
        assert!(!error.message.contains('\n'), "{error:?}");
        // The connection remains usable.
        session.ask(SessionRequest::Begin(Isolation::Serializable)).unwrap();
        session.close();
        assert_eq!(server.counts().commits, 0, "{text}");
        let error = target.script(&["LOCK TABLE refused IN SHARE MODE"], &mut |_| Ok(())).unwrap_err();
        assert_eq!((error.kind, error.is_retryable), (kind, class == Retryable), "{error:?}");
        assert!(error.message.contains(said), "{error:?}");
        assert!(error.hint.contains(hint), "{error:?}");
        // Once for the session, once for the script.
        assert_eq!(server.counts().resets, resets, "{text}");
    }
}

#[test]
fn oracle_errors_have_class_kind_message_and_hint() {
    each_release(|options| assert_refusals(options, ScriptedAnswer::Refused, 0));
}

#[test]
fn refusals_after_a_marker_are_reported_the_same() {
    each_release(|options| assert_refusals(options, ScriptedAnswer::RefusedByMarker, 2));
}

#[test]
fn no_data_found_ends_query_without_error() {
    each_release(|options| {
        let server = server(options, |call| {
            let is_executed = call.executions[0].len() == 1;
            (call.sql.starts_with("SELECT nothing") && is_executed)
                .then_some(ScriptedAnswer::Refused(1_403, "ORA-01403: no data found\n"))
        });
        let sql = "SELECT nothing FROM t WHERE k = :1".to_owned();
        let statement = Statement::read("nothing", sql, &[Type::Int], ResultKind::Rows);
        let target = target(&server, "");
        let mut session = target.session(&setup(vec![statement])).unwrap();
        assert_eq!(session.ask(SessionRequest::Execute(StatementId(0), &[Value::Int(1)])).unwrap().rows, 0);
        session.close();
    });
}

#[test]
fn refused_logons_have_kind_message_and_hint() {
    for (text, kind, hint) in [
        ("ORA-01017: invalid username/password; logon denied", Denied, "check user and password"),
        (
            "ORA-01045: user DYNO lacks CREATE SESSION privilege",
            Privilege,
            "GRANT CREATE SESSION, CREATE TABLE TO dyno;",
        ),
        ("ORA-01033: ORACLE initialization or shutdown in progress", Unreachable, "open the database"),
        ("ORA-00018: maximum number of sessions exceeded", Unreachable, "plan fewer sessions"),
        ("ORA-02391: exceeded simultaneous SESSIONS_PER_USER limit", Unreachable, "SESSIONS_PER_USER"),
        ("ORA-28000: The account is locked.", Denied, "ACCOUNT UNLOCK"),
        ("ORA-28001: the password has expired", Denied, "IDENTIFIED BY"),
    ] {
        each_release(|options| {
            let refused_logon = Some((number_of(text), text));
            let server = server(ScriptedOptions { refused_logon, ..options }, |_| None);
            let error = target(&server, "").identify().unwrap_err();
            assert_eq!(error.kind, kind, "{error:?}");
            assert_eq!(error.message, format!("the database refused the connection: {text}"));
            assert!(error.hint.contains(hint), "{error:?}");
            assert_eq!(server.counts().parses, 0);
        });
    }
}

#[test]
fn listener_refusals_have_message_and_hint() {
    for (number, expected_text, hint) in [
        (12_170, "ORA-12170", "SQLNET.INBOUND_CONNECT_TIMEOUT"),
        (12_514, "no service \"bench\" (ORA-12514)", "lsnrctl status"),
        (12_516, "ORA-12516", "processes"),
        (12_528, "ORA-12528", "open it"),
        (12_564, "ORA-12564", "listener's log"),
    ] {
        each_release(|options| {
            let greeting = ScriptedGreeting::Refuse(number);
            let server = server(ScriptedOptions { greeting, ..options }, |_| None);
            let error = target(&server, "").identify().unwrap_err();
            assert_eq!(error.kind, Unreachable, "{error:?}");
            assert!(error.message.contains(expected_text), "{error:?}");
            assert!(error.hint.contains(hint), "{error:?}");
            assert_eq!(server.counts().round_trips, 0);
        });
    }
}
