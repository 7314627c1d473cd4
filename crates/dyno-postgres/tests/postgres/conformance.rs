//! Runs the conformance tests that every engine must pass, and tests of PostgreSQL's own statements.

use std::sync::Arc;

use crate::wire::{each_version, target_at};
use dyno_engine::{
    Cancel, ErrorClass, Isolation, MonotonicClock, ResultKind, Session, SessionRequest, SessionSetup,
    Statement, StatementId, Target, Type, Value,
};
use dyno_plan::{Commit, StatementProtocol};
use dyno_record::Severity;
use dyno_testbed::Postgres;
use dyno_workload::conformance::{self, EVERYWHERE, ON_SERVERS};

#[test]
fn postgres_passes_engine_conformance() {
    each_version(|version| {
        let server = Postgres::start(version, &[]);
        let target = target_at(&server.url());
        let commits = [Commit::Wait, Commit::Nowait];
        let protocols = [StatementProtocol::Extended, StatementProtocol::Simple];
        let findings =
            conformance::check(target.as_ref(), None, &commits, &protocols, &Cancel::default()).unwrap();
        let more = ["server nowait", "values extended", "values simple", "read-only sessions"];
        let wanted = [&EVERYWHERE[..], &ON_SERVERS, &more].concat();
        assert_eq!(conformance::failed_checks(&findings, &wanted), [""; 0]);
        // Deleted rows keep their places until VACUUM, so each row of each round has its own block.
        assert!(
            findings.iter().any(|f| f.check == "growth" && f.severity == Severity::Note),
            "{findings:#?}"
        );
    });
}

fn session(target: &dyn Target, number: u32, statements: &[Statement]) -> Box<dyn Session> {
    let setup = SessionSetup {
        number,
        statements: statements.into(),
        rehearsal: None,
        commit: Commit::Wait,
        protocol: dyno_plan::StatementProtocol::Prepared,
        connect: dyno_plan::Connect::Session,
        blocks: None,
        bulk: None,
        read_only: false,
        slices: false,
        clock: Arc::new(MonotonicClock::default()),
    };
    target.session(&setup).unwrap()
}

fn level(isolation: Isolation, session: &mut dyn Session, statement: StatementId) -> u64 {
    session.ask(SessionRequest::Begin(isolation)).unwrap();
    let level = session.execute(statement, &[]).unwrap().rows;
    session.ask(SessionRequest::Commit).unwrap();
    level
}

#[test]
fn user_statements_run_alone_and_in_transactions() {
    each_version(|version| {
        let server = Postgres::start(version, &[("fsync", "off"), ("deadlock_timeout", "50ms")]);
        server.psql(
            "CREATE TABLE account (id int PRIMARY KEY, balance numeric(12,2), at date, note uuid); \
             INSERT INTO account SELECT i, 100, '2020-01-01', NULL FROM generate_series(1, 4) i; \
             CREATE PROCEDURE pay(a int, amount bigint, INOUT left_over bigint) LANGUAGE plpgsql AS $$BEGIN \
             UPDATE account SET balance = balance - amount WHERE id = a RETURNING balance::bigint INTO left_over; END$$",
        );
        let ids = [0, 1, 2, 3, 4].map(StatementId);
        let [move_, note, call, isolation, fail] = ids;
        let texts = [
            Statement::write(
                "move",
                "UPDATE account SET balance = balance + $1 WHERE id = $2".to_owned(),
                &[Type::Literal, Type::Int],
            ),
            Statement::write(
                "note",
                "UPDATE account SET at = $1, note = $2 WHERE id = $3".to_owned(),
                &[Type::Literal, Type::Literal, Type::Int],
            ),
            Statement::read(
                "call",
                "CALL pay($1::int, $2, 0)".to_owned(),
                &[Type::Int, Type::Int],
                ResultKind::Number,
            ),
            Statement::read(
                "level",
                "SELECT array_position(ARRAY['read committed', 'repeatable read', 'serializable'], \
                 current_setting('transaction_isolation'))"
                    .to_owned(),
                &[],
                ResultKind::Number,
            ),
            Statement::read("fail", "SELECT 1 / $1".to_owned(), &[Type::Int], ResultKind::Number),
        ];
        let target = target_at(&server.url());
        let mut user_session = session(target.as_ref(), 0, &texts);
        let balance = |id: u32| server.psql(&format!("SELECT balance FROM account WHERE id = {id}"));
        let outcome = user_session.execute(move_, &[Value::Text(b"-12.50"), Value::Int(1)]).unwrap();
        assert_eq!((outcome.rows, balance(1).as_str()), (1, "87.50"));
        let uuid = b"0190163d-8694-739b-aea5-966c26f8ad91";
        for (at, note_, row) in [
            (Value::Text(b"2026-02-28"), Value::Null, "2026-02-28|"),
            (Value::Null, Value::Text(uuid), "|0190163d-8694-739b-aea5-966c26f8ad91"),
        ] {
            user_session.execute(note, &[at, note_, Value::Int(2)]).unwrap();
            assert_eq!(server.psql("SELECT at, note FROM account WHERE id = 2"), row);
        }
        assert_eq!(user_session.execute(call, &[Value::Int(3), Value::Int(30)]).unwrap().rows, 70);
        for (isolation_level, is) in
            [(Isolation::ReadCommitted, 1), (Isolation::RepeatableRead, 2), (Isolation::Serializable, 3)]
        {
            assert_eq!(level(isolation_level, user_session.as_mut(), isolation), is, "{isolation_level:?}");
        }
        assert_eq!(level(Isolation::Platform, user_session.as_mut(), isolation), 1, "as the server has it");

        // A transaction with a failed statement is not committed, and the commit returns an error.
        user_session.ask(SessionRequest::Begin(Isolation::Platform)).unwrap();
        user_session.execute(move_, &[Value::Text(b"1"), Value::Int(4)]).unwrap();
        assert_eq!(user_session.execute(fail, &[Value::Int(0)]).unwrap_err().code, "22012");
        let refused = user_session.ask(SessionRequest::Commit).unwrap_err();
        assert!(refused.message.contains("rolled back"), "{refused}");
        assert_eq!(balance(4), "100.00");
        user_session.ask(SessionRequest::Rollback).unwrap();

        deadlock(target.as_ref(), &texts, move_);
        assert_eq!(balance(1), "88.50", "one of both was committed");
        user_session.close();
    });
}

