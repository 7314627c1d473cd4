//! The scale of a workload, and numbers that depend on it.

use super::expr::{ExprContext, ExprSeed, parse};
use super::fault::WorkloadError;
use super::names::shown;
use super::table::{TomlItem, WrittenNumber};
use super::value::{HeldValue, Number, SessionValues};

/// The name of the scale in expressions.
pub const SCALE: &str = "scale";

/// The name of the described tables' seed in expressions.
pub(super) const DATA_SEED: &str = "data_seed";

/// The largest scale of a workload.
pub(super) const SCALE_MAX: i64 = 1_000_000;

/// Reads a number, or evaluates an expression of numbers and the scale.
///
/// # Errors
/// It is neither; `example` shows a valid form.
pub(super) fn number(item: &TomlItem<'_>, scale: i64, example: &str) -> Result<WrittenNumber, WorkloadError> {
    let Some(text) = item.as_text() else { return item.number(example) };
    let parsed = parse(&text, &mut |name, at| match name {
        SCALE => Ok(0),
        _ => {
            let problem = format!("{} is not a number that is available here", shown(name));
            Err(text.fault(at, problem, "write numbers and scale: \"100_000 * scale\""))
        }
    })?;
    if parsed.is_random() {
        return Err(item.fault(
            "a random number, where one number is needed",
            "write numbers and scale: \"100_000 * scale\"",
        ));
    }
    let hold = SessionValues {
        held: [HeldValue::Int(scale)].into(),
        bytes: Box::default(),
        counted: Box::default(),
    };
    match parsed.evaluate(&mut ExprContext::new(&hold, ExprSeed::Is(0))) {
        Number::Int(whole) => Ok(WrittenNumber::Whole(whole)),
        Number::Real(broken) if broken.is_finite() => Ok(WrittenNumber::Broken(broken)),
        Number::Real(_) => Err(item.fault("not a valid number", "write a smaller one")),
    }
}

/// Reads such a number as a whole number within these limits.
pub(super) fn whole(item: &TomlItem<'_>, scale: i64, least: i64, most: i64) -> Result<i64, WorkloadError> {
    let range = format!("a whole number from {least} to {most}");
    if item.as_text().is_none() {
        return item.whole(least, most);
    }
    match number(item, scale, &range)? {
        WrittenNumber::Whole(number) if (least..=most).contains(&number) => Ok(number),
        WrittenNumber::Whole(number) => Err(item.fault(format!("{number} is not {range}"), "")),
        WrittenNumber::Broken(number) => Err(item.fault(format!("{number} is not {range}"), "")),
    }
}

/// Reads a range of such numbers.
pub(super) fn whole_range(
    item: &TomlItem<'_>,
    scale: i64,
    (least, most): (i64, i64),
    example: &str,
) -> Result<(i64, i64), WorkloadError> {
    let (low, high) = item.range(example)?;
    let (low, high) = (whole(&low, scale, least, most)?, whole(&high, scale, least, most)?);
    match low <= high {
        true => Ok((low, high)),
        false => Err(item.fault(format!("{low} is above {high}"), "write the lower end first")),
    }
}
