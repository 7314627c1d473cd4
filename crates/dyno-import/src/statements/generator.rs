//! Chooses a generator from how a statement uses a parameter, and from what the database knows about the column.

use dyno_engine::column_statistics::{COMMON_MAX, ColumnKind, ColumnStatistics};

use super::parameter_context::ParameterUsage;
use crate::quoted::quoted;

/// A generator, and what the user needs to know about it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Generator {
    /// As TOML: `{ uniform = [1, 100] }`.
    pub(super) toml: String,
    /// Why it may not draw what the application does; `None` if the statistics decide.
    pub(super) doubt: Option<&'static str>,
}

/// What a generator depends on beside the column.
#[derive(Debug, Clone, Copy)]
pub(super) struct GeneratorContext<'a> {
    pub(super) usage: ParameterUsage,
    /// Rows of an execution of the statement; `None` where the source does not report them.
    pub(super) rows_per_call: Option<f64>,
    /// The generator of the lower bound of the same range.
    pub(super) low: Option<&'a str>,
}

const NO_ROWS: &str = "random values, which find no row";
const REPEATED: &str = "unique: a second run with the same run.seed stores the same values again";
const GUESSED_RANGE: &str = "the width of the range is a guess";

/// The smallest share of the rows that the common values need to be the only ones that are drawn.
const FEW_SHARE: f64 = 0.9;
/// A value is frequent if it occurs this many times as often as an average one.
const FREQUENT: f64 = 5.0;
/// The smallest share of the rows at which frequent values are drawn apart.
const SKEW_SHARE: f64 = 0.1;
/// The largest number of new values of a unique column.
const NEW_MAX: i64 = 1_000_000_000;
/// The largest number of values that `nth` of an expression takes.
const NTH_MAX: usize = 15;

/// A generator for the number of rows that a statement asks for.
pub(super) fn of_limit(context: GeneratorContext<'_>) -> Option<Generator> {
    match (context.usage, context.rows_per_call) {
        (ParameterUsage::Limit, Some(rows)) => {
            Some(Generator { toml: format!("{}", rows.ceil().clamp(1.0, 1e9)), doubt: None })
        }
        (ParameterUsage::Limit, None) => {
            Some(Generator { toml: "10".to_owned(), doubt: Some("the source does not report the rows") })
        }
        (ParameterUsage::Offset, _) => Some(Generator {
            toml: "{ uniform = [0, 100] }".to_owned(),
            doubt: Some("the source does not report how many rows are skipped"),
        }),
        _ => None,
    }
}

/// A generator for a value of `column`; `None` where its statistics tell too little.
pub(super) fn of_column(column: &ColumnStatistics, context: GeneratorContext<'_>) -> Option<Generator> {
    let (body, doubt) = match context.usage {
        ParameterUsage::Change => of_change(column)?,
        ParameterUsage::Pattern => of_pattern(column)?,
        ParameterUsage::Stored if column.is_unique => of_unique(column)?,
        ParameterUsage::High if context.low.is_some() => of_upper_bound(column, context)?,
        ParameterUsage::Value
        | ParameterUsage::Stored
        | ParameterUsage::Low
        | ParameterUsage::High
        | ParameterUsage::Elements => of_value(column, context.usage)?,
        ParameterUsage::Limit | ParameterUsage::Offset | ParameterUsage::Other => return None,
    };
    let percent = (column.null_share * 100.0).round();
    let nulls = match context.usage {
        ParameterUsage::Stored if percent >= 1.0 => format!(", null_pct = {percent}"),
        _ => String::new(),
    };
    Some(Generator { toml: format!("{{ {body}{nulls} }}"), doubt })
}

