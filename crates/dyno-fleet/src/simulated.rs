//! Simulates a thousand hosts with a thousand sessions each, as the controller sees them. One host's scripted
//! results are received from all hosts as they come over the wire.

use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use dyno_drive::{DriveJob, ResultShape, Results, SessionGroup, TargetContext};
use dyno_engine::{Cancel, MonotonicClock, Target as _};
use dyno_plan::{DataSpec, Plan};
use dyno_prove::scripted::{Act, OperationScript, ScriptedTarget};
use dyno_record::{Fleet, Host};

use crate::agent_inbox::{AgentInbox, AgentSlot};
use crate::clock::Exchange;
use crate::coding::encode_with_payload;
use crate::host_results::{Edges, account, unpack};
use crate::limits::PROTOCOL;
use crate::member::FleetMember;
use crate::messages::{AgentHello, AgentResults, HostUsage, Receipt, Upload};
use crate::pieces::{TransferPiece, pieces};
use crate::result_packing;

const HOSTS: u32 = 1_000;
const SESSIONS: u32 = 1_000;
/// How far each host's clock is ahead of the previous host's, ns.
const AHEAD_NS: u64 = 1_000;

/// A short plan with this many sessions.
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

pub(crate) fn job(plan: &Plan) -> DriveJob<'_> {
    let script: Arc<OperationScript> = Arc::new(|_, _, _| Act::Take(0));
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
        copied: false,
    };
    DriveJob {
        run_id: "simulated".into(),
        started_at: "2026-01-01T00:00:00Z".into(),
        run_stamp: 7,
        plan,
        targets: vec![TargetContext::new(Arc::new(target), identity, spec)],
        custom_workloads: Vec::new(),
        clock: Arc::new(MonotonicClock::default()),
        cancel: Cancel::default(),
        dyno_version: "test".into(),
        series_points_max: dyno_record::OVERVIEW_POINTS_MAX,
    }
}

/// The results of a host with this many scripted sessions, stored one by one.
fn handed_in(sessions: u32) -> AgentResults {
    let plan = plan(sessions);
    let job = job(&plan);
    let mut part = SessionGroup::start(&job, (0..sessions).collect());
    while part.status().ready < sessions {
        part.poll();
        std::thread::yield_now();
    }
    part.open_gate(job.clock.now_ns());
    part.open_window(job.clock.now_ns(), None);
    part.enter_window();
    while part.status().reached_ops < sessions {
        part.poll();
        std::thread::yield_now();
    }
    part.close_window(job.clock.now_ns());
    part.stop(&job, Duration::from_secs(20), &|| false);
    let threads = part.threads();
    AgentResults {
        results: part.into_results(),
        threads,
        broken_off: Vec::new(),
        stuck: Vec::new(),
        alone: false,
        closed_ns: None,
        ended_at: None,
        use_of_host: HostUsage::default(),
    }
}

/// The bytes that the host sends.
fn packed(handed: &AgentResults) -> Vec<u8> {
    result_packing::pack_results(handed).unwrap()
}

/// Peak memory of this process since the last reset, MB.
fn memory_mb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").trim().parse::<u64>().unwrap() / 1024
}

/// Resets the peak memory, because a real controller never holds these sessions (proc(5), `clear_refs`).
fn forget_memory() {
    // A kernel that cannot reset it leaves the sessions in the figure, which is then too high.
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}

/// A host whose clock is ahead by a known amount, exact to the nanosecond.
fn seat(rank: u32, sessions: u32, own_ns: u64) -> AgentSlot {
    let hello = AgentHello {
        protocol: PROTOCOL,
        version: "test".into(),
        id: format!("a{rank}"),
        name: format!("client-{rank}"),
        place: Some(rank),
        cpus: 8,
        busy: None,
        keeps: 0,
    };
    let member = FleetMember::new(hello, format!("dyno.t.agent.a{rank}"));
    let there_ns = own_ns + u64::from(rank) * AHEAD_NS;
    member.note(Exchange { asked_ns: own_ns, heard_ns: there_ns, said_ns: there_ns, answered_ns: own_ns });
    AgentSlot { member, numbers: (rank * sessions..(rank + 1) * sessions).collect(), weight: 1 }
}

