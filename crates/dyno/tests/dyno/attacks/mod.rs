//! Attempts to mislead a run, one per file of `testing/attacks/`, on real servers: the run reports it, or its figures
//! are correct.
//!
//! `make attacks` runs all of them and writes a table; a few short ones run with every test.

mod act;
mod bench;
mod file;
mod outcome;
mod table;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use crate::common::{Running, TestEnv};
use act::AttackActions;
use bench::{AttackBench, DATA};
use file::{Act, Attack};
use outcome::AttackOutcome;

/// Settings of a short run; an attack's own keys follow and override them.
const RUN: [&str; 7] = [
    "run",
    "--set",
    "run.warmup=300ms",
    "--set",
    "observe.interval=400ms",
    "--set",
    "run.sessions_per_schema=2",
];

/// Length of the run if the attack sets none, and the length of a retry if an action in the window was not
/// done by its end.
const LENGTHS: [&str; 2] = ["run.time=2s", "run.time=15s"];

/// Words that names of attacks and servers must contain, each with alternatives: `stall|foreign,postgres-18`.
const ONLY: &str = "DYNO_ATTACKS";

#[test]
fn quick_attack_pass_on_sqlite_holds() {
    assert_quick_attacks_hold("sqlite");
}

#[test]
fn quick_attack_pass_on_postgres_holds() {
    assert_quick_attacks_hold("postgres");
}

#[test]
fn quick_attack_pass_on_mysql_and_mariadb_holds() {
    assert_quick_attacks_hold("mysql");
}

fn assert_quick_attacks_hold(engine: &str) {
    let (outcomes, _) = run_attacks(engine, &|attack| attack.quick);
    let failed: Vec<_> = outcomes.iter().filter(|outcome| !outcome.misses.is_empty()).collect();
    let failure_lines =
        failed.iter().map(|o| format!("{} on {}: {:?}\n", o.attack, o.server, o.misses)).collect::<String>();
    assert!(failed.is_empty(), "{failure_lines}");
}

#[test]
#[ignore = "takes minutes: make attacks"]
fn every_attack_is_repelled() {
    let (outcomes, seconds) = run_attacks("", &|_| true);
    let file = table::write(&outcomes, seconds);
    let failed = outcomes.iter().filter(|outcome| !outcome.misses.is_empty()).count();
    eprintln!("{} attacks, {failed} do not hold, {seconds:.0} s: {}", outcomes.len(), file.display());
    assert_eq!(failed, 0, "see {}", file.display());
}

/// Runs the attacks selected by `wanted` on every server of `engine`, or on all servers if that is empty.
fn run_attacks(engine: &str, wanted: &dyn Fn(&Attack) -> bool) -> (Vec<AttackOutcome>, f64) {
    let only = std::env::var(ONLY).unwrap_or_default();
    let only: Vec<&str> = only.split(',').filter(|word| !word.is_empty()).collect();
    let began = Instant::now();
    let mut outcomes = Vec::new();
    for (_, start) in AttackBench::all().into_iter().filter(|(of, _)| engine.is_empty() || *of == engine) {
        let mut bench = start();
        for attack in file::of_engine(bench.engine) {
            let name = format!("{} on {}", attack.name, bench.name);
            let is_named = only.iter().all(|word| word.split('|').any(|word| name.contains(word)));
            if bench.supports(&attack) && is_named && wanted(&attack) {
                let outcome = attempt_or_report(&mut bench, &attack);
                let held = if outcome.misses.is_empty() { "holds" } else { "DOES NOT HOLD" };
                eprintln!("{name}: {held}: {} {:?} {}", outcome.status_text, outcome.misses, outcome.words);
                outcomes.push(outcome);
            }
        }
    }
    (outcomes, began.elapsed().as_secs_f64())
}

/// Runs one attack. If it cannot be run, the others still are.
fn attempt_or_report(bench: &mut AttackBench, attack: &Attack) -> AttackOutcome {
    let made = catch_unwind(AssertUnwindSafe(|| attempt(bench, attack)));
    made.unwrap_or_else(|panic| {
        let why = panic.downcast_ref::<String>().cloned().unwrap_or_default();
        bench.restart("kill");
        bench.reload_data();
        AttackOutcome::not_run(attack, &bench.name, why)
    })
}

/// Runs one attack; repeats it with a longer window if a busy machine was too late.
fn attempt(bench: &mut AttackBench, attack: &Attack) -> AttackOutcome {
    let (outcome, is_late) = attempt_for(bench, attack, LENGTHS[0]);
    if is_late && !outcome.misses.is_empty() { attempt_for(bench, attack, LENGTHS[1]).0 } else { outcome }
}

