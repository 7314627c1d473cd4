//! The scale of a workload, and numbers that are calculated with it.

use super::expr::{Given, Key, parse};
use super::fault::Fault;
use super::names::shown;
use super::table::{Item, Written};
use super::value::{Held, Hold, Number};

/// The name under which expressions have it.
pub(super) const SCALE: &str = "scale";

/// The name under which expressions have the seed of the described tables.
pub(super) const DATA_SEED: &str = "data_seed";

/// The largest.
pub(super) const SCALE_MAX: i64 = 1_000_000;

/// The number that is written, or what an expression of numbers and the scale comes to.
///
/// # Errors
/// It is neither, or `example` says better what is wanted.
pub(super) fn number(item: &Item<'_>, scale: i64, example: &str) -> Result<Written, Fault> {
    let Some(text) = item.as_text() else { return item.number(example) };
    let parsed = parse(&text, &mut |name, at| match name {
        SCALE => Ok(0),
        _ => {
            let problem = format!("{} is no number that is known here", shown(name));
            Err(text.fault(at, problem, "write numbers and scale: \"100_000 * scale\""))
        }
    })?;
    if parsed.is_random() {
        return Err(item.fault(
            "a random number, where one number is needed",
            "write numbers and scale: \"100_000 * scale\"",
        ));
    }
    let hold = Hold { held: [Held::Int(scale)].into(), bytes: Box::default(), counted: Box::default() };
    match parsed.of(&mut Given::new(&hold, Key::Is(0))) {
        Number::Int(whole) => Ok(Written::Whole(whole)),
        Number::Real(broken) if broken.is_finite() => Ok(Written::Broken(broken)),
        Number::Real(_) => Err(item.fault("no number that there is", "write a smaller one")),
    }
}

/// The same as a whole number within these limits.
pub(super) fn whole(item: &Item<'_>, scale: i64, least: i64, most: i64) -> Result<i64, Fault> {
    let range = format!("a whole number from {least} to {most}");
    if item.as_text().is_none() {
        return item.whole(least, most);
    }
    match number(item, scale, &range)? {
        Written::Whole(number) if (least..=most).contains(&number) => Ok(number),
        Written::Whole(number) => Err(item.fault(format!("{number} is not {range}"), "")),
        Written::Broken(number) => Err(item.fault(format!("{number} is not {range}"), "")),
    }
}

/// A range of such numbers.
pub(super) fn whole_range(
    item: &Item<'_>,
    scale: i64,
    (least, most): (i64, i64),
    example: &str,
) -> Result<(i64, i64), Fault> {
    let (low, high) = item.range(example)?;
    let (low, high) = (whole(&low, scale, least, most)?, whole(&high, scale, least, most)?);
    match low <= high {
        true => Ok((low, high)),
        false => Err(item.fault(format!("{low} is above {high}"), "write the lower end first")),
    }
}
