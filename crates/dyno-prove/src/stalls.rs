//! Tests stalls at the window's boundaries: before, across and after each, in each drive, pacing and family
//! of counters.
//!
//! A stall is one long operation of every other session, on the machine's clock. The operation belongs, with
//! all of its time, to the window in which it ends or was in progress at the end. The counters must agree
//! exactly with the operations.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use dyno_engine::TargetError;
use dyno_record::Window;

use crate::counted::counts;
use crate::figure::{ProofFigure, ProofFigures};
use crate::scene::{Scene, SceneRun};
use crate::scripted::Act;

/// Length of warm-up and window, ms.
const WARMUP_MS: u64 = 300;
const TIME_MS: u64 = 1_000;
/// How long a stall lasts, ms.
const STALL_MS: u64 = 250;
/// Sessions of a scene; every second one stalls.
const SESSIONS: u32 = 4;
/// Largest relative difference between the recorded rate and that of the log, which notes times slightly
/// earlier.
const RATE_SLIP: f64 = 0.02;
/// Scenes that run in parallel; they sleep most of the time.
const AT_ONCE: usize = 6;

/// When the two stalls of a scene begin, ms after the gate opened.
#[derive(Debug, Clone, Copy)]
struct Stalls {
    word: &'static str,
    begin_ms: [u64; 2],
    /// Stalls inside the window, at least in part, per session that stalls.
    inside: u64,
}

const STALLS: [Stalls; 3] = [
    Stalls {
        word: "across start and end",
        begin_ms: [WARMUP_MS - 120, WARMUP_MS + TIME_MS - 120],
        inside: 2,
    },
    Stalls {
        word: "before start, before end",
        begin_ms: [20, WARMUP_MS + TIME_MS - STALL_MS - 60],
        inside: 1,
    },
    Stalls { word: "after start, after end", begin_ms: [WARMUP_MS + 40, WARMUP_MS + TIME_MS + 5], inside: 1 },
];

/// A way to drive: its name, plan keys, whether sessions share a thread, whether counters show work at once.
struct Drive {
    word: &'static str,
    sets: &'static [&'static str],
    duplex: bool,
    live: bool,
}

const OPEN: &str = "workload.rate=800/s";
const DRIVES: [Drive; 8] = [
    Drive { word: "one thread per session", sets: &[], duplex: false, live: false },
    Drive { word: "one thread per session, immediate counters", sets: &[], duplex: false, live: true },
    Drive { word: "one thread", sets: &[], duplex: true, live: false },
    Drive { word: "one thread, immediate counters", sets: &[], duplex: true, live: true },
    Drive { word: "one thread per session, open loop", sets: &[OPEN], duplex: false, live: false },
    Drive { word: "one thread, open loop", sets: &[OPEN], duplex: true, live: false },
    Drive { word: "one thread, open loop, immediate counters", sets: &[OPEN], duplex: true, live: true },
    Drive { word: "server drive", sets: &["workload.drive=server"], duplex: false, live: false },
];

#[cfg(test)]
pub(crate) const SCENES: usize = STALLS.len() * DRIVES.len();