/// Two transactions lock two rows in opposite order: one gets a retryable error, and the other one continues.
fn deadlock(target: &dyn Target, texts: &[Statement], update: StatementId) {
    let barrier = std::sync::Barrier::new(2);
    let transfer = |number: u32, first_id: i64, second_id: i64| {
        let mut session = session(target, number, texts);
        session.ask(SessionRequest::Begin(Isolation::Platform)).unwrap();
        session.execute(update, &[Value::Text(b"1"), Value::Int(first_id)]).unwrap();
        barrier.wait();
        let result = match session.execute(update, &[Value::Text(b"1"), Value::Int(second_id)]) {
            Ok(_) => session.ask(SessionRequest::Commit).map(|_| ()),
            Err(error) => {
                assert_eq!((error.class, error.code.as_str()), (ErrorClass::Retryable, "40P01"));
                session.ask(SessionRequest::Rollback).unwrap();
                Err(error)
            }
        };
        session.close();
        result.is_ok()
    };
    let committed = std::thread::scope(|scope| {
        let other = scope.spawn(|| transfer(1, 2, 1));
        [transfer(2, 1, 2), other.join().unwrap()]
    });
    assert!(committed[0] != committed[1], "{committed:?}");
}

#[test]
fn server_timeouts_do_not_end_dyno_connections() {
    let version = Postgres::available().pop().unwrap();
    let server = Postgres::start(&version, &[("fsync", "off")]);
    let limits = [
        "statement_timeout",
        "lock_timeout",
        "idle_session_timeout",
        "idle_in_transaction_session_timeout",
        "transaction_timeout",
    ];
    let ours = format!("SELECT name FROM pg_settings WHERE name IN ('{}')", limits.join("', '"));
    let all = server.psql(&ours);
    all.lines().for_each(|limit| drop(server.psql(&format!("ALTER ROLE postgres SET {limit} = '9s'"))));
    let target = target_at(&server.url());
    let mut set = Vec::new();
    let ask = format!("{ours} AND setting <> '0'");
    let mut keep = |rows| {
        set = rows;
        Ok(())
    };
    target.script(&[&ask], &mut keep).unwrap();
    assert!(set.is_empty(), "setup SQL has limits: {set:?}");
    // A session may be idle for long, but keeps the platform's limits on statements.
    let limit = |name: &str| {
        let sql = format!("SELECT setting::bigint FROM pg_settings WHERE name = '{name}'");
        Statement::read(name, sql, &[], ResultKind::Number)
    };
    let mut session =
        session(target.as_ref(), 0, &[limit("idle_session_timeout"), limit("statement_timeout")]);
    let read = |id| session.execute(StatementId(id), &[]).unwrap().rows;
    assert_eq!([0, 1].map(read), [0, 9_000]);
    session.close();
}

/// A loader has the settings of a session, except for time limits, notices and waiting for commits.
#[test]
fn loader_has_settings_of_session_and_session_opens_one_connection() {
    let version = Postgres::available().pop().unwrap();
    let server = Postgres::start(&version, &[("fsync", "off"), ("statement_timeout", "9s")]);
    server.psql("ALTER ROLE postgres SET idle_session_timeout = '9s'");
    let target =
        target_at(&format!("{}?options=-c%20work_mem%3D7MB%20-c%20search_path%3Dpublic", server.url()));
    let keep = |table: &str| format!("CREATE TABLE {table} AS SELECT name, setting FROM pg_settings");
    let opened = || -> u32 {
        server.psql("SELECT sessions FROM pg_stat_database WHERE datname = 'postgres'").parse().unwrap()
    };
    let before = opened();
    let mut session = session(target.as_ref(), 0, &[Statement::write("keep", keep("of_session"), &[])]);
    session.execute(StatementId(0), &[]).unwrap();
    session.close();
    assert_eq!(opened() - before, 2, "the session's only connection, and psql's");
    let (mut loader, _) = target.bulk_load().unwrap().filler().unwrap();
    loader.execute(&keep("of_loader")).unwrap();
    loader.close();
    let differences = server.psql(
        "SELECT name FROM of_session s FULL JOIN of_loader l USING (name)
         WHERE s.setting IS DISTINCT FROM l.setting ORDER BY 1",
    );
    let expected = ["application_name", "client_min_messages", "statement_timeout", "synchronous_commit"];
    assert_eq!(differences.lines().collect::<Vec<_>>(), expected);
    assert_eq!(server.psql("SELECT setting FROM of_loader WHERE name = 'work_mem'"), "7168");
}
