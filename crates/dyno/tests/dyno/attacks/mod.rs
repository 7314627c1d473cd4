//! Attempts to mislead a run, each in a file of `attacks/`, on real servers: the run says so, or its figures hold.
//!
//! `make attacks` makes all of them and writes a table; a few short ones are made with every test.

mod act;
mod bench;
mod file;
mod outcome;
mod table;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use crate::common::{Desk, Running};
use act::Doings;
use bench::{Bench, DATA};
use file::{Act, Attack};
use outcome::Outcome;

/// A run that is over soon; an attack's own keys come behind and count.
const RUN: [&str; 7] = [
    "run",
    "--set",
    "run.warmup=300ms",
    "--set",
    "observe.interval=400ms",
    "--set",
    "run.sessions_per_schema=2",
];

/// How long it is, where the attack does not say; and how long where what was done inside of the window was not done by its end.
const LENGTHS: [&str; 2] = ["run.time=2s", "run.time=15s"];

/// Words that names of attacks and servers have to hold, each or one of several: `stall|foreign,postgres-18`.
const ONLY: &str = "DYNO_ATTACKS";

#[test]
fn a_short_pass_of_attacks_on_sqlite_holds() {
    assert_quick_ones_hold("sqlite");
}

#[test]
fn a_short_pass_of_attacks_on_postgres_holds() {
    assert_quick_ones_hold("postgres");
}

#[test]
fn a_short_pass_of_attacks_on_mysql_and_mariadb_holds() {
    assert_quick_ones_hold("mysql");
}

fn assert_quick_ones_hold(engine: &str) {
    let (outcomes, _) = make(engine, &|attack| attack.quick);
    let failed: Vec<_> = outcomes.iter().filter(|outcome| !outcome.misses.is_empty()).collect();
    let said =
        failed.iter().map(|o| format!("{} on {}: {:?}\n", o.attack, o.server, o.misses)).collect::<String>();
    assert!(failed.is_empty(), "{said}");
}

#[test]
#[ignore = "takes minutes: make attacks"]
fn every_attack_holds() {
    let (outcomes, seconds) = make("", &|_| true);
    let file = table::write(&outcomes, seconds);
    let failed = outcomes.iter().filter(|outcome| !outcome.misses.is_empty()).count();
    eprintln!("{} attacks, {failed} do not hold, {seconds:.0} s: {}", outcomes.len(), file.display());
    assert_eq!(failed, 0, "see {}", file.display());
}

/// Makes the attacks that `wanted` wants on every server of `engine`, on all servers where that is empty.
fn make(engine: &str, wanted: &dyn Fn(&Attack) -> bool) -> (Vec<Outcome>, f64) {
    let only = std::env::var(ONLY).unwrap_or_default();
    let only: Vec<&str> = only.split(',').filter(|word| !word.is_empty()).collect();
    let began = Instant::now();
    let mut outcomes = Vec::new();
    for (_, start) in Bench::all().into_iter().filter(|(of, _)| engine.is_empty() || *of == engine) {
        let mut bench = start();
        for attack in file::of_engine(bench.engine) {
            let name = format!("{} on {}", attack.name, bench.name);
            let is_named = only.iter().all(|word| word.split('|').any(|word| name.contains(word)));
            if bench.takes(&attack) && is_named && wanted(&attack) {
                let outcome = attempt_or_say(&mut bench, &attack);
                let held = if outcome.misses.is_empty() { "holds" } else { "DOES NOT HOLD" };
                eprintln!("{name}: {held}: {} {:?} {}", outcome.got, outcome.misses, outcome.words);
                outcomes.push(outcome);
            }
        }
    }
    (outcomes, began.elapsed().as_secs_f64())
}

/// Makes one attack. One that cannot be made is no reason to make no others.
fn attempt_or_say(bench: &mut Bench, attack: &Attack) -> Outcome {
    let made = catch_unwind(AssertUnwindSafe(|| attempt(bench, attack)));
    made.unwrap_or_else(|panic| {
        let why = panic.downcast_ref::<String>().cloned().unwrap_or_default();
        bench.restart("kill");
        bench.load_anew();
        Outcome::unmade(attack, &bench.name, why)
    })
}