/// Runs every scene, several at a time.
pub(crate) fn stalls() -> Result<Vec<ProofFigure>, TargetError> {
    let scenes: Vec<(&Drive, Stalls)> =
        DRIVES.iter().flat_map(|drive| STALLS.map(|stalls| (drive, stalls))).collect();
    let mut all = Vec::new();
    for some in scenes.chunks(AT_ONCE) {
        let figures: Vec<_> = std::thread::scope(|scope| {
            let running: Vec<_> =
                some.iter().map(|&(drive, stalls)| scope.spawn(move || scene(drive, stalls))).collect();
            running
                .into_iter()
                .map(|scene| scene.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
                .collect()
        });
        for figures in figures {
            all.extend(figures?);
        }
    }
    Ok(all)
}

fn scene(drive: &Drive, stalls: Stalls) -> Result<Vec<ProofFigure>, TargetError> {
    let mut scene = Scene::new()
        .set(&format!("run.sessions_per_schema={SESSIONS}"))
        .set(&format!("run.warmup={WARMUP_MS}ms"))
        .set("run.drain=2s")
        .set("observe.interval=200ms")
        .set("workload.update_pct=50");
    for set in drive.sets {
        scene = scene.set(set);
    }
    scene = if drive.duplex { scene.duplex() } else { scene };
    scene = if drive.live { scene.live() } else { scene };
    let scene = scene.script_anew(move || {
        let stalled = script_of(stalls);
        Arc::new(move |session, _, _| stalled(session))
    });
    let ran = scene.run()?;
    Ok(figures(format!("{}, stalls {}", drive.word, stalls.word), stalls, &ran))
}

/// Lets every other session take long in the operation that it begins when a stall is due. The first
/// operation of all marks the opening of the gate.
fn script_of(stalls: Stalls) -> impl Fn(u32) -> Act + Send + Sync {
    let began = std::sync::OnceLock::new();
    let stall_counts: Vec<AtomicU64> = (0..SESSIONS).map(|_| AtomicU64::new(0)).collect();
    move |session| {
        let since = *began.get_or_init(Instant::now);
        let Some(next) = stall_counts.get(session as usize).filter(|_| session % 2 == 0) else {
            return Act::Take(0);
        };
        let stalls_done = next.load(Ordering::Acquire) as usize;
        let due_ms = stalls.begin_ms.get(stalls_done).copied();
        match due_ms.is_some_and(|due_ms| since.elapsed().as_millis() as u64 >= due_ms) {
            true => {
                next.fetch_add(1, Ordering::AcqRel);
                Act::Take(STALL_MS * 1_000_000)
            }
            false => Act::Take(0),
        }
    }
}

fn figures(name: String, stalls: Stalls, ran: &SceneRun) -> Vec<ProofFigure> {
    let mut figures = ProofFigures::new(name);
    counts(&mut figures, ran);
    let SceneRun { record, ledger, span, .. } = ran;
    let longest_ms = ledger.longest_ns(*span) / 1_000_000;
    let timed = record.ops.get("slice").or(record.ops.get("all"));
    let max_ms = timed.and_then(|stats| stats.service_us.max).map(|us| (us / 1_000.0) as u64);
    let is_stall = |ms: u64| u64::from(ms >= STALL_MS);
    figures.count("a stall among the times", u64::from(stalls.inside > 0), Some(is_stall(longest_ms)));
    figures.count("the longest time is a stall", is_stall(longest_ms), max_ms.map(is_stall));
    let all = record.ops.get("all");
    let window_s = record.window.as_ref().map_or(0.0, |window| window.work_seconds());
    let expected = (ledger.window(*span).all().count as f64 - ledger.before(*span)) / window_s;
    let near = all.map(|all| u64::from((all.rate_per_s - expected).abs() <= expected * RATE_SLIP));
    figures.count("operations/s from the common begin", 1, near);
    let withheld = record.window.as_ref().is_some_and(|w| w.unsure_share() > Window::UNSURE_SHARE_MAX);
    let near = |name: &str, count_of: fn(&dyno_record::OpStats) -> f64| {
        let rate = record.metrics.get(name).and_then(|metric| metric.value())?;
        let client_rate = all.map(count_of)? / window_s;
        Some(u64::from((rate - client_rate).abs() <= client_rate * RATE_SLIP))
    };
    // A rate that the record leaves out as unknown need not agree with anything.
    if !withheld && record.targets.iter().all(|target| target.identity.counting.at_edges) {
        let rows = |all: &dyno_record::OpStats| all.rows as f64 - all.rows_before;
        figures.count("logical reads/s agree with it", 1, near("logical_reads_per_s", rows));
    }
    figures.all
}
