//! Tests of job requests: the command lines they become, and the values that are refused.

use std::path::Path;

use serde_json::{Value, json};

use super::*;
use crate::setup::ReadyWorkload;
use crate::state::fixture::ENGINES;
use crate::targets::ServeTargetList;

fn setup(allow_commands: bool) -> Setup {
    let mut targets = ServeTargetList::default();
    targets.add("db", "sqlite:bench.db");
    Setup {
        listen: "127.0.0.1:0".parse().unwrap(),
        hosts: Vec::new(),
        behind_proxy: false,
        tls: None,
        repository: "/r/runs.sqlite3".into(),
        state: "/r/state".into(),
        targets,
        read_only: false,
        allow_commands,
        program: "dyno".into(),
        engines: ENGINES,
        limits: crate::ConnectionLimits::default(),
        workloads: vec![ReadyWorkload { name: "tpcb", about: "transfers" }],
    }
}

fn request(values: &Value) -> JobRequest {
    let mut request: JobRequest = serde_json::from_value(values.clone()).unwrap();
    request.target = "db".to_owned();
    request
}

fn prepared(values: &Value) -> PreparedJob {
    request(values).prepare(&setup(true)).unwrap_or_else(|problems| panic!("{values}: {problems:#?}"))
}

/// The arguments of each step, without those that all jobs have.
fn steps(job: &PreparedJob) -> Vec<String> {
    let common = ["--plan=PLAN", "--repository=/r/runs.sqlite3", "--allow-hooks"];
    let own = |step: &Vec<String>| {
        let words = step.iter().map(String::as_str).filter(|word| !common.contains(word));
        words.collect::<Vec<_>>().join(" ")
    };
    job.start.0.steps.iter().map(own).collect()
}

#[test]
fn every_kind_of_job_has_its_command() {
    let kill = json!({ "kind": "prove", "proof": "durability", "kill_command": "k", "restart_command": "r" });
    let cases: Vec<(Value, &[&str], Option<u32>)> = vec![
        (json!({ "kind": "run" }), &["load", "run --tag=t"], Some(1)),
        (json!({ "kind": "run", "load": false, "variant": "v" }), &["run --variant=v --tag=t"], Some(1)),
        (json!({ "kind": "sweep", "set": { "sweep.sessions": "1, 2" } }), &["sweep --tag=t"], Some(2)),
        (json!({ "kind": "soak", "time": "90s" }), &["load", "soak --time=90s --tag=t"], Some(1)),
        (
            json!({ "kind": "search", "limits": ["p99 <= 2ms"], "max": "64" }),
            &["load", "search --limit=p99 <= 2ms --over=sessions --max=64 --tag=t"],
            None,
        ),
        (
            json!({ "kind": "ab", "b": "workload.update_pct=5", "pairs": 2 }),
            &["load", "ab --a= --b=workload.update_pct=5 --pairs=2 --tag=t"],
            Some(4),
        ),
        (
            json!({ "kind": "ab", "settings": ["work_mem=4MB,8MB"], "settings_restart": "r", "pairs": 2 }),
            &["load", "ab --a= --b= --pairs=2 --setting=work_mem=4MB,8MB --restart-command=r --tag=t"],
            Some(4),
        ),
        (
            json!({ "kind": "suite", "quick": false, "groups": ["cpu"], "tests": ["load-bulk"] }),
            &["suite --full --group=cpu --test=load-bulk --tag=t"],
            None,
        ),
        (json!({ "kind": "load" }), &["load"], None),
        (json!({ "kind": "check", "workload": "tpcb" }), &["check --set=workload.folder=@tpcb"], None),
        (
            json!({ "kind": "watch", "watch_for": "5m", "set": { "observe.interval": "2s" } }),
            &["watch --time=5m --interval=2s --tag=t"],
            None,
        ),
        (
            json!({ "kind": "calibrate", "parts": ["memory", "device"] }),
            &["calibrate --quick --only=memory --only=device --tag=t"],
            None,
        ),
        (json!({ "kind": "prove" }), &["load", "prove updates"], None),
        (json!({ "kind": "prove", "proof": "window" }), &["prove window"], None),
        (kill, &["load", "prove durability --kill-command=k --restart-command=r"], None),
    ];
    for (mut values, expected, runs) in cases {
        values["tags"] = json!(["t"]);
        let job = prepared(&values);
        assert_eq!(steps(&job), expected, "{values}");
        assert_eq!(job.runs, runs, "{values}");
        let line = job.command.lines().last().unwrap();
        assert!(line.starts_with(&format!("dyno {}", values["kind"].as_str().unwrap())), "{line}");
        assert!(line.contains("--target sqlite:bench.db"), "{line}");
        let is_calibration = values["kind"] == "calibrate";
        assert_eq!(job.start.0.place, if is_calibration { MACHINE } else { "sqlite:bench.db" });
        let has_commands = values["proof"] == "durability" || values["settings"].is_array();
        assert_eq!(job.commands.is_some(), has_commands, "{values}");
        assert_eq!(job.start.0.runs_commands, job.commands.is_some(), "{values}");
    }
}

