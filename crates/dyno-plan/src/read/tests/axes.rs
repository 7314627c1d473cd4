//! Tests of `[sweep]` and `[hooks]`, valid and invalid.

use super::{assert_error, plan};
use crate::plan::{SweepGridAxis, SweepPointOrder, Until};

fn axes(text: &str, sets: &[&str]) -> Vec<(String, String)> {
    let axes = plan(text, sets).sweep.axes;
    axes.into_iter().map(|SweepGridAxis { key, values }| (key, values.join(" "))).collect()
}

fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(a, b)| (a.to_string(), b.to_string())).collect()
}

#[test]
fn sweep_axis_is_a_key_with_a_list() {
    let text = "[sweep]\nupdate_pct = [0, 20]\nsessions = [1, 2, 4]\n\"data.seed\" = [1]\nrun.warmup = [\"1s\", \"60s\"]\n\
                rate = [\"off\", \"100/s\"]\nrepeats = 2\norder = \"up-down\"\nuntil = \"saturation\"";
    assert_eq!(
        axes(text, &[]),
        pairs(&[
            ("workload.update_pct", "0 20"),
            ("sessions", "1 2 4"),
            ("data.seed", "1"),
            ("run.warmup", "1s 1m"),
            ("workload.rate", "off 100/s"),
        ])
    );
    let sweep = plan(text, &[]).sweep;
    assert_eq!((sweep.repeats, sweep.order, sweep.until), (2, SweepPointOrder::UpDown, Until::Saturation));
}

#[test]
fn options_create_and_replace_sweep_axes() {
    let text = "[sweep]\nsessions = [1, 2]";
    assert_eq!(
        axes(text, &["sweep.sessions=[4, 8]", "sweep.block_size=4K,8192", "sweep.repeats=3"]),
        pairs(&[("sessions", "4 8"), ("data.block_size", "4K 8K")])
    );
    assert_eq!(axes("", &["sweep.sessions=4", "sweep.sessions=5,6"]), pairs(&[("sessions", "5 6")]));
}

#[test]
fn invalid_axes_error_gives_location_and_allowed_values() {
    for (text, start, words) in [
        ("updat_pct = [1]", "dyno.toml:4:1: sweep.updat_pct: unknown key", &["workload.update_pct"][..]),
        ("session = [1]", "dyno.toml:4:1: sweep.session: unknown key", &["did you mean sessions?"]),
        ("seeds = 1", "dyno.toml:4:1: sweep.seeds: unknown key", &["seed"]),
        (
            "update_pct = [0, 101]",
            "dyno.toml:4:18: sweep.workload.update_pct = 101: out of range",
            &["0 to 100"],
        ),
        ("update_pct = [0, true]", "dyno.toml:4:18: sweep.workload.update_pct = true", &["true or false"]),
        ("update_pct = [[0]]", "dyno.toml:4:15: sweep.workload.update_pct", &["a list"]),
        (
            "update_pct = []",
            "dyno.toml:4:1: sweep.workload.update_pct: an axis with 0 values",
            &["1 to 1,000"],
        ),
        ("update_pct = [5, 5]", "dyno.toml:4:18: sweep.workload.update_pct: duplicate value 5", &["repeats"]),
        ("version = [1]", "dyno.toml:4:1: sweep.version: this key cannot be an axis", &["whole sweep"]),
        (
            "\"target.password_env\" = [\"A\"]",
            "dyno.toml:4:1: sweep.target.password_env: this key cannot",
            &[],
        ),
        (
            "sessions = [1]\n\"run.sessions_per_schema\" = [1]",
            "dyno.toml:5:1: sweep.run.sessions_per_schema: duplicate axis",
            &[],
        ),
        (
            "update_pct = [1]\n\"workload.update_pct\" = [1]",
            "dyno.toml:5:1: sweep.workload.update_pct: duplicate axis",
            &[],
        ),
        ("repeats = 0", "dyno.toml:4:11: sweep.repeats = 0: out of range", &[]),
        ("until = \"saturation\"\nupdate_pct = [1]", "dyno.toml:4:9: sweep.until", &["sessions = [1, 2"]),
        ("order = \"up-down\"\nsessions = [1]", "dyno.toml:4:9: sweep.order", &["repeats"]),
        (
            "work_unit = [64, 20000]",
            "dyno.toml:4:1: sweep.workload.work_unit: at workload.work_unit = 20000",
            &["lower"],
        ),
        (
            "sessions = [1, 3]\n\"data.schemas\" = [2]",
            "dyno.toml:4:1: sweep.sessions: 1 sessions cannot be divided",
            &["multiples"],
        ),
        (
            "\"workload.seed\" = [1, 2]\nrepeats = 1000\nwork_unit = [1, 2, 3, 4, 5, 6]",
            "dyno.toml:4:1: sweep.workload.seed: the sweep has 12,000 runs",
            &["fewer"],
        ),
    ] {
        assert_error(&format!("[sweep]\n{text}"), &[], start, words);
    }
    assert_error("", &["sweep.fly=1"], "--set sweep.fly: unknown key", &["sessions"]);
    assert_error("", &["sweep.update_pct=1,x"], "--set sweep.workload.update_pct=x: not an integer", &[]);
    assert_error("", &["sweep.update_pct="], "--set sweep.workload.update_pct: an axis with 0 values", &[]);
}

#[test]
fn ambiguous_key_needs_its_section() {
    // `seed` without a section is `sweep.seed`.
    assert_eq!(plan("[sweep]\nseed = 7", &[]).sweep.seed, 7);
    assert_eq!(axes("[sweep]\n\"workload.seed\" = [7]", &[]), pairs(&[("workload.seed", "7")]));
}

#[test]
fn hook_command_with_password_is_refused_and_not_echoed() {
    for command in [
        "psql postgres://u:hunter2@h/d",
        "PGPASSWORD=hunter2 psql",
        "mysql --password='hunter2'",
        "sync; /usr/bin/mysql -u root -phunter2 -e 'flush tables'",
        "mariadb -p'hunter2' bench",
        "curl -u admin:hunter2 http://h/drop",
        "curl -s --user=admin:hunter2 http://h/drop",
    ] {
        let text = format!("[hooks]\nbefore_run = \"{command}\"");
        let errors = super::errors(&text, &[]);
        assert_eq!(errors.len(), 1, "{errors:?}");
        assert!(!errors[0].contains("hunter2"), "{errors:?}");
        assert!(errors[0].contains("environment"), "{errors:?}");
    }
    let hooks = plan("[hooks]\nbefore_run = \"PGPASSWORD=$P psql\"\ntimeout = \"10s\"", &[]).hooks;
    assert_eq!(hooks.before_run.as_deref(), Some("PGPASSWORD=$P psql"));
    for command in [
        "mysql -p$P bench",
        "mysql -p bench",
        "curl -u admin:$P http://h",
        "mkdir -p hunter",
        "curl -u admin h",
        "id -un",
    ] {
        assert!(super::errors(&format!("[hooks]\npre = \"{command}\""), &[]).is_empty(), "{command}");
    }
}

#[test]
fn plan_without_sweep_or_hooks_shows_neither() {
    let json = serde_json::to_value(plan("", &[])).unwrap();
    assert!(json.get("sweep").is_none());
    assert!(json.get("hooks").is_none());
    let with = plan("[sweep]\nsessions = [1]\n[hooks]\nafter_run = \"date\"", &[]);
    let json = serde_json::to_string(&with).unwrap();
    assert_eq!(serde_json::from_str::<crate::Plan>(&json).unwrap(), with);
}
