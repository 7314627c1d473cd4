//! Foreign text never controls the terminal. Reports, tables, plans, URLs, file names and arguments full of
//! escape sequences pass through every output to stdout and stderr.

use crate::common::{CommandOutput, TestEnv};

const AWR: &str = include_str!("../../../dyno-awr/tests/reports/awr_12.2_rac.txt");

/// Clears the screen, retitles the window, conceals, reorders, uses the one-character form of an escape, and
/// forges a line.
const HOSTILE: &str =
    "x\u{1b}[2J\u{1b}]0;owned\u{7}\u{1b}[8m\u{202e}\u{9b}2J\u{200b}\u{2028}\r\nhint: all is well\r";

/// The hostile text on one line, for formats in which a line break ends the field.
fn hostile_line() -> String {
    HOSTILE.replace(['\r', '\n'], "\u{7f}")
}

/// Whether a terminal acts on it; decided here without the program's own list.
fn is_active_character(c: char) -> bool {
    c.is_control() || matches!(c, '\u{200b}' | '\u{202e}' | '\u{2028}')
}

fn assert_harmless(output: &CommandOutput, label: &str) {
    for (name, text) in [("stdout", &output.out), ("stderr", &output.err)] {
        let acting: Vec<char> = text.chars().filter(|c| is_active_character(*c) && *c != '\n').collect();
        assert!(acting.is_empty(), "{label}: {name} holds {acting:?}: {text:?}");
        assert!(!text.lines().any(|line| line.starts_with("hint: all")), "{label}: a forged line: {text}");
    }
}

#[test]
fn hostile_awr_reports_do_not_affect_terminal() {
    let desk = TestEnv::new();
    let line = hostile_line();
    desk.write("figure.txt", &AWR.replace("5,000.1 ", &format!("5,0{line}0.1 ")));
    desk.write("name.txt", &AWR.replace("log file sync", &line));
    desk.write(&format!("{line}.txt"), &AWR.replace("5,000.1 ", "5,0#0.1 "));
    for command in [
        &["awr", "."][..],
        &["awr", ".", "-v"],
        &["awr", ".", "--json"],
        &["awr", ".", "--columns", "file,top_event,event_avg_ms.log file sync", "--verbose"],
        &["awr", ".", "--format", "md"],
        &["awr", "diff", "figure.txt", "name.txt"],
        &["awr", "diff", "figure.txt", "name.txt", "--json"],
        &["awr", "timeline", "."],
        &["awr", "timeline", ".", "--json"],
        &["awr", "import", "."],
        &["import", "results", "name.txt"],
        &["import", "results", "figure.txt", "--json"],
        &["list"],
        &["show", "last"],
        &["show", "last", "--json"],
    ] {
        assert_harmless(&desk.dyno(command), &command.join(" "));
    }
    desk.write("told.txt", &AWR.replace("5,000.1 ", "5,0\u{1b}[2J "));
    let report_output = desk.dyno(&["awr", "told.txt"]);
    assert!(
        report_output.err.contains("\\u{1b}[2J"),
        "what cannot be read is still told: {report_output:#?}"
    );
}

#[test]
fn imported_tables_with_control_characters_are_shown_escaped() {
    let desk = TestEnv::new();
    let line = hostile_line();
    let quoted = format!("\"{}\"", HOSTILE.replace('"', "\"\""));
    desk.write("good.csv", &format!("s,ops,v,{quoted},{line}\n8,100,{quoted},{quoted},1\n"));
    desk.write("figure.csv", &format!("s,ops,v\n8,{quoted},a\n"));
    desk.write("sessions.csv", &format!("s,ops,v\n{quoted},1,a\n"));
    desk.write("twice.csv", &format!("{quoted},{quoted}\n1,2\n"));
    desk.write(&format!("{line}.csv"), "s,ops\n8\n");
    let map = ["--map", "s=sessions", "--map", "ops=ops_per_s", "--map", "v=variant"];
    let label = format!("{HOSTILE}=label");
    for file in ["good.csv", "figure.csv", "sessions.csv", "twice.csv", &format!("{line}.csv")] {
        for more in [&[][..], &["--json"], &["--map", &label], &["--tag", &line], &["--map", &line]] {
            let output = desk.dyno(&[&["import", "results", file][..], &map, more].concat());
            assert_harmless(&output, &format!("import {file:?} {more:?}"));
        }
    }
    assert_eq!(desk.dyno(&[&["import", "results", "good.csv"][..], &map].concat()).code, 0);
    for command in [
        &["list"][..],
        &["list", "--json"],
        &["show", "last"],
        &["show", "last", "--json"],
        &["show", "last", "last"],
        &["compare", "last", "last~1"],
        &["report", "last", "--format", "md"],
        &["report", "last", "--format", "json"],
    ] {
        assert_harmless(&desk.dyno(command), &command.join(" "));
    }
}

