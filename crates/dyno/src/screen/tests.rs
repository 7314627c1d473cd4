//! Golden tests of screens at three sizes, drawn in ratatui's test backend.
//!
//! `DYNO_BLESS=1` rewrites the golden files.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use dyno_campaign::{CampaignBegun, CampaignEvent, LoadEvent, NextRun, RunEnded, RunPhase};
use dyno_drive::{CoarseLatencies, CompletedInterval, LiveProgress, RunningTotals};
use dyno_observe::CumulativeCounters;
use dyno_plan::PlanSource;
use dyno_record::{
    ForeignActivity, MarkChange, MarkKind, PartOf, PointSetting, RunRecord, SeriesPoint, SweepKind, WaitTime,
    Waits,
};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{Event as Key, KeyCode, KeyEvent, KeyModifiers};

use super::keys::{KeyAction, key_action};
use super::state::{Panel, ScreenState};
use super::view::{self, ScreenStyle};
use crate::engines::ENGINES;

const SIZES: [(u16, u16); 3] = [(80, 24), (100, 30), (140, 40)];
const LOOK: ScreenStyle = ScreenStyle { color: false, ascii: false };

/// A valid record with an audit.
const RECORD: &str = include_str!("../../../dyno-record/tests/records/full.json");

fn drawn(state: &ScreenState, look: &ScreenStyle, (width, height): (u16, u16), now_s: f64) -> String {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| view::draw(frame, state, look, now_s)).unwrap();
    let buffer = terminal.backend().buffer();
    let rows = buffer.content().chunks(usize::from(width));
    let line = |row: &[ratatui::buffer::Cell]| {
        let line: String = row.iter().map(|cell| cell.symbol()).collect();
        format!("{}\n", line.trim_end())
    };
    rows.map(line).collect()
}

fn golden(name: &str, state: &ScreenState, now_s: f64) {
    for size in SIZES {
        let drawn = drawn(state, &LOOK, size, now_s);
        let file = format!("tests/screens/{name}-{}x{}.txt", size.0, size.1);
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(&file);
        if std::env::var_os("DYNO_BLESS").is_some() {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, &drawn).unwrap();
        }
        let expected = std::fs::read_to_string(&path).unwrap_or_default();
        assert_eq!(drawn, expected, "{file} is another: look at it, then DYNO_BLESS=1\n{drawn}");
    }
}

fn setting(key: &str, value: &str) -> PointSetting {
    PointSetting { key: key.to_owned(), value: value.to_owned() }
}

fn points() -> Vec<(u32, Vec<PointSetting>)> {
    let pairs =
        [0, 20].into_iter().flat_map(|update| [1, 2, 4, 8, 16, 32].map(|sessions| (update, sessions)));
    let point_settings = |(at, (update, sessions)): (usize, (u32, u32))| {
        let settings = vec![
            setting("workload.update_pct", &update.to_string()),
            setting("sessions", &sessions.to_string()),
        ];
        (at as u32 + 1, settings)
    };
    pairs.enumerate().map(point_settings).collect()
}

fn part(point: u32) -> PartOf {
    let settings = points()[point as usize - 1].1.clone();
    PartOf { id: "sweep-1".into(), kind: SweepKind::Sweep, point, repeat: 1, side: None, settings }
}

fn record() -> RunRecord {
    RunRecord::from_json(RECORD).unwrap()
}

fn sweep() -> ScreenState {
    let source = PlanSource { target: Some("sqlite:b.db".to_owned()), ..PlanSource::of(ENGINES.specs) };
    let plan = dyno_plan::read(&source).unwrap();
    let start_event = CampaignBegun {
        id: "sweep-20260101-000000-0000".into(),
        kind: SweepKind::Sweep,
        plan,
        axes: Vec::new(),
        sides: Vec::new(),
        points: points(),
        skips: true,
    };
    let mut state = ScreenState::new("sweep");
    state.apply_event(&CampaignEvent::Begun(Box::new(start_event)), 0.0);
    for (number, what) in [(1, "measured"), (2, "failed"), (3, "skipped")] {
        let next =
            NextRun { number, total: Some(12), part: part(number), all_s: Some(720.0), rest_s: Some(660.0) };
        state.apply_event(&CampaignEvent::Next(next), 1.0);
        let measured = Arc::new(record());
        if what == "measured" {
            state.apply_event(&CampaignEvent::Stored(Arc::clone(&measured)), 2.0);
        }
        let finished_run = RunEnded {
            number,
            part: part(number),
            record: (what == "measured").then_some(measured),
            failed: (what == "failed").then(|| "the server went away".to_owned()),
            skipped: what == "skipped",
        };
        state.apply_event(&CampaignEvent::Ended(finished_run), 3.0);
    }
    let next = NextRun { number: 4, total: Some(12), part: part(4), all_s: Some(540.0), rest_s: Some(480.0) };
    state.apply_event(&CampaignEvent::Next(next), 4.0);
    state
}

