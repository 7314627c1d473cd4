//! Wrong plans and wrong usage: exit code 2, and an error that names position, value and hint.

use crate::common::TestEnv;

#[test]
fn every_plan_error_is_located() {
    let desk = TestEnv::new();
    desk.write(
        "dyno.toml",
        "version = 1\n[target]\nurl = \"sqlite:x.db\"\n[data]\nscale = \"80Q\"\nschemas = 0\n[workload]\nupdate_pct = 101\nupdat_pct = 3\n",
    );
    let output = desk.dyno(&["run"]);
    assert_eq!(output.code, 2, "{output:#?}");
    for part in ["dyno.toml:5", "80Q", "dyno.toml:6", "dyno.toml:8", "101", "dyno.toml:9", "update_pct"] {
        assert!(output.err.contains(part), "{part} in\n{}", output.err);
    }
    assert!(output.err.lines().all(|line| line.starts_with("error: ")), "{}", output.err);
    assert!(output.out.is_empty());
}

#[test]
fn missing_plan_error_suggests_init() {
    let output = TestEnv::new().dyno(&["run"]);
    assert_eq!(output.code, 2);
    assert!(output.err.contains("dyno init"), "{}", output.err);
}

#[test]
fn password_in_target_url_is_refused_and_not_echoed() {
    let output = TestEnv::new().dyno(&["check", "--target", "postgres://u:hunter2@127.0.0.1/db"]);
    assert_eq!(output.code, 2);
    assert!(!output.err.contains("hunter2"), "{output:#?}");
    assert!(!output.out.contains("hunter2"), "{output:#?}");
    assert!(output.err.contains("password_env"), "{}", output.err);
}

#[test]
fn existing_plan_is_not_overwritten_by_init() {
    let desk = TestEnv::new();
    desk.write("dyno.toml", "mine");
    assert_eq!(desk.dyno(&["init"]).code, 2);
    assert_eq!(std::fs::read_to_string(desk.file("dyno.toml")).unwrap(), "mine");
    assert_eq!(desk.dyno(&["init", "--force", "--engine", "postgres"]).code, 0);
    assert!(std::fs::read_to_string(desk.file("dyno.toml")).unwrap().contains("postgres://"));
}

#[test]
fn init_options_are_written_to_the_plan() {
    let desk = TestEnv::new();
    let args =
        ["init", "--target", "sqlite:mine.db", "--set", "data.scale=300 blocks", "--set", "run.time=1s"];
    assert_eq!(desk.dyno(&args).code, 0);
    let plan = std::fs::read_to_string(desk.file("dyno.toml")).unwrap();
    for line in ["url = \"sqlite:mine.db\"", "scale = \"300 blocks\"", "time = \"1s\""] {
        assert!(plan.lines().any(|written| written == line), "{line}: {plan}");
    }
    assert_eq!(desk.dyno(&["load"]).code, 0);
    assert!(desk.file("mine.db").exists());
    // The target determines the engine; a different one is refused, and so is an option that no plan takes.
    let server = ["init", "--force", "--target", "mysql://me@db1/bench"];
    assert_eq!(desk.dyno(&server).code, 0);
    assert!(
        std::fs::read_to_string(desk.file("dyno.toml")).unwrap().contains("\nurl = \"mysql://me@db1/bench\"")
    );
    let refused = desk.dyno(&[&server[..], &["--engine", "oracle"]].concat());
    assert!(refused.code == 2, "{refused:#?}");
    assert!(refused.err.contains("leave --engine out"), "{refused:#?}");
    assert_eq!(desk.dyno(&["init", "--force", "--set", "run.tiem=1s"]).code, 2);
}

#[test]
fn init_writes_the_most_used_keys_or_all_of_them() {
    let desk = TestEnv::new();
    assert_eq!(desk.dyno(&["init"]).code, 0);
    let short = std::fs::read_to_string(desk.file("dyno.toml")).unwrap();
    assert!(short.lines().count() <= 32, "{short}");
    assert!(!short.contains("[observe]"), "{short}");
    assert_eq!(desk.dyno(&["init", "--full", "--force"]).code, 0);
    let full = std::fs::read_to_string(desk.file("dyno.toml")).unwrap();
    assert!(full.contains("\n[observe]\n"), "{full}");
    let listed = TestEnv::new().dyno(&["init", "--list"]);
    assert_eq!(listed.code, 0);
    for name in ["oltp-80-20", "key-value"] {
        assert!(listed.out.contains(name), "{}", listed.out);
    }
}

