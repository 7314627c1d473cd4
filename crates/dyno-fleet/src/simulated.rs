//! A thousand hosts with a thousand sessions each, as their leader sees them: what one host of scripted sessions hands in, taken in from all
//! of them as it comes over the wire.

use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use dyno_drive::scripted::{Act, Script, ScriptedTarget};
use dyno_drive::{Aim, Job, Part, Results, Shape};
use dyno_engine::{Cancel, MonotonicClock, Target as _};
use dyno_plan::{DataSpec, Plan};
use dyno_record::{Fleet, Host};

use crate::account::{Edges, account, unpack};
use crate::clock::Exchange;
use crate::coding::written_with;
use crate::ear::{Ear, Seat};
use crate::hand_in;
use crate::limits::PROTOCOL;
use crate::member::Member;
use crate::messages::{HandedIn, Hello, Receipt, Upload, UseOfHost};
use crate::pieces::{Piece, pieces};

const HOSTS: u32 = 1_000;
const SESSIONS: u32 = 1_000;
/// What a host's clock is ahead of that of the one before it, ns.
const AHEAD_NS: u64 = 1_000;

/// A plan of so many sessions, short enough for a test.
pub(crate) fn plan(sessions: u32) -> Plan {
    serde_json::from_value(serde_json::json!({
        "version": 1,
        "target": { "url": "sqlite:a", "connect_timeout": "1s" },
        "data": { "schemas": 1, "scale": "1000 blocks", "scan_scale": "0 blocks", "compressible": 0, "seed": 42,
                  "load_parallel": 1 },
        "workload": { "update_pct": 30, "scan_pct": 0, "lookup_pct": 20, "work_unit": 8, "redo": "lite",
                      "drive": "client", "arrivals": "constant", "seed": 5 },
        "run": { "sessions_per_schema": sessions, "warmup": "0s", "ops_per_session": 20, "drain": "500ms" },
        "observe": { "interval": "50ms" }
    }))
    .unwrap()
}

fn job(plan: &Plan) -> Job<'_> {
    let script: Arc<Script> = Arc::new(|_, _, _| Act::Take(0));
    let target = ScriptedTarget::new(script, Arc::new(|_| std::thread::yield_now()));
    let identity = target.identify().unwrap();
    let spec = DataSpec {
        schemas: 1,
        rows: 1_000,
        scan_rows: 0,
        block_size: 8192,
        compressible: 0,
        seed: 42,
        secondary: false,
    };
    Job {
        run_id: "simulated".into(),
        started_at: "2026-01-01T00:00:00Z".into(),
        run_stamp: 7,
        plan,
        targets: vec![Aim::new(Arc::new(target), identity, spec)],
        owns: Vec::new(),
        clock: Arc::new(MonotonicClock::default()),
        cancel: Cancel::default(),
        dyno_version: "test".into(),
        series_points_max: dyno_record::OVERVIEW_POINTS_MAX,
    }
}

/// What a host of so many scripted sessions hands in; with the sessions added up, or one by one.
fn handed_in(sessions: u32, is_folded: bool) -> (HandedIn, Vec<u8>) {
    let plan = plan(sessions);
    let job = job(&plan);
    let mut part = Part::start(&job, (0..sessions).collect());
    while part.standing().ready < sessions {
        part.beat();
        std::thread::yield_now();
    }
    part.open_gate(job.clock.now_ns());
    part.open_window(job.clock.now_ns(), None);
    part.enter_window();
    while part.standing().reached_ops < sessions {
        part.beat();
        std::thread::yield_now();
    }
    part.close_window(job.clock.now_ns());
    part.stop(&job, Duration::from_secs(20), &|| false);
    let threads = part.threads();
    let mut results = part.into_results();
    if is_folded {
        results.fold();
    }
    let handed = HandedIn {
        results,
        threads,
        broken_off: Vec::new(),
        stuck: Vec::new(),
        alone: false,
        closed_ns: None,
        ended_at: None,
        use_of_host: UseOfHost::default(),
    };
    let packed = hand_in::packed(&handed).unwrap();
    (handed, packed)
}

/// The most memory that this process has had since that was last forgotten, MB.
fn memory_mb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").trim().parse::<u64>().unwrap() / 1024
}

/// Forgets the most that it has had, as whoever leads has never had those sessions (proc(5), `clear_refs`).
fn forget_memory() {
    // A kernel that cannot leaves the sessions in the figure, which is then too high.
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}

