//! Tests of invalid plans and of the errors that users see.

use super::*;
use crate::engine::fixture::nothing;
use crate::plan::{Length, RunSettings};
use crate::units::{BlocksOrBytes, Bytes, Rate, TimeSpan};

mod hostile;
mod phases;
mod round_trip;

const URL: &str = "[target]\nurl = \"sqlite:dyno.db\"\n";

fn source(text: &str, sets: &[&str], target: Option<&str>) -> PlanSource {
    PlanSource {
        file: Some(PlanFile { name: "dyno.toml".into(), text: text.into() }),
        sets: sets.iter().map(|&set| set.into()).collect(),
        target: target.map(str::to_owned),
        ..nothing()
    }
}

/// The plan from a file with a URL and `text`, and from `--set` options.
fn plan(text: &str, sets: &[&str]) -> Plan {
    read(&source(&format!("{URL}{text}"), sets, None)).unwrap_or_else(|errors| panic!("{errors}"))
}

/// The errors of a file with a URL and `text`; the first line of `text` is line 3 of the file.
fn errors(text: &str, sets: &[&str]) -> Vec<String> {
    match read(&source(&format!("{URL}{text}"), sets, None)) {
        Ok(_) => Vec::new(),
        Err(errors) => errors.to_string().lines().map(str::to_owned).collect(),
    }
}

/// Checks that there is one error, which begins with `start` and contains all of `words`.
#[track_caller]
fn assert_error(text: &str, sets: &[&str], start: &str, words: &[&str]) {
    let errors = errors(text, sets);
    let [error] = errors.as_slice() else { panic!("{text:?} {sets:?}: {errors:#?}") };
    assert!(error.starts_with(start), "{error}\nbegins not with {start}");
    for word in words {
        assert!(error.contains(word), "{error}\nholds not {word}");
    }
}

#[test]
fn plan_needs_only_a_target_url() {
    let plan = read(&PlanSource { target: Some("sqlite:dyno.db".into()), ..nothing() }).unwrap();
    assert_eq!(plan.run.length(), Length::Time(TimeSpan(std::time::Duration::from_secs(60))));
    assert_eq!((plan.version, plan.data.seed, plan.workload.work_unit), (1, 42, 64));
    assert_eq!((plan.workload.rate, plan.observe.waits), (None, Some(Rate(10.0))));
}

#[test]
fn plan_values_accept_several_notations() {
    let plan = plan(
        "[data]\nscale = 1_000\nschemas = \"4\"\nseed = 0xff\nblock_size = 8192\n[workload]\nrate = \"0.5/s\"\n\
         [run]\nwarmup = '0s'\ntime = \"1s\"\n[observe]\ninterval = \"100ms\"\nwaits = \"off\"\n",
        &["data.scan_scale=\"80M\"", " run.drain = 1m ", "data.schemas=8", "data.schemas=9"],
    );
    assert_eq!(
        (plan.data.scale.to_string(), plan.data.schemas, plan.data.seed),
        ("1000 blocks".into(), 9, 255)
    );
    assert_eq!(
        (plan.data.block_size, plan.data.scan_scale),
        (Some(Bytes(8192)), BlocksOrBytes::Bytes(Bytes(80 << 20)))
    );
    assert_eq!((plan.workload.rate, plan.observe.waits), (Some(Rate(0.5)), None));
    assert_eq!((plan.run.warmup.to_string(), plan.run.drain.to_string()), ("0s".into(), "1m".into()));
}

