//! Detects the layout of an export. Either each row is one value, with columns that identify it. Or each
//! metric has a column, as cloud consoles write it, with lines above that describe the columns.

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum MetricColumn {
    Time {
        is_utc: bool,
    },
    Name,
    Statistic,
    Unit,
    Instance,
    Period,
    Value,
    /// The value of this statistic.
    ValueOf(String),
    Other,
}

/// A metric that has its own column.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct MetricLabels {
    pub(super) name: String,
    pub(super) instance: String,
    pub(super) statistic: String,
    pub(super) unit: String,
    pub(super) period: String,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum MetricTableLayout {
    /// Each row is one value of one metric.
    Long(Vec<MetricColumn>),
    /// Each row is one time; each further column is one metric.
    Wide { labels: Vec<MetricLabels>, is_utc: bool },
}

/// Only letters and digits, in lower case.
fn plain(text: &str) -> String {
    text.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}

/// Meaning of the column with this head.
fn column(head: &str) -> MetricColumn {
    match plain(head).as_str() {
        "time" | "timestamp" | "timestamps" | "date" | "datetime" | "starttime" => {
            MetricColumn::Time { is_utc: false }
        }
        "timeutc" | "timestamputc" | "dateutc" | "datetimeutc" => MetricColumn::Time { is_utc: true },
        "metric" | "metricname" | "name" | "label" => MetricColumn::Name,
        "statistic" | "statistics" | "stat" | "aggregation" => MetricColumn::Statistic,
        "unit" | "units" => MetricColumn::Unit,
        "period" | "periods" | "periodseconds" | "granularity" => MetricColumn::Period,
        "value" | "values" => MetricColumn::Value,
        "instance"
        | "dbinstance"
        | "dbinstanceidentifier"
        | "dbclusteridentifier"
        | "dimension"
        | "dimensions"
        | "resource" => MetricColumn::Instance,
        "average" | "avg" | "mean" | "minimum" | "min" | "maximum" | "max" | "sum" | "total"
        | "samplecount" => MetricColumn::ValueOf(head.trim().to_owned()),
        _ if is_percentile(head.trim()) => MetricColumn::ValueOf(head.trim().to_owned()),
        _ => MetricColumn::Other,
    }
}

fn is_percentile(head: &str) -> bool {
    let rest = head.strip_prefix(['p', 'P']).and_then(|rest| rest.parse::<f64>().ok());
    rest.is_some_and(|rest| (0.0..=100.0).contains(&rest))
}

/// The layout shown by the lines before the first value; there is at least one such line.
///
/// # Errors
/// They name no time, or no metric.
pub(super) fn layout(heads: &[Vec<String>]) -> Result<MetricTableLayout, String> {
    if let [heads] = heads {
        let columns: Vec<MetricColumn> = heads.iter().map(|head| column(head)).collect();
        let has = |wanted: fn(&MetricColumn) -> bool| columns.iter().filter(|column| wanted(column)).count();
        let (times, values) = (
            has(|column| matches!(column, MetricColumn::Time { .. })),
            has(|column| matches!(column, MetricColumn::Value | MetricColumn::ValueOf(_))),
        );
        if values > 0 {
            return match times {
                1 => Ok(MetricTableLayout::Long(columns)),
                0 => Err("no column is called time or timestamp".to_owned()),
                _ => Err("several columns are called time or timestamp".to_owned()),
            };
        }
    }
    wide_layout(heads)
}

/// The layout with one column for each metric.
fn wide_layout(heads: &[Vec<String>]) -> Result<MetricTableLayout, String> {
    let width = heads.iter().map(Vec::len).max().unwrap_or(0);
    let mut labels = vec![MetricLabels::default(); width.saturating_sub(1)];
    // The most specific name wins.
    let mut rank = 0;
    let mut is_utc = false;
    for line in heads {
        let Some((head, cells)) = line.split_first() else { continue };
        let of_name = match (plain(head).as_str(), column(head)) {
            ("fulllabel", _) => 1,
            ("label", _) => 2,
            (_, MetricColumn::Time { is_utc: utc }) => {
                is_utc |= utc;
                3
            }
            ("", _) => 1,
            (_, MetricColumn::Name) => 4,
            _ => 0,
        };
        let kind = column(head);
        let names_more = of_name > rank && cells.iter().any(|cell| !cell.is_empty());
        if names_more {
            rank = of_name;
        }
        for (own, cell) in labels.iter_mut().zip(cells) {
            match kind {
                MetricColumn::Statistic => own.statistic.clone_from(cell),
                MetricColumn::Unit => own.unit.clone_from(cell),
                MetricColumn::Instance => own.instance.clone_from(cell),
                MetricColumn::Period => own.period.clone_from(cell),
                _ if names_more => own.name.clone_from(cell),
                _ => {}
            }
        }
    }
    match labels.iter().all(|own| own.name.is_empty()) {
        true => Err("no line above the values names what is measured".to_owned()),
        false => Ok(MetricTableLayout::Wide { labels, is_utc }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(lines: &[&str]) -> Result<MetricTableLayout, String> {
        let line = |line: &&str| line.split(',').map(str::to_owned).collect();
        layout(&lines.iter().map(line).collect::<Vec<_>>())
    }

    #[test]
    fn metrics_csv_layout_is_detected_as_long_or_wide() {
        let MetricTableLayout::Long(columns) =
            of(&["Timestamp,MetricName,Average,Maximum,p99.9,Unit"]).unwrap()
        else {
            panic!()
        };
        let value = |name: &str| MetricColumn::ValueOf(name.to_owned());
        assert_eq!(columns[0], MetricColumn::Time { is_utc: false });
        assert_eq!(
            columns[1..],
            [MetricColumn::Name, value("Average"), value("Maximum"), value("p99.9"), MetricColumn::Unit]
        );
        let wide = of(&["time (UTC),CPUUtilization,ReadIOPS"]).unwrap();
        let MetricTableLayout::Wide { labels: own, is_utc: true } = wide else { panic!("{wide:?}") };
        assert_eq!(own[1].name, "ReadIOPS");
        let console = of(&[
            "Full label,a CPU,a Read",
            "Label,CPU,Read",
            "Metric,CPUUtilization,ReadIOPS",
            "Statistic,Average,Sum",
            "Period,60,60",
            "Region,x,x",
        ]);
        let MetricTableLayout::Wide { labels: own, .. } = console.unwrap() else { panic!() };
        assert_eq!(
            (own[1].name.as_str(), own[1].statistic.as_str(), own[1].period.as_str()),
            ("ReadIOPS", "Sum", "60")
        );
    }

    #[test]
    fn metric_files_with_unsuitable_columns_are_refused() {
        for lines in
            [&["a"][..], &["value,unit"], &["time,timestamp,value"], &["time"], &["Statistic,Average"]]
        {
            assert!(of(lines).is_err(), "{lines:?}");
        }
    }
}