/// A host whose clock is ahead by so much, which is known to the nanosecond.
fn seat(rank: u32, sessions: u32, own_ns: u64) -> Seat {
    let hello = Hello {
        protocol: PROTOCOL,
        version: "test".into(),
        id: format!("a{rank}"),
        name: format!("client-{rank}"),
        place: Some(rank),
        cpus: 8,
        busy: None,
        keeps: 0,
    };
    let member = Member::new(hello, format!("dyno.t.agent.a{rank}"));
    let there_ns = own_ns + u64::from(rank) * AHEAD_NS;
    member.note(Exchange { asked_ns: own_ns, heard_ns: there_ns, said_ns: there_ns, answered_ns: own_ns });
    Seat { member, numbers: (rank * sessions..(rank + 1) * sessions).collect(), weight: 1 }
}

fn lead(hosts: u32, sessions: u32) {
    let (handed, packed) = handed_in(sessions, true);
    let whole = plan(hosts.saturating_mul(sessions));
    let job = job(&whole);
    let shape = Shape::of(&job);
    let own_ops = handed.results.operations(&shape);
    let (first_ns, last_ns) = handed.results.started_ns().unwrap();
    drop(handed);
    let opens_ns = first_ns.saturating_sub(1_000_000) + u64::from(hosts) * AHEAD_NS;
    let seats = (0..hosts).map(|rank| seat(rank, sessions, opens_ns));
    let ear = Ear::new(seats.collect(), shape.clone(), Arc::clone(&job.clock));
    let (full, _filled) = channel();
    forget_memory();
    let before_mb = memory_mb();
    let began = Instant::now();
    let mut wire_bytes = 0;
    for rank in 0..hosts {
        for (Piece { number, of, sum }, piece) in pieces(&packed) {
            let bytes = written_with(&Upload::Piece { rank, number, of, sum }, piece);
            wire_bytes += bytes.len();
            assert!(matches!(ear.upload(&bytes, &full), Receipt::Have));
        }
    }
    let taken_in_s = began.elapsed().as_secs_f64();
    let mut all = Results::default();
    let mut fleet = Fleet { group: "t".into(), hosts: Vec::new() };
    let (host, edges) = (Host::default(), Edges { opens_ns: Some(opens_ns), ended_ns: opens_ns });
    for (rank, mut handed) in unpack(&ear, &shape).into_iter().enumerate() {
        fleet.hosts.push(account(&ear, (rank, &host), &edges, &shape, handed.as_mut()));
        all.add(handed.unwrap().results);
    }
    let read_s = began.elapsed().as_secs_f64() - taken_in_s;
    assert_eq!(fleet.short_of(), None);
    let record = dyno_drive::without_leader(&job, &all, fleet, "simulated".into());
    let merge_s = began.elapsed().as_secs_f64();
    let memory_mb = memory_mb();
    let (skew_us, law_us) =
        (record.gate.skew_us_max, (last_ns - first_ns + u64::from(hosts - 1) * AHEAD_NS) as f64 / 1e3);
    let told = serde_json::json!({
        "hosts": hosts, "sessions": sessions, "bytes_each": packed.len(), "wire_bytes": wire_bytes,
        "taken_in_s": taken_in_s, "read_s": read_s, "merge_s": merge_s, "memory_mb": memory_mb,
        "memory_before_mb": before_mb, "skew_us": skew_us, "skew_by_law_us": law_us,
    });
    println!("merged: {told}");
    assert_eq!(record.ops["all"].count, own_ops * u64::from(hosts), "none is lost, none counted twice");
    assert_eq!(record.gate.sessions, hosts * sessions);
    assert!((skew_us - law_us).abs() < 0.1, "{skew_us} {law_us}");
    assert!(memory_mb < 1_024, "{memory_mb} MB");
}

#[test]
fn hosts_hand_in_what_does_not_grow_with_their_sessions() {
    // How many different times there are is the machine's, so only what comes on top of them is held against each other.
    let [folded, each] = [true, false].map(|is_folded| {
        let [few, many] = [4, 40].map(|sessions| handed_in(sessions, is_folded).1.len());
        many.saturating_sub(few)
    });
    assert!(folded < each, "{folded} bytes more of 36 sessions more, and {each} where each is told");
    lead(20, 8);
}

#[test]
#[ignore = "a thousand threads and a gigabyte of nothing: by hand, where nobody else measures"]
fn a_thousand_hosts_of_a_thousand_sessions_are_merged_in_time() {
    lead(HOSTS, SESSIONS);
}