#[test]
fn values_without_effect_are_not_compared() {
    let desk = TestEnv::new();
    assert_eq!(desk.dyno(&["init"]).code, 0);
    let reads = ["--set", "workload.update_pct=0", "--dry-run"];
    for args in [
        &["ab", "--a", "workload.redo=lite", "--b", "workload.redo=heavy"][..],
        &["sweep", "--set", "sweep.workload.redo=lite,heavy"],
    ] {
        let refused = desk.dyno(&[args, &reads].concat());
        assert_eq!(refused.code, 2, "{args:?}: {refused:#?}");
        assert!(
            refused.err.contains("workload.redo has no effect: the plan updates no rows"),
            "{refused:#?}"
        );
        assert_eq!(desk.dyno(&[args, &["--set", "workload.update_pct=20", "--dry-run"]].concat()).code, 0);
    }
}

#[test]
fn dry_run_shows_the_runs_and_makes_none() {
    let desk = TestEnv::new();
    assert_eq!(desk.dyno(&["init"]).code, 0);
    let ab = ["ab", "--a", "work_unit=1", "--b", "", "--pairs", "2", "--time", "10s", "--dry-run"];
    for (args, says) in [
        (&ab[..], "4 runs; warm-ups, windows and pauses take 60"),
        (&["search", "--limit", "p99 <= 2ms", "--dry-run"], "at least 3 runs"),
        (&["soak", "--time", "8h", "--dry-run"], "1 run; warm-ups, windows and pauses take 8 h"),
        (&["suite", "--quick", "--test", "cpu-integer", "--dry-run"], "2 runs; warm-ups"),
        (&["sweep", "--time", "5s", "--set", "sweep.sessions=1,2", "--dry-run"], "take 20"),
    ] {
        let output = desk.dyno(args);
        assert!(output.code == 0, "{args:?}: {output:#?}");
        assert!(output.err.contains(says), "{args:?}: {output:#?}");
    }
    let turns = desk.dyno(&ab).out;
    let sides: Vec<&str> = turns.lines().filter_map(|line| line.split_whitespace().nth(3)).collect();
    assert_eq!(sides, ["a", "b", "b", "a"], "{turns}");
    assert!(!desk.file("dyno.db").exists(), "nothing was loaded");
}

#[test]
fn help_lists_commands_in_groups_and_options_where_they_have_an_effect() {
    let desk = TestEnv::new();
    let help = desk.dyno(&["--help"]).out;
    let groups = ["Prepare:", "Measure:", "Observe:", "Results:", "Platforms:", "Service:", "Verify:"];
    let places: Vec<Option<usize>> = groups.iter().map(|group| help.find(group)).collect();
    assert!(places.iter().all(Option::is_some), "{help}");
    assert!(places.is_sorted(), "{help}");
    assert_eq!(help.matches("Find the highest load").count(), 1, "{help}");
    assert!(desk.dyno(&["run", "--help"]).out.contains("--allow-hooks"));
    let list = desk.dyno(&["list", "--help"]).out;
    assert!(!list.contains("--allow-hooks"), "{list}");
    assert!(list.contains("--repository"), "{list}");
    // An option without effect is still accepted, as in scripts that pass it to every command.
    // `--for` is the former name of `watch --time`.
    for args in [&["list", "--plain"][..], &["watch", "sqlite:none.db", "--for", "1s"]] {
        assert!(!desk.dyno(args).err.contains("unexpected argument"), "{args:?}");
    }
}

#[test]
fn unknown_options_and_commands_are_usage_errors() {
    let desk = TestEnv::new();
    assert_eq!(desk.dyno(&["fly"]).code, 2);
    assert_eq!(desk.dyno(&["run", "--fast"]).code, 2);
    assert_eq!(desk.dyno(&["list", "--status", "good"]).code, 2);
}

#[test]
fn help_completions_and_manual_exist() {
    let desk = TestEnv::new();
    let help = desk.dyno(&["import", "results", "--help"]);
    assert_eq!(help.code, 0);
    assert!(help.out.contains("Examples:"), "{}", help.out);
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        assert!(desk.dyno(&["completions", shell]).out.contains("dyno"), "{shell}");
    }
    assert!(desk.dyno(&["man"]).out.contains(".TH dyno"));
    assert_eq!(desk.dyno(&["man", "--dir", "pages"]).code, 0);
    assert!(desk.file("pages/dyno-run.1").exists());
    assert!(desk.file("pages/dyno-import-slob.1").exists());
}