#[test]
fn study_lists_its_commands_and_runs_them_only_when_confirmed() {
    let values = json!({ "kind": "study", "study": "file-systems", "tags": ["t"] });
    let mut request = request(&values);
    let job = request.prepare(&setup(true)).unwrap();
    assert_eq!(
        job.start.0.steps,
        [["study", "run", "file-systems", "--tag=t", "--repository=/r/runs.sqlite3", "--allow-hooks"]]
    );
    assert_eq!((job.start.0.place.as_str(), job.start.0.runs_commands), (MACHINE, true));
    assert!(job.confirmed(&request).unwrap_err().problem.contains("are not confirmed"));
    request.confirmed = "another".to_owned();
    assert!(job.confirmed(&request).unwrap_err().problem.contains("differ"));
    request.confirmed.clone_from(&job.commands.as_ref().unwrap().mark);
    assert_eq!(job.confirmed(&request).unwrap().kind, JobKind::Study);
}

#[test]
fn invalid_values_are_refused_with_their_fields() {
    for (values, fields) in [
        (json!({ "kind": "search" }), &["limits"][..]),
        (
            json!({ "kind": "search", "limits": ["p99 < x"], "over": "sea", "max": "-1" }),
            &["limits", "over", "max"],
        ),
        (json!({ "kind": "soak", "time": "1s --allow-hooks" }), &["time"]),
        (json!({ "kind": "watch", "watch_for": "long" }), &["watch_for"]),
        (json!({ "kind": "ab", "a": "x.toml", "b": "nothing", "pairs": 0 }), &["a", "b", "pairs"]),
        (json!({ "kind": "ab", "a": "target.url=sqlite:other.db" }), &["a"]),
        (json!({ "kind": "suite", "groups": ["a b"], "tests": ["--from=x"] }), &["groups", "tests"]),
        (json!({ "kind": "calibrate", "parts": ["soul"] }), &["parts"]),
        (json!({ "kind": "prove", "proof": "god" }), &["proof"]),
        (json!({ "kind": "prove", "proof": "durability" }), &["kill_command"]),
        (json!({ "kind": "prove", "kill_command": "kill 1" }), &["kill_command"]),
        (json!({ "kind": "study", "study": "file-systems" }), &["study"]),
        (json!({ "kind": "ab", "settings": ["work_mem=4MB,8MB"] }), &["settings"]),
        (json!({ "kind": "ab", "settings_restart": "reboot" }), &["settings"]),
        (json!({ "workload": "none", "variant": "a,b", "tags": ["x\ny"] }), &["workload", "variant", "tags"]),
        (json!({ "ready": "none" }), &["ready"]),
        (json!({ "set": { "hooks.pre": "rm", "observe.hosts": "h" } }), &["hooks.pre", "observe.hosts"]),
        (json!({ "kind": "soak", "time": "x", "workload": "none" }), &["workload", "time"]),
    ] {
        let problems = request(&values).prepare(&setup(false)).unwrap_err();
        let refused: Vec<&str> = problems.iter().map(|problem| problem.field.as_str()).collect();
        assert_eq!(refused, fields, "{values}: {problems:#?}");
    }
    for (values, problem) in [
        (json!({ "kind": "prove", "proof": "durability" }), "a command that kills the server is required"),
        (json!({ "kind": "prove", "proof": "durability", "kill_command": "a\nb" }), "must be one line"),
        (json!({ "kind": "study", "study": "none" }), "unknown ready study"),
        (json!({ "kind": "ab", "settings": ["work_mem=4MB"] }), "two values are needed"),
        (json!({ "kind": "ab", "settings_restart": "r" }), "only a test with settings"),
        (json!({ "kind": "ab", "settings": ["a=1,2"], "settings_restart": "a\nb" }), "must be one line"),
        (json!({ "kind": "study", "study": "file-systems", "params": { "a": "\n" } }), "control characters"),
    ] {
        let problems = request(&values).prepare(&setup(true)).unwrap_err();
        assert!(problems[0].problem.contains(problem), "{values}: {problems:#?}");
    }
    let unknown = JobRequest { target: "none".to_owned(), ..JobRequest::default() };
    let problems = unknown.prepare(&setup(true)).unwrap_err();
    assert_eq!((problems[0].field.as_str(), problems[0].hint.as_str()), ("target", "available: db"));
}

