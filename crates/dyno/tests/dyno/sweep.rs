//! Sweeps, searches, soaks and A/B tests as a user runs them, on the embedded engine.

use std::collections::BTreeSet;

use crate::common::json::ExpectJson;
use crate::common::{TestEnv, assert_fits_schema};
use dyno_record::Repository;
use serde_json::Value;

/// Windows that end by operations, so that a run is short.
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

fn env_with_plan() -> TestEnv {
    let desk = TestEnv::new();
    assert_eq!(desk.dyno(&["init"]).code, 0);
    desk
}

fn quick_args<'a>(args: &[&'a str]) -> Vec<&'a str> {
    [args, &QUICK].concat()
}

/// `(settings, repeat)` of every run with a record in the latest sweep.
fn runs(desk: &TestEnv) -> Vec<(String, u64)> {
    let (_, listed) = desk.json(&["list", "--sweep", "last", "--limit", "1000"]);
    let place = |run: &Value| {
        let settings = run["part_of"]["settings"].items();
        let words: Vec<_> = settings.iter().map(|s| s["value"].text()).collect();
        (words.join(" "), run["part_of"]["repeat"].count())
    };
    let valid = |run: &&Value| run["status"] == "valid" || run["status"] == "invalid";
    listed.items().iter().filter(valid).map(place).collect()
}

fn expected_runs(values: &[&str], repeats: u64) -> BTreeSet<(String, u64)> {
    values.iter().flat_map(|v| (1..=repeats).map(|r| ((*v).to_owned(), r))).collect()
}

/// The latest command's conclusion, wherever its runs are shown: each place contains `line`.
fn assert_conclusion(desk: &TestEnv, kind: &str, line: &str) -> Value {
    let squeezed = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let shown = desk.dyno(&["show", "sweep:last"]);
    assert!(shown.code == 0, "{shown:#?}");
    assert!(shown.out.contains(&format!("{kind} ")), "{shown:#?}");
    assert!(squeezed(&shown.out).contains(line), "{line:?} is not in {}", shown.out);
    let (_, json) = desk.json(&["show", "sweep:last"]);
    let conclusion = json["conclusions"][0].clone();
    assert!(conclusion["line"].text().contains(line), "{conclusion}");
    assert!(!json["runs"].items().is_empty());
    let md = desk.dyno(&["report", "sweep:last", "--format", "md", "-o", "-"]).out;
    assert!(md.contains(&format!("## Result of the {kind} ")), "{md}");
    let exported = desk.dyno(&["report", "sweep:last", "--format", "json", "-o", "-"]).out;
    let exported: Value = serde_json::from_str(&exported).unwrap();
    assert_eq!(exported["conclusions"][0], conclusion);
    let html = desk.dyno(&["report", "sweep:last", "--format", "html", "-o", "-"]).out;
    // A conclusion that says no more than its line is the page's headline.
    let headline = html.replace("&lt;", "<").replace("&gt;", ">").to_lowercase();
    assert!(
        html.contains("<section id=\"conclusion\">") || headline.contains(&line.to_lowercase()),
        "the page has no conclusion"
    );
    conclusion
}

/// The arguments of a command that a shell would run; it quotes by `'`.
fn arguments(command: &str) -> Vec<String> {
    let mut arguments = vec![String::new()];
    for (part, text) in command.split('\'').enumerate() {
        let mut words = text.split(' ');
        match part % 2 {
            0 => {
                arguments.last_mut().unwrap().push_str(words.next().unwrap_or_default());
                arguments.extend(words.map(str::to_owned));
            }
            _ => arguments.last_mut().unwrap().push_str(text),
        }
    }
    arguments.split_off(1)
}

