//! Procedures as steps of transactions.

use crate::common::{Desk, check};
use dyno_testbed::Postgres;
use serde_json::Value;

/// Procedures that move money, tell what is left, and change a row alone.
const CALLS: [(&str, &str); 3] = [
    (
        "workload.toml",
        r#"
name = "calls"
writes = true

[table.calls_accounts]
rows = 20
primary_key = "id"
[table.calls_accounts.columns]
id = { type = "integer", expr = "row" }
balance = { type = "integer", value = 1000 }

[setup]
sql = "setup.sql"
[drop]
sql = "drop.sql"

[draw]
from = { uniform = [1, 20] }
to = { expr = "from % 20 + 1" }
amount = { uniform = [1, 100] }

[transaction.move]
commit = "end"
retries = 20
steps = [
  { sql = "CALL calls_move(:from, :to, :amount)" },
  { sql = "CALL calls_balance(:from, 0)", read = ["balance"] },
  { rollback = "balance < 0" },
]

[transaction.alone]
sql = "CALL calls_add(:from, 0 * :amount)"

[[invariant]]
name = "money"
sql = "SELECT SUM(balance) FROM calls_accounts"
"#,
    ),
    (
        "setup.sql",
        "CREATE PROCEDURE calls_move(a BIGINT, b BIGINT, n BIGINT) LANGUAGE SQL AS $$
           UPDATE calls_accounts SET balance = balance - n WHERE id = a;
           UPDATE calls_accounts SET balance = balance + n WHERE id = b;
         $$;
         CREATE PROCEDURE calls_balance(a BIGINT, INOUT left_over BIGINT) LANGUAGE plpgsql AS $$
           BEGIN SELECT balance INTO left_over FROM calls_accounts WHERE id = a; END
         $$;
         CREATE PROCEDURE calls_add(a BIGINT, n BIGINT) LANGUAGE SQL AS $$
           UPDATE calls_accounts SET balance = balance + n WHERE id = a
         $$;",
    ),
    ("drop.sql", "DROP PROCEDURE calls_move; DROP PROCEDURE calls_balance; DROP PROCEDURE calls_add;"),
];

fn through(url: &str) {
    let desk = Desk::new();
    std::fs::create_dir(desk.file("calls")).unwrap();
    CALLS.iter().for_each(|(name, text)| desk.write(&format!("calls/{name}"), text));
    let dyno = |command: &str, more: &[&str]| {
        let head = [command, "--target", url, "--set", "workload.folder=calls"];
        let said = desk.dyno(&[&head[..], more].concat());
        assert_eq!(said.code, 0, "{said:#?}");
        said.out
    };
    dyno("load", &[]);
    for threads in ["1", "4"] {
        let threads = format!("run.threads={threads}");
        let few = ["run.sessions_per_schema=4", "run.ops_per_session=60", "run.warmup=0s", &threads];
        let sets: Vec<&str> = few.iter().flat_map(|set| ["--set", set]).chain(["--json"]).collect();
        let record: Value = serde_json::from_str(&dyno("run", &sets)).unwrap();
        assert_eq!(record["status"], "valid", "{}", record["reasons"]);
        assert_eq!(check(&record, "invariants")["status"], "pass");
        assert_ne!(
            check(&record, "commits_whole")["status"],
            "fail",
            "{:#}",
            check(&record, "commits_whole")
        );
    }
    dyno("drop", &["--yes"]);
}

#[test]
fn procedures_are_called_on_postgres() {
    for version in Postgres::newest_or_all() {
        through(&Postgres::start(&version, &[("autovacuum", "off")]).url());
    }
}
