//! Questions at a terminal and the effect of their answers.

use std::path::Path;

use crate::common::TestEnv;

const WRITER: &str = r#"
name = "w"
writes = true

[transaction.bump]
sql = "UPDATE counter SET n = n + 1"
"#;

const QUESTION: &str = "change data of sqlite:c.db that Dyno did not create? [y/N] ";

/// A workload that changes a table not created by Dyno.
fn env_with_writer() -> TestEnv {
    let desk = TestEnv::new();
    std::fs::create_dir(desk.file("w")).unwrap();
    desk.write("w/workload.toml", WRITER);
    let database = rusqlite::Connection::open(desk.file("c.db")).unwrap();
    database.execute_batch("CREATE TABLE counter (n INT NOT NULL); INSERT INTO counter VALUES (0)").unwrap();
    desk
}

fn read_counter(database: &Path) -> i64 {
    let database = rusqlite::Connection::open(database).unwrap();
    database.query_row("SELECT n FROM counter", [], |row| row.get(0)).unwrap()
}

const RUN: [&str; 9] = [
    "run",
    "--target",
    "sqlite:c.db",
    "--set",
    "workload.folder=w",
    "--set",
    "run.warmup=0s",
    "--set",
    "run.ops_per_session=9",
];

#[test]
fn terminal_user_is_asked_for_write_consent_once() {
    let desk = env_with_writer();
    // Any answer except yes counts as no.
    for line in ["n", "", "maybe"] {
        let mut run = desk.spawn_at_terminal(&RUN);
        run.answer(QUESTION, line);
        let (code, shown) = run.wait();
        assert_eq!(code, 2, "{shown}");
        assert!(shown.contains("w writes in bump: UPDATE counter"), "{shown}");
        assert!(shown.contains("--allow-writes"), "{shown}");
        assert_eq!(read_counter(&desk.file("c.db")), 0);
    }
    let mut run = desk.spawn_at_terminal(&RUN);
    run.answer(QUESTION, "y");
    let (code, shown) = run.wait();
    assert!(matches!(code, 0 | 1), "{shown}");
    let first = read_counter(&desk.file("c.db"));
    assert!(first >= 9, "{shown}");
    // Consent is stored, so it is not asked again anywhere; another text is another question.
    let again = desk.dyno(&RUN);
    assert!(matches!(again.code, 0 | 1), "{again:#?}");
    let second_count = read_counter(&desk.file("c.db"));
    assert!(second_count > first, "{again:#?}");
    desk.write("w/workload.toml", &WRITER.replace("n + 1", "n + 2"));
    let mut changed = desk.spawn_at_terminal(&RUN);
    changed.answer(QUESTION, "yes");
    let (code, shown) = changed.wait();
    assert!(matches!(code, 0 | 1), "{shown}");
    assert!(read_counter(&desk.file("c.db")) > second_count, "{shown}");
}

#[test]
fn consent_prompt_skipped_without_terminal() {
    let desk = env_with_writer();
    let refused = desk.dyno(&RUN);
    assert!(refused.code == 2, "{refused:#?}");
    assert!(!refused.err.contains("[y/N]"), "{refused:#?}");
    let output = desk.terminal_command(&[&RUN[..], &["--allow-writes"]].concat()).output().unwrap();
    let shown = String::from_utf8_lossy(&output.stdout);
    assert!(!shown.contains("[y/N]"), "{shown}");
    assert!(shown.contains("w writes in bump: UPDATE counter"), "{shown}");
    assert!(read_counter(&desk.file("c.db")) >= 9);
}
