//! Studies of variants: shown, agreed to, applied, measured and put back, whatever ends them.

mod kills;
mod pieces;
mod reboots;

use crate::common::{Desk, Said};

/// Two variants of loads that take next to nothing, one of which leaves a trace in the study's folder while it is in force.
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

fn desk(text: &str) -> Desk {
    let desk = Desk::new();
    desk.write("study.toml", text);
    desk
}

/// The study's command with a folder of the desk's for its files.
fn study(desk: &Desk, args: &[&str]) -> Said {
    let home = desk.file("studies");
    desk.dyno(&[&["study"], args, &["--dir", home.to_str().unwrap()]].concat())
}

/// What studies have left in their folders, but for what belongs there.
fn left(desk: &Desk) -> Vec<String> {
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
fn every_ready_study_has_plans_that_can_be_run() {
    let desk = Desk::new();
    for ready in dyno_plan::study::READY_STUDIES {
        let said = study(&desk, &["plan", ready.name]);
        assert_eq!(said.code, 0, "{}: {said:#?}", ready.name);
    }
}

#[test]
fn a_plan_shows_every_command_and_runs_none_and_a_study_runs_none_before_it_was_agreed_to() {
    let desk = desk(TRACED);
    let plan = study(&desk, &["plan", "study.toml"]);
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
    assert!(places[0] < places[1] && plan.err.contains("nothing was run"), "{plan:#?}");
    let refused = study(&desk, &["run", "study.toml"]);
    assert_eq!(refused.code, 2, "{refused:#?}");
    assert!(
        refused.err.contains("you have not agreed") && refused.err.contains("dyno study plan"),
        "{refused:#?}"
    );
    assert!(!desk.file("log").exists() && left(&desk).is_empty());
    let unknown = study(&desk, &["plan", "file-sistems"]);
    assert!(unknown.code == 2 && unknown.err.contains("did you mean file-systems?"), "{unknown:#?}");
}

#[test]
fn variants_are_measured_by_turns_and_put_back_and_said_what_they_are_worth() {
    let text = TRACED.replace("[study]", "[study]\nagain = true");
    let desk = desk(&text);
    let outputs = ["-o", "a.html", "-o", "a.md", "-o", "a.csv"];
    let done = study(&desk, &[&["run", "study.toml", "--allow-hooks", "--json"], &outputs[..]].concat());
    assert_eq!(done.code, 0, "{done:#?}");
    let said: serde_json::Value = serde_json::from_str(&done.out).unwrap();
    let figures = &said["figures"];
    let worths: Vec<&str> =
        (0..3).map(|at| figures["variants"][at]["worth"].as_str().unwrap_or("base")).collect();
    // What chance does on a busy machine is not for a test to say.
    assert!(worths[0] == "base" && worths[1..].iter().all(|worth| *worth != "base"), "{said:#}");
    assert_eq!(figures["variants"][1]["verified"][0], "both are there");
    let order: Vec<&str> =
        figures["order"].as_array().unwrap().iter().map(|turn| turn["variant"].as_str().unwrap()).collect();
    assert_eq!(order.len(), 12);
    for block in order.chunks(3) {
        let mut block = block.to_vec();
        block.sort_unstable();
        assert_eq!(block, ["plain", "plain again", "traced"]);
    }
    assert_eq!(left(&desk), Vec::<String>::new());
    let log = std::fs::read_to_string(desk.file("log")).unwrap();
    assert!(
        log.starts_with("setup\n")
            && log.ends_with("cleanup\n")
            && log.contains("serve_back\nrevert two\nrevert one\n"),
        "{log}"
    );
    let page = std::fs::read_to_string(desk.file("a.html")).unwrap();
    let markdown = std::fs::read_to_string(desk.file("a.md")).unwrap();
    let csv = std::fs::read_to_string(desk.file("a.csv")).unwrap();
    assert!(page.contains("Times better than plain") && page.contains("In this order"));
    assert!(markdown.contains("# traces") && markdown.contains("| traced | "), "{markdown}");
    assert_eq!(csv.lines().count(), 4, "{csv}");
    // Agreed to once, it is not asked for again.
    assert_eq!(desk.dyno(&["study", "report"]).code, 0);
    let (_, list) = desk.json(&["list", "--sweeps"]);
    assert_eq!(
        (list[0]["kind"].as_str(), list[0]["status"].as_str()),
        (Some("study"), Some("done")),
        "{list:#}"
    );
    let nothing = desk.dyno(&["study", "resume"]);
    assert!(nothing.code == 2 && nothing.err.contains("no study was cut off"), "{nothing:#?}");
}

#[test]
fn what_fails_is_put_back_in_reverse_order_and_what_fails_twice_is_left_out() {
    let text = TRACED.replace("test -f $STUDY/two && echo both are there", "echo it is not; false");
    let desk = desk(&text);
    let done = study(&desk, &["run", "study.toml", "--allow-hooks"]);
    assert_eq!(done.code, 3, "a variant was not measured: {done:#?}");
    assert!(
        done.err.contains("it is not") && done.err.contains("putting traced back: it failed"),
        "{done:#?}"
    );
    assert!(done.out.contains("no figures: traced"), "{done:#?}");
    let log = std::fs::read_to_string(desk.file("log")).unwrap();
    assert_eq!(log.matches("revert two\nrevert one\n").count(), 2, "{log}");
    assert_eq!(left(&desk), Vec::<String>::new());
}

#[test]
fn what_cannot_be_put_back_stops_the_study_and_is_tried_again_first() {
    let text = TRACED.replace("rm -f $STUDY/one\"", "test ! -f $HERE/stuck && rm -f $STUDY/one\"");
    let desk = desk(&text);
    desk.write("stuck", "");
    let stuck = study(&desk, &["run", "study.toml", "--allow-hooks"]);
    assert_eq!(stuck.code, 3, "{stuck:#?}");
    assert!(
        stuck.err.contains("traced could not be put back") && stuck.err.contains("dyno study resume"),
        "{stuck:#?}"
    );
    assert!(left(&desk).contains(&"one".to_owned()) && left(&desk).contains(&"setup".to_owned()));
    std::fs::remove_file(desk.file("stuck")).unwrap();
    let only = desk.dyno(&["study", "resume", "--only-restore"]);
    assert!(only.code == 0 && only.err.contains("did not come to it") && left(&desk).is_empty(), "{only:#?}");
    let done = desk.dyno(&["study", "resume"]);
    assert_eq!(done.code, 0, "{done:#?}");
    assert_eq!(left(&desk), Vec::<String>::new());
}

#[test]
fn ctrl_c_puts_everything_back_and_the_study_goes_on_after_it() {
    // The first leg of the traced variant waits to be stopped.
    let text = TRACED.replace("verify = [\"test", "verify = [\"test -f $HERE/go || sleep 600; test");
    let desk = desk(&text);
    let home = desk.file("studies");
    let mut running =
        desk.start(&["study", "run", "study.toml", "--allow-hooks", "--dir", home.to_str().unwrap()]);
    running.until("verify: test -f");
    running.signal("INT");
    let said = running.end();
    assert_eq!(said.code, 130, "{said:#?}");
    assert!(
        said.err.contains("putting traced back: the study is to stop")
            && said.err.contains("setup: the commands that restore it completed without error"),
        "{said:#?}"
    );
    assert_eq!(left(&desk), Vec::<String>::new());
    desk.write("go", "");
    let done = desk.dyno(&["study", "resume"]);
    assert_eq!(done.code, 0, "{done:#?}");
    assert!(done.out.contains("traced"), "{done:#?}");
}

#[test]
fn data_that_the_study_did_not_load_is_not_dropped() {
    let desk = desk(&TRACED.replace("sqlite:${STUDY}/bench.db", "sqlite:bench.db"));
    let load = desk.dyno(&["load", "--target", "sqlite:bench.db", "--set", "data.scale=100 blocks"]);
    assert_eq!(load.code, 0, "{load:#?}");
    let refused = study(&desk, &["run", "study.toml", "--allow-hooks"]);
    assert_eq!(refused.code, 2, "{refused:#?}");
    assert!(refused.err.contains("did not load") && refused.err.contains("--replace"), "{refused:#?}");
    assert_eq!(left(&desk), Vec::<String>::new());
    let there = desk.dyno(&["load", "--target", "sqlite:bench.db", "--set", "data.scale=100 blocks"]);
    assert!(there.code == 0 && there.err.contains("already"), "{there:#?}");
}
