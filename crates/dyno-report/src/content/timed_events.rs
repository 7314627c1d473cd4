//! Where database time was spent: the top timed events, and the database's own distributions of waits.

use dyno_analyze::attribution::is_marked;
use dyno_analyze::bands::{LatencyBand, database_bands};
use dyno_analyze::limited::WaitClass;
use dyno_analyze::number::{ABSENT, count, time_us};
use dyno_analyze::points::figure as measured;
use dyno_analyze::timed_events::timed_events;
use dyno_record::{Counter, Histogram, Latency, RunRecord, WaitTime, Waits};

use crate::chart::bars::bar;
use crate::figures::event_name;
use crate::model::table::{ColumnPlace, Grid, GridCell, GridHead};
use crate::text::clean;

/// Maximum events in a table.
pub(crate) const EVENTS_MAX: usize = 12;

/// Columns of the bar of a share.
const BAR: usize = 30;

/// Characters of a figure; a longer one is shown as `1.23G`.
const FIGURE_MAX: usize = 12;

fn shown(value: f64) -> GridCell {
    GridCell::within(value, FIGURE_MAX)
}

/// A row for a band of times: its name, its number, its share, and the share up to its end.
pub(crate) fn band_row(band: &LatencyBand) -> Vec<GridCell> {
    let [share, under] = [band.share_pct, band.under_pct].map(GridCell::percent);
    vec![band.name().into(), GridCell::count(band.count), share, under]
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

/// Heads of the top timed events, as AWR prints them.
fn event_heads(share: GridHead) -> Vec<GridHead> {
    vec![
        GridHead::text("top timed event"),
        GridHead::figures("waits", ""),
        GridHead::figures("time", "s"),
        GridHead::figures("average wait", "µs"),
        share,
        GridHead::tight("class"),
    ]
}

/// Time of the sessions by event, and a sentence about it: as the database counts and times its events, else
/// as sampled.
pub(crate) fn events(record: &RunRecord) -> Option<(Grid, String)> {
    counted_events(record).or_else(|| sampled_events(record))
}

/// The events that the database counts and times, with processor time; `None` if it does not.
pub(crate) fn counted_events(record: &RunRecord) -> Option<(Grid, String)> {
    let events = timed_events(record)?;
    let share = GridHead::figures("DB time", "%").explained("share of the time that sessions spent in calls");
    let mut grid = Grid::new(event_heads(share));
    for event in events.iter().take(EVENTS_MAX) {
        let wait = WaitTime {
            class: event.class.clone(),
            event: event.event.clone(),
            average_sessions: 0.0,
            share_pct: 0.0,
        };
        let tone = if event.waits.is_none() { "wait cpu" } else { class(&wait).1 };
        let class_name = if event.waits.is_none() { "CPU" } else { &event.class };
        let waits = event.waits.filter(|waits| *waits > 0);
        let average_us = waits.map(|waits| event.seconds * 1e6 / waits as f64);
        grid.row(vec![
            GridCell::text(&event.event),
            GridCell::count(event.waits),
            shown(event.seconds),
            GridCell::figure(average_us),
            GridCell::percent(event.db_time_pct),
            GridCell::text(class_name).toned(tone),
        ]);
    }
    let words = "Events are counted and timed by the database, for foreground sessions; processor time has no waits. The \
                 share is of DB time, which also has time that belongs to no event, so shares need not add up to 100 %.";
    let mut words = words.to_owned();
    if let Err(reason) = record.counters.get(Counter::DbTime) {
        words.push_str(&format!(" DB time is unknown: {reason}."));
    }
    if let Err(reason) = record.counters.get(Counter::CpuTime) {
        words.push_str(&format!(" Processor time is unknown: {reason}."));
    }
    (!grid.rows.is_empty()).then_some((grid, words))
}

/// Heading of the distributions of waits.
pub(crate) const DISTRIBUTIONS: &str = "distribution of waits";

/// The database's own distributions of waits, by event; `None` if it has none. Each event has a title, then a
/// row for each band. At most `events_max` events, those with the most waiting time first.
pub(crate) fn wait_distributions(record: &RunRecord, events_max: usize) -> Option<Grid> {
    let latencies = &record.counters.latencies;
    // The waits of a whole instance include those of the container.
    let is_repeated =
        |event: &str| event.strip_prefix("instance ").is_some_and(|own| latencies.contains_key(own));
    let mut all: Vec<_> =
        latencies.iter().filter(|(event, latency)| latency.count > 0 && !is_repeated(event)).collect();
    let time = |latency: &Latency| latency.mean.unwrap_or(0.0) * latency.count as f64;
    all.sort_by(|(_, a), (_, b)| time(b).total_cmp(&time(a)));
    let mut grid = Grid::new(vec![
        GridHead::text(DISTRIBUTIONS),
        GridHead::figures("waits", ""),
        GridHead::figures("share", "%").explained("of the waits for this event"),
        GridHead::figures("cumulative", "%"),
    ]);
    for (event, latency) in all.into_iter().take(events_max) {
        let Some(Ok(histogram)) = latency.histogram.as_deref().map(Histogram::decode) else { continue };
        let time = |time: Option<f64>| time.map_or_else(|| ABSENT.to_owned(), time_us);
        let title = format!(
            "{}: {} waits, median {}, p99 {}",
            clean(event),
            count(latency.count),
            time(latency.p50),
            time(latency.p99)
        );
        grid.row(vec![GridCell::text(&title)]);
        for band in database_bands(&histogram) {
            grid.row(band_row(&band));
        }
    }
    (!grid.rows.is_empty()).then_some(grid)
}

/// Sampled time of the sessions by event, with the part that samples cannot attribute; and a sentence about
/// them. A terminal draws the shares as bars.
pub(crate) fn sampled_events(record: &RunRecord) -> Option<(Grid, String)> {
    let Waits::Sampled { samples, events, .. } = &record.waits else { return None };
    let seconds = record.window.as_ref()?.seconds;
    let share = GridHead::figures("sampled time", "%")
        .explained("share of the samples of active sessions, which estimates the share of DB time");
    let mut heads = event_heads(share);
    heads[2] = GridHead::figures("time", "s").explained("sessions in it on average × length of the window");
    heads.push(GridHead::figures("sessions", "").explained("in it on average"));
    heads.push(GridHead::figures("samples", ""));
    // Samples know neither the number nor the length of waits.
    for at in [1, 2, 3, 5, 7] {
        heads[at].place = ColumnPlace::OnPages;
    }
    heads.push(GridHead::text("").only_in_terminal().spare(1));
    let mut grid = Grid::new(heads);
    for event in events.iter().take(EVENTS_MAX) {
        let (class, tone) = class(event);
        grid.row(vec![
            GridCell::text(&event_name(event)),
            GridCell::absent(),
            shown(event.average_sessions * seconds),
            GridCell::absent(),
            GridCell::percent(event.share_pct),
            GridCell::text(class).toned(tone),
            shown(event.average_sessions),
            GridCell::count((event.average_sessions * *samples as f64).round() as u64),
            bar(event.share_pct / 100.0, BAR).into(),
        ]);
    }
    let metric_value = |metric: &str| measured(record, metric).map(|(value, _)| value);
    for (name, class, tone, rate, mean) in TIMED {
        // Reads of a device that the database did not cause are no event of its sessions.
        if rate == "device_reads_per_s"
            && metric_value("physical_reads_per_s").is_some_and(|reads| reads <= 0.0)
        {
            continue;
        }
        let (Some(per_s), Some(mean_us)) =
            (metric_value(rate).filter(|rate| *rate > 0.0), metric_value(mean))
        else {
            continue;
        };
        let marked = is_marked(record, rate) || is_marked(record, mean);
        grid.row(vec![
            GridCell::text(name),
            GridCell::count((per_s * seconds).round() as u64).marked(marked),
            shown(per_s * seconds * mean_us / 1e6).marked(marked),
            GridCell::figure(mean_us).marked(marked),
            GridCell::absent(),
            GridCell::text(class).toned(tone),
            // Writes in the background have no session that waits.
            if class == BACKGROUND {
                GridCell::absent()
            } else {
                shown(per_s * mean_us / 1e6).marked(marked)
            },
            GridCell::absent(),
            GridCell::default(),
        ]);
    }
    let words = format!(
        "Events come from {} samples of the sessions, which show neither the number of waits nor their length. Below them are \
         events that the server or the system counts and times, with number and mean. Shares here are of the time active in \
         the database; a share \u{201c}of their time\u{201d} in the bottleneck is of all time of the sessions.",
        count(*samples)
    );
    (!grid.rows.is_empty()).then_some((grid, words))
}

/// Whether a row that the database or the device timed is made from this metric.
pub(crate) fn is_timed(metric: &str) -> bool {
    TIMED.iter().any(|(.., rate, mean)| *rate == metric || *mean == metric)
}

/// Events that are both counted and timed: name, class, rate, and mean.
const TIMED: [(&str, &str, &str, &str, &str); 4] = [
    (
        "reads, as timed by the database",
        "User I/O",
        "wait user-io",
        "physical_read_requests_per_s",
        "physical_read_latency_us",
    ),
    (
        "writes, as timed by the database",
        BACKGROUND,
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
];

/// The class of events that also happen outside sessions.
const BACKGROUND: &str = "System I/O";

#[cfg(test)]
mod tests {
    use dyno_analyze::fixture;
    use dyno_analyze::number::figure;
    use dyno_record::{CounterDelta, EventCounters, ForeignActivity, Metric, Unit};

    use super::*;

    fn texts(grid: &Grid) -> Vec<Vec<String>> {
        grid.rows.iter().map(|(_, cells)| cells.iter().map(|cell| cell.text.clone()).collect()).collect()
    }

    fn find<'r>(rows: &'r [Vec<String>], name: &str) -> &'r [String] {
        rows.iter().find(|row| row[0] == name).unwrap_or_else(|| panic!("{name}: {rows:?}"))
    }

    #[test]
    fn device_requests_that_no_session_waited_for_are_no_events() {
        let mut record = fixture::postgres();
        let mut put = |name: &str, value, unit| {
            record.metrics.insert(name.into(), Metric::Value { value, unit });
        };
        for what in ["read", "write"] {
            put(&format!("device_{what}s_per_s"), 13.0, Unit::PerSecond);
            put(&format!("device_{what}_latency_us"), 250.0, Unit::Microseconds);
        }
        put("physical_reads_per_s", 0.0, Unit::BlocksPerSecond);
        let (grid, _) = sampled_events(&record).unwrap();
        assert!(texts(&grid).iter().all(|row| !row[0].contains("device")), "{:?}", texts(&grid));
        record.metrics.remove("physical_reads_per_s");
        let (grid, _) = sampled_events(&record).unwrap();
        assert!(texts(&grid).iter().any(|row| row[0] == "reads of the device"));
    }

    #[test]
    fn sampled_events_leave_unknown_values_open() {
        let mut record = fixture::postgres();
        let value = |value, unit| Metric::Value { value, unit };
        record.metrics.insert("device_reads_per_s".into(), value(100.0, Unit::PerSecond));
        record.metrics.insert("device_read_latency_us".into(), value(250.0, Unit::Microseconds));
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
        let (grid, _) = events(&record).unwrap();
        assert_eq!(grid.heads[4].label, "sampled time", "a share of samples is no share of DB time");
        let shown = texts(&grid);
        let cpu = find(&shown, "CPU");
        assert_eq!([&cpu[1], &cpu[3], &cpu[4], &cpu[5]], [ABSENT, ABSENT, "75.0", "CPU"]);
        assert_eq!((shown[1][5].as_str(), grid.rows[1].1[5].tone), ("Commit", "wait commit"));
        assert_eq!(find(&shown, "reads of the device")[3], figure(250.0));
        record.waits = Waits::Absent { absent: "nobody looked".into() };
        assert!(events(&record).is_none());
    }

    #[test]
    fn counted_events_have_waits_average_and_share_of_db_time() {
        let mut record = fixture::postgres();
        record.targets[0].identity.counting.events = Some(EventCounters {
            prefix: "event.".into(),
            waits: ".foreground_waits".into(),
            time_us: ".foreground_us".into(),
        });
        record.counters.native.extend([
            ("event.User I/O.db file sequential read.foreground_waits".to_owned(), 4_000.0),
            ("event.User I/O.db file sequential read.foreground_us".to_owned(), 1_000_000.0),
        ]);
        let moved =
            |delta: i64| CounterDelta::Moved { begin: 0, end: delta as u64, delta, unit: Unit::Microseconds };
        record.counters.portable.insert(Counter::DbTime, moved(10_000_000));
        record.counters.portable.insert(Counter::CpuTime, moved(2_000_000));
        let (grid, _) = events(&record).unwrap();
        let shown = texts(&grid);
        assert_eq!(shown[0], ["DB CPU", ABSENT, "2.00", ABSENT, "20.0", "CPU"]);
        assert_eq!(shown[1], ["db file sequential read", "4,000", "1.00", "250", "10.0", "User I/O"]);
        // Unknown DB time and processor time are dashes with their reasons.
        for counter in [Counter::DbTime, Counter::CpuTime] {
            let absent = CounterDelta::Absent { absent: "no privilege".into() };
            record.counters.portable.insert(counter, absent);
        }
        let (grid, words) = events(&record).unwrap();
        assert_eq!(texts(&grid)[0][4], ABSENT);
        assert!(words.contains("DB time is unknown: no privilege."), "{words}");
        assert!(words.contains("Processor time is unknown: no privilege."), "{words}");
    }

    #[test]
    fn wait_distributions_have_bands_with_the_longest_event_first() {
        let mut record = fixture::postgres();
        record.counters.latencies.clear();
        assert!(wait_distributions(&record, 3).is_none());
        for (event, us, waits) in [("log file sync", 384, 10), ("db file sequential read", 96, 1_000)] {
            let mut histogram = Histogram::new();
            histogram.record_n_ns(us * 1_000, waits);
            record.counters.latencies.insert(event.into(), histogram.summary());
        }
        let of_container = record.counters.latencies["log file sync"].clone();
        record.counters.latencies.insert("instance log file sync".into(), of_container);
        let rows = texts(&wait_distributions(&record, 3).unwrap());
        assert_eq!(rows.len(), 4, "each event once: {rows:?}");
        assert!(rows[0][0].starts_with("db file sequential read: 1,000 waits, median 96"), "{rows:?}");
        assert_eq!(rows[1][..3], ["64–128 µs", "1,000", "100"]);
        assert!(rows[2][0].starts_with("log file sync: 10 waits"), "{rows:?}");
        assert_eq!(texts(&wait_distributions(&record, 1).unwrap()).len(), 2);
    }
}
