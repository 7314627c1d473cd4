//! Table of a run that loads data: speed, size, and time until the data was on disk.

use dyno_analyze::number::{bytes, count};
use dyno_record::{BulkLoadResult, Metric, RunRecord};

use crate::model::table::{Grid, GridCell, GridHead};
use crate::style::Style;

pub(crate) const TITLE: &str = "bulk load";

/// A line for each figure of a load, with its scope; `None` if the run loads no table.
pub(crate) fn loaded(record: &RunRecord) -> Option<Grid> {
    let loaded = record.workload.as_ref()?.loaded.as_deref()?;
    let mut grid =
        Grid::new(vec![GridHead::text("of the load"), GridHead::figures("figure", ""), GridHead::text("")]);
    let mut line = |what: &str, value: GridCell, words: String| {
        grid.row(vec![what.into(), value, words.into()]);
    };
    let metric = |name: &str| match record.metrics.get(name) {
        Some(Metric::Value { value, .. }) => Ok(*value),
        Some(Metric::Absent { absent }) => Err(absent.clone()),
        None => Err(String::new()),
    };
    line("rows", GridCell::count(loaded.rows), destination_words(loaded));
    line(
        "loaders",
        GridCell::count(u64::from(record.sessions())),
        format!("{} rows in a transaction", count(loaded.part_rows)),
    );
    line(
        "time",
        GridCell::fixed(loaded.seconds, 3).in_unit("s"),
        "from the first row to the last".to_owned(),
    );
    for (what, name, unit) in [("rate", "load_rows_per_s", "rows/s"), ("", "load_mb_per_s", "MB/s")] {
        if let Ok(value) = metric(name) {
            line(what, GridCell::figure(value).in_unit(unit), String::new());
        }
    }
    let redo = metric("load_redo_bytes_per_row");
    let of_row = loaded.bytes.checked_div(loaded.rows).unwrap_or(0);
    line(
        "redo per row",
        GridCell::bytes(redo.as_ref().ok().copied()),
        match redo {
            Ok(_) => format!("a row has {} as sent", bytes(of_row)),
            Err(why) => why,
        },
    );
    if loaded.indexes.1 > 0 {
        let (value, words) =
            seconds(&loaded.indexed_s, &format!("{} created after the rows", indexes(loaded.indexes.1)));
        line("indexes", value, words);
    }
    let (value, words) = seconds(&loaded.durable_s, &loaded.durable_by);
    line("until durable", value, words);
    if let Ok(value) = metric("load_durable_rows_per_s") {
        line("", GridCell::figure(value).in_unit("rows/s"), "until durable".to_owned());
    }
    Some(grid)
}

/// The table as text for a terminal.
pub fn loaded_text(record: &RunRecord, style: &Style) -> String {
    loaded(record).map_or_else(String::new, |grid| grid.render(style))
}

/// Seconds and their scope; or why there are none.
fn seconds(took: &Result<f64, String>, subject: &str) -> (GridCell, String) {
    match took {
        Ok(seconds) => (GridCell::fixed(*seconds, 3).in_unit("s"), subject.to_owned()),
        Err(why) => (GridCell::absent(), why.clone()),
    }
}

fn indexes(number: u32) -> String {
    format!("{number} {}", if number == 1 { "index" } else { "indexes" })
}

/// The destination of the rows.
fn destination_words(loaded: &BulkLoadResult) -> String {
    let BulkLoadResult { table, indexes: (before, _), constraints, logged, .. } = loaded;
    let mut words = vec![format!("into {table}")];
    words.push(match before {
        0 => "without indexes".to_owned(),
        number => format!("with {}", indexes(*number)),
    });
    if *constraints > 0 {
        words.push(format!("{constraints} constraints"));
    }
    if !logged {
        words.push("without a log".to_owned());
    }
    words.join(", ")
}

#[cfg(test)]
mod tests {
    use dyno_analyze::fixture;
    use dyno_analyze::number::ABSENT;
    use dyno_record::{Unit, WorkloadFacts};

    use super::*;

    #[test]
    fn bulk_load_report_shows_results_and_unknown_values() {
        let mut record = fixture::postgres();
        assert!(loaded(&record).is_none());
        let load = BulkLoadResult {
            table: "t".into(),
            wanted: 90_000,
            part_rows: 1_000,
            rows: 90_000,
            bytes: 9_000_000,
            seconds: 1.5,
            indexes: (0, 2),
            constraints: 1,
            logged: false,
            indexed_s: Ok(0.25),
            durable_by: "CHECKPOINT".into(),
            durable_s: Err("no log of it was written".into()),
            counted: Ok(90_000),
            wrong: Vec::new(),
        };
        record.workload = Some(WorkloadFacts { loaded: Some(Box::new(load)), ..WorkloadFacts::default() });
        record
            .metrics
            .insert("load_rows_per_s".into(), Metric::Value { value: 60_000.0, unit: Unit::RowsPerSecond });
        let grid = loaded(&record).unwrap();
        let text: Vec<String> = grid
            .rows
            .iter()
            .map(|(_, cells)| cells.iter().map(|cell| cell.text.as_str()).collect::<Vec<_>>().join("|"))
            .collect();
        assert_eq!(text[0], "rows|90,000|into t, without indexes, 1 constraints, without a log");
        assert_eq!(text[2], "time|1.500 s|from the first row to the last");
        assert_eq!(text[3], "rate|60,000 rows/s|");
        assert_eq!(text[5], "indexes|0.250 s|2 indexes created after the rows");
        assert_eq!(text[6], format!("until durable|{ABSENT}|no log of it was written"));
    }
}