fn run_simulation(hosts: u32, sessions: u32) {
    let mut handed = handed_in(sessions);
    handed.results.fold();
    let packed = packed(&handed);
    let whole = plan(hosts.saturating_mul(sessions));
    let job = job(&whole);
    let shape = ResultShape::of(&job);
    let own_ops = handed.results.operations(&shape);
    let (first_ns, last_ns) = handed.results.started_ns().unwrap();
    drop(handed);
    let opens_ns = first_ns.saturating_sub(1_000_000) + u64::from(hosts) * AHEAD_NS;
    let slots = (0..hosts).map(|rank| seat(rank, sessions, opens_ns));
    let inbox = AgentInbox::new(slots.collect(), shape.clone(), Arc::clone(&job.clock));
    let (full, _filled) = channel();
    forget_memory();
    let before_mb = memory_mb();
    let began = Instant::now();
    let mut wire_bytes = 0;
    for rank in 0..hosts {
        for (TransferPiece { number, piece_count: of, sum }, piece) in pieces(&packed) {
            let bytes = encode_with_payload(&Upload::Piece { rank, number, of, sum }, piece);
            wire_bytes += bytes.len();
            assert!(matches!(inbox.upload(&bytes, &full), Receipt::Have));
        }
    }
    let taken_in_s = began.elapsed().as_secs_f64();
    let mut all = Results::default();
    let mut fleet = Fleet { group: "t".into(), hosts: Vec::new() };
    let (host, edges) = (Host::default(), Edges { opens_ns: Some(opens_ns), ended_ns: opens_ns });
    for (rank, mut handed) in unpack(&inbox, &shape).into_iter().enumerate() {
        fleet.hosts.push(account(&inbox, (rank, &host), &edges, &shape, handed.as_mut()));
        all.add(handed.unwrap().results);
    }
    let read_s = began.elapsed().as_secs_f64() - taken_in_s;
    assert_eq!(fleet.short_of(), None);
    let record = dyno_drive::without_leader(&job, &all, fleet, "simulated".into());
    let merge_s = began.elapsed().as_secs_f64();
    let memory_mb = memory_mb();
    let (skew_us, law_us) =
        (record.gate.skew_us_max, (last_ns - first_ns + u64::from(hosts - 1) * AHEAD_NS) as f64 / 1e3);
    let summary = serde_json::json!({
        "hosts": hosts, "sessions": sessions, "bytes_each": packed.len(), "wire_bytes": wire_bytes,
        "taken_in_s": taken_in_s, "read_s": read_s, "merge_s": merge_s, "memory_mb": memory_mb,
        "memory_before_mb": before_mb, "skew_us": skew_us, "skew_by_law_us": law_us,
    });
    println!("merged: {summary}");
    assert_eq!(record.ops["all"].count, own_ops * u64::from(hosts), "none is lost, none counted twice");
    assert_eq!(record.gate.sessions, hosts * sessions);
    assert!((skew_us - law_us).abs() < 0.1, "{skew_us} {law_us}");
    assert!(memory_mb < 1_024, "{memory_mb} MB");
}

#[test]
fn agent_results_of_many_sessions_are_merged() {
    // The number of distinct latencies depends on the machine, so the same results are compared.
    let mut handed = handed_in(40);
    let unmerged = packed(&handed).len();
    handed.results.fold();
    let folded = packed(&handed).len();
    assert!(
        folded < unmerged,
        "40 sessions need {folded} bytes if merged, {unmerged} bytes if stored one by one"
    );
    run_simulation(20, 8);
}

#[test]
#[ignore = "a thousand threads and a gigabyte of nothing: by hand, where nobody else measures"]
fn thousand_simulated_hosts_are_merged_in_time() {
    run_simulation(HOSTS, SESSIONS);
}
