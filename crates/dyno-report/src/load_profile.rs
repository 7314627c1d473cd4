//! A run's activity as database administrators read it: per second and per operation, and where database time
//! was spent.

use dyno_analyze::attribution::{is_marked, mark};
use dyno_analyze::limited::WaitClass;
use dyno_analyze::number::{ABSENT, bytes, count, percent, time_us, within};
use dyno_analyze::points::figure as measured;
use dyno_record::{RunRecord, WaitTime, Waits};

use crate::figures::event_name;
use crate::grid::{Grid, GridCell, GridHead};

const EVENTS_MAX: usize = 12;

/// Heading of the two tables.
pub(crate) const TITLE: &str = "load profile";

/// Characters of a figure; a longer one is shown as `1.23G`.
const FIGURE_MAX: usize = 12;

fn shown(value: f64) -> String {
    within(value, FIGURE_MAX)
}

/// Format of a figure of the load profile.
#[derive(Debug, Clone, Copy)]
enum ProfileFormat {
    Number,
    Bytes,
}

/// Lines of the profile: the metric, its name, and its format.
const LINES: [(&str, &str, ProfileFormat); 16] = [
    ("ops_per_s", "operations", ProfileFormat::Number),
    ("rows_per_s", "rows", ProfileFormat::Number),
    ("logical_reads_per_s", "logical reads (blocks)", ProfileFormat::Number),
    ("physical_reads_per_s", "physical reads (blocks)", ProfileFormat::Number),
    ("physical_read_requests_per_s", "read requests", ProfileFormat::Number),
    ("physical_writes_per_s", "physical writes (blocks)", ProfileFormat::Number),
    ("physical_write_requests_per_s", "write requests", ProfileFormat::Number),
    ("redo_bytes_per_s", "redo", ProfileFormat::Bytes),
    ("redo_writes_per_s", "redo writes", ProfileFormat::Number),
    ("redo_syncs_per_s", "redo syncs", ProfileFormat::Number),
    ("commits_per_s", "commits", ProfileFormat::Number),
    ("rollbacks_per_s", "rollbacks", ProfileFormat::Number),
    ("executions_per_s", "executions", ProfileFormat::Number),
    ("rows_read_per_s", "rows read", ProfileFormat::Number),
    ("rows_written_per_s", "rows written", ProfileFormat::Number),
    ("scans_per_s", "scans", ProfileFormat::Number),
];

/// The load profile of a run; `None` if its operations were not counted.
pub(crate) fn load(record: &RunRecord) -> Option<Grid> {
    let (ops, _) = measured(record, "ops_per_s").filter(|(ops, _)| *ops > 0.0)?;
    let mut grid = Grid::new(vec![
        GridHead::text(TITLE),
        GridHead::figures("per second", ""),
        GridHead::figures("per operation", ""),
    ]);
    let mut row = |name: &str, texts: [String; 2], marked: bool| {
        let [per_s, per_op] = texts.map(|text| GridCell::text(&mark(text, marked)));
        grid.row(vec![GridCell::text(name), per_s, per_op]);
    };
    let active = ["database_active_sessions", "average_active_sessions"];
    if let Some((name, sessions)) = active.iter().find_map(|name| Some((name, measured(record, name)?.0))) {
        row(
            "DB time",
            [format!("{} s", shown(sessions)), time_us(sessions * 1e6 / ops)],
            is_marked(record, name),
        );
    }
    for (metric, name, show) in LINES {
        // One metric has two names.
        let per_s = measured(record, metric).map(|(value, _)| value).or_else(|| {
            let (megabytes, _) =
                (metric == "redo_bytes_per_s").then(|| measured(record, "redo_mb_per_s"))??;
            Some(megabytes * 1e6)
        });
        let Some(per_s) = per_s else { continue };
        let text = |value: f64| match show {
            ProfileFormat::Number => shown(value),
            ProfileFormat::Bytes => bytes(value.round() as u64),
        };
        row(name, [text(per_s), text(per_s / ops)], is_marked(record, metric));
    }
    Some(grid)
}

/// The class of a wait in the words and colors of Oracle's charts, for any engine.
pub(crate) fn class(event: &WaitTime) -> (&'static str, &'static str) {
    match WaitClass::of(&event.class, &event.event) {
        WaitClass::Cpu => ("CPU", "wait cpu"),
        WaitClass::Commit => ("Commit", "wait commit"),
        WaitClass::Device => ("User I/O", "wait user-io"),
        WaitClass::RowLock | WaitClass::Lock => ("Application", "wait application"),
        WaitClass::Latch => ("Concurrency", "wait concurrency"),
        WaitClass::Outside => ("Network", "wait network"),
        WaitClass::Other => ("Other", "wait other"),
    }
}