fn begin(state: &mut ScreenState) {
    let targets = "PostgreSQL 16.2 (postgres://dyno@db1/bench)".to_owned();
    state.apply_event(
        &CampaignEvent::RunBegun {
            id: "20260101-000000-abcd".into(),
            kind: dyno_record::RecordKind::Run,
            targets,
            is_part: false,
        },
        4.0,
    );
    let phase = |event| CampaignEvent::Phase(event);
    state.apply_event(&phase(dyno_drive::RunEvent::Warmup { seconds: 5.0 }), 5.0);
    state.apply_event(&phase(dyno_drive::RunEvent::Window { at_ns: 0, late_ns: 0 }), 10.0);
}

/// The first `seconds` of a one-minute window.
fn window(state: &mut ScreenState, seconds: u32, changes: &[MarkChange]) {
    let mut so_far = RunningTotals::default();
    for second in 0..seconds {
        let ops = 12_000 + u64::from(second % 7) * 150;
        let latency: CoarseLatencies =
            [(61_000, 600), (90_000, 300), (140_000, 60), (300_000, 20), (1_200_000, 15), (9_000_000, 5)]
                .into_iter()
                .collect();
        let [p50_us, p99_us, max_us] = latency.quantiles_us([0.5, 0.99, 1.0]);
        let metrics = [
            ("cpu_busy_pct", 93.4),
            ("cpu_user_pct", 70.2),
            ("cpu_sys_pct", 20.1),
            ("cpu_iowait_pct", 3.1),
            ("cpu_steal_pct", 0.0),
            ("device_util_pct", 41.0),
            ("device_reads_per_s", 812.0),
            ("device_read_latency_us", 180.0),
            ("device_writes_per_s", 1_204.0),
            ("commits_per_s", 2_401.0),
            ("logical_reads_per_s", 780_400.0),
            ("redo_mb_per_s", 12.4),
        ];
        let metrics: BTreeMap<String, f64> = metrics.map(|(name, value)| (name.to_owned(), value)).into();
        let (at_s, errors) = (f64::from(second), u64::from(second == 3));
        let point = SeriesPoint {
            bands: vec![(10, 600), (11, 300), (12, 60), (14, 20), (18, 15), (23, 5)],
            at_s,
            seconds: 1.0,
            ops,
            errors,
            p50_us,
            p99_us,
            max_us,
            metrics,
            slowest: None,
        };
        (so_far.until_s, so_far.ops, so_far.errors) = (at_s + 1.0, so_far.ops + ops, so_far.errors + errors);
        so_far.latency.add(&latency);
        let wait = |class: &str, event: &str, average_sessions: f64| WaitTime {
            class: class.into(),
            event: event.into(),
            average_sessions,
            share_pct: average_sessions * 100.0 / 7.4,
        };
        let events = vec![
            wait("CPU", "CPU", 3.9),
            wait("IO", "DataFileRead", 1.7),
            wait("LWLock", "WALWrite", 0.9),
            wait("IO", "WALSync", 0.6),
            wait("Client", "ClientRead", 0.2),
            wait("Lock", "transactionid", 0.1),
        ];
        let waits = Waits::Sampled {
            samples: 10 * u64::from(second + 1),
            asked_per_s: 10.0,
            average_active_sessions: 7.4,
            events,
            company: ForeignActivity::default(),
        };
        let complete = CompletedInterval {
            point,
            latency,
            so_far: so_far.clone(),
            waits,
            changes: changes.to_vec(),
            resets: Vec::new(),
            snapshot_count: u64::from(second) + 2,
            counters: vec![CumulativeCounters::default()],
        };
        state.apply_event(
            &CampaignEvent::Phase(dyno_drive::RunEvent::Complete(Box::new(complete))),
            12.0 + at_s,
        );
    }
    let live = LiveProgress {
        elapsed_s: f64::from(seconds) + 1.0,
        total_s: Some(60.0),
        done: (f64::from(seconds) + 1.0) / 60.0,
        until_s: Some(f64::from(seconds)),
        ops_per_s: 12_000.0,
        p50_us: None,
        p99_us: None,
        errors: 1,
    };
    state.apply_event(&CampaignEvent::Phase(dyno_drive::RunEvent::Interval(live)), 11.0 + f64::from(seconds));
}

fn run() -> ScreenState {
    let mut state = ScreenState::new("run");
    begin(&mut state);
    let change = MarkChange {
        kind: MarkKind::Setting,
        name: "work_mem".into(),
        from: Some("4MB".into()),
        to: Some("64MB".into()),
        seen_s: Some(7.0),
    };
    window(&mut state, 24, &[change]);
    state
}

#[test]
fn screen_shows_run_in_its_window() {
    golden("run", &run(), 35.5);
}

#[test]
fn screen_shows_sweep_in_progress() {
    let mut state = sweep();
    begin(&mut state);
    window(&mut state, 12, &[]);
    golden("sweep", &state, 23.25);
    assert_eq!(state.progress.window_left_s(23.25).unwrap(), 46.75);
}

