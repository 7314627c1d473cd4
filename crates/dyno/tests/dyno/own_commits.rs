//! Changes made by custom SQL, and what the engine counts as a commit.

use crate::common::{TestEnv, find_check};

/// SQLite regards this as a change of a row, but writes nothing to its WAL.
#[test]
fn updates_to_same_values_do_not_count_as_missing_commits() {
    let desk = TestEnv::new();
    std::fs::create_dir(desk.file("same")).unwrap();
    let toml = r#"
name = "same"
writes = true
[table.same_rows]
rows = 50
primary_key = "id"
[table.same_rows.columns]
id = { type = "integer", expr = "row" }
n = { type = "integer", value = 7 }
[draw]
id = { uniform = [1, 50] }
by = { uniform = [0, 1] }
[transaction.one]
sql = "UPDATE same_rows SET n = n + :by WHERE id = :id"
[transaction.two]
commit = "end"
steps = [
  { sql = "UPDATE same_rows SET n = n + :by WHERE id = :id", rows = 1 },
  { sql = "SELECT n FROM same_rows WHERE id = :id", rows = 1 },
]
[transaction.back]
commit = "end"
steps = [{ sql = "UPDATE same_rows SET n = n WHERE id = :id" }, { rollback = true }]
"#;
    desk.write("same/workload.toml", toml);
    for url in ["sqlite:wal.db", "sqlite:delete.db?journal=delete", "sqlite::memory:"] {
        let folder = ["--target", url, "--set", "workload.folder=same"];
        if !url.ends_with(":memory:") {
            let output = desk.dyno(&[&["load"][..], &folder].concat());
            assert_eq!(output.code, 0, "{output:#?}");
        }
        let sets = ["run.ops_per_session=100", "run.warmup=0s", "run.sessions_per_schema=2"];
        let sets: Vec<&str> = sets.iter().flat_map(|set| ["--set", set]).collect();
        let (code, record) = desk.json(&[&["run"][..], &folder, &sets].concat());
        assert_eq!(code, 0, "{url}: {} {:#}", record["reasons"], record["audit"]);
        for name in ["commits", "commits_whole"] {
            let commits = find_check(&record, name);
            assert!(commits["expected"] == commits["observed"], "{url}: {commits:#}");
        }
        let words = find_check(&record, "commits_whole")["detail"].to_string();
        let is_wal = url == "sqlite:wal.db";
        assert_eq!(words.contains("added for statements that it does not count"), is_wal, "{url}: {words}");
    }
}
