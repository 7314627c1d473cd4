//! What every engine must do, and what of statements is PostgreSQL's own.

use std::sync::Arc;

use crate::wire::{each_version, target_at};
use dyno_engine::{
    Answer, ErrorClass, Isolation, MonotonicClock, Request, Session, SessionSetup, Statement, StatementId,
    Target, Type, Value,
};
use dyno_plan::{Commit, Protocol};
use dyno_record::Severity;
use dyno_testbed::Postgres;
use dyno_workload::conformance::{self, EVERYWHERE, ON_SERVERS};

#[test]
fn it_does_what_every_engine_must() {
    each_version(|version| {
        let server = Postgres::start(version, &[]);
        let target = target_at(&server.url());
        let commits = [Commit::Wait, Commit::Nowait];
        let protocols = [Protocol::Extended, Protocol::Simple];
        let findings = conformance::check(target.as_ref(), None, &commits, &protocols).unwrap();
        let more = ["server nowait", "values extended", "values simple", "read-only sessions"];
        let wanted = [&EVERYWHERE[..], &ON_SERVERS, &more].concat();
        assert_eq!(conformance::amiss(&findings, &wanted), [""; 0]);
        // Deleted rows keep their places until vacuum, so each row of each round has a block of its own.
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
        protocol: dyno_plan::Protocol::Prepared,
        connect: dyno_plan::Connect::Session,
        blocks: None,
        bulk: None,
        read_only: false,
        slices: false,
        clock: Arc::new(MonotonicClock::default()),
    };
    target.session(&setup).unwrap()
}

fn level(isolation: Isolation, session: &mut dyn Session, of: StatementId) -> u64 {
    session.ask(Request::Begin(isolation)).unwrap();
    let level = session.execute(of, &[]).unwrap().rows;
    session.ask(Request::Commit).unwrap();
    level
}

#[test]
fn any_statement_of_a_user_runs_alone_and_in_transactions() {
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
                Answer::Number,
            ),
            Statement::read(
                "level",
                "SELECT array_position(ARRAY['read committed', 'repeatable read', 'serializable'], \
                 current_setting('transaction_isolation'))"
                    .to_owned(),
                &[],
                Answer::Number,
            ),
            Statement::read("fail", "SELECT 1 / $1".to_owned(), &[Type::Int], Answer::Number),
        ];
        let target = target_at(&server.url());
        let mut one = session(target.as_ref(), 0, &texts);
        let balance = |id: u32| server.psql(&format!("SELECT balance FROM account WHERE id = {id}"));
        let done = one.execute(move_, &[Value::Text(b"-12.50"), Value::Int(1)]).unwrap();
        assert_eq!((done.rows, balance(1).as_str()), (1, "87.50"));
        let uuid = b"0190163d-8694-739b-aea5-966c26f8ad91";
        for (at, note_, row) in [
            (Value::Text(b"2026-02-28"), Value::Null, "2026-02-28|"),
            (Value::Null, Value::Text(uuid), "|0190163d-8694-739b-aea5-966c26f8ad91"),
        ] {
            one.execute(note, &[at, note_, Value::Int(2)]).unwrap();
            assert_eq!(server.psql("SELECT at, note FROM account WHERE id = 2"), row);
        }
        assert_eq!(one.execute(call, &[Value::Int(3), Value::Int(30)]).unwrap().rows, 70);
        for (asked, is) in
            [(Isolation::ReadCommitted, 1), (Isolation::RepeatableRead, 2), (Isolation::Serializable, 3)]
        {
            assert_eq!(level(asked, one.as_mut(), isolation), is, "{asked:?}");
        }
        assert_eq!(level(Isolation::Platform, one.as_mut(), isolation), 1, "as the server has it");

        // A transaction in which a statement has failed is not committed, and that is said.
        one.ask(Request::Begin(Isolation::Platform)).unwrap();
        one.execute(move_, &[Value::Text(b"1"), Value::Int(4)]).unwrap();
        assert_eq!(one.execute(fail, &[Value::Int(0)]).unwrap_err().code, "22012");
        let refused = one.ask(Request::Commit).unwrap_err();
        assert!(refused.message.contains("taken back"), "{refused}");
        assert_eq!(balance(4), "100.00");
        one.ask(Request::Rollback).unwrap();

        deadlock(target.as_ref(), &texts, move_);
        assert_eq!(balance(1), "88.50", "one of both was committed");
        one.close();
    });
}

/// Two transactions lock two rows the other way round: one is told to try again, and the other one goes on.
fn deadlock(target: &dyn Target, texts: &[Statement], update: StatementId) {
    let barrier = std::sync::Barrier::new(2);
    let transfer = |number: u32, first: i64, second: i64| {
        let mut session = session(target, number, texts);
        session.ask(Request::Begin(Isolation::Platform)).unwrap();
        session.execute(update, &[Value::Text(b"1"), Value::Int(first)]).unwrap();
        barrier.wait();
        let ended = match session.execute(update, &[Value::Text(b"1"), Value::Int(second)]) {
            Ok(_) => session.ask(Request::Commit).map(|_| ()),
            Err(error) => {
                assert_eq!((error.class, error.code.as_str()), (ErrorClass::Retryable, "40P01"));
                session.ask(Request::Rollback).unwrap();
                Err(error)
            }
        };
        session.close();
        ended.is_ok()
    };
    let ended = std::thread::scope(|scope| {
        let other = scope.spawn(|| transfer(1, 2, 1));
        [transfer(2, 1, 2), other.join().unwrap()]
    });
    assert!(ended[0] != ended[1], "{ended:?}");
}

#[test]
fn time_limits_of_the_server_end_no_connection_of_dyno() {
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
    // A session may be idle for long, and keeps the limits that the platform sets for work.
    let limit = |name: &str| {
        let sql = format!("SELECT setting::bigint FROM pg_settings WHERE name = '{name}'");
        Statement::read(name, sql, &[], Answer::Number)
    };
    let mut session =
        session(target.as_ref(), 0, &[limit("idle_session_timeout"), limit("statement_timeout")]);
    let read = |id| session.execute(StatementId(id), &[]).unwrap().rows;
    assert_eq!([0, 1].map(read), [0, 9_000]);
    session.close();
}
