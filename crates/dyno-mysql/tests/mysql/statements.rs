//! Any statement: with every type, in transactions, as a call, and in two halves.

use std::sync::Arc;

use dyno_engine::{
    BlockSessionConfig, Commits, ErrorClass, Isolation, MonotonicClock, OpError, OpenOptions,
    RequestCompletion, ResultKind, Session, SessionRequest, SessionSetup, Statement, StatementId,
    TargetErrorKind, Type, Value,
};
use dyno_mysql::connect::MySqlConnectConfig;
use dyno_mysql::wire::MySqlConnection;
use dyno_plan::{Commit, DriveMode, Redo, StatementProtocol};
use dyno_record::{Counter, Counters};
use dyno_testbed::MySql;
use dyno_workload::blocks::PreparedBlockStatements;

use super::ops::receive_all;
use super::{blocks, load_target, on_each_server, on_each_server_with, spec, target_at};

pub(super) fn setup(statements: Vec<Statement>) -> SessionSetup {
    setup_by(StatementProtocol::Prepared, statements)
}

fn setup_by(protocol: StatementProtocol, statements: Vec<Statement>) -> SessionSetup {
    SessionSetup {
        number: 0,
        statements: statements.into(),
        rehearsal: None,
        commit: Commit::Wait,
        protocol,
        connect: dyno_plan::Connect::Session,
        blocks: None,
        bulk: None,
        read_only: false,
        slices: false,
        clock: Arc::new(MonotonicClock::default()),
    }
}

fn read(sql: &str, params: &[Type], answer: ResultKind) -> Statement {
    Statement::read("read", sql.to_owned(), params, answer)
}

fn write(sql: &str, params: &[Type]) -> Statement {
    Statement::write("write", sql.to_owned(), params)
}

/// A session in one piece or in two halves: what a test asks, it asks in both ways.
struct TestSession(Box<dyn Session>, bool);

impl TestSession {
    fn ask(&mut self, request: SessionRequest<'_>) -> Result<RequestCompletion, Box<OpError>> {
        let Self(session, halves) = self;
        if !*halves {
            return session.ask(request);
        }
        let duplex = session.duplex().unwrap();
        duplex.send(request)?;
        receive_all(duplex)
    }