#[test]
fn invalid_value_error_has_position_and_allowed_values() {
    for (line, start, words) in [
        (
            "scale = \"80Q\"",
            "dyno.toml:4:9: data.scale = \"80Q\": not a size",
            &["allowed: blocks", "1000T"][..],
        ),
        ("scale = 0", "dyno.toml:4:9: data.scale = 0: out of range", &["allowed"]),
        ("scale = -5", "dyno.toml:4:9: data.scale = -5: out of range", &[]),
        ("scale = \"1e18\"", "dyno.toml:4:9: data.scale = \"1e18\": not a size", &[]),
        ("scale = 1e18", "dyno.toml:4:9: data.scale = 1e18: a floating-point number, not a size", &[]),
        ("scale = nan", "dyno.toml:4:9: data.scale = nan: a floating-point number", &[]),
        (
            "scale = \"99999999999999999999 blocks\"",
            "dyno.toml:4:9: data.scale = ",
            &["1,000,000,000,000 blocks"],
        ),
        ("schemas = 0", "dyno.toml:4:11: data.schemas = 0: out of range", &["an integer, 1 to 10,000"]),
        ("schemas = 10001", "dyno.toml:4:11: data.schemas = 10001", &[]),
        (
            "schemas = 99999999999999999999999999999999999999999999",
            "dyno.toml:4:11: data.schemas",
            &["out of range"],
        ),
        ("schemas = \"four\"", "dyno.toml:4:11: data.schemas = \"four\": not an integer", &[]),
        ("schemas = true", "dyno.toml:4:11: data.schemas = true: true or false, not an integer", &[]),
        ("schemas = [1]", "dyno.toml:4:11: data.schemas = [1]: a list", &[]),
        ("schemas = 1979-05-27", "dyno.toml:4:11: data.schemas = 1979-05-27: a date", &[]),
        ("schemas.x = 1", "dyno.toml:4:1: data.schemas = schemas.x = 1", &["a table"]),
        ("compressible = 101", "dyno.toml:4:16: data.compressible = 101", &["0 to 100 %"]),
        ("block_size = \"12K\"", "dyno.toml:4:14: data.block_size = \"12K\": not a power of two", &["`16K`"]),
        ("block_size = 2048", "dyno.toml:4:14: data.block_size = 2048: out of range", &[]),
    ] {
        let errors = errors(&format!("[data]\n{line}\n"), &[]);
        assert_eq!(errors.len(), 1, "{line}: {errors:#?}");
        // A table's span depends on the parser; all other spans are exact.
        let start = if line.starts_with("schemas.x") { "dyno.toml:4:" } else { start };
        assert!(errors[0].starts_with(start), "{line}: {}", errors[0]);
        assert!(words.iter().all(|word| errors[0].contains(word)), "{line}: {}", errors[0]);
    }
}

#[test]
fn quantity_without_unit_error_suggests_a_unit() {
    assert_error(
        "[run]\ntime = 30\n",
        &[],
        "dyno.toml:4:8: run.time = 30: a duration without a unit; write \"30s\"",
        &[],
    );
    assert_error("[run]\ntime = \"30\"\n", &[], "dyno.toml:4:8: run.time = \"30\"", &["write \"30s\""]);
    assert_error(
        "",
        &["workload.rate=5000"],
        "--set workload.rate=5000: a rate without a unit; write \"5000/s\"",
        &[],
    );
    assert_error(
        "[run]\ntime = \"-5s\"\n",
        &[],
        "dyno.toml:4:8: run.time = \"-5s\": not a duration",
        &["1s to 720h"],
    );
    assert_error(
        "[run]\ntime = \"10m\"\nwarmup = \"25h\"\n",
        &[],
        "dyno.toml:5:10: run.warmup = \"25h\"",
        &["0s to 24h"],
    );
}

#[test]
fn unknown_value_error_suggests_nearest_value() {
    let text = "[workload]\ndrive = \"cleint\"\nredo = \"full\"\n";
    let errors = errors(text, &[]);
    assert!(errors[0].contains("did you mean \"client\"? allowed: `client` or `server`"), "{errors:#?}");
    assert!(errors[1].ends_with("allowed: `lite` or `heavy`"), "{errors:#?}");
}

