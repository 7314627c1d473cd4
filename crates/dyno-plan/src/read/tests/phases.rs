//! Tests of schedules of phases in plans.

use super::*;
use crate::sweep;

const LOAD: &str = "[workload]\nphases = [\"ramp 0..1000/s 30s\", \"hold 1000/s 60s\"]\n";

#[test]
fn window_length_is_the_sum_of_its_phases() {
    let load_settings = |text: &str, sets: &[&str]| {
        let plan = plan(text, sets);
        (
            plan.workload.phases.len(),
            plan.run.time.map(|time| time.to_string()),
            plan.run.ops_per_session,
            plan.workload.rate,
        )
    };
    let ninety = Some("90s".to_owned());
    assert_eq!(load_settings(LOAD, &[]), (2, ninety.clone(), None, None));
    assert_eq!(load_settings(LOAD, &["run.time=90s"]), (2, ninety.clone(), None, None), "it says the same");
    let set = "workload.phases=ramp 0..1000/s 30s, hold 1000/s 60s";
    for file in ["[run]\ntime = \"5s\"\n", "[run]\nops_per_session = 7\n", "[workload]\nrate = \"5/s\"\n"] {
        assert_eq!(
            load_settings(file, &[set]),
            (2, ninety.clone(), None, None),
            "an option wins over {file}"
        );
    }
}

#[test]
fn settings_that_conflict_with_phases_are_refused() {
    for (text, sets, start, word) in [
        (
            format!("{LOAD}rate = \"5/s\"\n"),
            &[][..],
            "dyno.toml:4:10: workload.phases = ramp",
            "workload.rate is also set, to 5/s; remove",
        ),
        (LOAD.into(), &["workload.rate=5/s"][..], "--set workload.rate=5/s", "remove workload.rate"),
        (
            LOAD.into(),
            &["run.time=1m"][..],
            "--set run.time=1m",
            "the phases are 90s long, and run.time is 1m",
        ),
        (
            LOAD.into(),
            &["run.ops_per_session=9"][..],
            "--set run.ops_per_session=9",
            "remove run.ops_per_session",
        ),
        (
            LOAD.into(),
            &["workload.think_every=2"][..],
            "--set workload.think_every=2",
            "think times do not apply",
        ),
        (
            LOAD.into(),
            &["workload.phases=hold 5/s 10"][..],
            "--set workload.phases",
            "entry 1 of the list: \"10\" is not a duration",
        ),
        (
            LOAD.into(),
            &["workload.phases=hold 0/s 10s"][..],
            "--set workload.phases",
            "no operation is ever \
                                                                                       due",
        ),
        (
            LOAD.into(),
            &["workload.phases=hold 5/s 999ms", "observe.interval=100ms"][..],
            "--set workload.phases",
            "the phases together are 999ms long",
        ),
        (LOAD.into(), &["workload.phases="][..], "--set workload.phases", "the list has no phases"),
        (LOAD.into(), &["observe.interval=2m"][..], "--set observe.interval=2m", "longer than run.time, 90s"),
    ] {
        assert_error(&text, sets, start, &[word]);
    }
}

#[test]
fn schedule_csv_file_is_included_in_plan() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("load.csv");
    let set = format!("workload.phases=csv {}", path.display());
    let missing = errors("", &[&set]).join("\n");
    assert!(missing.contains("load.csv: workload.phases: the schedule cannot be read"), "{missing}");
    std::fs::write(&path, "0,10\n5,fast\n").unwrap();
    let wrong = errors("", &[&set]).join("\n");
    assert!(wrong.contains("load.csv:2:3: workload.phases: fast: not a rate"), "{wrong}");
    std::fs::write(&path, "seconds,rate\n0,10\n5,20\n").unwrap();
    let read = plan("", &[&set]);
    assert_eq!(read.run.time.unwrap().to_string(), "5s");
    std::fs::remove_file(&path).unwrap();
    let text = serde_json::to_string(&read).unwrap();
    assert_eq!(serde_json::from_str::<Plan>(&text).unwrap(), read, "without the file");
    assert!(read.workload.phases[0].to_string().ends_with("load.csv: 0s 10/s 5s 20/s"));
}

#[test]
fn phase_schedule_can_be_a_sweep_axis() {
    let swept = plan(
        "[sweep]\n\"workload.phases\" = [\"hold 10/s 5s\", \"hold 20/s 5s, ramp 20..0/s 5s\"]\nrepeats = 1\n",
        &[],
    );
    let points = sweep::points(&swept, nothing().engines).unwrap();
    let times: Vec<_> = points.iter().map(|point| point.plan.run.time.unwrap().to_string()).collect();
    assert_eq!(times, ["5s", "10s"]);
    let over = errors(&format!("{LOAD}[sweep]\n\"run.time\" = [\"5s\", \"10s\"]\n"), &[]).join("\n");
    assert!(over.contains("the phases are 90s long, and run.time is 5s"), "{over}");
    let rate = errors(&format!("{LOAD}[sweep]\n\"workload.rate\" = [\"5/s\"]\n"), &[]).join("\n");
    assert!(rate.contains("workload.rate cannot be set"), "{rate}");
    let file = errors("[sweep]\n\"workload.phases\" = [\"csv x.csv\"]\n", &[]).join("\n");
    assert!(file.contains("csv x.csv cannot be a value of a sweep"), "{file}");
}
