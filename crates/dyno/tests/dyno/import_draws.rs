//! `dyno import statements` finds generators in a database's statistics: the draft runs without an edit.

use dyno_testbed::MySql;
use serde_json::Value;

use crate::common::TestEnv;
use crate::common::json::ExpectJson;
use crate::import_statements::postgres;

/// Tables of a shop. Most orders are done, and customer 7 has a third of them.
const TABLES: &str = "CREATE TABLE customers (id BIGINT PRIMARY KEY, email VARCHAR(40) UNIQUE, city VARCHAR(20), visits INT NOT NULL);
    CREATE TABLE orders (id BIGINT PRIMARY KEY, customer_id BIGINT NOT NULL, status VARCHAR(10) NOT NULL, total DECIMAL(10, 2) NOT NULL,
                         created DATE NOT NULL, note VARCHAR(40));
    CREATE INDEX orders_customer ON orders (customer_id);
    CREATE TABLE visits (customer_id BIGINT, seen DATE, page VARCHAR(20));";

fn rows() -> String {
    let customers: Vec<String> = (1..=600)
        .map(|id| format!("({id}, 'user{id:04}@example.com', '{}', 3)", ["Rome", "Oslo", "Lima"][id % 3]))
        .collect();
    let order = |id: usize| {
        let customer = if id.is_multiple_of(3) { 7 } else { id % 600 + 1 };
        let status = ["done", "done", "done", "done", "open"][id % 5];
        let note = if id.is_multiple_of(2) { "NULL" } else { "'by phone'" };
        format!(
            "({id}, {customer}, '{status}', {}.25, '2026-0{}-1{}', {note})",
            id % 90 + 10,
            id % 9 + 1,
            id % 10
        )
    };
    let orders: Vec<String> = (1..=900).map(order).collect();
    format!(
        "INSERT INTO customers VALUES {}; INSERT INTO orders VALUES {}; INSERT INTO visits SELECT id, '2026-03-03', 'home' FROM customers",
        customers.join(", "),
        orders.join(", ")
    )
}

/// The commonest shapes of statements.
fn shapes() -> String {
    let shape = |id: usize| {
        let (end, second, new) = (id + 9, id + 40, id + 5_000);
        format!(
            "SELECT total, status FROM orders WHERE id = {id};
             SELECT id, total FROM orders WHERE customer_id = {id} ORDER BY created DESC LIMIT 5;
             SELECT id FROM orders WHERE id BETWEEN {id} AND {end};
             SELECT email FROM customers WHERE id IN ({id}, {second});
             SELECT o.total, c.city FROM orders o JOIN customers AS c ON c.id = o.customer_id WHERE o.id = {id};
             SELECT COUNT(*), SUM(total) FROM orders WHERE status = 'open' AND created >= '2026-02-01';
             SELECT id FROM customers WHERE city LIKE 'Ro%' LIMIT 3;
             SELECT id, city FROM customers WHERE email = 'user{id:04}@example.com';
             UPDATE customers SET visits = visits + 1 WHERE id = {id};
             UPDATE orders SET status = 'paid', total = 12.5 WHERE id = {id};
             INSERT INTO visits (customer_id, seen, page) VALUES ({id}, '2026-03-04', 'cart');
             INSERT INTO orders (id, customer_id, status, total, created, note) VALUES ({new}, {id}, 'open', 3.5, '2026-04-04', NULL);
             DELETE FROM orders WHERE id = {new};\n"
        )
    };
    (1..=20).map(shape).collect()
}

/// Imports the shapes and runs them as they are; returns the text of the workload.
fn import_and_run(url: &str) -> String {
    let env = TestEnv::new();
    let (code, report) = env.json(&[
        "import",
        "statements",
        "--target",
        url,
        "--sql-text",
        "--into",
        "w",
        "--writes",
        "--order",
        "calls",
    ]);
    assert_eq!(code, 0, "{report:#}");
    let text = std::fs::read_to_string(env.file("w/workload.toml")).unwrap();
    assert_eq!(report["undrawn"], 0, "{text}");
    assert_eq!(report["statements"].items().len(), 13, "{report:#}");
    let checked = env.dyno(&["workload", "check", "w", "--target", url]);
    assert_eq!(checked.code, 0, "{checked:#?}");
    let output = env.dyno(&[
        "run",
        "--target",
        url,
        "--json",
        "--allow-writes",
        "--set",
        "workload.folder=w",
        "--set",
        "run.warmup=0s",
        "--set",
        "run.sessions_per_schema=2",
        "--set",
        "run.ops_per_session=400",
    ]);
    assert!(output.out.starts_with('{'), "{output:#?}");
    let record: Value = serde_json::from_str(&output.out).unwrap();
    assert_eq!(record["status"], "valid", "{}", record["reasons"]);
    let operations = record["ops"].fields();
    // The keys exist, so that their statements find rows.
    for name in ["select_orders", "select_orders_2", "select_customers", "update_customers"] {
        let operation = &operations[name];
        let (rows, count) = (operation["rows"].number(), operation["count"].number());
        assert!(rows >= 0.5 * count, "{name}: {rows} rows of {count} operations\n{text}");
    }
    text
}

fn assert_draws(text: &str, draws: &[&str]) {
    for draw in draws {
        assert!(text.lines().any(|line| line.contains(draw)), "{draw}\n{text}");
    }
}

/// Draws that all servers' statistics lead to.
const DRAWS: [&str; 6] = [
    "update_customers_id = { uniform = [1, 600] }",
    "update_customers_visits = { uniform = [-10, 10] }",
    "_email = { text = ",
    "choice = [\"done\", \"open\"",
    "date = [\"2026-01-1",
    ", null_pct = 5",
];

#[test]
fn postgres_draft_runs_without_edit() {
    let Some(server) = postgres() else { return };
    server.psql("CREATE EXTENSION pg_stat_statements");
    server.psql(TABLES);
    server.psql(&rows());
    server.psql("ANALYZE");
    server.psql("SELECT pg_stat_statements_reset()");
    server.psql(&shapes());
    let text = import_and_run(&server.url());
    assert_draws(&text, &DRAWS);
}

#[test]
fn mysql_draft_runs_without_edit() {
    let Some(version) = MySql::available().into_iter().next() else { return };
    let server = MySql::start(&version, &[("performance_schema", "ON")]);
    server.sql(TABLES);
    server.sql(&rows());
    server.sql("TRUNCATE performance_schema.events_statements_summary_by_digest");
    server.sql(&shapes());
    let text = import_and_run(&server.url());
    assert_draws(&text, &DRAWS);
}
