//! What the columns of an export are: one row for each value, with columns that say of what; or one column for each metric, as the
//! consoles of clouds write it, with lines above that say what each column is.

/// What one column holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Column {
    Time {
        is_utc: bool,
    },
    Name,
    Statistic,
    Unit,
    Of,
    Period,
    Value,
    /// The value of this statistic.
    ValueOf(String),
    Other,
}

/// A metric that has a column of its own.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Own {
    pub(super) name: String,
    pub(super) of: String,
    pub(super) statistic: String,
    pub(super) unit: String,
    pub(super) period: String,
}

/// How a table is laid out.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Layout {
    /// Each row is of one metric; a column for each thing.
    Long(Vec<Column>),
    /// Each row is of one moment; behind the time a column for each metric.
    Wide { own: Vec<Own>, is_utc: bool },
}

/// Letters and digits alone, small.
fn plain(text: &str) -> String {
    text.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}

/// The column of this head.
fn column(head: &str) -> Column {
    match plain(head).as_str() {
        "time" | "timestamp" | "timestamps" | "date" | "datetime" | "starttime" => {
            Column::Time { is_utc: false }
        }
        "timeutc" | "timestamputc" | "dateutc" | "datetimeutc" => Column::Time { is_utc: true },
        "metric" | "metricname" | "name" | "label" => Column::Name,
        "statistic" | "statistics" | "stat" | "aggregation" => Column::Statistic,
        "unit" | "units" => Column::Unit,
        "period" | "periods" | "periodseconds" | "granularity" => Column::Period,
        "value" | "values" => Column::Value,
        "instance"
        | "dbinstance"
        | "dbinstanceidentifier"
        | "dbclusteridentifier"
        | "dimension"
        | "dimensions"
        | "resource" => Column::Of,
        "average" | "avg" | "mean" | "minimum" | "min" | "maximum" | "max" | "sum" | "total"
        | "samplecount" => Column::ValueOf(head.trim().to_owned()),
        _ if is_percentile(head.trim()) => Column::ValueOf(head.trim().to_owned()),
        _ => Column::Other,
    }
}

/// `p99`, `p99.9`.
fn is_percentile(head: &str) -> bool {
    let rest = head.strip_prefix(['p', 'P']).and_then(|rest| rest.parse::<f64>().ok());
    rest.is_some_and(|rest| (0.0..=100.0).contains(&rest))
}

/// The layout that the lines before the first value tell, of which there is one at least.
///
/// # Errors
/// They name no time, or nothing that is measured.
pub(super) fn layout(heads: &[Vec<String>]) -> Result<Layout, String> {
    if let [heads] = heads {
        let columns: Vec<Column> = heads.iter().map(|head| column(head)).collect();
        let has = |wanted: fn(&Column) -> bool| columns.iter().filter(|column| wanted(column)).count();
        let (times, values) = (
            has(|column| matches!(column, Column::Time { .. })),
            has(|column| matches!(column, Column::Value | Column::ValueOf(_))),
        );
        if values > 0 {
            return match times {
                1 => Ok(Layout::Long(columns)),
                0 => Err("no column is called time or timestamp".to_owned()),
                _ => Err("several columns are called time or timestamp".to_owned()),
            };
        }
    }
    wide(heads)
}

/// One column for each metric.
fn wide(heads: &[Vec<String>]) -> Result<Layout, String> {
    let width = heads.iter().map(Vec::len).max().unwrap_or(0);
    let mut own = vec![Own::default(); width.saturating_sub(1)];
    // The one that says most of a name holds.
    let mut rank = 0;
    let mut is_utc = false;
    for line in heads {
        let Some((head, cells)) = line.split_first() else { continue };
        let of_name = match (plain(head).as_str(), column(head)) {
            ("fulllabel", _) => 1,
            ("label", _) => 2,
            (_, Column::Time { is_utc: utc }) => {
                is_utc |= utc;
                3
            }
            ("", _) => 1,
            (_, Column::Name) => 4,
            _ => 0,
        };
        let kind = column(head);
        let names_more = of_name > rank && cells.iter().any(|cell| !cell.is_empty());
        if names_more {
            rank = of_name;
        }
        for (own, cell) in own.iter_mut().zip(cells) {
            match kind {
                Column::Statistic => own.statistic.clone_from(cell),
                Column::Unit => own.unit.clone_from(cell),
                Column::Of => own.of.clone_from(cell),
                Column::Period => own.period.clone_from(cell),
                _ if names_more => own.name.clone_from(cell),
                _ => {}
            }
        }
    }
    match own.iter().all(|own| own.name.is_empty()) {
        true => Err("no line above the values names what is measured".to_owned()),
        false => Ok(Layout::Wide { own, is_utc }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(lines: &[&str]) -> Result<Layout, String> {
        let line = |line: &&str| line.split(',').map(str::to_owned).collect();
        layout(&lines.iter().map(line).collect::<Vec<_>>())
    }

    #[test]
    fn rows_of_values_and_columns_of_metrics() {
        let Layout::Long(columns) = of(&["Timestamp,MetricName,Average,Maximum,p99.9,Unit"]).unwrap() else {
            panic!()
        };
        let value = |name: &str| Column::ValueOf(name.to_owned());
        assert_eq!(columns[0], Column::Time { is_utc: false });
        assert_eq!(
            columns[1..],
            [Column::Name, value("Average"), value("Maximum"), value("p99.9"), Column::Unit]
        );
        let wide = of(&["time (UTC),CPUUtilization,ReadIOPS"]).unwrap();
        let Layout::Wide { own, is_utc: true } = wide else { panic!("{wide:?}") };
        assert_eq!(own[1].name, "ReadIOPS");
        let console = of(&[
            "Full label,a CPU,a Read",
            "Label,CPU,Read",
            "Metric,CPUUtilization,ReadIOPS",
            "Statistic,Average,Sum",
            "Period,60,60",
            "Region,x,x",
        ]);
        let Layout::Wide { own, .. } = console.unwrap() else { panic!() };
        assert_eq!(
            (own[1].name.as_str(), own[1].statistic.as_str(), own[1].period.as_str()),
            ("ReadIOPS", "Sum", "60")
        );
    }

    #[test]
    fn tables_of_something_else_are_refused() {
        for lines in
            [&["a"][..], &["value,unit"], &["time,timestamp,value"], &["time"], &["Statistic,Average"]]
        {
            assert!(of(lines).is_err(), "{lines:?}");
        }
    }
}