#[test]
fn form_becomes_the_same_request_as_json() {
    let field = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
    let form = [
        ("kind", "search"),
        ("target", "db"),
        ("limits", "p99 <= 2ms\r\nmean <= 1ms"),
        ("tags", "a, b"),
        ("axes", "sessions = 1, 2"),
        ("set.run.time", "1s"),
        ("set.run.warmup", ""),
        ("load", "on"),
        ("do", "start"),
    ];
    let of_form = JobRequest::of_form(&form.map(field)).unwrap();
    let of_json = request(&json!({
        "kind": "search", "limits": ["p99 <= 2ms", "mean <= 1ms"], "tags": ["a", "b"], "quick": false,
        "set": { "sweep.sessions": "1, 2", "run.time": "1s" },
    }));
    assert_eq!(json!(of_form), json!(of_json));
    for (name, value, problem) in [
        ("kind", "walk", "kind"),
        ("pairs", "many", "pairs"),
        ("axes", "sessions", "axes"),
        ("params", "size", "params"),
        ("shell", "rm", ""),
    ] {
        assert_eq!(JobRequest::of_form(&[field((name, value))]).unwrap_err().field, problem, "{name}");
    }
    let unknown: Result<JobRequest, _> = serde_json::from_value(json!({ "lmits": [] }));
    assert!(unknown.unwrap_err().to_string().contains("unknown field `lmits`"));
}

#[test]
fn password_place_reaches_the_job_but_not_its_page() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("targets.toml");
    std::fs::write(&path, "[targets.db]\nurl = \"sqlite:bench.db\"\npassword_env = \"SECRET_PLACE\"\n")
        .unwrap();
    let mut setup = setup(false);
    setup.targets = ServeTargetList::read(Path::new(&path), ENGINES).unwrap();
    let job = request(&json!({})).prepare(&setup).unwrap();
    assert!(!json!(job).to_string().contains("SECRET_PLACE"));
    assert!(job.start.0.plan.unwrap().contains("SECRET_PLACE"));
}

#[test]
fn server_settings_of_ab_test_need_consent_to_the_same_values() {
    let values = |value: &str| json!({ "kind": "ab", "settings": [format!("work_mem=4MB,{value}")] });
    let job = prepared(&values("8MB"));
    let commands = job.commands.clone().unwrap();
    let steps: Vec<(&str, &str)> =
        commands.steps.iter().map(|step| (step.when.as_str(), step.text.as_str())).collect();
    assert_eq!(
        steps[1..],
        [
            ("side a", "work_mem = 4MB"),
            ("side b", "work_mem = 8MB"),
            ("afterwards", "the values from before the test")
        ]
    );
    assert!(job.start.0.runs_commands, "a server without --allow-commands does not start it from the queue");
    let confirmed = |value: &str| JobRequest { confirmed: commands.mark.clone(), ..request(&values(value)) };
    assert!(job.confirmed(&confirmed("8MB")).is_ok());
    assert!(job.confirmed(&request(&values("8MB"))).is_err());
    assert!(prepared(&values("9MB")).confirmed(&confirmed("9MB")).is_err());
}