    fn rows(&mut self, statement: u16, values: &[Value<'_>]) -> u64 {
        self.execute(statement, values).unwrap().rows
    }

    fn execute(&mut self, statement: u16, values: &[Value<'_>]) -> Result<RequestCompletion, Box<OpError>> {
        self.ask(SessionRequest::Execute(StatementId(statement), values))
    }

    fn begin(&mut self, isolation: Isolation) {
        self.ask(SessionRequest::Begin(isolation)).unwrap();
    }
}

/// Each product with `sql` done, and a session of these statements in one piece, then in two halves, prepared and as texts.
fn on_each_protocol(sql: &str, statements: &[Statement], test: impl Fn(&MySql, &mut TestSession)) {
    on_each_server(|server| {
        let target = target_at(&server.url());
        for protocol in [StatementProtocol::Prepared, StatementProtocol::Simple] {
            for halves in [false, true] {
                server.sql(sql);
                let setup = setup_by(protocol, statements.to_vec());
                let mut session = TestSession(target.session(&setup).unwrap(), halves);
                test(server, &mut session);
                session.0.close();
            }
        }
    });
}

#[test]
fn bound_values_of_every_type_and_null_round_trip() {
    let all = [Type::Int, Type::Real, Type::Text, Type::Bytes, Type::Literal, Type::Literal];
    let statements = [
        write("INSERT INTO t VALUES (?, ?, ?, ?, ?, ?)", &all),
        read(
            "SELECT i FROM t WHERE i = ? AND r = ? AND x = ? AND b = ? AND d = ? AND p = ?",
            &all,
            ResultKind::Row,
        ),
        read(
            "SELECT COUNT(*) FROM t WHERE i IS NULL AND r IS NULL AND x IS NULL AND b IS NULL AND d IS NULL",
            &[],
            ResultKind::Number,
        ),
        read("SELECT x FROM t ORDER BY i", &[], ResultKind::Rows),
        write("UPDATE t SET x = ?, d = ? WHERE i = ?", &[Type::Text, Type::Literal, Type::Int]),
    ];
    let table = "DROP TABLE IF EXISTS t; CREATE TABLE t (i BIGINT, r DOUBLE, x VARCHAR(70) CHARACTER SET utf8mb4, \
                 b VARBINARY(300), d DATETIME(6), p DECIMAL(12, 2))";
    on_each_protocol(table, &statements, |server, session| {
        let bytes: Vec<u8> = (0..=255).collect();
        let values = |number: i64, text| {
            let [day, price] = [&b"2026-02-28 23:59:58.123456"[..], b"-1234567890.05"].map(Value::Text);
            [Value::Int(number), Value::Real(-2.5e-7), Value::Text(text), Value::Bytes(&bytes), day, price]
        };
        // Texts of changing length: the packet is patched where it can be, and built anew where it cannot.
        let long = "long".repeat(17);
        for (number, text) in (-2..).zip(["añb🦀", "añc🦀", "", "a", "b", &long, "b"]) {
            let values = values(number, text.as_bytes());
            assert_eq!((session.rows(0, &values), session.rows(1, &values)), (1, 1), "{text}");
        }
        let letters = server.sql("SELECT HEX(x) FROM t ORDER BY i LIMIT 2");
        assert_eq!(letters, "61C3B162F09FA680\n61C3B163F09FA680");
        // NULL in one execution, values before and behind it.
        assert_eq!(session.rows(0, &[Value::Null; 6]), 1);
        assert_eq!((session.rows(2, &[]), session.rows(2, &[])), (1, 1));
        assert_eq!(session.rows(0, &values(9, b"after")), 1);
        assert_eq!(session.rows(1, &values(9, b"after")), 1);
        assert_eq!(session.rows(3, &[]), 9);
        assert_eq!(session.rows(4, &[Value::Null, Value::Text(b"2026-03-01"), Value::Int(9)]), 1);
        assert_eq!(server.sql("SELECT x, d FROM t WHERE i = 9"), "NULL\t2026-03-01 00:00:00.000000");
    });
}

/// Columns of the last row are the same values by either protocol, and what is written with them is exact.
#[test]
fn mysql_column_values_are_equal_in_both_protocols() {
    let statements = [
        read("SELECT * FROM k WHERE i = ?", &[Type::Int], ResultKind::Columns),
        write(
            "UPDATE k SET p = p + ?, b = ?, j = ?, r = ? WHERE i = ?",
            &[Type::Literal, Type::Bytes, Type::Text, Type::Real, Type::Int],
        ),
        read("SELECT COUNT(*) FROM k WHERE l = ?", &[Type::Literal], ResultKind::Number),
    ];
    let sql = "DROP TABLE IF EXISTS k; CREATE TABLE k (i BIGINT, u BIGINT UNSIGNED, y YEAR, r DOUBLE, f FLOAT, p DECIMAL(30, 10),
               d DATE, t DATETIME(6), s DATETIME(3), o TIME(6), x VARCHAR(9) CHARACTER SET utf8mb4, b VARBINARY(9), j JSON, e ENUM('a', 'b'), z BIT(9),
               n INT, l VARCHAR(9) CHARACTER SET latin1); INSERT INTO k VALUES (-7, 18446744073709551615, 2026, 0.1, 0.1, 12345678901234567890.0000000001,
               '2026-02-28', '2026-02-28 01:02:03', '2026-02-28 01:02:03.5', '-26:03:04', 'na''ïve', x'00ff27', '{\"a\": 1}', 'b',
               b'101', NULL, 'Zürich')";
    on_each_protocol(sql, &statements, |server, session| {
        let column_texts = |session: &mut TestSession| -> Vec<String> {
            assert_eq!(session.rows(0, &[Value::Int(-7)]), 1);
            let columns = (0..).map_while(|column| session.0.answered(column));
            columns
                .map(|value| match value {
                    Value::Text(text) => String::from_utf8_lossy(text).into_owned(),
                    other => format!("{other:?}"),
                })
                .collect()
        };
        let expected = [
            "Int(-7)",
            "18446744073709551615",
            "Int(2026)",
            "Real(0.1)",
            "Real(0.1)",
            "12345678901234567890.0000000001",
            "2026-02-28",
            "2026-02-28 01:02:03",
            "2026-02-28 01:02:03.500000",
            "-26:03:04",
            "na'ïve",
            "Bytes([0, 255, 39])",
            "{\"a\": 1}",
            "b",
            "Bytes([0, 5])",
            "Null",
            "Zürich",
        ];
        assert_eq!(column_texts(session), expected);
        // A text that was read is a value of the next statement.
        assert_eq!(session.rows(2, &[Value::Text("Zürich".as_bytes())]), 1);
        let odd = br#"{"a": "it's \\ \" \n"}"#;
        let values = [
            Value::Text(b"0.0000000002"),
            Value::Bytes(b"'\\\0"),
            Value::Text(odd),
            Value::Real(1e-300),
            Value::Int(-7),
        ];
        assert_eq!(session.rows(1, &values), 1);
        let stored_row = server
            .sql("SELECT HEX(b), r, JSON_UNQUOTE(JSON_EXTRACT(j, '$.a')) = 'it''s \\\\ \" \n', p FROM k");
        // MariaDB takes a text in a sum for a floating-point number, prepared or not; MySQL knows what stands there.
        let is_mariadb = server.is_mariadb();
        let sum =
            if is_mariadb { "12345678901234567000.0000000000" } else { "12345678901234567890.0000000003" };
        assert_eq!(stored_row, format!("275C00\t1e-300\t1\t{sum}"));
    });
}

#[test]
fn mysql_integer_results_of_every_type_are_numbers() {
    let number = |sql: &str| read(sql, &[], ResultKind::Number);
    let statements = [
        number("SELECT t FROM n"),
        number("SELECT s FROM n"),
        number("SELECT m FROM n"),
        number("SELECT i FROM n"),
        number("SELECT b FROM n"),
        number("SELECT SUM(i) FROM n"),
        number("SELECT MAX(i) FROM n WHERE i < 0"),
        number("SELECT i FROM n WHERE i < 0"),
        number("SELECT LENGTH('seven..')"),
        number("SELECT i + 1, t, s, m, b, 'six', 'seven' FROM n UNION ALL SELECT 5, 1, 1, 1, 1, 'a', 'b'"),
        read("SELECT ? + 40", &[Type::Int], ResultKind::Number),
        number("SELECT f()"),
    ];
    let sql = "DROP TABLE IF EXISTS n; CREATE TABLE n (t TINYINT UNSIGNED, s SMALLINT, m MEDIUMINT, i INT, \
               b BIGINT UNSIGNED); INSERT INTO n VALUES (255, 32767, 70000, 2000000000, 18446744073709551615);
               DROP FUNCTION IF EXISTS f; CREATE FUNCTION f() RETURNS SMALLINT NO SQL RETURN -7 + 300";
    let ask = |session: &mut TestSession| {
        let row_values: Vec<u64> = (0..10).map(|number| session.rows(number, &[])).collect();
        assert_eq!(row_values, [255, 32_767, 70_000, 2_000_000_000, u64::MAX, 2_000_000_000, 0, 0, 7, 5]);
        assert_eq!((session.rows(10, &[Value::Int(2)]), session.rows(11, &[])), (42, 293));
    };
    on_each_protocol(sql, &statements, |_, session| {
        ask(session);
        // What a column is was told before: not again.
        ask(session);
    });
    // A column that is none is told with each answer, those of the others too.
    let statements = [&statements[..], &[number("SELECT 'word' FROM n")]].concat();
    on_each_protocol(sql, &statements, |_, session| {
        ask(session);
        let text = session.execute(12, &[]).unwrap_err();
        assert!(text.class == ErrorClass::Fatal, "{text}");
        assert!(text.message.contains("not an integer"), "{text}");
        ask(session);
    });
}

#[test]
fn called_procedure_may_return_rows_or_nothing() {
    let sql = "DROP TABLE IF EXISTS c; CREATE TABLE c (a INT); INSERT INTO c VALUES (1), (2), (3);
        DROP PROCEDURE IF EXISTS several; DROP PROCEDURE IF EXISTS one;
        CREATE PROCEDURE several(IN least INT) SELECT a FROM c WHERE a >= least ORDER BY a;
        CREATE PROCEDURE one(IN by_ INT) UPDATE c SET a = a + by_ WHERE a > 1";
    let statements = [
        read("CALL several(?)", &[Type::Int], ResultKind::Number),
        read("CALL several(?)", &[Type::Int], ResultKind::Rows),
        write("CALL one(?)", &[Type::Int]),
        read("SELECT COUNT(*) FROM c", &[], ResultKind::Number),
    ];
    on_each_protocol(sql, &statements, |_, session| {
        for _ in 0..2 {
            assert_eq!(session.rows(0, &[Value::Int(2)]), 3, "the last row's number");
            assert_eq!(session.rows(1, &[Value::Int(2)]), 2);
            assert_eq!(session.rows(1, &[Value::Int(9)]), 0);
            assert_eq!(session.rows(3, &[]), 3, "the call's own end was read");
        }
        assert_eq!(session.rows(2, &[Value::Int(10)]), 2);
        assert_eq!(session.rows(0, &[Value::Int(2)]), 13);
    });
}

const ACCOUNTS: &str = "DROP TABLE IF EXISTS a; CREATE TABLE a (id INT PRIMARY KEY, v INT) ENGINE=InnoDB; \
                        INSERT INTO a VALUES (1, 0), (2, 0)";

fn accounts() -> [Statement; 3] {
    let int = [Type::Int, Type::Int];
    [
        write("UPDATE a SET v = v + ? WHERE id = ?", &int),
        read("SELECT v FROM a WHERE id = ?", &int[..1], ResultKind::Number),
        // Of the transaction that has begun.
        read("SELECT COUNT(*) FROM a WHERE v = ? FOR UPDATE", &int[..1], ResultKind::Number),
    ]
}

fn add(amount: i64, id: i64) -> [Value<'static>; 2] {
    [Value::Int(amount), Value::Int(id)]
}

#[test]
fn committed_rows_persist_and_rolled_back_rows_do_not() {
    on_each_protocol(ACCOUNTS, &accounts(), |server, session| {
        let outside = || server.sql("SELECT GROUP_CONCAT(v ORDER BY id) FROM a");
        session.begin(Isolation::Platform);
        assert_eq!((session.rows(0, &add(5, 1)), session.rows(0, &add(-5, 2))), (1, 1));
        assert_eq!(
            (session.rows(1, &[Value::Int(1)]), outside()),
            (5, "0,0".to_owned()),
            "seen inside alone"
        );
        session.ask(SessionRequest::Commit).unwrap();
        assert_eq!(outside(), "5,-5");
        session.begin(Isolation::Platform);
        session.rows(0, &add(100, 1));
        session.ask(SessionRequest::Rollback).unwrap();
        assert_eq!(outside(), "5,-5");
        // Alone each commits by itself again.
        session.rows(0, &add(1, 1));
        assert_eq!(outside(), "6,-5");
        // Nothing has begun: nothing is to be done.
        session.ask(SessionRequest::Rollback).unwrap();
        session.ask(SessionRequest::Commit).unwrap();
        session.ask(SessionRequest::Edge).unwrap();
    });
}

#[test]
fn isolation_determines_which_changes_a_transaction_sees() {
    let statements = accounts();
    on_each_protocol(ACCOUNTS, &statements, |server, session| {
        let mut sees = |isolation| {
            session.begin(isolation);
            let first = session.rows(1, &[Value::Int(1)]);
            // At `SERIALIZABLE` a read locks.
            let locked = server
                .try_sql("dyno", "SET innodb_lock_wait_timeout = 1; UPDATE a SET v = v + 1 WHERE id = 1");
            let second_value = session.rows(1, &[Value::Int(1)]);
            session.ask(SessionRequest::Commit).unwrap();
            (second_value - first, locked.is_err())
        };
        assert_eq!(sees(Isolation::ReadCommitted), (1, false));
        assert_eq!(sees(Isolation::RepeatableRead), (0, false));
        assert_eq!(sees(Isolation::Serializable), (0, true));
        // It was of that transaction alone: the server's own is repeatable.
        assert_eq!(sees(Isolation::Platform), (0, false));
    });
}

#[test]
fn deadlock_is_retryable_and_transaction_can_be_rolled_back() {
    on_each_protocol(ACCOUNTS, &accounts(), |server, session| {
        let target = target_at(&server.url());
        let mut other = target.session(&setup(accounts().to_vec())).unwrap();
        let first = StatementId(0);
        session.begin(Isolation::Platform);
        other.ask(SessionRequest::Begin(Isolation::Platform)).unwrap();
        session.rows(0, &add(1, 1));
        other.execute(first, &add(1, 2)).unwrap();
        let waiting = std::thread::spawn(move || {
            let waited = other.execute(first, &add(1, 1)).map(|done| done.rows);
            let end_result =
                other.ask(if waited.is_ok() { SessionRequest::Commit } else { SessionRequest::Rollback });
            end_result.unwrap();
            (waited, other)
        });
        let mine = session.execute(0, &add(1, 2)).map(|done| done.rows);
        session.ask(if mine.is_ok() { SessionRequest::Commit } else { SessionRequest::Rollback }).unwrap();
        let (other_result, other) = waiting.join().unwrap();
        // One of them is the victim.
        let (succeeded, lost) = if mine.is_ok() { (mine, other_result) } else { (other_result, mine) };
        assert_eq!(succeeded.unwrap(), 1);
        let lost = lost.unwrap_err();
        assert_eq!((lost.class, lost.code.as_str()), (ErrorClass::Retryable, "1213"), "{lost}");
        assert_eq!(server.sql("SELECT SUM(v) FROM a"), "2");
        // Nothing is left of it: this commits by itself.
        session.rows(0, &add(1, 1));
        assert_eq!(server.sql("SELECT SUM(v) FROM a"), "3");
        other.close();
    });
}

#[test]
fn values_that_cannot_be_bound_are_fatal_and_not_sent() {
    on_each_protocol(ACCOUNTS, &accounts(), |_, session| {
        let mut refused = |statement, values: &[Value<'_>]| {
            let error = session.execute(statement, values).unwrap_err();
            assert_eq!(error.class, ErrorClass::Fatal, "{error}");
            // In step.
            assert_eq!(session.rows(1, &[Value::Int(1)]), 0);
            error.message
        };
        assert!(refused(0, &[Value::Int(1)]).contains("1 values were given for 2 parameters"));
        assert!(
            refused(0, &[Value::Int(1), Value::Real(1.0)])
                .contains("parameter 2 has type Int and was given Real")
        );
        assert!(refused(9, &[]).contains("no statement 9"));
    });
}

#[test]
fn unpreparable_statement_error_gives_name_and_reason() {
    on_each_server(|server| {
        let target = target_at(&server.url());
        let refused = |statement: Statement| target.session(&setup(vec![statement])).err().unwrap();
        let missing_table = refused(read("SELECT COUNT(*) FROM gone", &[], ResultKind::Number));
        assert_eq!(missing_table.kind, TargetErrorKind::Data, "{missing_table}");
        assert!(missing_table.message.contains("statement read"), "{missing_table}");
        assert!(missing_table.message.contains("gone"), "{missing_table}");
        let marks = refused(read("SELECT ? + ?", &[Type::Int], ResultKind::Number));
        assert!(marks.message.contains("statement read has 2 parameter markers, but 1 types"), "{marks}");
        let wrong = refused(read("SELEC 1", &[], ResultKind::Number));
        assert_eq!(wrong.kind, TargetErrorKind::Database, "{wrong}");
    });
}

/// The method's own statements are statements like any other, and those of a transaction are steps of it.
#[test]
fn acknowledged_commits_match_mysql_server_count() {
    let settings: [&[(&str, &str)]; 2] =
        [&[("skip_log_bin", "1")], &[("log_bin", "binlog"), ("server_id", "1")]];
    for settings in settings {
        on_each_server_with(settings, |server| {
            let spec = spec(1, 100, 0);
            let target = load_target(server, &spec);
            let block_workload: BlockSessionConfig = blocks(&spec, 0, Redo::Lite);
            let prepared = PreparedBlockStatements::new(
                target.as_ref(),
                &block_workload,
                DriveMode::Client,
                Commit::Wait,
            )
            .unwrap();
            let statements = prepared.statements.iter().cloned().chain([
                Statement::write(
                    "add",
                    "UPDATE dyno_rows_1 SET ver = ver + ? WHERE custid = ?".to_owned(),
                    &[Type::Int; 2],
                ),
                read("SELECT ver FROM dyno_rows_1 WHERE custid = ?", &[Type::Int], ResultKind::Number),
                Statement {
                    works: false,
                    ..read("SELECT COUNT(*) FROM dyno_rows_1", &[], ResultKind::Number)
                },
                read("SELECT 1", &[], ResultKind::Number),
            ]);
            let statements: Vec<Statement> = statements
                .enumerate()
                .map(|(at, statement)| Statement { name: format!("s{at}"), ..statement })
                .collect();
            assert_eq!(statements.last().unwrap().commits, Commits::Nothing);
            let first = prepared.statements.len() as u16;
            let mut session = target.session(&setup(statements)).unwrap();
            let mut observer = target.observer(&spec).unwrap();
            let [update, ver, look] = [first, first + 1, first + 2];
            let mut did = |rounds: i64| {
                session.edge().unwrap();
                let begin = (
                    observer.snapshot().unwrap(),
                    observer.own_commits().cast_signed() + session.overhead_commits(),
                );
                let mut ask = |request| session.ask(request).unwrap();
                for _ in 0..rounds {
                    let write = SessionRequest::Execute(StatementId(update), &[Value::Int(1), Value::Int(7)]);
                    let read = SessionRequest::Execute(StatementId(ver), &[Value::Int(7)]);
                    let looks = SessionRequest::Execute(StatementId(look), &[]);
                    // Two, one, none, one that the server does not count, one alone, and a look that is not counted.
                    for request in [
                        SessionRequest::Begin(Isolation::Platform),
                        write,
                        read,
                        looks,
                        write,
                        SessionRequest::Commit,
                    ] {
                        ask(request);
                    }
                    for request in
                        [SessionRequest::Begin(Isolation::ReadCommitted), read, SessionRequest::Commit]
                    {
                        ask(request);
                    }
                    for request in
                        [SessionRequest::Begin(Isolation::Platform), write, SessionRequest::Rollback]
                    {
                        ask(request);
                    }
                    for request in
                        [SessionRequest::Begin(Isolation::Platform), SessionRequest::Commit, write, looks]
                    {
                        ask(request);
                    }
                }
                // Before it has told at an edge, and behind it.
                let unasked = observer.snapshot().unwrap();
                let own_commits = observer.own_commits().cast_signed() + session.overhead_commits() - begin.1;
                let moved = Counters::between(&begin.0, &unasked);
                let commits = moved.get(Counter::Commits).unwrap();
                assert_eq!(commits - own_commits, 4 * rounds, "{own_commits} beside them");
                assert_eq!(moved.own[&Counter::Commits], commits, "nobody else's");
                session.edge().unwrap();
                let edge_snapshot = observer.snapshot().unwrap();
                let edge_commits =
                    observer.own_commits().cast_signed() + session.overhead_commits() - begin.1;
                let commits = Counters::between(&begin.0, &edge_snapshot).get(Counter::Commits).unwrap();
                assert_eq!(commits - edge_commits, 4 * rounds, "{edge_commits} beside them");
            };
            // What is met for the first time is looked up in the dictionary.
            did(1);
            did(20);
            session.close();
        });
    }
}

#[test]
fn holder_of_a_row_lock_is_named() {
    on_each_server(|server| {
        server.sql("CREATE TABLE locked (id INT PRIMARY KEY, n INT); INSERT INTO locked VALUES (1, 1)");
        let target = target_at(&server.url());
        let update = || setup(vec![write("UPDATE locked SET n = n + 1 WHERE id = 1", &[])]);
        let mut waiter = target.session(&update()).unwrap();
        let options = OpenOptions { password: None, connect_timeout: std::time::Duration::from_secs(20) };
        let config = MySqlConnectConfig::from_url(&server.url().parse().unwrap(), &options).unwrap();
        let mut holder = MySqlConnection::open(&config, "nightly").unwrap();
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(30);
        holder.simple("BEGIN").unwrap();
        holder.simple("UPDATE locked SET n = 5 WHERE id = 1").unwrap();
        std::thread::scope(|scope| {
            let waiting =
                scope.spawn(move || waiter.ask(SessionRequest::Execute(StatementId(0), &[])).unwrap().rows);
            let named = format!("; blocked by: process {}", holder.id());
            let is_named = || target.stuck().unwrap().is_some_and(|stuck| stuck.words.contains(&named));
            while !is_named() {
                assert!(std::time::Instant::now() < deadline, "{:?}", target.stuck());
            }
            let words = target.stuck().unwrap().expect("it still waits").words;
            assert!(words.contains("dyno@"), "{words}");
            assert!(words.contains("with a lock on bench.locked"), "{words}");
            holder.simple("COMMIT").unwrap();
            assert_eq!(waiting.join().unwrap(), 1);
        });
        // The process list shows a statement for a moment after its answer.
        while let Some(stuck) = target.stuck().unwrap() {
            assert!(std::time::Instant::now() < deadline, "{stuck:?}");
        }
    });
}