/// Sampled time of the sessions by event, with the part that samples cannot attribute; and a sentence about
/// them.
pub(crate) fn events(record: &RunRecord) -> Option<(Grid, String)> {
    let Waits::Sampled { samples, events, .. } = &record.waits else { return None };
    let seconds = record.window.as_ref()?.seconds;
    let mut grid = Grid::new(vec![
        GridHead::text("top timed event"),
        GridHead::tight("class"),
        GridHead::figures("share of DB time", "%"),
        GridHead::figures("time", "s").explained("sessions in it on average × length of the window"),
        GridHead::figures("sessions", "").explained("in it on average"),
        GridHead::figures("samples", ""),
        GridHead::figures("waits", ""),
        GridHead::figures("mean wait", ""),
    ]);
    for event in events.iter().take(EVENTS_MAX) {
        let (class, tone) = class(event);
        grid.row(vec![
            GridCell::text(&event_name(event)),
            GridCell { tone, ..GridCell::text(class) },
            GridCell::text(&percent(event.share_pct)),
            GridCell::text(&shown(event.average_sessions * seconds)),
            GridCell::text(&shown(event.average_sessions)),
            GridCell::text(&count((event.average_sessions * *samples as f64).round() as u64)),
            GridCell::text(ABSENT),
            GridCell::text(ABSENT),
        ]);
    }
    for (name, class, tone, rate, mean) in TIMED {
        let metric_value = |metric: &str| measured(record, metric).map(|(value, _)| value);
        let (Some(per_s), Some(mean_us)) =
            (metric_value(rate).filter(|rate| *rate > 0.0), metric_value(mean))
        else {
            continue;
        };
        let marked = is_marked(record, rate) || is_marked(record, mean);
        let marked_cell = |text: String| GridCell::text(&mark(text, marked));
        grid.row(vec![
            GridCell::text(name),
            GridCell { tone, ..GridCell::text(class) },
            GridCell::text(ABSENT),
            marked_cell(shown(per_s * seconds * mean_us / 1e6)),
            marked_cell(shown(per_s * mean_us / 1e6)),
            GridCell::text(ABSENT),
            marked_cell(count((per_s * seconds).round() as u64)),
            marked_cell(time_us(mean_us)),
        ]);
    }
    let words = format!(
        "Events are from {} samples of the sessions: how often and how long one waited is not in a sample. What the server and the \
         system count and time themselves stands beneath, with its number and mean.",
        count(*samples)
    );
    (!grid.rows.is_empty()).then_some((grid, words))
}

/// Events that are both counted and timed: name, class, rate, and mean.
const TIMED: [(&str, &str, &str, &str, &str); 5] = [
    (
        "reads, as timed by the database",
        "User I/O",
        "wait user-io",
        "physical_read_requests_per_s",
        "physical_read_latency_us",
    ),
    (
        "writes, as timed by the database",
        "System I/O",
        "wait system-io",
        "physical_write_requests_per_s",
        "physical_write_latency_us",
    ),
    (
        "redo syncs, as timed by the database",
        "Commit",
        "wait commit",
        "redo_syncs_per_s",
        "redo_sync_latency_us",
    ),
    ("reads of the device", "User I/O", "wait user-io", "device_reads_per_s", "device_read_latency_us"),
    (
        "writes of the device",
        "System I/O",
        "wait system-io",
        "device_writes_per_s",
        "device_write_latency_us",
    ),
];

#[cfg(test)]
mod tests {
    use dyno_analyze::fixture;
    use dyno_record::{Attribution, AttributionScope, ForeignActivity, Metric, Unit};

    use super::*;

    #[test]
    fn run_load_profile_and_events_leave_unknown_values_open() {
        let mut record = fixture::postgres();
        let ops = record.leading_ops().unwrap().rate_per_s;
        let value = |value, unit| Metric::Value { value, unit };
        record.metrics.insert("commits_per_s".into(), value(ops * 2.0, Unit::PerSecond));
        record.metrics.insert("device_reads_per_s".into(), value(100.0, Unit::PerSecond));
        record.metrics.insert("device_read_latency_us".into(), value(250.0, Unit::Microseconds));
        let attribution = Attribution {
            scope: AttributionScope::Server,
            others_pct: None,
            marked: true,
            why: "others".into(),
        };
        record.whose.insert("commits_per_s".into(), attribution);
        let wait = |class: &str, event: &str, sessions: f64| WaitTime {
            class: class.into(),
            event: event.into(),
            average_sessions: sessions,
            share_pct: sessions * 25.0,
        };
        record.waits = Waits::Sampled {
            samples: 100,
            asked_per_s: 10.0,
            average_active_sessions: 4.0,
            events: vec![wait("CPU", "CPU", 3.0), wait("IO", "WalSync", 1.0)],
            company: ForeignActivity::default(),
        };
        let texts = |grid: &Grid| -> Vec<Vec<String>> {
            grid.rows.iter().map(|(_, cells)| cells.iter().map(|cell| cell.text.clone()).collect()).collect()
        };
        let load = texts(&load(&record).unwrap());
        let commits = load.iter().find(|row| row[0] == "commits").unwrap();
        assert_eq!(commits[2], "2.00†", "per operation, with the mark of others' part");
        let (grid, _) = events(&record).unwrap();
        let shown = texts(&grid);
        assert_eq!(
            (shown[0][0].as_str(), shown[0][1].as_str(), shown[0][6].as_str()),
            ("CPU", "CPU", ABSENT)
        );
        assert_eq!((shown[1][1].as_str(), grid.rows[1].1[1].tone), ("Commit", "wait commit"));
        let device = shown.last().unwrap();
        assert_eq!(device[7], "250 µs");
        record.waits = Waits::Absent { absent: "nobody looked".into() };
        assert!(events(&record).is_none());
    }
}
