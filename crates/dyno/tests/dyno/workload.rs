//! Custom SQL as users work with it: an example is written, read, and tried on real servers.

use std::sync::Arc;
use std::time::Duration;

use crate::common::TestEnv;
use crate::common::json::ExpectJson;
use dyno_engine::{
    Engine, EngineRegistry, Engines, MonotonicClock, OpenOptions, Session, SessionSetup, Statement, Target,
};
use dyno_plan::{Commit, TargetUrl};
use dyno_testbed::{MySql, Postgres};
use dyno_workload::custom::{ActorStep, CustomActor, CustomWorkload, TransactionEnd};

/// The engines of these tests.
const ENGINES: EngineRegistry = EngineRegistry {
    engines: &[dyno_sqlite::ENGINE, dyno_postgres::ENGINE, dyno_mysql::ENGINE],
    specs: Engines(&[dyno_sqlite::ENGINE.spec, dyno_postgres::ENGINE.spec, dyno_mysql::ENGINE.spec]),
};

pub(crate) fn open(url: &str) -> Box<dyn Target> {
    let url = TargetUrl::read(url, ENGINES.specs).unwrap();
    let options = OpenOptions { password: None, connect_timeout: Duration::from_secs(10) };
    let engine: &Engine = ENGINES.of(&url).unwrap();
    (engine.open)(&url, &options).unwrap()
}