#[test]
fn screen_before_first_interval_and_while_paused() {
    let mut state = ScreenState::new("run");
    begin(&mut state);
    golden("begin", &state, 12.0);
    let mut state = sweep();
    state.apply_event(&CampaignEvent::Paused(true), 6.0);
    state.key_requests.pause = true;
    golden("paused", &state, 12.0);
}

#[test]
fn screen_shows_load_progress() {
    let mut state = ScreenState::new("load");
    state.apply_event(&CampaignEvent::Load(LoadEvent::Target("postgres://dyno@db1/bench".into())), 0.0);
    state.apply_event(&CampaignEvent::Load(LoadEvent::Phase("rows".into(), 1_000_000)), 1.0);
    state.apply_event(&CampaignEvent::Load(LoadEvent::Advance(250_000, 2_000_000_000)), 5.0);
    golden("load", &state, 11.0);
}

#[test]
fn screen_shows_help_and_zoomed_panel() {
    let mut state = sweep();
    state.help = true;
    golden("help", &state, 12.0);
    let mut state = run();
    state.zoom = Some(Panel::Throughput);
    golden("zoom", &state, 35.5);
}

/// At any size, something is drawn and nothing panics; a terminal without UTF-8 gets ASCII frames and bars.
#[test]
fn screen_draws_at_any_size_and_in_ascii() {
    let mut state = sweep();
    begin(&mut state);
    window(&mut state, 12, &[]);
    for panel in Panel::ALL.map(Some).into_iter().chain([None]) {
        state.zoom = panel;
        for width in [1, 5, 17, 59, 60, 61, 80, 119, 120, 300] {
            for height in [1, 2, 3, 15, 16, 24, 90] {
                drawn(&state, &LOOK, (width, height), 30.0);
            }
        }
    }
    state.zoom = None;
    let ascii = drawn(&state, &ScreenStyle { color: true, ascii: true }, (100, 30), 30.0);
    assert!(!ascii.contains(['│', '┌', '█', '▶', '≤']), "{ascii}");
}

#[test]
fn panel_of_waits_says_why_it_shows_none() {
    let mut state = run();
    let Some(complete) = &mut state.progress.complete else { unreachable!() };
    if let Waits::Sampled { average_active_sessions, events, .. } = &mut complete.waits {
        (*average_active_sessions, *events) = (0.0, Vec::new());
    }
    let text = drawn(&state, &LOOK, (140, 40), 35.0);
    assert!(text.contains("No sample found a session active"), "{text}");
}

/// Names come from databases, plans and errors; they must reach the terminal only as plain text.
#[test]
fn external_text_is_escaped_on_screen() {
    let hostile = "x\u{1b}[2J\u{9b}8m\u{202e}\r\n";
    let mut state = run();
    state.progress.targets = hostile.to_owned();
    state.messages = [hostile.to_owned()].into();
    if let Some(complete) = &mut state.progress.complete {
        complete.changes[0].name = hostile.to_owned();
        complete.waits = Waits::Absent { absent: hostile.to_owned() };
    }
    state.apply_event(&CampaignEvent::Load(LoadEvent::Phase(hostile.to_owned(), 5)), 1.0);
    for load in [true, false] {
        let text = drawn(&state, &LOOK, (140, 40), 35.0);
        assert!(text.contains("u{1b}") || text.contains("u{9b}"), "{text}");
        let acting = |c: char| c != '\n' && (c.is_control() || matches!(c, '\u{202e}'));
        assert!(!text.contains(acting), "{text:?}");
        if load {
            state.progress.phase = RunPhase::Window;
        }
    }
}

#[test]
fn screen_keys_trigger_only_available_actions() {
    let key = |code, modifiers| Key::Key(KeyEvent::new(code, modifiers));
    let plain = |c| key(KeyCode::Char(c), KeyModifiers::NONE);
    let mut alone = run();
    assert_eq!(
        [plain('p'), plain('s')].map(|key| key_action(&key, &alone)),
        [KeyAction::Nothing, KeyAction::Nothing]
    );
    let control_c = key(KeyCode::Char('c'), KeyModifiers::CONTROL);
    assert_eq!(
        [plain('q'), control_c.clone()].map(|key| key_action(&key, &alone)),
        [KeyAction::Stop, KeyAction::Stop]
    );
    alone.key_requests.stop = true;
    // Holding a key down must not end the program.
    assert_eq!(
        [plain('q'), control_c].map(|key| key_action(&key, &alone)),
        [KeyAction::Nothing, KeyAction::Stop]
    );
    let mut several = sweep();
    assert_eq!(
        [plain('p'), plain('s')].map(|key| key_action(&key, &several)),
        [KeyAction::Pause, KeyAction::Nothing]
    );
    begin(&mut several);
    assert_eq!(key_action(&plain('s'), &several), KeyAction::Skip);
    for _ in Panel::ALL {
        several.zoom_on();
    }
    assert_eq!(several.zoom, Some(Panel::Runs));
    several.zoom_on();
    assert_eq!(several.zoom, None);
}