/// Runs one attack and restores the server; returns whether an action in the window was not done at its end.
fn attempt_for(bench: &mut AttackBench, attack: &Attack, length: &str) -> (AttackOutcome, bool) {
    let desk = TestEnv::new();
    let client = bench.client();
    if let Some(sql) = &attack.setup {
        client.run(None, sql).unwrap_or_else(|message| panic!("{}: {message}", attack.name));
    }
    if let Some(database) = &attack.also_in {
        bench.load_into(Some(database));
    }
    for (name, text) in &attack.workload {
        std::fs::create_dir_all(desk.file("own")).unwrap();
        desk.write(&format!("own/{name}"), text);
    }
    let mut doings = AttackActions::default();
    for act in attack.acts.iter().filter(|act| act.at == "before") {
        doings.start(bench, &desk, act, None);
    }
    let mut run = start(bench, attack, &desk, length);
    let (wall_s, is_late) = follow_run(&mut run, bench, attack, &desk, &mut doings);
    let output = run.wait();
    let failures = doings.end();
    let shown = desk.dyno(&["show", "last", "--json"]);
    let record = serde_json::from_str(&shown.out).ok();
    let mut outcome = AttackOutcome::judge(attack, &bench.name, &output, record.as_ref(), wall_s);
    outcome.misses.extend(failures.into_iter().map(|why| format!("the attack itself failed: {why}")));
    if attack.restart {
        bench.restart("stop");
    }
    if let Some(sql) = &attack.restore {
        let restored = client.run(None, sql);
        outcome.misses.extend(restored.err().map(|why| format!("it could not be undone: {why}")));
    }
    if attack.reload {
        bench.reload_data();
    }
    (outcome, is_late)
}

fn start(bench: &AttackBench, attack: &Attack, desk: &TestEnv, length: &str) -> Running {
    let url = bench.url(None);
    let set: Vec<&str> = attack.set.iter().flat_map(|key| ["--set", key.as_str()]).collect();
    let also = attack.also_in.as_ref().map(|database| bench.url(Some(database)));
    let also: Vec<&str> = also.iter().flat_map(|url| ["--target", url.as_str()]).collect();
    let is_long = |key: &String| key.starts_with("run.time") || key.starts_with("run.ops_per_session");
    let length_args = ["--set", length];
    let length: &[&str] = if attack.set.iter().any(is_long) { &[] } else { &length_args };
    let folder = format!("workload.folder={}", desk.file("own").display());
    let data: &[&str] = match attack.workload.is_empty() {
        true => &DATA,
        false => &["--allow-writes", "--set", &folder],
    };
    let arguments = [&RUN[..], length, &["--target", &url], &also, data, &set].concat();
    let library = attack.acts.iter().any(|act| act.clock.is_some()).then(faketime).flatten();
    let Some(library) = library else { return desk.start(&arguments) };
    desk.write("offset", "+0");
    let offset = desk.file("offset").display().to_string();
    let env = [
        ("LD_PRELOAD", library.as_str()),
        ("FAKETIME_TIMESTAMP_FILE", &offset),
        ("FAKETIME_NO_CACHE", "1"),
        // The monotonic clock is not changed, just as when the machine's time is set.
        ("FAKETIME_DONT_FAKE_MONOTONIC", "1"),
    ];
    desk.start_with(&env, &arguments)
}

/// The faketime library, which shows a process a different time of day.
fn faketime() -> Option<String> {
    let dirs = std::fs::read_dir("/usr/lib").into_iter().flatten().flatten().map(|entry| entry.path());
    let mut candidates = dirs.map(|dir| dir.join("faketime/libfaketime.so.1")).filter(|path| path.exists());
    candidates.next().map(|path| path.display().to_string())
}

/// Follows the run's messages to their end and starts the due actions. Returns the length of its window by
/// the test's clock, and whether an action in it was not done at its end.
fn follow_run(
    run: &mut Running,
    bench: &mut AttackBench,
    attack: &Attack,
    desk: &TestEnv,
    doings: &mut AttackActions,
) -> (Option<f64>, bool) {
    let mut intervals = 0_u32;
    let (mut window, mut wall_s, mut is_late) = (None, None, false);
    while let Some(line) = run.next_line() {
        let moment = if line.starts_with("warm-up") {
            "warm-up".to_owned()
        } else if line == "window" {
            window = Some(Instant::now());
            line
        } else if line == "draining" {
            wall_s = window.map(|began| began.elapsed().as_secs_f64());
            // An action is missing if its interval was never reported, as on a busy machine.
            let is_missing = |act: &Act| {
                act.at.strip_prefix("interval ").is_some_and(|n| n.parse::<u32>().unwrap() > intervals)
            };
            is_late = doings.has_pending() || attack.acts.iter().any(is_missing);
            line
        } else if line.contains("ops/s") {
            intervals += 1;
            format!("interval {intervals}")
        } else {
            continue;
        };
        let due = |act: &&Act| act.at == moment;
        for act in attack.acts.iter().filter(due) {
            doings.start(bench, desk, act, Some(run.pid()));
        }
    }
    (wall_s, is_late)
}