fn session(target: &dyn Target, statements: Arc<[Statement]>) -> Box<dyn Session> {
    let setup = SessionSetup {
        number: 0,
        statements,
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

/// Executes some transactions of the workload in `folder`, and compares the results of its invariants before
/// and after them.
fn assert_actor_runs(desk: &TestEnv, folder: &str, url: &str) {
    let workload = Arc::new(CustomWorkload::read(&desk.file(folder)).unwrap());
    let target = open(&url.replace("sqlite:", &format!("sqlite:{}/", desk.path().display())));
    let invariants = || -> Vec<u64> {
        let read_invariant = |single: dyno_workload::custom::Single| {
            let statement = Statement::look("invariant", single.sql, &[]);
            let mut session = session(target.as_ref(), [statement].into());
            session.execute(dyno_engine::StatementId(0), &[]).unwrap().rows
        };
        workload
            .invariants(target.engine(), dyno_workload::custom::InvariantTiming::Run)
            .unwrap()
            .into_iter()
            .map(read_invariant)
            .collect()
    };
    let before = invariants();
    let mut session =
        session(target.as_ref(), workload.statements(target.engine(), target.dialect()).unwrap());
    let mut actor = CustomActor::new(&workload, target.engine(), 7, 0).unwrap();
    let (mut written, mut class_counts) = (0, [0; 4]);
    for number in 0..300 {
        let class = actor.draw().place().unwrap();
        let mut last = None;
        while let Some(step) = actor.step(last) {
            let result = actor.request(step, |request| session.ask(request));
            last = Some(
                result.unwrap_or_else(|error| panic!("{step:?} of transaction {number} of {class}: {error}")),
            );
            class_counts[class] += u64::from(matches!(step, ActorStep::Execute(_)));
        }
        let outcome = actor.outcome();
        assert_eq!(
            (outcome.ended, outcome.row_count_mismatch),
            (TransactionEnd::Committed, None),
            "transaction {number} of {class}"
        );
        written += outcome.effect.rows[1..].iter().sum::<u64>();
    }
    assert!(written > 1_000, "{written} rows, {class_counts:?}");
    assert!(class_counts.iter().all(|&seen| seen > 0), "{written} rows, {class_counts:?}");
    session.close();
    assert_eq!(before, [1_000_000_000, 0]);
    assert_eq!(before, invariants());
}

/// Writes the shop, and returns its setup.
fn write_shop(desk: &TestEnv) -> String {
    let output = desk.dyno(&["init", "--workload", "shop"]);
    assert_eq!(output.code, 0, "{output:#?}");
    assert!(output.err.contains("wrote shop: edit it, then `dyno workload check shop`"), "{}", output.err);
    std::fs::read_to_string(desk.file("shop/setup.sql")).unwrap()
}

/// Checks the shop on `url`, first without its tables.
fn assert_check_steps(desk: &TestEnv, url: &str, make: impl FnOnce(&str)) {
    let setup = write_shop(desk);
    let missing_tables = desk.dyno(&["workload", "check", "shop", "--target", url]);
    assert_eq!(missing_tables.code, 3, "{missing_tables:#?}");
    assert!(
        missing_tables.out.contains("refuses 10 of 10 statements:\n  shop/order.sql:4:1: "),
        "{}",
        missing_tables.out
    );
    assert!(missing_tables.out.contains("set up the workload on the target first"), "{}", missing_tables.out);
    make(&setup);
    let (code, json) = desk.json(&["workload", "check", "shop", "--target", url]);
    assert_eq!(code, 0, "{json:#}");
    assert_eq!(json["targets"][0]["statements"], 10);
    assert_eq!(json["targets"][0]["refused"].as_array().map(Vec::len), Some(0));
    let prepared_output = desk.dyno(&["workload", "check", "shop", "--target", url]);
    assert!(prepared_output.out.contains("prepares all 10 statements"), "{}", prepared_output.out);
    let (code, json) = desk.json(&["workload", "check", "shop", "--target", url, "--explain"]);
    assert_eq!(code, 0, "{json:#}");
    let plans = json["targets"][0]["plans"].items();
    assert_eq!(plans.len(), 10);
    for plan in plans {
        // SQLite reports no plan for an insert, because it searches nothing.
        assert!(plan["plan"].as_array().is_some(), "{plan:#}");
    }
    let of_top = plans.iter().find(|plan| plan["statement"] == "top_1").unwrap()["plan"].to_string();
    assert!(of_top.contains("shop_stock"), "{of_top}");
    assert_actor_runs(desk, "shop", url);
    // A statement with an unknown name is reported with its position and the server's message.
    desk.write("shop/look.sql", "-- What is there.\nSELECT colour FROM shop_stock WHERE item = :item");
    let bad_column = desk.dyno(&["workload", "check", "shop", "--target", url]);
    assert_eq!(bad_column.code, 3, "{bad_column:#?}");
    assert!(
        bad_column.out.contains("refuses 1 of 10 statements:\n  shop/look.sql:2:1: "),
        "{}",
        bad_column.out
    );
    assert!(bad_column.out.contains("look_1: "), "{}", bad_column.out);
    assert!(bad_column.out.contains("colour"), "{}", bad_column.out);
}

#[test]
fn workload_check_prepares_shop_on_sqlite() {
    let desk = TestEnv::new();
    let file = desk.file("shop.db");
    rusqlite::Connection::open(&file).unwrap().execute_batch("CREATE TABLE there (a)").unwrap();
    assert_check_steps(&desk, "sqlite:shop.db", |setup| {
        rusqlite::Connection::open(&file).unwrap().execute_batch(setup).unwrap();
    });
}

#[test]
fn sqlite_only_parameter_is_refused_and_not_bound_as_null() {
    let desk = TestEnv::new();
    rusqlite::Connection::open(desk.file("a.db")).unwrap().execute_batch("CREATE TABLE there (a)").unwrap();
    std::fs::create_dir(desk.file("w")).unwrap();
    desk.write(
        "w/workload.toml",
        "name = \"w\"\n[draw]\nx = 1\n[transaction.t]\nsql = \"SELECT :x, @y FROM there\"\n",
    );
    let output = desk.dyno(&["workload", "check", "w", "--target", "sqlite:a.db"]);
    assert_eq!(output.code, 3, "{output:#?}");
    let expected =
        "w/workload.toml:5:8: SQLite refuses t_1: statement t_1 has 2 parameter markers, but 1 types";
    assert!(output.out.contains(expected), "{}", output.out);
}

#[test]
fn workload_check_prepares_shop_on_postgres() {
    for version in Postgres::newest_or_all() {
        let server = Postgres::start(&version, &[]);
        assert_check_steps(&TestEnv::new(), &server.url(), |setup| {
            server.psql(setup);
        });
    }
}

#[test]
fn workload_check_prepares_shop_on_mysql_and_mariadb() {
    for version in MySql::available() {
        let server = MySql::start(&version, &[]);
        assert_check_steps(&TestEnv::new(), &server.url(), |setup| {
            let database = server.url().rsplit('/').next().unwrap().split('?').next().unwrap().to_owned();
            server.sql(&format!("USE {database}; {setup}"));
        });
    }
}

#[test]
fn workload_check_works_without_a_target() {
    let desk = TestEnv::new();
    write_shop(&desk);
    let output = desk.dyno(&["workload", "check", "shop", "--draws", "30"]);
    assert_eq!(output.code, 0, "{output:#?}");
    for words in [
        "order",
        "45.0",
        "8 to 20",
        "repeat lines, line counts",
        "rollback if left < quantity",
        "take_stock(quantity = ",
    ] {
        assert!(output.out.contains(words), "{words}: {}", output.out);
    }
    assert!(
        output.err.contains("add --target URL to prepare every statement on that server"),
        "{}",
        output.err
    );
    let first = desk.json(&["workload", "check", "shop", "--draws", "30"]).1;
    assert_eq!(first["drawn"].as_array().map(Vec::len), Some(30));
    assert_eq!(first, desk.json(&["workload", "check", "shop", "--draws", "30"]).1);
    assert_ne!(first, desk.json(&["workload", "check", "shop", "--draws", "30", "--seed", "2"]).1);
}

#[test]
fn faulty_workload_folder_is_reported_with_location() {
    let desk = TestEnv::new();
    let missing_folder = desk.dyno(&["workload", "check", "nowhere"]);
    assert_eq!(missing_folder.code, 2, "{missing_folder:#?}");
    assert!(
        missing_folder.err.contains("error: nowhere: the folder does not exist; "),
        "{}",
        missing_folder.err
    );
    write_shop(&desk);
    desk.write("shop/pay.sql", "UPDATE shop_customers SET balance = :amuont");
    let unknown_name = desk.dyno(&["workload", "check", "shop"]);
    assert_eq!((unknown_name.code, unknown_name.out.as_str()), (2, ""), "{unknown_name:#?}");
    let expected = "error: shop/pay.sql:1:37: unknown parameter \"amuont\"; did you mean \"amount\"?\n";
    assert_eq!(unknown_name.err, expected);
    desk.write("shop/pay.sql", "SELECT 1");
    desk.write("shop/pay.mysq.sql", "SELECT 1");
    let unknown_engine = desk.dyno(&["workload", "check", "shop"]);
    assert_eq!(unknown_engine.code, 2, "{unknown_engine:#?}");
    assert!(unknown_engine.err.contains("\"mysq\""), "{}", unknown_engine.err);
    assert!(unknown_engine.err.contains("did you mean mysql?"), "{}", unknown_engine.err);
}

#[test]
fn existing_example_workload_is_not_overwritten() {
    let desk = TestEnv::new();
    write_shop(&desk);
    desk.write("shop/pay.sql", "SELECT 1");
    let output = desk.dyno(&["init", "--workload", "shop"]);
    assert_eq!(output.code, 2, "{output:#?}");
    assert!(output.err.contains("shop/workload.toml already exists"), "{}", output.err);
    assert_eq!(desk.dyno(&["init", "--workload", "shop", "--force"]).code, 0);
    let other = desk.json(&["init", "--workload", "shop", "other"]);
    assert_eq!((other.0, &other.1["folder"]), (0, &serde_json::json!("other")));
    assert_eq!(desk.dyno(&["workload", "check", "other"]).code, 0);
}
