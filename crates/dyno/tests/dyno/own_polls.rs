//! Polls of a custom workload that find nothing are counted separately, and are not operations on any engine.

use crate::common::json::ExpectJson;
use crate::common::{TestEnv, assert_passes, find_check};
use dyno_testbed::{MySql, Postgres};

const WORKLOAD: &str = r#"
name = "polls"
writes = true

[setup]
sql = """
CREATE TABLE polls_queue (id INT NOT NULL PRIMARY KEY, taken INT NOT NULL);
CREATE TABLE polls_work (id INT NOT NULL PRIMARY KEY, n INT NOT NULL);
INSERT INTO polls_queue VALUES (1, 0);
INSERT INTO polls_work VALUES (1, 0), (2, 0), (3, 0), (4, 0), (5, 0), (6, 0), (7, 0), (8, 0), (9, 0)
"""

[drop]
sql = "DROP TABLE polls_queue; DROP TABLE polls_work"

[draw]
id = { uniform = [1, 9] }

[transaction.take]
steps = [
  { sql = "SELECT id FROM polls_queue WHERE id = 2 AND taken = 0", count = "found" },
  { rollback = "found = 0", poll = true },
  { sql = "UPDATE polls_queue SET taken = 1 WHERE id = 2", rows = 1 },
]

[transaction.work]
retries = 20
steps = [
  { sql = "SELECT n FROM polls_work WHERE id = :id", read = ["n"] },
  { sql = "UPDATE polls_work SET n = n + 1 WHERE id = :id", rows = 1 },
]
"#;

fn assert_polls_counted(url: &str) {
    let desk = TestEnv::new();
    std::fs::create_dir_all(desk.file("polls")).unwrap();
    desk.write("polls/workload.toml", WORKLOAD);
    let args = |command| {
        let sets = ["workload.folder=polls", "run.time=2s", "run.warmup=1s", "run.sessions_per_schema=2"];
        let sets = sets.into_iter().flat_map(|set| ["--set", set]);
        [command, "--target", url].into_iter().chain(sets).collect::<Vec<_>>()
    };
    let load = desk.dyno(&args("load"));
    assert_eq!(load.code, 0, "{load:#?}");
    let (code, record) = desk.json(&args("run"));
    assert_eq!(code, 0, "{url}: {:#}", record["reasons"]);
    let ops = &record["ops"];
    let number = |class: &str, key: &str| ops[class][key].as_u64().unwrap_or(0);
    assert_eq!((number("take", "count"), number("take", "rolled_back")), (0, 0), "{ops:#}");
    assert!(number("take", "empty_polls") > 10, "{ops:#}");
    assert!(ops["take"]["service_us"]["p50"].is_null(), "{ops:#}");
    assert_eq!(number("all", "count"), number("work", "count"));
    assert_eq!(number("all", "empty_polls"), number("take", "empty_polls"));
    // A poll is as likely as work, and was chosen as often.
    assert_passes(&record, "mix");
    assert!(record["window"]["polling_s"].number() > 0.0);
    let law = find_check(&record, "littles_law")["detail"].text().to_owned();
    assert!(law.contains("in polls that found nothing"), "{law}");
    for name in ["commits", "service_time", "series_sum"] {
        assert_passes(&record, name);
    }
    let shown = desk.dyno(&["show", "last"]).out;
    assert!(shown.contains("empty polls"), "{shown}");
}

#[test]
fn empty_polls_are_not_operations_on_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    assert_polls_counted(&format!("sqlite:{}", folder.path().join("polls.db").display()));
}

#[test]
fn empty_polls_are_not_operations_on_postgres() {
    let Some(version) = Postgres::available().pop() else { return };
    assert_polls_counted(&Postgres::start(&version, &[("autovacuum", "off"), ("fsync", "off")]).url());
}

#[test]
fn empty_polls_are_not_operations_on_mysql_and_mariadb() {
    for version in MySql::available() {
        assert_polls_counted(&MySql::start(&version, &[]).url());
    }
}
