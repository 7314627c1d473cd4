//! Writes the intervals of a run as CSV (RFC 4180) line by line, so that a series may have any length.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use dyno_record::{RunRecord, Series, SeriesPoint};

use super::csv::field;

/// Columns of every interval; figures of database and host follow.
const HEAD: [&str; 9] = ["run", "target", "at_s", "seconds", "ops", "errors", "p50_us", "p99_us", "max_us"];

/// The columns of a run's series.
#[derive(Debug)]
pub struct SeriesCsv<'a> {
    record: &'a RunRecord,
    metrics: Vec<String>,
}

impl<'a> SeriesCsv<'a> {
    /// Collects every figure that any point of the record's series has: an overview has all figures of its
    /// intervals.
    pub fn of(record: &'a RunRecord) -> Self {
        let target_series = record.targets.iter().filter_map(|target| Some(&target.own.as_deref()?.series));
        let points = target_series.chain([&record.series]).flat_map(|series: &Series| &series.points);
        let metrics: BTreeSet<&String> = points.flat_map(|point| point.metrics.keys()).collect();
        Self { record, metrics: metrics.into_iter().cloned().collect() }
    }

    /// The column names; if the run has phases, the last column is the interval's phase.
    pub fn head(&self) -> String {
        let names = HEAD.into_iter().map(field).chain(self.metrics.iter().map(|name| field(name)));
        let phase = (!self.record.phases.is_empty()).then(|| "phase".to_owned());
        format!("{}\r\n", names.chain(phase).collect::<Vec<_>>().join(","))
    }

    /// An interval on `target`; unknown values are empty.
    pub fn line(&self, target: &str, point: &SeriesPoint) -> String {
        let mut line = format!(
            "{},{},{},{},{},{}",
            field(&self.record.id),
            field(target),
            point.at_s,
            point.seconds,
            point.ops,
            point.errors
        );
        let figures = self.metrics.iter().map(|name| point.metrics.get(name).copied());
        for figure in [point.p50_us, point.p99_us, point.max_us].into_iter().chain(figures) {
            line.push(',');
            if let Some(figure) = figure {
                let _ = write!(line, "{figure}");
            }
        }
        if !self.record.phases.is_empty() {
            let name = self.record.phase_of(point).map_or("", |phase| &phase.name);
            let _ = write!(line, ",{}", field(name));
        }
        line.push_str("\r\n");
        line
    }
}

#[cfg(test)]
mod tests {
    use dyno_analyze::fixture;

    use super::*;

    #[test]
    fn series_csv_lines_have_all_columns_absent_values_are_empty() {
        let mut record = fixture::postgres();
        record.series.points[1].metrics.insert("redo, and more".into(), 2.5);
        let csv = SeriesCsv::of(&record);
        assert_eq!(
            csv.head(),
            "run,target,at_s,seconds,ops,errors,p50_us,p99_us,max_us,\"redo, and more\"\r\n"
        );
        let bare = SeriesPoint { ops: 7, ..SeriesPoint::default() };
        for point in record.series.points.iter().chain([&bare]) {
            let line = csv.line("t", point);
            assert_eq!(line.trim_end().split(',').count(), HEAD.len() + 1, "{line}");
        }
        assert!(csv.line("t", &record.series.points[1]).ends_with(",2.5\r\n"));
        assert_eq!(csv.line("t", &bare), format!("{},t,0,0,7,0,,,,\r\n", record.id));
    }
}
