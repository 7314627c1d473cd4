//! Sweeps, searches, soaks and A/B comparisons as a user runs them, on the embedded engine.

use std::collections::BTreeSet;

use crate::common::{Desk, assert_fits_schema};
use dyno_record::Repository;
use serde_json::Value;

/// Windows that end by operations, so that a run takes a moment.
const QUICK: [&str; 10] = [
    "--set",
    "data.scale=500 blocks",
    "--set",
    "run.warmup=0s",
    "--set",
    "run.ops_per_session=20",
    "--set",
    "workload.work_unit=8",
    "--set",
    "observe.interval=100ms",
];

fn desk() -> Desk {
    let desk = Desk::new();
    assert_eq!(desk.dyno(&["init"]).code, 0);
    desk
}

fn quick<'a>(args: &[&'a str]) -> Vec<&'a str> {
    [args, &QUICK].concat()
}

/// `(settings, repeat)` of every run of the latest sweep that has a record.
fn runs(desk: &Desk) -> Vec<(String, u64)> {
    let (_, listed) = desk.json(&["list", "--sweep", "last", "--limit", "1000"]);
    let place = |run: &Value| {
        let settings = run["part_of"]["settings"].as_array().unwrap();
        let words: Vec<_> = settings.iter().map(|s| s["value"].as_str().unwrap()).collect();
        (words.join(" "), run["part_of"]["repeat"].as_u64().unwrap())
    };
    let valid = |run: &&Value| run["status"] == "valid" || run["status"] == "invalid";
    listed.as_array().unwrap().iter().filter(valid).map(place).collect()
}

fn grid(values: &[&str], repeats: u64) -> BTreeSet<(String, u64)> {
    values.iter().flat_map(|v| (1..=repeats).map(|r| ((*v).to_owned(), r))).collect()
}

/// What the latest command concluded, in every place that shows its runs: `line` is in all of them.
fn concluded(desk: &Desk, kind: &str, line: &str) -> Value {
    let squeezed = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let shown = desk.dyno(&["show", "sweep:last"]);
    assert!(shown.code == 0 && shown.out.contains(&format!("{kind} ")), "{shown:#?}");
    assert!(squeezed(&shown.out).contains(line), "{line:?} is not in {}", shown.out);
    let (_, json) = desk.json(&["show", "sweep:last"]);
    let conclusion = json["conclusions"][0].clone();
    assert!(conclusion["line"].as_str().unwrap().contains(line), "{conclusion}");
    assert!(!json["runs"].as_array().unwrap().is_empty());
    let md = desk.dyno(&["report", "sweep:last", "--format", "md", "-o", "-"]).out;
    assert!(md.contains(&format!("## What the {kind} ")), "{md}");
    let exported = desk.dyno(&["report", "sweep:last", "--format", "json", "-o", "-"]).out;
    let exported: Value = serde_json::from_str(&exported).unwrap();
    assert_eq!(exported["conclusions"][0], conclusion);
    let html = desk.dyno(&["report", "sweep:last", "--format", "html", "-o", "-"]).out;
    assert!(html.contains("<section id=\"conclusion\">"), "the page has no conclusion");
    conclusion
}

#[test]
fn every_point_is_run_recorded_and_shown() {
    let desk = desk();
    let args = quick(&[
        "sweep",
        "--set",
        "sweep.sessions=1,2",
        "--set",
        "sweep.update_pct=0,50",
        "--set",
        "sweep.repeats=2",
    ]);
    let dry = desk.dyno(&[&args[..], &["--dry-run"]].concat());
    assert_eq!((dry.code, dry.out.lines().count()), (0, 8), "{dry:#?}");
    assert!(!desk.file("dyno.db").exists(), "a dry run touches nothing");

    let said = desk.dyno(&args);
    assert!(said.code <= 1, "{said:#?}");
    assert!(said.err.contains("run 8 of 8") && said.err.contains("loaded 500 rows"), "{said:#?}");
    assert!(said.out.contains("throughput") && said.out.contains("spread"), "{}", said.out);
    assert!(said.out.lines().all(|line| line.chars().count() <= 100), "{}", said.out);
    let all = runs(&desk);
    assert_eq!(all.len(), 8);
    assert_eq!(all.into_iter().collect::<BTreeSet<_>>(), grid(&["0 1", "0 2", "50 1", "50 2"], 2));

    let (_, record) = desk.json(&["show", "last"]);
    assert_fits_schema(&record);
    assert_eq!(record["part_of"]["kind"], "sweep");
    assert!(record["plan"]["sweep"].is_null(), "the plan of a run is that of one run");
    assert!(desk.dyno(&["list", "--sweeps"]).out.contains("done"));
    concluded(&desk, "sweep", "at most ");
    let again = desk.dyno(&["sweep", "--resume", "last"]);
    assert!(again.err.contains("nothing is left"), "{again:#?}");
}