type Body = (String, Option<&'static str>);

fn of_value(column: &ColumnStatistics, usage: ParameterUsage) -> Option<Body> {
    let finds_nothing = (usage != ParameterUsage::Stored).then_some(NO_ROWS);
    let few = few_values(column);
    match column.kind {
        ColumnKind::Boolean => {
            Some((few.unwrap_or_else(|| "choice = [\"true\", \"false\"], literal = true".to_owned()), None))
        }
        ColumnKind::Json => Some(("json = '{ \"a\": 1 }'".to_owned(), Some("an example document"))),
        ColumnKind::Bytes => Some(("bytes = [16, 64]".to_owned(), Some("random bytes"))),
        _ if few.is_some() => Some((few?, None)),
        ColumnKind::Integer => {
            let (low, high) = integer_range(column)?;
            Some((skewed(column, low, high).unwrap_or_else(|| format!("uniform = [{low}, {high}]")), None))
        }
        ColumnKind::Real => {
            let (low, high) = column.range.as_ref()?;
            let number = |text: &str| text.parse::<f64>().ok();
            Some((format!("uniform = [{:?}, {:?}]", number(low)?, number(high)?), None))
        }
        ColumnKind::Decimal => {
            let (low, high) = column.range.as_ref()?;
            let is_plain = |text: &str| {
                text.len() <= 16 && text.bytes().all(|sign| sign.is_ascii_digit() || b"-.".contains(&sign))
            };
            (is_plain(low) && is_plain(high))
                .then(|| (format!("decimal = [{low}, {high}], scale = {}", column.scale.unwrap_or(2)), None))
        }
        ColumnKind::Date | ColumnKind::Timestamp => {
            let (low, high) = column.range.as_ref()?;
            let (word, length) =
                if column.kind == ColumnKind::Date { ("date", 10) } else { ("timestamp", 19) };
            let (low, high) = (low.get(..length)?, high.get(..length)?);
            Some((format!("{word} = [{}, {}]", quoted(low), quoted(high)), None))
        }
        ColumnKind::Uuid => Some(("uuid = 4".to_owned(), finds_nothing)),
        ColumnKind::Text => {
            let (least, most) = column.lengths?;
            Some((format!("text = [{}, {}]", least.max(1), most.clamp(1, 1_000)), finds_nothing))
        }
        ColumnKind::Other => None,
    }
}

/// All values of a column with few, in proportion to their rows.
fn few_values(column: &ColumnStatistics) -> Option<String> {
    let share: f64 = column.common.iter().map(|(_, share)| share).sum();
    let is_few = column.distinct.is_some_and(|distinct| distinct <= COMMON_MAX as u64)
        && !column.common.is_empty()
        && share >= FEW_SHARE * (1.0 - column.null_share);
    if !is_few {
        return None;
    }
    let value = |value: &String| match column.kind {
        ColumnKind::Integer => value.clone(),
        _ => quoted(value),
    };
    let values: Vec<String> = column.common.iter().map(|(text, _)| value(text)).collect();
    let weights: Vec<String> =
        column.common.iter().map(|(_, share)| format!("{}", (share * 1e3).round().max(1.0))).collect();
    let literal = if column.kind == ColumnKind::Integer { "" } else { ", literal = true" };
    Some(format!("choice = [{}], weights = [{}]{literal}", values.join(", "), weights.join(", ")))
}

fn integer_range(column: &ColumnStatistics) -> Option<(i64, i64)> {
    let (low, high) = column.range.as_ref()?;
    Some((low.parse().ok()?, high.parse().ok()?))
}

/// Frequent values apart from the others; `None` if no value is frequent.
fn skewed(column: &ColumnStatistics, low: i64, high: i64) -> Option<String> {
    let average = 1.0 / column.distinct? as f64;
    let frequent: Vec<&(String, f64)> =
        column.common.iter().filter(|(_, share)| *share >= FREQUENT * average).take(NTH_MAX).collect();
    let share: f64 = frequent.iter().map(|(_, share)| share).sum();
    if share < SKEW_SHARE {
        return None;
    }
    let values: Vec<&str> = frequent.iter().map(|(value, _)| value.as_str()).collect();
    Some(format!(
        "expr = \"if(random(1, 1000) <= {}, nth(random(1, {}), {}), random({low}, {high}))\"",
        (share * 1e3).round(),
        values.len(),
        values.join(", ")
    ))
}

/// What is added to a column or subtracted: small, and on average nothing.
fn of_change(column: &ColumnStatistics) -> Option<Body> {
    let body = match column.kind {
        ColumnKind::Integer => "uniform = [-10, 10]".to_owned(),
        ColumnKind::Real => "uniform = [-10.0, 10.0]".to_owned(),
        ColumnKind::Decimal => format!("decimal = [-10.00, 10.00], scale = {}", column.scale.unwrap_or(2)),
        _ => return None,
    };
    Some((body, Some("the size of the change is a guess")))
}

/// Beginnings of common values, or of the alphabet.
fn of_pattern(column: &ColumnStatistics) -> Option<Body> {
    if column.kind != ColumnKind::Text {
        return None;
    }
    let escaped = |value: &str| !value.contains(['%', '_', '\\']);
    let mut begins: Vec<String> = column
        .common
        .iter()
        .map(|(value, _)| value.chars().take(3).collect::<String>())
        .filter(|begin| !begin.is_empty() && escaped(begin))
        .collect();
    begins.dedup();
    let doubt = begins.is_empty().then_some("first letters that may not occur");
    if begins.is_empty() {
        begins = ('a'..='z').map(String::from).collect();
    }
    let patterns: Vec<String> = begins.iter().map(|begin| quoted(&format!("{begin}%"))).collect();
    Some((format!("choice = [{}], literal = true", patterns.join(", ")), doubt))
}

/// A value that no row has.
fn of_unique(column: &ColumnStatistics) -> Option<Body> {
    match column.kind {
        ColumnKind::Integer => {
            let high: i64 = column.range.as_ref().map_or(Some(0), |(_, high)| high.parse().ok())?;
            let type_name = column.type_name.to_ascii_lowercase();
            let greatest = match type_name.as_str() {
                name if name.starts_with("big") => i64::MAX,
                name if name.starts_with("small") => i64::from(i16::MAX),
                name if name.starts_with("int") => i64::from(i32::MAX),
                _ => return None,
            };
            // A session can have 2^30 numbers of its own.
            let (first, greatest) = (high.checked_add(1)?, greatest.min(high.saturating_add(NEW_MAX)));
            (first < greatest)
                .then(|| (format!("sequence = [{first}, {greatest}], apart = true"), Some(REPEATED)))
        }
        ColumnKind::Uuid => Some(("uuid = 4".to_owned(), Some(REPEATED))),
        ColumnKind::Text => {
            let most = column.lengths.map_or(16, |(_, most)| most);
            // Shorter texts would soon repeat.
            (most >= 8).then(|| (format!("text = [{most}, {most}]"), Some(REPEATED)))
        }
        _ => None,
    }
}

/// The upper bound of a range whose lower bound is drawn: as wide as the rows of an execution need.
fn of_upper_bound(column: &ColumnStatistics, context: GeneratorContext<'_>) -> Option<Body> {
    let low_name = context.low?;
    if column.kind != ColumnKind::Integer {
        let (_, high) = column.range.as_ref()?;
        return Some((format!("choice = [{}], literal = true", quoted(high)), Some(GUESSED_RANGE)));
    }
    let (low, high) = integer_range(column)?;
    let span = high as f64 - low as f64;
    let rows = column.rows.filter(|rows| *rows > 0).map(|rows| rows as f64);
    // A statement that returns one row may aggregate any number of rows.
    let width =
        context.rows_per_call.filter(|rows| *rows > 1.5).zip(rows).map(|(found, rows)| found / rows * span);
    let doubt = width.is_none().then_some(GUESSED_RANGE);
    let width = width.unwrap_or(span / 100.0).round().max(0.0);
    Some((format!("expr = \"{low_name} + {width}\""), doubt))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(kind: ColumnKind, range: Option<(&str, &str)>) -> ColumnStatistics {
        let range = range.map(|(low, high)| (low.to_owned(), high.to_owned()));
        ColumnStatistics { range, rows: Some(1_000), ..ColumnStatistics::new(kind, "bigint", false) }
    }

    fn common(values: &[(&str, f64)]) -> Vec<(String, f64)> {
        values.iter().map(|(value, share)| ((*value).to_owned(), *share)).collect()
    }

    fn toml(column: &ColumnStatistics, usage: ParameterUsage) -> String {
        let context = GeneratorContext { usage, rows_per_call: Some(10.0), low: None };
        of_column(column, context).map_or_else(|| "none".to_owned(), |generator| generator.toml)
    }

    #[test]
    fn few_values_are_drawn_in_proportion_to_their_rows() {
        let mut status = column(ColumnKind::Text, None);
        (status.distinct, status.common) = (Some(2), common(&[("do\"ne", 0.75), ("open", 0.25)]));
        let drawn = "{ choice = [\"do\\\"ne\", \"open\"], weights = [750, 250], literal = true }";
        assert_eq!(toml(&status, ParameterUsage::Value), drawn);
        // Values that do not cover the column are no choice.
        status.common.pop();
        status.lengths = Some((4, 5));
        assert_eq!(toml(&status, ParameterUsage::Value), "{ text = [4, 5] }");
    }

    #[test]
    fn frequent_numbers_are_drawn_apart() {
        let mut customer = column(ColumnKind::Integer, Some(("1", "600")));
        assert_eq!(toml(&customer, ParameterUsage::Value), "{ uniform = [1, 600] }");
        (customer.distinct, customer.common) = (Some(600), common(&[("7", 0.3), ("8", 0.002)]));
        let drawn = "{ expr = \"if(random(1, 1000) <= 300, nth(random(1, 1), 7), random(1, 600))\" }";
        assert_eq!(toml(&customer, ParameterUsage::Value), drawn);
    }

    #[test]
    fn range_is_as_wide_as_rows_of_an_execution_need() {
        let id = column(ColumnKind::Integer, Some(("1", "2001")));
        let upper = |rows_per_call| {
            let context = GeneratorContext { usage: ParameterUsage::High, rows_per_call, low: Some("id") };
            of_column(&id, context).unwrap()
        };
        assert_eq!(upper(Some(10.0)).toml, "{ expr = \"id + 20\" }");
        assert_eq!((upper(Some(10.0)).doubt, upper(Some(1.0)).doubt), (None, Some(GUESSED_RANGE)));
    }

    #[test]
    fn stored_values_of_unique_columns_are_new() {
        let mut id = column(ColumnKind::Integer, Some(("1", "600")));
        id.is_unique = true;
        assert!(toml(&id, ParameterUsage::Stored).starts_with("{ sequence = [601, "));
        id.type_name = "smallint".to_owned();
        id.range = Some(("1".to_owned(), i16::MAX.to_string()));
        assert_eq!(toml(&id, ParameterUsage::Stored), "none", "no number is left");
        let mut note = column(ColumnKind::Text, None);
        (note.lengths, note.null_share) = (Some((3, 9)), 0.25);
        assert_eq!(toml(&note, ParameterUsage::Stored), "{ text = [3, 9], null_pct = 25 }");
    }

    #[test]
    fn limits_and_unknown_kinds_follow_the_evidence() {
        let limit = |rows_per_call| {
            let context = GeneratorContext { usage: ParameterUsage::Limit, rows_per_call, low: None };
            of_limit(context).map(|known| known.toml)
        };
        assert_eq!((limit(Some(2.5)).as_deref(), limit(None).as_deref()), (Some("3"), Some("10")));
        assert_eq!(toml(&column(ColumnKind::Other, None), ParameterUsage::Value), "none");
        assert_eq!(toml(&column(ColumnKind::Date, None), ParameterUsage::Low), "none", "no range is known");
        let total = column(ColumnKind::Decimal, Some(("1.5", "99999999999999999999")));
        assert_eq!(toml(&total, ParameterUsage::Value), "none", "more digits than a real has");
    }
}