#[test]
fn old_import_names_do_the_same_after_a_note() {
    let desk = TestEnv::new();
    desk.write("pgio.conf", "UPDATE_PCT=20\nNUM_SCHEMAS=2\n");
    for (old, new, more) in [
        (&["import-slob"][..], "slob", &["pgio.conf"][..]),
        (&["import-slob"], "slob", &["none.conf"]),
        (&["import-pgbench"], "pgbench", &["-b", "nothing", "--into", "w"]),
        (&["import-statements"], "statements", &["--awr", "none.html"]),
        (&["import-metrics"], "metrics", &["last", "none.csv"]),
        (&["import"], "results", &["none.csv", "--map", "ops=ops_per_s"]),
        (&["--json", "import"], "results", &["--set", "run.time=1s", "none.csv", "--dry-run"]),
    ] {
        let before = desk.dyno(&[old, more].concat());
        let present = desk.dyno(&[&old[..old.len() - 1], &["import", new], more].concat());
        assert_eq!((before.code, &before.out), (present.code, &present.out), "{old:?}");
        let (note, rest) = before.err.split_once('\n').unwrap();
        assert!(note.contains("deprecated"), "{note}");
        assert!(note.contains(&format!("dyno import {new}")), "{note}");
        assert_eq!(rest, present.err, "{old:?}");
    }
    let help = desk.dyno(&["--help"]).out;
    assert!(!help.contains("import-"), "{help}");
    assert!(!desk.dyno(&["import", "--help"]).out.contains("--map"), "{help}");
}

#[test]
fn closed_output_pipe_is_not_an_error() {
    let desk = TestEnv::new();
    let dyno = env!("CARGO_BIN_EXE_dyno");
    let status = std::process::Command::new("sh")
        .args(["-c", &format!("set -o pipefail 2>/dev/null; {dyno} completions bash | head -1 >/dev/null")])
        .current_dir(desk.path())
        .status()
        .unwrap();
    assert!(status.success() || status.code() == Some(2), "{status}");
}

#[test]
fn unwritable_repository_is_detected_before_the_run() {
    let desk = TestEnv::new();
    desk.dyno(&["init"]);
    assert_eq!(desk.dyno(&["load", "--set", "data.scale=200 blocks"]).code, 0);
    desk.write("file", &"this is not a repository\n".repeat(100));
    for place in ["file", "file/runs.sqlite3"] {
        let output = desk.dyno(&["run", "--set", "data.scale=200 blocks", "--repository", place]);
        assert_eq!(output.code, 3, "{output:#?}");
        assert!(!output.err.contains("run 2"), "no run was started: {}", output.err);
    }
}

/// clap keeps a repeated global option of one level only.
#[test]
fn global_options_before_and_after_command_both_apply() {
    let desk = TestEnv::new();
    desk.dyno(&["init"]);
    let (code, plan) = desk.json(&[
        "--set",
        "run.time=77s",
        "sweep",
        "--set",
        "sweep.sessions=1",
        "--set",
        "run.warmup=3s",
        "--dry-run",
    ]);
    assert_eq!(code, 0);
    assert!(
        plan.to_string().contains("77s") || plan["seconds"].as_f64().is_some_and(|s| s >= 77.0),
        "{plan}"
    );
    for args in [
        &["--set", "data.scale=99Q", "check", "--set", "run.time=2s"][..],
        &["check", "--set", "data.scale=99Q", "--set", "run.time=2s"],
        &["prove", "--set", "data.scale=99Q", "window", "--set", "run.time=2s"],
        &["--set", "data.scale=99Q", "list", "--set", "run.time=2s"],
        &["show", "--set", "data.scale=99Q"],
    ] {
        let output = desk.dyno(args);
        assert_eq!(output.code, 2, "{args:?}: {output:#?}");
        assert!(output.err.contains("--set data.scale=99Q: not a size"), "{args:?}: {}", output.err);
    }
    let two = desk.dyno(&["--target", "sqlite:a.db", "check", "--target", "sqlite:a.db"]);
    assert!(two.code == 2, "{two:#?}");
    assert!(two.err.contains("entries 1 and 2 of the list are the same"), "{two:#?}");
    let twice = desk.dyno(&["--plan", "dyno.toml", "check", "--plan", "other.toml"]);
    assert!(twice.code == 2, "{twice:#?}");
    assert!(twice.err.contains("--plan"), "{twice:#?}");
}