#[test]
fn unknown_key_error_suggests_nearest_key() {
    for (text, start, words) in [
        (
            "[workload]\nupdat_pct = 1\n",
            "dyno.toml:4:1: workload.updat_pct: unknown key",
            "workload.update_pct?",
        ),
        ("[run]\nrate = \"5/s\"\n", "dyno.toml:4:1: run.rate", "did you mean workload.rate?"),
        (
            "[run]\nworkers = 5\n",
            "dyno.toml:4:1: run.workers",
            "allowed in [run]: sessions_per_schema, threads, placement, warmup",
        ),
        ("[rum]\ntime = \"5s\"\n", "dyno.toml:3:2: rum: unknown section", "did you mean [run]?"),
        ("[nothing]\n", "dyno.toml:3:", "allowed: [target], [data]"),
        ("[data]\n\"a b\" = 1\n", "dyno.toml:4:1: unknown key", "allowed in [data]"),
        ("[data]\n[data.foo.bar]\n", "dyno.toml:4:", "unknown key"),
        ("[[run]]\ntime = \"5s\"\n", "dyno.toml:3:", "a section, not a key; write [run]"),
    ] {
        assert_error(text, &[], start, &[words]);
    }
    let top = read(&source(&format!("scale = 5\nversoin = 1\n{URL}"), &[], None)).unwrap_err().to_string();
    assert!(top.contains("dyno.toml:1:1: scale: unknown key; did you mean data.scale?"), "{top}");
    assert!(top.contains("dyno.toml:2:1: versoin: unknown key; did you mean version?"), "{top}");
    assert_error("", &["data.sclae=5"], "--set data.sclae: unknown key; did you mean data.scale?", &[]);
    assert_error(
        "",
        &["wrkload.seed=5"],
        "--set wrkload.seed: unknown key; did you mean workload.seed?",
        &[],
    );
    assert_error("", &["scale=5"], "--set scale: unknown key; did you mean data.scale?", &[]);
    assert_error("", &["data.scale"], "--set data.scale: no value; write --set KEY=VALUE", &[]);
}

#[test]
fn all_errors_are_reported_in_text_order() {
    let errors = errors(
        "[workload]\nupdate_pct = 101\nwork_unit = 0\n[data]\nscale = \"x\"\nschemas = 0\n[run]\ntime = 5\n",
        &["data.seed=x", "observe.interval=1ms"],
    );
    let starts: Vec<_> = errors.iter().map(|error| error.split(": ").next().unwrap()).collect();
    assert_eq!(
        starts,
        [
            "dyno.toml:4:14",
            "dyno.toml:5:13",
            "dyno.toml:7:9",
            "dyno.toml:8:11",
            "dyno.toml:10:8",
            "--set data.seed=x",
            "--set observe.interval=1ms"
        ]
    );
}

#[test]
fn url_is_required_and_must_name_an_engine() {
    let missing = read(&source("", &[], None)).unwrap_err().to_string();
    assert!(
        missing.starts_with("dyno.toml: target.url: required key is missing; write url = \"sqlite:dyno.db\""),
        "{missing}"
    );
    let missing = read(&nothing()).unwrap_err().to_string();
    assert!(missing.starts_with("target.url: required key is missing"), "{missing}");
    for (url, words) in [
        ("nosuch://h/db", "unknown engine \"nosuch\"; allowed: `sqlite:PATH`"),
        ("dyno.db", "the URL has no engine; write sqlite:PATH"),
        ("postgres:db", "the server of the URL cannot be read; write SCHEME://"),
        ("sqlite://x/y", "the URL names no file; write sqlite:PATH"),
    ] {
        let error = read(&source("", &[], Some(url))).unwrap_err().to_string();
        assert_eq!(error.lines().count(), 1);
        assert!(error.starts_with("--target: "), "{error}");
        assert!(error.contains(words), "{error}");
    }
}

#[test]
fn target_option_overrides_plan_and_set() {
    let source = source(URL, &["target.url=sqlite:set.db"], Some("postgresql://me@h/db"));
    assert_eq!(read(&source).unwrap().target.url.to_string(), "postgres://me@h/db");
    assert_eq!(plan("", &["target.url=sqlite:a/b.db"]).target.url.path, "a/b.db");
}

