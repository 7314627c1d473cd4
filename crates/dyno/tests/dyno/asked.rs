//! Questions at a terminal, and what comes of their answers.

use std::path::Path;

use crate::common::Desk;

const WRITER: &str = r#"
name = "w"
writes = true

[transaction.bump]
sql = "UPDATE counter SET n = n + 1"
"#;

const QUESTION: &str = "change data of sqlite:c.db that Dyno did not make? [y/N] ";

/// A workload that changes a table which Dyno did not make.
fn desk() -> Desk {
    let desk = Desk::new();
    std::fs::create_dir(desk.file("w")).unwrap();
    desk.write("w/workload.toml", WRITER);
    let database = rusqlite::Connection::open(desk.file("c.db")).unwrap();
    database.execute_batch("CREATE TABLE counter (n INT NOT NULL); INSERT INTO counter VALUES (0)").unwrap();
    desk
}

fn counted(database: &Path) -> i64 {
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
fn who_sits_at_a_terminal_is_asked_about_writes_and_asked_once() {
    let desk = desk();
    // No is no, and so is anything but a yes.
    for line in ["n", "", "maybe"] {
        let mut run = desk.asked(&RUN);
        run.answer(QUESTION, line);
        let (code, shown) = run.end();
        assert_eq!(code, 2, "{shown}");
        assert!(
            shown.contains("w writes in bump: UPDATE counter") && shown.contains("--allow-writes"),
            "{shown}"
        );
        assert_eq!(counted(&desk.file("c.db")), 0);
    }
    let mut run = desk.asked(&RUN);
    run.answer(QUESTION, "y");
    let (code, shown) = run.end();
    assert!(matches!(code, 0 | 1), "{shown}");
    let first = counted(&desk.file("c.db"));
    assert!(first >= 9, "{shown}");
    // It is kept, so that nobody is asked again, wherever it runs; another text is another question.
    let again = desk.dyno(&RUN);
    assert!(matches!(again.code, 0 | 1), "{again:#?}");
    let second = counted(&desk.file("c.db"));
    assert!(second > first, "{again:#?}");
    desk.write("w/workload.toml", &WRITER.replace("n + 1", "n + 2"));
    let mut changed = desk.asked(&RUN);
    changed.answer(QUESTION, "yes");
    let (code, shown) = changed.end();
    assert!(matches!(code, 0 | 1) && counted(&desk.file("c.db")) > second, "{shown}");
}

#[test]
fn nobody_is_asked_who_has_said_it_or_sits_at_none() {
    let desk = desk();
    let refused = desk.dyno(&RUN);
    assert!(refused.code == 2 && !refused.err.contains("[y/N]"), "{refused:#?}");
    let said = desk.at_terminal(&[&RUN[..], &["--allow-writes"]].concat()).output().unwrap();
    let shown = String::from_utf8_lossy(&said.stdout);
    assert!(!shown.contains("[y/N]") && shown.contains("w writes in bump: UPDATE counter"), "{shown}");
    assert!(counted(&desk.file("c.db")) >= 9);
}