#[test]
fn every_sweep_point_is_run_recorded_and_shown() {
    let desk = env_with_plan();
    let args = quick_args(&[
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

    let output = desk.dyno(&args);
    assert!(output.code <= 1, "{output:#?}");
    assert!(output.err.contains("run 8 of 8"), "{output:#?}");
    assert!(output.err.contains("loaded 500 rows"), "{output:#?}");
    assert!(output.out.contains("throughput"), "{}", output.out);
    assert!(output.out.contains("spread"), "{}", output.out);
    crate::common::assert_fits_width(&output.out);
    let all = runs(&desk);
    assert_eq!(all.len(), 8);
    assert_eq!(all.into_iter().collect::<BTreeSet<_>>(), expected_runs(&["0 1", "0 2", "50 1", "50 2"], 2));

    let (_, record) = desk.json(&["show", "last"]);
    assert_fits_schema(&record);
    assert_eq!(record["part_of"]["kind"], "sweep");
    assert!(record["plan"]["sweep"].is_null(), "the plan of a run is that of one run");
    assert!(desk.dyno(&["list", "--sweeps"]).out.contains("done"));
    let conclusion = assert_conclusion(&desk, "sweep", "highest throughput: ");
    // The command of a next step works as it stands.
    let commands = conclusion["next"].items().iter().filter_map(|step| step["command"].as_str());
    let further = commands.map(arguments).filter(|words| words[0] == "sweep").collect::<Vec<_>>();
    assert_eq!(further.len(), 1, "{conclusion}");
    let dry = desk.dyno(&further[0].iter().map(String::as_str).chain(["--dry-run"]).collect::<Vec<_>>());
    assert!(dry.code == 0, "{dry:#?}");
    assert!(dry.out.lines().count() > 1, "{dry:#?}");
    assert!(output.out.contains("next: "), "{}", output.out);
    let again = desk.dyno(&["sweep", "--resume", "last"]);
    assert!(again.err.contains("no runs remain"), "{again:#?}");
}

#[test]
fn runs_are_selected_by_variant_and_tags() {
    let desk = env_with_plan();
    assert_eq!(desk.dyno(&["load", "--set", "data.scale=500 blocks"]).code, 0);
    for variant in ["ext4", "xfs"] {
        let output = desk.dyno(&quick_args(&["run", "--variant", variant, "--tag", "disk", "--tag", "new"]));
        assert!(output.code <= 1, "{output:#?}");
    }
    let (_, record) = desk.json(&["show", "last"]);
    assert_eq!(
        (&record["variant"], &record["tags"]),
        (&Value::from("xfs"), &serde_json::json!(["disk", "new"]))
    );
    let compared = desk.dyno(&["compare", "variant:ext4", "variant:xfs"]);
    assert!(compared.out.contains("from one run of each side"), "{compared:#?}");

    for (option, name) in [("--tag", "a,b"), ("--variant", " ")] {
        let wrong = desk.dyno(&["run", option, name]);
        assert!(wrong.code == 2, "{wrong:#?}");
        assert!(wrong.err.contains("a name "), "{wrong:#?}");
    }

    // A resumed sweep keeps its marks.
    let mut sweep = desk.start(&quick_args(&[
        "sweep",
        "--variant",
        "btrfs",
        "--set",
        "sweep.sessions=1,2",
        "--set",
        "sweep.repeats=2",
    ]));
    sweep.wait_for_line("run 2 of 4");
    sweep.signal("KILL");
    sweep.wait();
    let other = desk.dyno(&["sweep", "--resume", "--tag", "x"]);
    assert!(other.code == 2, "{other:#?}");
    assert!(other.err.contains("leave --set"), "{other:#?}");
    assert!(desk.dyno(&["sweep", "--resume"]).code <= 1);
    let (_, last) = desk.json(&["show", "last"]);
    assert_eq!(last["variant"], "btrfs");
}

#[test]
fn interrupted_sweep_keeps_points_and_resumes() {
    for signal in ["INT", "KILL"] {
        let desk = env_with_plan();
        let args = quick_args(&["sweep", "--set", "sweep.sessions=1,2,3,4", "--set", "sweep.repeats=2"]);
        let mut sweep = desk.start(&args);
        sweep.wait_for_line("run 4 of 8");
        sweep.signal(signal);
        let output = sweep.wait();
        if signal == "INT" {
            assert_eq!(output.code, 130, "{output:#?}");
            assert!(output.err.contains("--resume"), "{output:#?}");
        }
        let finished_points: BTreeSet<_> = runs(&desk).into_iter().collect();
        assert!(finished_points.len() >= 3, "{signal}: {finished_points:?}");
        assert!(finished_points.len() < 8, "{signal}: {finished_points:?}");
        assert!(desk.dyno(&["list", "--sweeps"]).out.contains("interrupted"));

        let rest = desk.dyno(&["sweep", "--resume"]);
        assert!(rest.code <= 1, "{rest:#?}");
        assert!(rest.err.contains("of 8"), "{rest:#?}");
        let all = runs(&desk);
        assert_eq!(all.len(), 8, "{signal}: nothing is run twice");
        assert_eq!(
            all.into_iter().collect::<BTreeSet<_>>(),
            expected_runs(&["1", "2", "3", "4"], 2),
            "{signal}"
        );
        assert!(desk.dyno(&["sweep", "--resume"]).err.contains("no sweep was interrupted"));
    }
}

#[test]
fn failing_hook_ends_only_its_sweep_point() {
    let desk = env_with_plan();
    desk.write("dyno.toml", "[target]\nurl = \"sqlite:dyno.db\"\n[hooks]\nbefore_run = \"echo point $DYNO_POINT of $DYNO_SWEEP; test $DYNO_SESSIONS != 2 -o -e mended || { echo the cache is cold >&2; exit 7; }\"\nafter_run = \"echo $DYNO_RUN $DYNO_STATUS $DYNO_WORKLOAD_WORK_UNIT >> after.txt\"\n[sweep]\nsessions = [1, 2, 3]\norder = \"up\"\n");
    let output = desk.dyno(&quick_args(&["sweep", "--allow-hooks"]));
    assert_eq!(output.code, 3, "{output:#?}");
    for part in ["hooks.before_run", "exit status: 7", "the cache is cold", "--resume"] {
        assert!(output.err.contains(part), "{part} in\n{}", output.err);
    }
    assert_eq!(runs(&desk).into_iter().collect::<BTreeSet<_>>(), expected_runs(&["1", "3"], 1));
    desk.write("mended", "");
    let rest = desk.dyno(&["sweep", "--resume"]);
    assert!(rest.code <= 1, "{rest:#?}");
    assert_eq!(runs(&desk).into_iter().collect::<BTreeSet<_>>(), expected_runs(&["1", "2", "3"], 1));
    let after = std::fs::read_to_string(desk.file("after.txt")).unwrap();
    assert_eq!(after.lines().filter(|line| line.ends_with(" 8")).count(), 3, "{after}");
}

#[test]
fn hanging_hook_is_ended_with_its_child_processes() {
    let desk = env_with_plan();
    desk.write("dyno.toml", "[target]\nurl = \"sqlite:dyno.db\"\n[hooks]\nbefore_run = \"echo waiting; (sleep 500; touch late) & wait\"\ntimeout = \"1s\"\n");
    assert_eq!(desk.dyno(&["load", "--set", "data.scale=500 blocks"]).code, 0);
    let output = desk.dyno(&quick_args(&["run", "--allow-hooks"]));
    assert_eq!(output.code, 3, "{output:#?}");
    assert!(output.err.contains("did not end within 1s"), "{output:#?}");
    assert!(output.err.contains("| waiting"), "{output:#?}");
    assert!(desk.dyno(&["list"]).err.contains("no runs"), "a run that was not begun is not listed");
}

#[test]
fn sweep_stops_two_steps_after_saturation() {
    let desk = env_with_plan();
    // An open loop does equal work at any number of sessions: throughput never rises.
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
    let output = desk.dyno(&args);
    assert!(output.code <= 1, "{output:#?}");
    let sessions: BTreeSet<String> = runs(&desk).into_iter().map(|(sessions, _)| sessions).collect();
    assert!(sessions.contains("3"), "{sessions:?}");
    assert!(!sessions.contains("8"), "{sessions:?}");
    assert!(desk.dyno(&["list", "--sweeps"]).out.contains("done"), "it completed");
}

#[test]
fn sweep_loads_each_layout_once_and_keeps_foreign_data() {
    let desk = env_with_plan();
    let args = quick_args(&[
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
    assert!(refused.err.contains("other data"), "{refused:#?}");
    assert!(refused.err.contains("--replace"), "{refused:#?}");
    let output = desk.dyno(&[&args[..], &["--replace"]].concat());
    assert!(output.code <= 1, "{output:#?}");
    assert_eq!(output.err.matches("loaded 500 rows").count(), 2, "{}", output.err);
    let again = desk.dyno(&args);
    assert!(again.code <= 1, "what the sweep itself loaded it may replace: {again:#?}");
}

#[test]
fn search_finds_bracket_and_keeps_every_run() {
    let desk = env_with_plan();
    let (code, search_result) =
        desk.json(&quick_args(&["search", "--limit", "p99 <= 10m", "--max", "3", "--confirm", "2"]));
    assert_eq!(
        (code, search_result["holds"].as_u64(), search_result["breaks"].as_u64()),
        (0, Some(3), None),
        "{search_result}"
    );
    let (_, listed) = desk.json(&["list", "--sweep", "last"]);
    assert_eq!(listed.items().len(), 4, "1, 2, 3, and 3 again");
    let conclusion = assert_conclusion(&desk, "search", "p99 <= 10m holds up to 3 sessions");
    assert_eq!(conclusion["figures"]["holds"], 3);
    let further = "dyno search --over sessions --limit 'p99 <= 10m' --from 3 --max 24";
    let command = search_result["next"][0]["command"].text();
    assert!(command.starts_with(further), "{command}");
    assert!(command.contains(" --set 'data.scale=500 blocks'"), "{command}");
    let (code, unreachable) = desk.json(&quick_args(&["search", "--limit", "mean <= 1ns", "--confirm", "1"]));
    assert_eq!(
        (code, unreachable["holds"].is_null(), unreachable["breaks"].as_u64()),
        (1, true, Some(1)),
        "{unreachable}"
    );
    let wrong = desk.dyno(&["search", "--limit", "p98 <= 1ms"]);
    assert!(wrong.code == 2, "{wrong:#?}");
    assert!(wrong.err.contains("p99 <= 2ms"), "{wrong:#?}");
}

#[test]
fn ab_sides_run_in_abba_order() {
    let desk = env_with_plan();
    let (code, ab_result) = desk.json(&quick_args(&["ab", "--a", "", "--b", "work_unit=16", "--pairs", "2"]));
    assert!(code <= 1, "{ab_result}");
    // Two pairs decide nothing; the command of the next step works as it stands.
    let command = ab_result["next"][0]["command"].as_str().unwrap_or_else(|| panic!("{ab_result}"));
    let further = arguments(command);
    let further: Vec<&str> = further.iter().map(String::as_str).chain(["--dry-run"]).collect();
    let dry = desk.dyno(&further);
    assert!(dry.code == 0, "{command}: {dry:#?}");
    assert!(command.contains("--b workload.work_unit=16 --pairs "), "{command}: {dry:#?}");
    let (_, listed) = desk.json(&["list", "--sweep", "last"]);
    let sides: Vec<_> = listed.items().iter().rev().map(|run| run["part_of"]["side"].text()).collect();
    assert_eq!(sides, ["a", "b", "b", "a"]);
    assert_eq!(ab_result["a"].items().len(), 2);
    assert!(ab_result["comparison"].is_object(), "{ab_result}");
    let line = ab_result["line"].text();
    let conclusion = assert_conclusion(&desk, "A/B test", line);
    assert_eq!(conclusion["figures"]["comparison"]["overall"], ab_result["comparison"]["overall"]);
    let name = ab_result["ab"].text();
    let report = desk.dyno(&["report", name, "-o", "ab.html"]);
    // The answer is the verdict: the best run of one side would not be one.
    assert!(report.err.to_lowercase().contains(&line.to_lowercase()), "{line}: {report:#?}");
    assert!(!report.err.contains("Highest throughput"), "{report:#?}");
    let page = std::fs::read_to_string(desk.file("ab.html")).unwrap();
    assert!(page.contains("<th scope=\"col\">verdict</th>"), "the page holds the sides against each other");
    assert_eq!(dyno_report::embedded::records(&page).unwrap().len(), 4);
    let one_side = desk.dyno(&["report", &format!("{name}/a"), "-o", "a.html"]);
    assert!(one_side.err.contains("Runs of an A/B test"), "{one_side:#?}");
    let gate =
        ["ab", "--a", "work_unit=1", "--b", "work_unit=400", "--pairs", "2", "--gate", "ops_per_s >= -1%"];
    let broken = desk.dyno(&quick_args(&gate));
    assert!(broken.code == 5, "{broken:#?}");
    assert!(broken.err.contains("1 of 1 gates not decided"), "{broken:#?}");
    assert!(broken.err.contains("2 + 2 runs cannot be significant (least p = 0.33)"), "{broken:#?}");
    assert!(broken.out.contains("next: "), "{broken:#?}");
    let wrong = desk.dyno(&["ab", "--a", "seed=1", "--b", ""]);
    assert!(wrong.code == 2, "{wrong:#?}");
    assert!(wrong.err.contains("data.seed or workload.seed"), "{wrong:#?}");
}

#[test]
fn soak_is_shown_in_parts_and_kept_on_ctrl_c() {
    let desk = env_with_plan();
    let data =
        ["--set", "data.scale=500 blocks", "--set", "run.warmup=0s", "--set", "observe.interval=100ms"];
    assert_eq!(desk.dyno(&["load", "--set", "data.scale=500 blocks"]).code, 0);
    let mut soak = desk.start(&[&["soak", "--time", "1h", "--json"][..], &data].concat());
    for _ in 0..8 {
        soak.wait_for_line("ops/s");
    }
    soak.signal("INT");
    let output = soak.wait();
    assert_eq!(output.code, 130, "{output:#?}");
    let shown: Value = serde_json::from_str(&output.out).unwrap();
    assert_eq!(shown["status"], "interrupted");
    assert!(!shown["parts"].items().is_empty(), "{shown}");
    assert!(shown["part_of"]["kind"] == "soak");
    let conclusion = assert_conclusion(&desk, "soak", shown["findings"][0].text());
    assert_eq!(conclusion["stopped"], "it was stopped");
    assert_eq!(conclusion["figures"]["parts"].items().len(), shown["parts"].items().len());
}

#[test]
fn invalid_sweep_settings_are_refused_with_a_hint() {
    let desk = env_with_plan();
    let no_axes = desk.dyno(&["sweep"]);
    assert!(no_axes.code == 2, "{no_axes:#?}");
    assert!(no_axes.err.contains("sweep.sessions=1,2,4,8"), "{no_axes:#?}");
    let wrong = desk.dyno(&["sweep", "--set", "sweep.update_pct=0,101"]);
    assert!(wrong.code == 2, "{wrong:#?}");
    assert!(wrong.err.contains("sweep.workload.update_pct=101"), "{wrong:#?}");
    for command in ["sweep", "search", "soak", "ab"] {
        assert!(desk.dyno(&[command, "--help"]).out.contains("Examples:"), "{command} --help has examples");
    }
}

#[test]
fn report_page_is_imported_with_its_sweep_conclusion() {
    let desk = env_with_plan();
    let sweep_output =
        desk.dyno(&quick_args(&["sweep", "--set", "sweep.sessions=1,2", "--set", "sweep.update_pct=0"]));
    assert!(sweep_output.code == 0 || sweep_output.code == 1, "{sweep_output:#?}");
    // The answer precedes everything else.
    assert!(
        sweep_output.out.find("summary: ").unwrap()
            < sweep_output.out.find("highest throughput: ").unwrap_or(usize::MAX),
        "{sweep_output:#?}"
    );
    let (_, listed) = desk.json(&["list", "--sweeps"]);
    let line = listed[0]["line"].text().to_owned();
    assert_eq!(desk.dyno(&["report", "sweep:last", "-o", "page.html"]).code, 0);
    let page = desk.file("page.html");
    let other = TestEnv::new();
    assert_eq!(other.dyno(&["init"]).code, 0);
    for already in [false, true] {
        let import_output = other.dyno(&["import", "results", page.to_str().unwrap()]);
        assert!(import_output.code == 0, "{import_output:#?}");
        assert!(import_output.err.contains("is stored, too") != already, "{import_output:#?}");
    }
    let (_, imported_sweeps) = other.json(&["list", "--sweeps"]);
    assert_eq!(
        (imported_sweeps[0]["line"].as_str(), &imported_sweeps[0]["id"]),
        (Some(line.as_str()), &listed[0]["id"])
    );
    assert_eq!(imported_sweeps[0]["status"], "done");
    let (_, shown) = other.json(&["show", "sweep:last"]);
    assert_eq!(shown["conclusions"][0]["line"].as_str(), Some(line.as_str()));
    let text = other.dyno(&["list", "--sweeps"]).out;
    let words: Vec<&str> = text.split_whitespace().collect();
    assert!(words.join(" ").contains(&line), "{text}");
    // A newer version may store a conclusion of an unknown kind: the runs and its sentences are still shown.
    let id = listed[0]["id"].text();
    let newer = serde_json::json!({
        "of": id, "line": "the fleet is as wide as the sea", "words": [], "figures": { "kind": "fleet", "hosts": 3 },
    });
    Repository::open(&other.file("runs.sqlite3")).unwrap().conclude(id, &newer).unwrap();
    let (code, shown) = other.json(&["show", "sweep:last"]);
    assert_eq!((code, &shown["conclusions"][0]), (0, &newer), "{shown}");
    let text = other.dyno(&["show", "sweep:last"]).out;
    assert!(text.contains("as wide as the sea"), "{text}");
    assert!(text.contains("another version of Dyno"), "{text}");
    assert!(text.contains("fleet"), "{text}");
    assert_eq!(other.dyno(&["report", "sweep:last", "-o", "newer.html"]).code, 0);
    let page = std::fs::read_to_string(other.file("newer.html")).unwrap();
    assert!(page.contains("as wide as the sea"));
    assert!(page.contains("another version of Dyno"));
}