#[test]
fn runs_are_found_again_by_their_marks() {
    let desk = desk();
    assert_eq!(desk.dyno(&["load", "--set", "data.scale=500 blocks"]).code, 0);
    for variant in ["ext4", "xfs"] {
        let said = desk.dyno(&quick(&["run", "--variant", variant, "--tag", "disk", "--tag", "new"]));
        assert!(said.code <= 1, "{said:#?}");
    }
    let (_, record) = desk.json(&["show", "last"]);
    assert_eq!(
        (&record["variant"], &record["tags"]),
        (&Value::from("xfs"), &serde_json::json!(["disk", "new"]))
    );
    let compared = desk.dyno(&["compare", "variant:ext4", "variant:xfs"]);
    assert!(compared.out.contains("one run each: no verdict"), "{compared:#?}");

    for (option, name) in [("--tag", "a,b"), ("--variant", " ")] {
        let wrong = desk.dyno(&["run", option, name]);
        assert!(wrong.code == 2 && wrong.err.contains("a name "), "{wrong:#?}");
    }

    // A sweep that is gone on with keeps its marks.
    let mut sweep = desk.start(&quick(&[
        "sweep",
        "--variant",
        "btrfs",
        "--set",
        "sweep.sessions=1,2",
        "--set",
        "sweep.repeats=2",
    ]));
    sweep.until("run 2 of 4");
    sweep.signal("KILL");
    sweep.end();
    let other = desk.dyno(&["sweep", "--resume", "--tag", "x"]);
    assert!(other.code == 2 && other.err.contains("leave --set"), "{other:#?}");
    assert!(desk.dyno(&["sweep", "--resume"]).code <= 1);
    let (_, last) = desk.json(&["show", "last"]);
    assert_eq!(last["variant"], "btrfs");
}

#[test]
fn ctrl_c_keeps_finished_points_and_resume_goes_on() {
    for signal in ["INT", "KILL"] {
        let desk = desk();
        let args = quick(&["sweep", "--set", "sweep.sessions=1,2,3,4", "--set", "sweep.repeats=2"]);
        let mut sweep = desk.start(&args);
        sweep.until("run 4 of 8");
        sweep.signal(signal);
        let said = sweep.end();
        if signal == "INT" {
            assert_eq!(said.code, 130, "{said:#?}");
            assert!(said.err.contains("--resume"), "{said:#?}");
        }
        let kept: BTreeSet<_> = runs(&desk).into_iter().collect();
        assert!(kept.len() >= 3 && kept.len() < 8, "{signal}: {kept:?}");
        assert!(desk.dyno(&["list", "--sweeps"]).out.contains("interrupted"));

        let rest = desk.dyno(&["sweep", "--resume"]);
        assert!(rest.code <= 1, "{rest:#?}");
        assert!(rest.err.contains("of 8"), "{rest:#?}");
        let all = runs(&desk);
        assert_eq!(all.len(), 8, "{signal}: nothing is run twice");
        assert_eq!(all.into_iter().collect::<BTreeSet<_>>(), grid(&["1", "2", "3", "4"], 2), "{signal}");
        assert!(desk.dyno(&["sweep", "--resume"]).err.contains("no sweep was cut off"));
    }
}

