//! Two tables of related runs, one row for each point: processors, throughput and buffer reads; and physical
//! reads and writes. Both have all columns, so that tables of different sweeps and engines compare.

use dyno_analyze::Points;
use dyno_analyze::number::ABSENT;
use dyno_analyze::points::{MeasuredPoint, SESSIONS};

use crate::model::table::{Grid, GridCell, GridHead};
use crate::style::{Paint, Style};
use crate::text::{clean, wrap};

/// A column: its metric, its name, and for a terminal the head that it shares with its neighbors and its own;
/// and its unit.
type RampColumn = (&'static str, &'static str, &'static str, &'static str, &'static str);

/// The length of the window, which is no metric.
const WINDOW: &str = "window";

/// Maximum lines of one reason in a terminal.
const REASON_LINES_MAX: usize = 3;

/// One of the two tables.
pub(crate) struct RampTable {
    /// The heading in lower case, which pages capitalize.
    pub(crate) title: &'static str,
    columns: &'static [RampColumn],
}

/// Both tables in the order of display: work first, then storage.
pub(crate) static TABLES: [RampTable; 2] = [
    RampTable {
        title: "processors, throughput and buffer reads",
        columns: &[
            ("cpu_busy_pct", "CPU busy", "CPU", "busy", "%"),
            ("cpu_user_pct", "CPU user", "CPU", "user", "%"),
            ("cpu_sys_pct", "CPU sys", "CPU", "sys", "%"),
            ("cpu_idle_pct", "CPU idle", "CPU", "idle", "%"),
            ("rows_per_s", "rows", "throughput", "rows", "/s"),
            ("ops_per_s", "operations", "throughput", "ops", "/s"),
            ("service_mean_us", "mean service time", "service", "time", ""),
            ("logical_reads_per_s", "logical reads", "reads", "logical", "/s"),
            ("physical_reads_per_s", "physical reads", "reads", "physical", "/s"),
            (WINDOW, "window", "", "window", "s"),
        ],
    },
    RampTable {
        title: "physical reads and writes",
        columns: &[
            ("cpu_busy_pct", "CPU busy", "CPU", "busy", "%"),
            ("cpu_sys_pct", "CPU sys", "CPU", "sys", "%"),
            ("physical_read_requests_per_s", "read IOPS", "reads", "IOPS", ""),
            ("physical_reads_per_s", "blocks read", "reads", "blocks", "/s"),
            ("physical_read_mb_per_s", "MB read", "reads", "MB", "/s"),
            ("physical_write_requests_per_s", "write IOPS", "writes", "IOPS", ""),
            ("physical_writes_per_s", "blocks written", "writes", "blocks", "/s"),
            ("physical_write_mb_per_s", "MB written", "writes", "MB", "/s"),
            ("redo_writes_per_s", "redo writes", "redo", "writes", "/s"),
            ("buffer_hit_pct", "cache hits", "cache", "hits", "%"),
            (WINDOW, "window", "", "window", "s"),
        ],
    },
];

/// Whether there are several points, and the database or the host was measured.
pub(crate) fn has_tables(points: &Points) -> bool {
    let metrics = || TABLES.iter().flat_map(|table| table.columns).map(|(metric, ..)| *metric);
    let of_work = ["rows_per_s", "ops_per_s", "service_mean_us", WINDOW];
    let is_known = |point: &MeasuredPoint| {
        metrics().any(|metric| !of_work.contains(&metric) && point.estimates.contains_key(metric))
    };
    points.points.len() > 1 && points.points.iter().any(is_known)
}

/// Whether one of the tables has this measure.
pub(crate) fn is_column(measure: &str) -> bool {
    TABLES.iter().flat_map(|table| table.columns).any(|(metric, ..)| *metric == measure)
}

impl RampTable {
    /// A row for each point.
    pub(crate) fn grid(&self, points: &Points) -> Grid {
        let axes = axes(points).into_iter().map(|(head, unit)| {
            let own = head.rsplit_once('.').map_or(head.as_str(), |(_, own)| own);
            GridHead::figures(&head, unit).short("", own)
        });
        let figures = self.columns.iter().map(|(metric, name, shared, own, unit)| {
            GridHead::figures(name, unit).short(shared, own).spare(u8::from(*metric == WINDOW))
        });
        let mut grid = Grid::new(axes.chain(figures).collect());
        for point in &points.points {
            grid.row(self.cells(points, point));
        }
        grid
    }

    fn cells(&self, points: &Points, point: &MeasuredPoint) -> Vec<GridCell> {
        let sessions = points.axes.is_empty().then(|| GridCell::count(u64::from(point.sessions)));
        let values = point.values.iter().map(|value| GridCell::setting(&value.text)).chain(sessions);
        let figures = self.columns.iter().map(|(metric, _, _, _, unit)| {
            let value = if *metric == WINDOW { point.window_s() } else { point.get(metric) };
            let cell = match *unit {
                "%" => GridCell::percent(value),
                _ if metric.ends_with("_us") => GridCell::time_us(value),
                _ => GridCell::compact(value),
            };
            cell.marked(point.is_marked(metric))
        });
        values.chain(figures).collect()
    }

    /// Why a column has a dash: one sentence for each reason, with the columns that have it.
    pub(crate) fn reasons(&self, points: &Points) -> Vec<String> {
        let mut by_reason: Vec<(&str, Vec<&str>)> = Vec::new();
        for (metric, name, ..) in self.columns {
            let is_absent = |point: &MeasuredPoint| *metric != WINDOW && point.get(metric).is_none();
            if !points.points.iter().any(is_absent) {
                continue;
            }
            let reason = points.absent.get(*metric).map_or("the source does not state it", String::as_str);
            match by_reason.iter_mut().find(|(known, _)| *known == reason) {
                Some((_, names)) => names.push(name),
                None => by_reason.push((reason, vec![name])),
            }
        }
        by_reason
            .into_iter()
            .map(|(reason, names)| format!("{ABSENT} {}: {reason}", names.join(", ")))
            .collect()
    }
}

/// Heads and units of the axes; of sessions if the runs differ in nothing.
fn axes(points: &Points) -> Vec<(String, &'static str)> {
    let head = |name: &str| (if name == SESSIONS { "sessions" } else { name }).to_owned();
    match points.axes.is_empty() {
        true => vec![("sessions".to_owned(), "")],
        false => points.axes.iter().map(|axis| (head(axis.name()), axis.unit)).collect(),
    }
}

/// Both tables for a terminal, each with its heading and its reasons; empty for a single point.
pub fn ramp_tables(points: &Points, style: &Style) -> String {
    if !has_tables(points) {
        return String::new();
    }
    let mut out = String::new();
    for table in &TABLES {
        out.push_str(&format!("\n{}\n", style.paint(Paint::Head, table.title)));
        out.push_str(&table.grid(points).render(style));
        for reason in table.reasons(points) {
            for line in wrap(&clean(&reason), style.columns(), REASON_LINES_MAX) {
                out.push_str(&format!("{}\n", style.paint(Paint::Dim, &line)));
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use dyno_analyze::number::compact;
    use dyno_analyze::{fixture, points};
    use dyno_record::{Metric, RunRecord, Unit};

    use super::*;

    /// Two loads of a database without a count of redo writes.
    fn ramp() -> Vec<RunRecord> {
        let run = |sessions: u32, busy_pct: f64| {
            let mut record = fixture::postgres();
            record.id = format!("run-{sessions}");
            record.plan.run.sessions_per_schema = sessions;
            record.gate.sessions = sessions;
            let mut put = |name: &str, value, unit| {
                record.metrics.insert(name.into(), Metric::Value { value, unit });
            };
            put("cpu_busy_pct", busy_pct, Unit::Percent);
            put("cpu_user_pct", busy_pct - 4.0, Unit::Percent);
            put("cpu_sys_pct", 4.0, Unit::Percent);
            put("cpu_idle_pct", 100.0 - busy_pct, Unit::Percent);
            put("physical_read_requests_per_s", 32_731.0, Unit::PerSecond);
            let absent = Metric::Absent { absent: "it counts none".into() };
            record.metrics.insert("redo_writes_per_s".into(), absent);
            record
        };
        vec![run(1, 10.0), run(8, 80.0)]
    }

    fn texts(grid: &Grid) -> Vec<Vec<String>> {
        grid.rows.iter().map(|(_, cells)| cells.iter().map(|cell| cell.text.clone()).collect()).collect()
    }

    #[test]
    fn ramp_tables_have_processors_reads_and_writes_per_load() {
        let points = points(&ramp());
        let [load, io] = [&TABLES[0], &TABLES[1]].map(|table| texts(&table.grid(&points)));
        assert_eq!(load[1][..5], ["8", "80.0", "76.0", "4.0", "20.0"]);
        assert_eq!(load[0].last().unwrap(), &compact(points.points[0].window_s().unwrap()));
        assert_eq!((io[0][3].as_str(), io[0][9].as_str()), ("32,731", ABSENT));
        let reasons = TABLES[1].reasons(&points);
        assert!(reasons.contains(&format!("{ABSENT} redo writes: it counts none")), "{reasons:?}");
    }

    #[test]
    fn ramp_tables_fit_a_terminal_of_80_columns() {
        let mut runs = ramp();
        for run in &mut runs {
            for name in ["physical_reads_per_s", "physical_writes_per_s", "physical_write_requests_per_s"] {
                run.metrics.insert(name.into(), Metric::Value { value: 530_868.0, unit: Unit::PerSecond });
            }
        }
        let style = Style { width: 80, ..Style::default() };
        let text = ramp_tables(&points(&runs), &style);
        for table in &TABLES {
            assert!(text.contains(table.title), "{text}");
        }
        assert!(["idle", "physical", "IOPS", "hits"].iter().all(|head| text.contains(head)), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text:?}");
        let wider = ramp_tables(&points(&runs), &Style { width: 100, ..style });
        assert_eq!(wider.matches("window").count(), 2, "dropped only where there is no room: {wider}");
        assert_eq!(ramp_tables(&points(&runs[..1]), &style), "", "a single point has no ramp");
    }
}
