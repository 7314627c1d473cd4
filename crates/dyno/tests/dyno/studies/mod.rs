//! Studies of variants: shown, confirmed, applied, measured and restored, however they end.

mod kills;
mod pieces;
mod reboots;

use crate::common::json::ExpectJson;
use crate::common::{CommandOutput, TestEnv};

/// Two variants of very small loads; one leaves a file in the study's folder while it is in force.
const TRACED: &str = "
[study]
title = \"traces\"
setup = [\"echo setup >> $HERE/log; touch $STUDY/setup\"]
cleanup = [\"rm -f $STUDY/setup; echo cleanup >> $HERE/log\"]
serve = [\"echo serve >> $HERE/log\"]
serve_back = [\"echo serve_back >> $HERE/log\"]
[target]
url = \"sqlite:${STUDY}/bench.db\"
[data]
scale = \"100 blocks\"
[[task]]
name = \"load\"
run = false
[[variant]]
name = \"plain\"
[[variant]]
name = \"traced\"
apply = [\"touch $STUDY/one\", \"test -f $STUDY/one && touch $STUDY/two\"]
verify = [\"test -f $STUDY/two && echo both are there\"]
revert = [\"echo revert one >> $HERE/log; rm -f $STUDY/one\", \"echo revert two >> $HERE/log; rm -f $STUDY/two\"]
";

fn env_with_study(text: &str) -> TestEnv {
    let desk = TestEnv::new();
    desk.write("study.toml", text);
    desk
}

/// Runs the study command with a folder of the test environment.
fn run_study(desk: &TestEnv, args: &[&str]) -> CommandOutput {
    let home = desk.file("studies");
    desk.dyno(&[&["study"], args, &["--dir", home.to_str().unwrap()]].concat())
}

/// Files that studies have left in their folders, except the expected ones.
fn leftover_files(desk: &TestEnv) -> Vec<String> {
    let mut left = Vec::new();
    for folder in std::fs::read_dir(desk.file("studies")).into_iter().flatten() {
        for entry in std::fs::read_dir(folder.unwrap().path()).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            if !["journal", "pieces", "running"].contains(&name.as_str()) && !name.starts_with("bench.db") {
                left.push(name);
            }
        }
    }
    left
}

#[test]
fn ready_studies_have_valid_plans() {
    let desk = TestEnv::new();
    for ready in dyno_plan::study::READY_STUDIES {
        let output = run_study(&desk, &["plan", ready.name]);
        assert_eq!(output.code, 0, "{}: {output:#?}", ready.name);
    }
}

#[test]
fn study_runs_no_command_for_plan_or_before_consent() {
    let desk = env_with_study(TRACED);
    let plan = run_study(&desk, &["plan", "study.toml"]);
    assert_eq!(plan.code, 0, "{plan:#?}");
    for part in [
        "leg 8 of 8",
        "setup       echo setup",
        "apply       touch $STUDY/one",
        "load: Dyno drops its data",
        "verify      test -f",
        "cleanup     rm -f",
    ] {
        assert!(plan.out.contains(part), "{part}: {}", plan.out);
    }
    let places: Vec<usize> = ["revert two", "revert one"].map(|word| plan.out.find(word).unwrap()).to_vec();
    assert!(places[0] < places[1], "{plan:#?}");
    assert!(plan.err.contains("nothing was run"), "{plan:#?}");
    let refused = run_study(&desk, &["run", "study.toml"]);
    assert_eq!(refused.code, 2, "{refused:#?}");
    assert!(refused.err.contains("you have not allowed"), "{refused:#?}");
    assert!(refused.err.contains("dyno study plan"), "{refused:#?}");
    assert!(!desk.file("log").exists());
    assert!(leftover_files(&desk).is_empty());
    let unknown = run_study(&desk, &["plan", "file-sistems"]);
    assert!(unknown.code == 2, "{unknown:#?}");
    assert!(unknown.err.contains("did you mean file-systems?"), "{unknown:#?}");
}

#[test]
fn study_measures_variants_in_blocks_and_reverts_each() {
    let text = TRACED.replace("[study]", "[study]\nagain = true");
    let desk = env_with_study(&text);
    let outputs = ["-o", "a.html", "-o", "a.md", "-o", "a.csv"];
    let output =
        run_study(&desk, &[&["run", "study.toml", "--allow-hooks", "--json"], &outputs[..]].concat());
    assert_eq!(output.code, 0, "{output:#?}");
    let study_result: serde_json::Value = serde_json::from_str(&output.out).unwrap();
    let figures = &study_result["figures"];
    let worths: Vec<&str> =
        (0..3).map(|at| figures["variants"][at]["worth"].as_str().unwrap_or("base")).collect();
    // The effect of chance on a busy machine is not tested.
    assert!(worths[0] == "base", "{study_result:#}");
    assert!(worths[1..].iter().all(|worth| *worth != "base"), "{study_result:#}");
    assert_eq!(figures["variants"][1]["verified"][0], "both are there");
    let order: Vec<&str> = figures["order"].items().iter().map(|turn| turn["variant"].text()).collect();
    assert_eq!(order.len(), 12);
    for block in order.chunks(3) {
        let mut block = block.to_vec();
        block.sort_unstable();
        assert_eq!(block, ["plain", "plain again", "traced"]);
    }
    assert_eq!(leftover_files(&desk), Vec::<String>::new());
    let log = std::fs::read_to_string(desk.file("log")).unwrap();
    assert!(log.starts_with("setup\n"), "{log}");
    assert!(log.ends_with("cleanup\n"), "{log}");
    assert!(log.contains("serve_back\nrevert two\nrevert one\n"), "{log}");
    let page = std::fs::read_to_string(desk.file("a.html")).unwrap();
    let markdown = std::fs::read_to_string(desk.file("a.md")).unwrap();
    let csv = std::fs::read_to_string(desk.file("a.csv")).unwrap();
    assert!(page.contains("Times better than plain"));
    assert!(page.contains("Order of runs"));
    assert!(markdown.contains("# traces"), "{markdown}");
    assert!(markdown.contains("| traced | "), "{markdown}");
    assert_eq!(csv.lines().count(), 4, "{csv}");
    // Consent given once is not requested again.
    assert_eq!(desk.dyno(&["study", "report"]).code, 0);
    let (_, list) = desk.json(&["list", "--sweeps"]);
    assert_eq!(
        (list[0]["kind"].as_str(), list[0]["status"].as_str()),
        (Some("study"), Some("done")),
        "{list:#}"
    );
    let nothing = desk.dyno(&["study", "resume"]);
    assert!(nothing.code == 2, "{nothing:#?}");
    assert!(nothing.err.contains("no study was interrupted"), "{nothing:#?}");
}

#[test]
fn failed_variant_is_reverted_in_reverse_order_and_then_skipped() {
    let text = TRACED.replace("test -f $STUDY/two && echo both are there", "echo it is not; false");
    let desk = env_with_study(&text);
    let output = run_study(&desk, &["run", "study.toml", "--allow-hooks"]);
    assert_eq!(output.code, 3, "a variant was not measured: {output:#?}");
    assert!(output.err.contains("it is not"), "{output:#?}");
    assert!(output.err.contains("restoring traced: it failed"), "{output:#?}");
    assert!(output.out.contains("no figures: traced"), "{output:#?}");
    let log = std::fs::read_to_string(desk.file("log")).unwrap();
    assert_eq!(log.matches("revert two\nrevert one\n").count(), 2, "{log}");
    assert_eq!(leftover_files(&desk), Vec::<String>::new());
}

#[test]
fn failed_revert_stops_the_study_and_is_retried_first() {
    let text = TRACED.replace("rm -f $STUDY/one\"", "test ! -f $HERE/stuck && rm -f $STUDY/one\"");
    let desk = env_with_study(&text);
    desk.write("stuck", "");
    let stuck = run_study(&desk, &["run", "study.toml", "--allow-hooks"]);
    assert_eq!(stuck.code, 3, "{stuck:#?}");
    assert!(stuck.err.contains("traced could not be reverted"), "{stuck:#?}");
    assert!(stuck.err.contains("dyno study resume"), "{stuck:#?}");
    assert!(leftover_files(&desk).contains(&"one".to_owned()));
    assert!(leftover_files(&desk).contains(&"setup".to_owned()));
    std::fs::remove_file(desk.file("stuck")).unwrap();
    let only = desk.dyno(&["study", "resume", "--only-restore"]);
    assert!(only.code == 0, "{only:#?}");
    assert!(only.err.contains("did not revert it"), "{only:#?}");
    assert!(leftover_files(&desk).is_empty(), "{only:#?}");
    let resume_output = desk.dyno(&["study", "resume"]);
    assert_eq!(resume_output.code, 0, "{resume_output:#?}");
    assert_eq!(leftover_files(&desk), Vec::<String>::new());
}

#[test]
fn study_ctrl_c_reverts_settings_and_can_resume() {
    // The first leg of the traced variant waits until it is stopped.
    let text = TRACED.replace("verify = [\"test", "verify = [\"test -f $HERE/go || sleep 600; test");
    let desk = env_with_study(&text);
    let home = desk.file("studies");
    let mut running =
        desk.start(&["study", "run", "study.toml", "--allow-hooks", "--dir", home.to_str().unwrap()]);
    running.wait_for_line("verify: test -f");
    running.signal("INT");
    let interrupted = running.wait();
    assert_eq!(interrupted.code, 130, "{interrupted:#?}");
    assert!(interrupted.err.contains("restoring traced: the study stops"), "{interrupted:#?}");
    assert!(
        interrupted.err.contains("setup: the commands that restore it completed without error"),
        "{interrupted:#?}"
    );
    assert_eq!(leftover_files(&desk), Vec::<String>::new());
    desk.write("go", "");
    let resume_output = desk.dyno(&["study", "resume"]);
    assert_eq!(resume_output.code, 0, "{resume_output:#?}");
    assert!(resume_output.out.contains("traced"), "{resume_output:#?}");
}

#[test]
fn study_does_not_drop_data_it_did_not_load() {
    let desk = env_with_study(&TRACED.replace("sqlite:${STUDY}/bench.db", "sqlite:bench.db"));
    let load = desk.dyno(&["load", "--target", "sqlite:bench.db", "--set", "data.scale=100 blocks"]);
    assert_eq!(load.code, 0, "{load:#?}");
    let refused = run_study(&desk, &["run", "study.toml", "--allow-hooks"]);
    assert_eq!(refused.code, 2, "{refused:#?}");
    assert!(refused.err.contains("did not load"), "{refused:#?}");
    assert!(refused.err.contains("--replace"), "{refused:#?}");
    assert_eq!(leftover_files(&desk), Vec::<String>::new());
    let repeated_load = desk.dyno(&["load", "--target", "sqlite:bench.db", "--set", "data.scale=100 blocks"]);
    assert!(repeated_load.code == 0, "{repeated_load:#?}");
    assert!(repeated_load.err.contains("already"), "{repeated_load:#?}");
}