#[test]
fn run_length_option_wins_and_two_in_one_source_fail() {
    let (time, ops) = ("[run]\ntime = \"5s\"\n", "[run]\nops_per_session = 7\n");
    let five = Length::Time(TimeSpan(std::time::Duration::from_secs(5)));
    assert_eq!(plan(time, &[]).run.length(), five);
    assert_eq!(plan(ops, &[]).run, RunSettings { time: None, ..plan(ops, &[]).run });
    let set_ops = plan(time, &["run.ops_per_session=7"]).run;
    assert_eq!((set_ops.length(), set_ops.time), (Length::Ops(7), None));
    let set_time = plan(ops, &["run.time=5s"]).run;
    assert_eq!((set_time.length(), set_time.ops_per_session), (five, None));
    assert_eq!(plan("", &["run.ops_per_session=7"]).run.length(), Length::Ops(7));
    let start = "dyno.toml:5:19: run.ops_per_session = 7: cannot be combined with run.time; keep one of the \
                 two";
    assert_error("[run]\ntime = \"5s\"\nops_per_session = 7\n", &[], start, &[]);
    let words = ["would never end", "set run.time"];
    assert_error(
        "[run]\nops_per_session = 7\non_lost = \"reconnect\"\n",
        &[],
        "dyno.toml:5:11: run.on_lost",
        &words,
    );
    assert_error(
        "",
        &["run.time=5s", "run.ops_per_session=7"],
        "--set run.ops_per_session=7: cannot be combined",
        &[],
    );
    let password = "password_env = \"A\"\npassword_file = \"b\"\n";
    assert_error(
        password,
        &[],
        "dyno.toml:4:17: target.password_file: cannot be combined with target.password_env",
        &[],
    );
}

#[test]
fn conflicting_values_are_reported_at_the_overriding_one() {
    for (text, sets, start, words) in [
        (
            "[workload]\nlookup_pct = 60\nscan_pct = 50\n[data]\nscan_scale = 9",
            &[][..],
            "dyno.toml:4:14: workload.lookup_pct = 60",
            "add up to 110 %",
        ),
        (
            "[workload]\nlookup_pct = 60\n[data]\nscan_scale = 9",
            &["workload.scan_pct=50"],
            "--set workload.scan_pct=50: ",
            "add up to 110 %",
        ),
        (
            "[workload]\nscan_pct = 1\n",
            &[],
            "dyno.toml:4:12: workload.scan_pct = 1: there is no table to scan",
            "raise data.scan_scale",
        ),
        (
            "[workload]\nscan_pct = 1\n[data]\nblock_size = \"64K\"\nscan_scale = \"32K\"",
            &[],
            "dyno.toml:4:12",
            "no table",
        ),
        (
            "[data]\nscale = 63\n",
            &[],
            "dyno.toml:4:9: data.scale = 63 blocks: one operation touches 64 rows, but a schema has at most 63",
            "lower workload.work_unit",
        ),
        (
            "[data]\nscale = \"511K\"\nblock_size = \"8K\"\n",
            &[],
            "dyno.toml:4:9: data.scale = 511K",
            "at most 63",
        ),
        (
            "[data]\nscale = \"32K\"\nblock_size = \"64K\"\n",
            &[],
            "dyno.toml:4:9: data.scale = 32K: less than one block",
            "write more",
        ),
        (
            "[data]\nschemas = 10000\n",
            &["data.scale=1000T"],
            "--set data.scale=1000T: ",
            "more than 1,000,000,000,000",
        ),
        (
            "[data]\nschemas = 1001\n",
            &["run.sessions_per_schema=100"],
            "--set run.sessions_per_schema=100: all schemas together have 100,100 sessions",
            "lower",
        ),
        (
            "",
            &["run.time=1s", "observe.interval=2s"],
            "--set observe.interval=2s: the interval is longer than run.time, 1s",
            "lower observe.interval",
        ),
        (
            "",
            &["run.time=720h", "observe.interval=500ms"],
            "--set observe.interval=500ms: run.time has 5,184,000 intervals",
            "raise observe.interval",
        ),
    ] {
        assert_error(text, sets, start, &[words]);
    }
    assert_eq!(plan("[data]\nscale = 64\n", &[]).data.scale.to_string(), "64 blocks");
    assert_eq!(plan("[data]\nscale = \"512K\"\nblock_size = \"8K\"\n", &[]).workload.work_unit, 64);
    // `DataSpec::validate` checks what depends on the target's block size.
    assert_eq!(plan("[data]\nscale = \"256K\"\n", &[]).workload.work_unit, 64);
}

