//! Statistics of table columns, from which an imported workload derives its generators.

use std::cmp::Ordering;
use std::collections::BTreeMap;

/// A column as a statement names it, in lower case.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ColumnName {
    /// The schema or database; `None` where the statement names none.
    pub schema: Option<String>,
    /// The table.
    pub table: String,
    /// The column.
    pub column: String,
}

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnKind {
    /// Whole numbers of at most 64 bits.
    Integer,
    /// Floating-point numbers.
    Real,
    /// Exact decimal numbers.
    Decimal,
    /// Text.
    Text,
    /// Days, as `2026-01-31`.
    Date,
    /// Dates with time, as `2026-01-31 12:00:00`.
    Timestamp,
    /// True or false.
    Boolean,
    /// UUIDs.
    Uuid,
    /// Bytes, which are never read.
    Bytes,
    /// JSON documents.
    Json,
    /// Everything else: enumerations, arrays, ranges.
    Other,
}

/// The number of rows that Dyno reads of a table at most.
pub const SAMPLE_ROWS: usize = 1_000;
/// The number of common values that are kept.
pub const COMMON_MAX: usize = 20;
/// The longest common value that is kept, in characters.
const VALUE_MAX: usize = 64;

/// What a database knows about the values of a column, and what a sample shows.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnStatistics {
    /// What it holds.
    pub kind: ColumnKind,
    /// Its type in the database's words.
    pub type_name: String,
    /// Decimal places; `None` where the type has none or any number.
    pub scale: Option<u32>,
    /// Estimated rows of the table; `None` where the server has no estimate.
    pub rows: Option<u64>,
    /// Estimated distinct values; `None` where unknown.
    pub distinct: Option<u64>,
    /// The least and the greatest value; `None` where unknown or without an order that Dyno knows.
    pub range: Option<(String, String)>,
    /// The most common values with their share of the rows, 0 to 1, largest first.
    pub common: Vec<(String, f64)>,
    /// The share of rows without a value, 0 to 1.
    pub null_share: f64,
    /// The shortest and the longest text of the sample, in characters.
    pub lengths: Option<(usize, usize)>,
    /// Whether each value occurs once, by a constraint or index.
    pub is_unique: bool,
    /// Whether all figures come from at most [`SAMPLE_ROWS`] rows, because the server keeps no statistics.
    pub is_sample: bool,
}

impl ColumnStatistics {
    /// A column of which only the type is known.
    pub fn new(kind: ColumnKind, type_name: &str, is_unique: bool) -> Self {
        Self {
            kind,
            type_name: type_name.to_owned(),
            scale: None,
            rows: None,
            distinct: None,
            range: None,
            common: Vec::new(),
            null_share: 0.0,
            lengths: None,
            is_unique,
            is_sample: true,
        }
    }

    /// Adds what up to [`SAMPLE_ROWS`] values show; `None` is a row without a value.
    pub fn add_sample(&mut self, values: &[Option<String>]) {
        let present: Vec<&str> = values.iter().filter_map(Option::as_deref).collect();
        if present.is_empty() {
            return;
        }
        self.null_share = 1.0 - present.len() as f64 / values.len() as f64;
        let lengths = || present.iter().map(|value| value.chars().count());
        self.lengths = lengths().min().zip(lengths().max());
        if self.kind == ColumnKind::Decimal && self.scale.is_none() {
            let places =
                |value: &&str| value.split_once('.').map_or(0, |(_, places)| places.len().min(6) as u32);
            self.scale = present.iter().map(places).max();
        }
        for value in &present {
            self.extend_range(value);
        }
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for value in &present {
            *counts.entry(value).or_default() += 1;
        }
        // A sample of part of a table shows the number of values only where few values repeat.
        let is_whole = values.len() < SAMPLE_ROWS;
        if is_whole || counts.len() <= COMMON_MAX {
            self.distinct = Some(counts.len() as u64);
        }
        let mut counts: Vec<(&str, usize)> =
            counts.into_iter().filter(|(value, count)| *count > 1 && is_short(value)).collect();
        counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let share = |count: usize| count as f64 / values.len() as f64;
        self.common = counts
            .into_iter()
            .take(COMMON_MAX)
            .map(|(value, count)| (value.to_owned(), share(count)))
            .collect();
    }