#[test]
fn a_failing_hook_ends_its_point_and_no_other() {
    let desk = desk();
    desk.write("dyno.toml", "[target]\nurl = \"sqlite:dyno.db\"\n[hooks]\nbefore_run = \"echo point $DYNO_POINT of $DYNO_SWEEP; test $DYNO_SESSIONS != 2 -o -e mended || { echo the cache is cold >&2; exit 7; }\"\nafter_run = \"echo $DYNO_RUN $DYNO_STATUS $DYNO_WORKLOAD_WORK_UNIT >> after.txt\"\n[sweep]\nsessions = [1, 2, 3]\norder = \"up\"\n");
    let said = desk.dyno(&quick(&["sweep", "--allow-hooks"]));
    assert_eq!(said.code, 3, "{said:#?}");
    for part in ["hooks.before_run", "exit status: 7", "the cache is cold", "--resume"] {
        assert!(said.err.contains(part), "{part} in\n{}", said.err);
    }
    assert_eq!(runs(&desk).into_iter().collect::<BTreeSet<_>>(), grid(&["1", "3"], 1));
    desk.write("mended", "");
    let rest = desk.dyno(&["sweep", "--resume"]);
    assert!(rest.code <= 1, "{rest:#?}");
    assert_eq!(runs(&desk).into_iter().collect::<BTreeSet<_>>(), grid(&["1", "2", "3"], 1));
    let after = std::fs::read_to_string(desk.file("after.txt")).unwrap();
    assert_eq!(after.lines().filter(|line| line.ends_with(" 8")).count(), 3, "{after}");
}

#[test]
fn a_hook_that_hangs_is_ended_with_all_it_started() {
    let desk = desk();
    desk.write("dyno.toml", "[target]\nurl = \"sqlite:dyno.db\"\n[hooks]\nbefore_run = \"echo waiting; (sleep 500; touch late) & wait\"\ntimeout = \"1s\"\n");
    assert_eq!(desk.dyno(&["load", "--set", "data.scale=500 blocks"]).code, 0);
    let said = desk.dyno(&quick(&["run", "--allow-hooks"]));
    assert_eq!(said.code, 3, "{said:#?}");
    assert!(said.err.contains("did not end within 1s") && said.err.contains("| waiting"), "{said:#?}");
    assert!(desk.dyno(&["list"]).err.contains("no runs"), "a run that was not begun is not listed");
}

#[test]
fn sessions_stop_two_steps_after_saturation() {
    let desk = desk();
    // An open loop does the same whatever the sessions: throughput never rises.
    let args = [
        "sweep",
        "--set",
        "data.scale=500 blocks",
        "--set",
        "run.warmup=0s",
        "--set",
        "run.time=1s",
        "--set",
        "workload.lookup_pct=100",
        "--set",
        "workload.rate=200/s",
        "--set",
        "workload.arrivals=constant",
        "--set",
        "sweep.sessions=1,2,3,4,5,6,7,8",
        "--set",
        "sweep.until=saturation",
        "--set",
        "sweep.order=up",
    ];
    let said = desk.dyno(&args);
    assert!(said.code <= 1, "{said:#?}");
    let sessions: BTreeSet<String> = runs(&desk).into_iter().map(|(sessions, _)| sessions).collect();
    assert!(sessions.contains("3") && !sessions.contains("8"), "{sessions:?}");
    assert!(desk.dyno(&["list", "--sweeps"]).out.contains("done"), "it came to its end");
}

#[test]
fn each_layout_of_data_is_loaded_once_and_foreign_data_is_left_alone() {
    let desk = desk();
    let args = quick(&[
        "sweep",
        "--set",
        "sweep.block_size=4K,8K",
        "--set",
        "sweep.sessions=1,2",
        "--set",
        "sweep.repeats=2",
    ]);
    assert_eq!(desk.dyno(&["load", "--set", "data.scale=700 blocks"]).code, 0);
    let refused = desk.dyno(&args);
    assert_eq!(refused.code, 2, "{refused:#?}");
    assert!(refused.err.contains("other data") && refused.err.contains("--replace"), "{refused:#?}");
    let said = desk.dyno(&[&args[..], &["--replace"]].concat());
    assert!(said.code <= 1, "{said:#?}");
    assert_eq!(said.err.matches("loaded 500 rows").count(), 2, "{}", said.err);
    let again = desk.dyno(&args);
    assert!(again.code <= 1, "what the sweep itself loaded it may replace: {again:#?}");
}