#[test]
fn unknown_plan_version_is_refused() {
    let error = read(&source(&format!("version = 2\n{URL}"), &[], None)).unwrap_err().to_string();
    assert!(
        error.starts_with("dyno.toml:1:11: version = 2: out of range; allowed: an integer, 1"),
        "{error}"
    );
}

mod axes;

#[test]
fn observe_host_is_refused_for_embedded_database() {
    assert_error(
        "",
        &["observe.host=driver"],
        "--set",
        &["observe.host", "runs inside this program", "omit it"],
    );
    let read = read(&source("", &["observe.host=driver"], Some("postgres://me@db1/bench"))).unwrap();
    assert_eq!(read.observe.host, crate::ObservedHost::Driver);
}

#[test]
fn commit_mode_is_limited_to_modes_of_the_engine() {
    for commit in ["nowait", "plsql"] {
        let set = format!("workload.commit={commit}");
        assert_error(
            "",
            &[&set],
            "--set",
            &["workload.commit", "sqlite sessions do not support", "sync=off"],
        );
        let mysql = read(&source("", &[&set], Some("mysql://me@db1/bench"))).unwrap_err().to_string();
        assert!(mysql.contains("SET GLOBAL innodb_flush_log_at_trx_commit"), "{mysql}");
        let target = Some("oracle://me@db1:1521/bench");
        let read = read(&source("", &[&set, "observe.awr=awr"], target)).unwrap();
        assert_eq!((read.workload.commit.name(), read.observe.awr.name()), (commit, "awr"));
    }
    let postgres = |set| read(&source("", &[set], Some("postgres://me@db1/bench")));
    assert_eq!(postgres("workload.commit=nowait").unwrap().workload.commit.name(), "nowait");
    let message = postgres("workload.commit=plsql").unwrap_err().to_string();
    assert!(message.contains("synchronous_commit = off"), "{message}");
    assert_error(
        "",
        &["observe.awr=statspack"],
        "--set",
        &["observe.awr", "neither AWR nor STATSPACK", "omit it"],
    );
    plan("[workload]\ncommit = \"wait\"\n[observe]\nawr = \"off\"\n", &[]);
}

#[test]
fn copied_schemas_are_refused_where_the_engine_cannot_copy() {
    let sets = ["data.copy_schemas=true", "data.schemas=3"];
    let words = ["data.copy_schemas = true", "sqlite cannot copy schemas", "copy_schemas = false"];
    assert_error("[data]\ncopy_schemas = true\nschemas = 3\n", &[], "dyno.toml:4:16", &words);
    for url in ["postgres://me@db1/bench", "mysql://me@db1/bench"] {
        let message = read(&source("", &sets, Some(url))).unwrap_err().to_string();
        assert!(message.contains("cannot copy schemas inside the database"), "{message}");
    }
    assert!(read(&source("", &sets, Some("oracle://me@db1:1521/bench"))).unwrap().data.copy_schemas);
    // With one schema there is nothing to copy.
    plan("", &sets[..1]);
}

#[test]
fn several_targets_are_read_from_files_and_options() {
    let two = "[target]\nurls = [\"postgres://a@h/x\", \"mysql://u@h/y\"]\nweights = [2, 1]\n[run]\nsessions_per_schema = 3\n";
    let file = read(&source(two, &[], None)).unwrap();
    assert_eq!(file.target.all().len(), 2);
    assert_eq!(
        (file.target.url.scheme.as_str(), file.sessions_of(0), file.sessions_of(1)),
        ("postgres", 2, 1)
    );
    assert_eq!(file.of_target(1).target.all()[0].scheme, "mysql");
    // One `--target` option replaces all targets of the file.
    let single_target =
        read(&source(&two.replace("weights = [2, 1]\n", ""), &[], Some("sqlite:a.db"))).unwrap();
    assert_eq!((single_target.target.all().len(), single_target.target.url.path.as_str()), (1, "a.db"));
    let several = PlanSource {
        target: Some("sqlite:a.db".into()),
        further_targets: vec!["sqlite:b.db".into(), "sqlite:c.db".into()],
        sets: vec!["run.sessions_per_schema=3".into()],
        ..nothing()
    };
    assert_eq!(read(&several).unwrap().target.all().len(), 3);
}