#[test]
fn hostile_plans_urls_and_arguments_are_escaped() {
    let desk = TestEnv::new();
    let line = hostile_line();
    let encoded: String = HOSTILE.bytes().map(|byte| format!("%{byte:02X}")).collect();
    desk.write(
        "value.toml",
        &format!(
            "[target]\nurl = \"sqlite:x\"\n[run]\ntime = \"\"\"{}\"\"\"\n",
            HOSTILE.escape_default().to_string().replace("\\u{", "\\U{")
        ),
    );
    desk.write("raw.toml", &format!("[run]\ntime = \"{HOSTILE}\"\n"));
    desk.write("key.toml", "[run]\n\"ti\\u001B[2Jme\\u009B\" = 1\n[\"\\u202E\"]\nx = 1\n");
    desk.write("text.toml", "[run]\ntime = \"\\u001B]0;x\\u0007\\u009B2J\\u202E\\n\\rhint: all is well\"\n");
    desk.write(&format!("{line}.toml"), "[run]\ntime = 1\n");
    desk.write(
        "slob.conf",
        &format!("UPDATE_PCT={line}\n{line}=1\nRUN_TIME=5\nADMIN_SQLNET_SERVICE='{line}'\n"),
    );
    let urls = [
        format!("postgres://u{encoded}@127.0.0.1:1/d{encoded}?{encoded}=1"),
        format!("postgres://u{encoded}@127.0.0.1:1/d{encoded}?connect_timeout=1s"),
        format!("mysql://u@127.0.0.1:1/{encoded}"),
        format!("mysql://h{line}/x"),
        format!("{HOSTILE}://x"),
        format!("sqlite:/nowhere/{encoded}"),
    ];
    let hostile = HOSTILE.to_owned();
    let set = format!("run.time={hostile}");
    let mut commands: Vec<Vec<&str>> = Vec::new();
    let named = format!("{line}.toml");
    for plan in ["value.toml", "raw.toml", "key.toml", "text.toml", &named, &hostile] {
        commands.push(vec!["check", "--plan", plan]);
        commands.push(vec!["run", "--plan", plan]);
    }
    for url in &urls {
        for command in ["check", "run", "load"] {
            commands.push(vec![command, "--target", url]);
        }
        commands.push(vec!["drop", "--yes", "--target", url]);
        commands.push(vec!["init", "--plan", "new.toml", "--target", url]);
    }
    commands.extend([
        vec!["run", "--set", &set],
        vec!["run", "--set", &hostile],
        vec!["run", &hostile],
        vec![&hostile],
        vec!["show", &hostile],
        vec!["list", "--status", &hostile],
        vec!["import", "results", &hostile],
        vec!["import", "slob", &hostile],
        vec!["import", "slob", "slob.conf", "-v"],
        vec!["import", "pgbench", &hostile, "--into", "w"],
        vec!["import", "pgbench", "slob.conf", "--into", "w"],
        vec!["import", "pgbench", "-b", &hostile, "--into", "w"],
        vec!["import", "pgbench", "-b", "tpcb", "-D", &hostile, "--into", &hostile],
        vec!["import", "pgbench", "-b", "tpcb", "--name", &hostile, "--into", "w"],
        vec!["awr", &hostile],
        vec!["awr", "--columns", &hostile, "."],
        vec!["report", "--format", &hostile],
        vec!["list", "--repository", &hostile],
        vec!["completions", &hostile],
    ]);
    for command in commands {
        let output = desk.dyno(&command);
        assert_harmless(&output, &format!("{command:?}"));
    }
}

#[test]
fn terminal_output_has_no_escapes_and_pipe_output_is_unchanged() {
    let desk = TestEnv::new();
    let line = hostile_line();
    desk.write(&format!("{line}.txt"), AWR);
    let args = ["awr", ".", "--format", "csv", "--columns", "file"];
    let piped = desk.dyno(&args);
    assert!(piped.out.contains("\u{1b}[2J"), "a program reads what the report says: {piped:#?}");
    let output = desk.terminal_command(&args).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("owned"), "{text:?}");
    assert!(!text.chars().any(|c| is_active_character(c) && !matches!(c, '\r' | '\n')), "{text:?}");
}