#[test]
fn a_search_finds_the_bracket_and_keeps_every_run() {
    let desk = desk();
    let (code, found) =
        desk.json(&quick(&["search", "--limit", "p99 <= 10m", "--max", "3", "--confirm", "2"]));
    assert_eq!((code, found["holds"].as_u64(), found["breaks"].as_u64()), (0, Some(3), None), "{found}");
    let (_, listed) = desk.json(&["list", "--sweep", "last"]);
    assert_eq!(listed.as_array().unwrap().len(), 4, "1, 2, 3, and 3 again");
    let conclusion = concluded(&desk, "search", "p99 <= 10m holds up to 3 sessions");
    assert_eq!(conclusion["figures"]["holds"], 3);
    let (code, none) = desk.json(&quick(&["search", "--limit", "mean <= 1ns", "--confirm", "1"]));
    assert_eq!((code, none["holds"].is_null(), none["breaks"].as_u64()), (1, true, Some(1)), "{none}");
    let wrong = desk.dyno(&["search", "--limit", "p98 <= 1ms"]);
    assert!(wrong.code == 2 && wrong.err.contains("p99 <= 2ms"), "{wrong:#?}");
}

#[test]
fn both_sides_take_turns() {
    let desk = desk();
    let (code, said) = desk.json(&quick(&["ab", "--a", "", "--b", "work_unit=16", "--pairs", "2"]));
    assert!(code <= 1, "{said}");
    let (_, listed) = desk.json(&["list", "--sweep", "last"]);
    let sides: Vec<_> =
        listed.as_array().unwrap().iter().rev().map(|run| run["part_of"]["side"].as_str().unwrap()).collect();
    assert_eq!(sides, ["a", "b", "b", "a"]);
    assert_eq!(said["a"].as_array().unwrap().len(), 2);
    assert!(said["comparison"].is_object(), "{said}");
    let line = said["line"].as_str().unwrap();
    let conclusion = concluded(&desk, "A/B comparison", line);
    assert_eq!(conclusion["figures"]["comparison"]["overall"], said["comparison"]["overall"]);
    let name = said["ab"].as_str().unwrap();
    let report = desk.dyno(&["report", name, "-o", "ab.html"]);
    // The answer is the verdict: the best of one side would be none.
    assert!(report.err.to_lowercase().contains(&line.to_lowercase()), "{line}: {report:#?}");
    assert!(!report.err.contains("At most"), "{report:#?}");
    let page = std::fs::read_to_string(desk.file("ab.html")).unwrap();
    assert!(page.contains("<th scope=\"col\">verdict</th>"), "the page holds the sides against each other");
    assert_eq!(dyno_report::embedded::records(&page).unwrap().len(), 4);
    let one_side = desk.dyno(&["report", &format!("{name}/a"), "-o", "a.html"]);
    assert!(one_side.err.contains("Runs of an A/B comparison"), "{one_side:#?}");
    let gate =
        ["ab", "--a", "work_unit=1", "--b", "work_unit=400", "--pairs", "2", "--gate", "ops_per_s >= -1%"];
    let broken = desk.dyno(&quick(&gate));
    assert!(broken.code == 1 && broken.err.contains("gates are broken"), "{broken:#?}");
    let wrong = desk.dyno(&["ab", "--a", "seed=1", "--b", ""]);
    assert!(wrong.code == 2 && wrong.err.contains("data.seed or workload.seed"), "{wrong:#?}");
}