    /// Replaces the common values of a sample by those of the server's statistics.
    pub fn set_common(&mut self, common: Vec<(String, f64)>) {
        for (value, _) in &common {
            self.extend_range(value);
        }
        self.common = common.into_iter().filter(|(value, _)| is_short(value)).take(COMMON_MAX).collect();
    }

    /// Extends the range to `value`, if values of this kind have an order that Dyno knows.
    pub fn extend_range(&mut self, value: &str) {
        let kind = self.kind;
        if value_order(kind, value, value).is_none() {
            return;
        }
        let is_less = |a: &str, b: &str| value_order(kind, a, b) == Some(Ordering::Less);
        match &mut self.range {
            None => self.range = Some((value.to_owned(), value.to_owned())),
            Some((low, _)) if is_less(value, low) => value.clone_into(low),
            Some((_, high)) if is_less(high, value) => value.clone_into(high),
            Some(_) => {}
        }
    }
}

fn is_short(value: &str) -> bool {
    value.chars().count() <= VALUE_MAX
}

/// The order of two values as the database writes them; `None` where the kind has none, or a value is not
/// finite.
fn value_order(kind: ColumnKind, a: &str, b: &str) -> Option<Ordering> {
    match kind {
        ColumnKind::Integer => Some(a.parse::<i64>().ok()?.cmp(&b.parse().ok()?)),
        ColumnKind::Real | ColumnKind::Decimal => {
            let number = |text: &str| text.parse::<f64>().ok().filter(|number| number.is_finite());
            number(a)?.partial_cmp(&number(b)?)
        }
        ColumnKind::Date | ColumnKind::Timestamp => {
            let is_plain =
                |text: &str| text.len() >= 10 && text.as_bytes()[4] == b'-' && !text.ends_with("BC");
            (is_plain(a) && is_plain(b)).then(|| a.cmp(b))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sampled(kind: ColumnKind, values: &[&str]) -> ColumnStatistics {
        let mut column = ColumnStatistics::new(kind, "", false);
        column.add_sample(&values.iter().map(|value| Some((*value).to_owned())).collect::<Vec<_>>());
        column
    }

    #[test]
    fn sample_shows_range_common_values_and_distinct_count() {
        let column = sampled(ColumnKind::Integer, &["9", "10", "9", "-3"]);
        assert_eq!(
            column.range,
            Some(("-3".to_owned(), "10".to_owned())),
            "numbers are not compared as text"
        );
        assert_eq!(column.common, [("9".to_owned(), 0.5)]);
        assert_eq!(column.distinct, Some(3));
        let decimal = sampled(ColumnKind::Decimal, &["9.5", "10.25"]);
        assert_eq!((decimal.scale, decimal.range), (Some(2), Some(("9.5".to_owned(), "10.25".to_owned()))));
    }

    #[test]
    fn values_without_order_have_no_range() {
        assert_eq!(sampled(ColumnKind::Text, &["b", "a"]).range, None);
        assert_eq!(sampled(ColumnKind::Real, &["NaN", "Infinity"]).range, None);
        assert_eq!(sampled(ColumnKind::Timestamp, &["infinity", "0044-03-15 BC"]).range, None);
    }

    #[test]
    fn many_values_of_partial_sample_leave_distinct_unknown() {
        let values: Vec<String> = (0..SAMPLE_ROWS).map(|number| number.to_string()).collect();
        let column = sampled(ColumnKind::Integer, &values.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(column.distinct, None);
        assert!(column.common.is_empty(), "{:?}", column.common);
        let long = "x".repeat(VALUE_MAX + 1);
        assert!(sampled(ColumnKind::Text, &[&long, &long]).common.is_empty());
    }

    #[test]
    fn nulls_count_as_share_of_sampled_rows() {
        let mut column = ColumnStatistics::new(ColumnKind::Text, "text", false);
        column.add_sample(&[None, Some("ab".to_owned()), None, Some("abcd".to_owned())]);
        assert_eq!((column.null_share, column.lengths), (0.5, Some((2, 4))));
        column.add_sample(&[]);
        assert_eq!(column.null_share, 0.5);
    }
}