/// Makes one attack; once more, and longer, where a busy machine was too late with it.
fn attempt(bench: &mut Bench, attack: &Attack) -> Outcome {
    let (outcome, is_late) = attempt_for(bench, attack, LENGTHS[0]);
    if is_late && !outcome.misses.is_empty() { attempt_for(bench, attack, LENGTHS[1]).0 } else { outcome }
}

/// Makes one attack, and puts the server in order again; whether what was to be done in the window was not done at its end.
fn attempt_for(bench: &mut Bench, attack: &Attack, length: &str) -> (Outcome, bool) {
    let desk = Desk::new();
    let client = bench.client();
    if let Some(sql) = &attack.setup {
        client.run(None, sql).unwrap_or_else(|said| panic!("{}: {said}", attack.name));
    }
    if let Some(database) = &attack.also_in {
        bench.load_into(Some(database));
    }
    for (name, text) in &attack.workload {
        std::fs::create_dir_all(desk.file("own")).unwrap();
        desk.write(&format!("own/{name}"), text);
    }
    let mut doings = Doings::default();
    for act in attack.acts.iter().filter(|act| act.at == "before") {
        doings.start(bench, &desk, act, None);
    }
    let mut run = start(bench, attack, &desk, length);
    let (wall_s, is_late) = follow(&mut run, bench, attack, &desk, &mut doings);
    let said = run.end();
    let failures = doings.end();
    let shown = desk.dyno(&["show", "last", "--json"]);
    let record = serde_json::from_str(&shown.out).ok();
    let mut outcome = Outcome::of(attack, &bench.name, &said, record.as_ref(), wall_s);
    outcome.misses.extend(failures.into_iter().map(|why| format!("the attack itself failed: {why}")));
    if attack.restart {
        bench.restart("stop");
    }
    if let Some(sql) = &attack.restore {
        let restored = client.run(None, sql);
        outcome.misses.extend(restored.err().map(|why| format!("it could not be undone: {why}")));
    }
    if attack.reload {
        bench.load_anew();
    }
    (outcome, is_late)
}

/// Starts the run.
fn start(bench: &Bench, attack: &Attack, desk: &Desk, length: &str) -> Running {
    let url = bench.url(None);
    let set: Vec<&str> = attack.set.iter().flat_map(|key| ["--set", key.as_str()]).collect();
    let also = attack.also_in.as_ref().map(|database| bench.url(Some(database)));
    let also: Vec<&str> = also.iter().flat_map(|url| ["--target", url.as_str()]).collect();
    let is_long = |key: &String| key.starts_with("run.time") || key.starts_with("run.ops_per_session");
    let own = ["--set", length];
    let length: &[&str] = if attack.set.iter().any(is_long) { &[] } else { &own };
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
        // The clock that measures goes on as it does when the machine's time is set.
        ("FAKETIME_DONT_FAKE_MONOTONIC", "1"),
    ];
    desk.start_with(&env, &arguments)
}

/// The library that shows a process another time of day than the machine has.
fn faketime() -> Option<String> {
    let dirs = std::fs::read_dir("/usr/lib").into_iter().flatten().flatten().map(|entry| entry.path());
    let mut found = dirs.map(|dir| dir.join("faketime/libfaketime.so.1")).filter(|path| path.exists());
    found.next().map(|path| path.display().to_string())
}

/// Follows what the run says and does what is due then, to the end of its talk; the length of its window by our clock, and whether
/// something due in it was not done at its end.
fn follow(
    run: &mut Running,
    bench: &mut Bench,
    attack: &Attack,
    desk: &Desk,
    doings: &mut Doings,
) -> (Option<f64>, bool) {
    let mut intervals = 0_u32;
    let (mut window, mut wall_s, mut is_late) = (None, None, false);
    while let Some(line) = run.line() {
        let moment = if line.starts_with("warm-up") {
            "warm-up".to_owned()
        } else if line == "window" {
            window = Some(Instant::now());
            line
        } else if line == "draining" {
            wall_s = window.map(|began| began.elapsed().as_secs_f64());
            // An interval that a busy machine did not come to has not seen what was due in it.
            let is_missing = |act: &Act| {
                act.at.strip_prefix("interval ").is_some_and(|n| n.parse::<u32>().unwrap() > intervals)
            };
            is_late = doings.are_late() || attack.acts.iter().any(is_missing);
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