#[test]
fn a_soak_is_shown_part_by_part_and_ctrl_c_keeps_it() {
    let desk = desk();
    let data =
        ["--set", "data.scale=500 blocks", "--set", "run.warmup=0s", "--set", "observe.interval=100ms"];
    assert_eq!(desk.dyno(&["load", "--set", "data.scale=500 blocks"]).code, 0);
    let mut soak = desk.start(&[&["soak", "--time", "1h", "--json"][..], &data].concat());
    for _ in 0..8 {
        soak.until("ops/s");
    }
    soak.signal("INT");
    let said = soak.end();
    assert_eq!(said.code, 130, "{said:#?}");
    let shown: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(shown["status"], "interrupted");
    assert!(!shown["parts"].as_array().unwrap().is_empty(), "{shown}");
    assert!(shown["part_of"]["kind"] == "soak");
    let conclusion = concluded(&desk, "soak", shown["findings"][0].as_str().unwrap());
    assert_eq!(conclusion["stopped"], "it was stopped");
    assert_eq!(
        conclusion["figures"]["parts"].as_array().unwrap().len(),
        shown["parts"].as_array().unwrap().len()
    );
}

#[test]
fn what_cannot_be_swept_says_so() {
    let desk = desk();
    let none = desk.dyno(&["sweep"]);
    assert!(none.code == 2 && none.err.contains("sweep.sessions=1,2,4,8"), "{none:#?}");
    let wrong = desk.dyno(&["sweep", "--set", "sweep.update_pct=0,101"]);
    assert!(wrong.code == 2 && wrong.err.contains("sweep.workload.update_pct=101"), "{wrong:#?}");
    for command in ["sweep", "search", "soak", "ab"] {
        assert!(desk.dyno(&[command, "--help"]).out.contains("Examples:"), "{command} --help has examples");
    }
}

#[test]
fn a_page_is_imported_with_what_its_sweep_came_to() {
    let desk = desk();
    let said = desk.dyno(&quick(&["sweep", "--set", "sweep.sessions=1,2", "--set", "sweep.update_pct=0"]));
    assert!(said.code == 0 || said.code == 1, "{said:#?}");
    // The answer stands before everything else.
    assert!(
        said.out.find("answer: ").unwrap() < said.out.find("at most ").unwrap_or(usize::MAX),
        "{said:#?}"
    );
    let (_, listed) = desk.json(&["list", "--sweeps"]);
    let line = listed[0]["line"].as_str().unwrap().to_owned();
    assert_eq!(desk.dyno(&["report", "sweep:last", "-o", "page.html"]).code, 0);
    let page = desk.file("page.html");
    let other = Desk::new();
    assert_eq!(other.dyno(&["init"]).code, 0);
    for already in [false, true] {
        let said = other.dyno(&["import", page.to_str().unwrap()]);
        assert!(said.code == 0 && said.err.contains("is stored, too") != already, "{said:#?}");
    }
    let (_, there) = other.json(&["list", "--sweeps"]);
    assert_eq!((there[0]["line"].as_str(), &there[0]["id"]), (Some(line.as_str()), &listed[0]["id"]));
    assert_eq!(there[0]["status"], "done");
    let (_, shown) = other.json(&["show", "sweep:last"]);
    assert_eq!(shown["conclusions"][0]["line"].as_str(), Some(line.as_str()));
    let text = other.dyno(&["list", "--sweeps"]).out;
    let words: Vec<&str> = text.split_whitespace().collect();
    assert!(words.join(" ").contains(&line), "{text}");
    // A newer version may come to something of a kind that this one does not know: the runs and its words are shown all the same.
    let id = listed[0]["id"].as_str().unwrap();
    let newer = serde_json::json!({
        "of": id, "line": "the fleet is as wide as the sea", "words": [], "figures": { "kind": "fleet", "hosts": 3 },
    });
    Repository::open(&other.file("runs.sqlite3")).unwrap().conclude(id, &newer).unwrap();
    let (code, shown) = other.json(&["show", "sweep:last"]);
    assert_eq!((code, &shown["conclusions"][0]), (0, &newer), "{shown}");
    let text = other.dyno(&["show", "sweep:last"]).out;
    assert!(
        text.contains("as wide as the sea")
            && text.contains("another version of Dyno")
            && text.contains("fleet"),
        "{text}"
    );
    assert_eq!(other.dyno(&["report", "sweep:last", "-o", "newer.html"]).code, 0);
    let page = std::fs::read_to_string(other.file("newer.html")).unwrap();
    assert!(page.contains("as wide as the sea") && page.contains("another version of Dyno"));
}
