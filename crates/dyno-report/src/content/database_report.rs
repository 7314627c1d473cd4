//! The rates of a run next to those of the report that its database wrote about the same time.

use dyno_analyze::database_report::{ReportedRate, rates};
use dyno_analyze::number::fixed;
use dyno_record::RunRecord;

use crate::model::table::{Grid, GridCell, GridHead};

pub(crate) const TITLE: &str = "rates compared with the database's own report";

/// What the table compares: the report's name, and the time that it covers.
pub(crate) fn words(record: &RunRecord) -> Option<String> {
    let report = record.database_report.as_deref()?;
    let covered = report.seconds.map_or_else(String::new, |seconds| format!(", {} s", fixed(seconds, 1)));
    Some(format!("{}{covered}", report.name))
}

/// A row for each rate that both have; `None` without a report.
pub(crate) fn compared(record: &RunRecord) -> Option<Grid> {
    let rates = rates(record);
    if rates.is_empty() {
        return None;
    }
    let mut grid = Grid::new(vec![
        GridHead::text("per second"),
        GridHead::figures("Dyno", "").explained("over the window"),
        GridHead::figures("report", "").explained("between the two snapshots around the window"),
        GridHead::figures("difference", "%"),
    ]);
    for rate in &rates {
        let ReportedRate { name, measured, reported, .. } = rate;
        grid.row(vec![
            GridCell::text(name),
            GridCell::compact(*measured),
            GridCell::compact(*reported),
            GridCell::fixed(rate.difference().map(|part| part * 100.0), 1),
        ]);
    }
    Some(grid)
}

#[cfg(test)]
mod tests {
    use dyno_analyze::fixture;
    use dyno_record::{DatabaseReport, Metric, Unit};

    use super::*;
    use crate::style::Style;

    #[test]
    fn rates_of_run_and_report_are_shown_with_difference() {
        let mut record = fixture::postgres();
        assert!(compared(&record).is_none());
        assert!(words(&record).is_none());
        let rate = |value| Metric::Value { value, unit: Unit::PerSecond };
        record.metrics.insert("commits_per_s".into(), rate(200.0));
        let name = "AWR snapshots 17 to 18".to_owned();
        let metrics = [("commits_per_s".to_owned(), rate(210.0))].into();
        record.database_report = Some(Box::new(DatabaseReport {
            name,
            seconds: Some(60.6),
            metrics,
            ..DatabaseReport::default()
        }));
        let table = compared(&record).unwrap().render(&Style { width: 100, ..Style::default() });
        assert!(table.contains("commits"), "{table}");
        assert!(table.contains("210"), "{table}");
        assert!(table.contains("5.0"), "{table}");
        assert_eq!(words(&record).unwrap(), "AWR snapshots 17 to 18, 60.6 s");
    }
}