#[test]
fn invalid_target_settings_are_refused() {
    let errors_of = |lines: &str| match read(&source(&format!("[target]\n{lines}"), &[], None)) {
        Ok(_) => panic!("accepted: {lines}"),
        Err(errors) => errors.to_string(),
    };
    for (lines, words) in [
        ("urls = [\"sqlite:a.db\"]", "fewer than two URLs"),
        ("urls = [\"sqlite:a.db\", \"sqlite:a.db\"]", "entries 1 and 2 of the list are the same"),
        ("urls = [\"sqlite:a.db\", 7]", "entry 2 of the list: a bare number, not a URL"),
        (
            "urls = [\"sqlite:a.db\", \"postgres://u:geheim@h/d\"]",
            "entry 2 of the list: the URL contains a password",
        ),
        ("urls = 3", "a bare number, not a list"),
        (
            "url = \"sqlite:a.db\"\nurls = [\"sqlite:b.db\", \"sqlite:c.db\"]",
            "cannot be combined with \
                                                                              target.url",
        ),
        ("urls = [\"sqlite:b.db\", \"sqlite:c.db\"]", "with 1 sessions, target 2 of 2 would have none"),
        ("url = \"sqlite:a.db\"\nweights = [1]", "1 weights for 0 URLs"),
        (
            "urls = [\"sqlite:b.db\", \"sqlite:c.db\"]\nweights = [1, 2, 3]\n[run]\nsessions_per_schema = 9",
            "3 weights for 2 URLs",
        ),
        ("urls = [\"sqlite:b.db\", \"sqlite:c.db\"]\nweights = [1, 0]", "out of range"),
    ] {
        let text = errors_of(lines);
        assert!(text.contains(words), "{lines}: {text}");
        assert!(!text.contains("geheim"), "{lines}: {text}");
    }
}

#[test]
fn unknown_url_parameter_value_error_lists_allowed_values() {
    for (url, words) in [
        ("postgres://me@db1/bench?sslmode=maybe", "allowed: sslmode=disable, allow, prefer"),
        ("postgres://me@db1/bench?channel_binding=yes", "channel_binding=disable, prefer, require"),
        ("mysql://me@db1/bench?ssl-mode=yes", "ssl-mode=DISABLED, PREFERRED"),
        ("oracle://me@db1/bench?protocol=udp", "protocol=tcp, tcps"),
        ("sqlite:a.db?journal=paper", "journal=wal, delete"),
        ("sqlite:a.db?sync=maybe", "sync=off, normal"),
    ] {
        let error = read(&source("", &[], Some(url))).unwrap_err().to_string();
        assert!(error.starts_with("--target: "), "{error}");
        assert!(error.contains(words), "{error}");
        let file = format!("[target]\nurl = \"{url}\"\n");
        let error = read(&source(&file, &[], None)).unwrap_err().to_string();
        assert!(error.contains("dyno.toml:2:7"), "{error}");
        assert!(error.contains(words), "{error}");
    }
    for url in
        ["mysql://me@db1/bench?ssl-mode=verify-ca&ssl-ca=x", "postgres://me@db1/bench?client_encoding=utf8"]
    {
        read(&source("", &[], Some(url))).unwrap();
    }
}

#[test]
fn postgres_observe_url_bypasses_the_pooler() {
    let (pooler, server) = ("postgres://me@db1:6432/bench", "target.observe_url=postgres://me@db1/bench");
    let plan = read(&source("", &[server], Some(pooler))).unwrap();
    assert_eq!(plan.target.observe_url.unwrap().to_string(), "postgres://me@db1/bench");
    let password = "target.observe_url=postgres://me:geheim@db1/bench";
    for (sets, target, words) in [
        (&[server, "workload.drive=server"][..], pooler, "put no load on a pooler"),
        (&[server], "sqlite:a.db", "target.url has sqlite"),
        (&["target.observe_url=mysql://me@db1/b"], "mysql://me@db2/b", "only PostgreSQL supports a pooler"),
        (&["target.observe_url=nonsense"], pooler, "target.observe_url"),
        (&[password], pooler, "contains a password"),
    ] {
        let error = read(&source("", sets, Some(target))).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
        assert!(!error.contains("geheim"), "{error}");
    }
}
