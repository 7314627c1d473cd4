//! What a run did, as administrators of databases read it: per second and per operation, and where the time of the database went.

use dyno_analyze::limited::WaitClass;
use dyno_analyze::number::{ABSENT, bytes, count, percent, time_us, within};
use dyno_analyze::points::figure as measured;
use dyno_analyze::whose::{is_marked, mark};
use dyno_record::{RunRecord, WaitTime, Waits};

use crate::figures::event_name;
use crate::grid::{Cell, Grid, Head};

/// Events that are shown.
const EVENTS_MAX: usize = 12;

/// What stands over the two tables.
pub(crate) const TITLE: &str = "load profile";

/// Characters of a figure; a longer one is shown as `1.23G`.
const FIGURE_MAX: usize = 12;

fn shown(value: f64) -> String {
    within(value, FIGURE_MAX)
}

/// How a figure of the load profile is shown.
#[derive(Debug, Clone, Copy)]
enum Show {
    Number,
    Bytes,
}

/// Lines of the profile: the metric, and its name.
const LINES: [(&str, &str, Show); 16] = [
    ("ops_per_s", "operations", Show::Number),
    ("rows_per_s", "rows", Show::Number),
    ("logical_reads_per_s", "logical reads (blocks)", Show::Number),
    ("physical_reads_per_s", "physical reads (blocks)", Show::Number),
    ("physical_read_requests_per_s", "read requests", Show::Number),
    ("physical_writes_per_s", "physical writes (blocks)", Show::Number),
    ("physical_write_requests_per_s", "write requests", Show::Number),
    ("redo_bytes_per_s", "redo", Show::Bytes),
    ("redo_writes_per_s", "redo writes", Show::Number),
    ("redo_syncs_per_s", "redo syncs", Show::Number),
    ("commits_per_s", "commits", Show::Number),
    ("rollbacks_per_s", "rollbacks", Show::Number),
    ("executions_per_s", "executions", Show::Number),
    ("rows_read_per_s", "rows read", Show::Number),
    ("rows_written_per_s", "rows written", Show::Number),
    ("scans_per_s", "scans", Show::Number),
];

/// The load profile of a run; none where nobody counted its operations.
pub(crate) fn load(record: &RunRecord) -> Option<Grid> {
    let (ops, _) = measured(record, "ops_per_s").filter(|(ops, _)| *ops > 0.0)?;
    let mut grid = Grid::new(vec![
        Head::text(TITLE),
        Head::figures("per second", ""),
        Head::figures("per operation", ""),
    ]);
    let mut row = |name: &str, texts: [String; 2], marked: bool| {
        let [per_s, per_op] = texts.map(|text| Cell::text(&mark(text, marked)));
        grid.row(vec![Cell::text(name), per_s, per_op]);
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
        // One figure under two names.
        let per_s = measured(record, metric).map(|(value, _)| value).or_else(|| {
            let (megabytes, _) =
                (metric == "redo_bytes_per_s").then(|| measured(record, "redo_mb_per_s"))??;
            Some(megabytes * 1e6)
        });
        let Some(per_s) = per_s else { continue };
        let text = |value: f64| match show {
            Show::Number => shown(value),
            Show::Bytes => bytes(value.round() as u64),
        };
        row(name, [text(per_s), text(per_s / ops)], is_marked(record, metric));
    }
    Some(grid)
}

/// The class of a wait in the words and colours of Oracle's charts, whatever engine it is of.
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

/// Where the time of the sessions went by samples, with what samples cannot tell left open; and a sentence about them.
pub(crate) fn events(record: &RunRecord) -> Option<(Grid, String)> {
    let Waits::Sampled { samples, events, .. } = &record.waits else { return None };
    let seconds = record.window.as_ref()?.seconds;
    let mut grid = Grid::new(vec![
        Head::text("top timed event"),
        Head::tight("class"),
        Head::figures("share of DB time", "%"),
        Head::figures("time", "s").explained("sessions in it on average × length of the window"),
        Head::figures("sessions", "").explained("in it on average"),
        Head::figures("samples", ""),
        Head::figures("waits", ""),
        Head::figures("mean wait", ""),
    ]);
    for event in events.iter().take(EVENTS_MAX) {
        let (class, tone) = class(event);
        grid.row(vec![
            Cell::text(&event_name(event)),
            Cell { tone, ..Cell::text(class) },
            Cell::text(&percent(event.share_pct)),
            Cell::text(&shown(event.average_sessions * seconds)),
            Cell::text(&shown(event.average_sessions)),
            Cell::text(&count((event.average_sessions * *samples as f64).round() as u64)),
            Cell::text(ABSENT),
            Cell::text(ABSENT),
        ]);
    }
    for (name, class, tone, rate, mean) in TIMED {
        let of = |metric: &str| measured(record, metric).map(|(value, _)| value);
        let (Some(per_s), Some(mean_us)) = (of(rate).filter(|rate| *rate > 0.0), of(mean)) else { continue };
        let marked = is_marked(record, rate) || is_marked(record, mean);
        let told = |text: String| Cell::text(&mark(text, marked));
        grid.row(vec![
            Cell::text(name),
            Cell { tone, ..Cell::text(class) },
            Cell::text(ABSENT),
            told(shown(per_s * seconds * mean_us / 1e6)),
            told(shown(per_s * mean_us / 1e6)),
            Cell::text(ABSENT),
            told(count((per_s * seconds).round() as u64)),
            told(time_us(mean_us)),
        ]);
    }
    let words = format!(
        "Events are from {} samples of the sessions: how often and how long one waited is not in a sample. What the server and the \
         system count and time themselves stands beneath, with its number and mean.",
        count(*samples)
    );
    (!grid.rows.is_empty()).then_some((grid, words))
}

/// What is counted and timed: its name, its class, the rate, and the mean.
const TIMED: [(&str, &str, &str, &str, &str); 5] = [
    (
        "reads, as the database times them",
        "User I/O",
        "wait user-io",
        "physical_read_requests_per_s",
        "physical_read_latency_us",
    ),
    (
        "writes, as the database times them",
        "System I/O",
        "wait system-io",
        "physical_write_requests_per_s",
        "physical_write_latency_us",
    ),
    (
        "redo syncs, as the database times them",
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
    use dyno_record::{Company, Metric, Scope, Unit, Whose};

    use super::*;

    #[test]
    fn a_run_has_a_load_profile_and_its_events_with_what_is_not_known_left_open() {
        let mut record = fixture::postgres();
        let ops = record.leading_ops().unwrap().rate_per_s;
        let value = |value, unit| Metric::Value { value, unit };
        record.metrics.insert("commits_per_s".into(), value(ops * 2.0, Unit::PerSecond));
        record.metrics.insert("device_reads_per_s".into(), value(100.0, Unit::PerSecond));
        record.metrics.insert("device_read_latency_us".into(), value(250.0, Unit::Microseconds));
        let whose = Whose { scope: Scope::Server, others_pct: None, marked: true, why: "others".into() };
        record.whose.insert("commits_per_s".into(), whose);
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
            company: Company::default(),
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
