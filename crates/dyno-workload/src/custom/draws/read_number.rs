//! Reads generators of numbers, and choices.

use dyno_engine::Type;
use dyno_engine::data::{Permutation, mix};

use super::generators::ValueGenerator;
use super::numbers::{END_MAX, RealDistribution, WholeDistribution};
use super::random_text::WHOLE_LETTERS;
use super::reading::{DrawReader, ParsedDraw, literal, numeric};
use crate::custom::fault::WorkloadError;
use crate::custom::scale;
use crate::custom::table::{TomlItem, TomlTable, WrittenNumber};
use crate::custom::value::HeldValue;
use crate::draw::Zipf;

/// Exponent of Zipf's law: default, minimum and maximum.
const THETA: (f64, f64, f64) = (0.99, 0.01, 10.0);
/// The largest number of digits after the point; whole numbers have 18 digits that always fit.
const SCALE_MAX: i64 = 9;
/// The largest number of values in a choice, and the largest sum of their weights.
const WEIGHT_MAX: i64 = 1_000_000_000;

/// The limits of a range of numbers, and the same as whole numbers if they are.
type Ends = (f64, f64, Option<(i64, i64)>);

fn ends(reading: &DrawReader<'_>, item: &TomlItem<'_>) -> Result<Ends, WorkloadError> {
    let (low, high) = item.range(RANGE)?;
    let number = |item: &TomlItem<'_>| scale::number(item, reading.scale, RANGE);
    let (low, high) = (number(&low)?, number(&high)?);
    let whole = match (low, high) {
        (WrittenNumber::Whole(_), WrittenNumber::Whole(_)) => Some(whole_range(reading, item, -END_MAX)?),
        _ => None,
    };
    let (low, high) = (low.real(), high.real());
    if low > high {
        return Err(item.fault(format!("{low} is above {high}"), "write the lower end first"));
    }
    Ok((low, high, whole))
}

/// Reads a range of whole numbers: the first, and their number.
fn wholes(reading: &DrawReader<'_>, item: &TomlItem<'_>) -> Result<(i64, u64), WorkloadError> {
    let (low, high) = whole_range(reading, item, -END_MAX)?;
    Ok((low, high.abs_diff(low) + 1))
}

/// An example of a range.
const RANGE: &str = "the lowest and the highest: [1, 1_000]";

/// Reads a range of whole numbers, which may depend on the scale, from `least` on.
fn whole_range(
    reading: &DrawReader<'_>,
    item: &TomlItem<'_>,
    least: i64,
) -> Result<(i64, i64), WorkloadError> {
    scale::whole_range(item, reading.scale, (least, END_MAX), RANGE)
}

/// Numbers of a curve between two limits.
fn curve(ends: Ends, curve: RealDistribution) -> ParsedDraw {
    match ends {
        (_, _, Some((low, high))) => ParsedDraw::number(
            ValueGenerator::Whole(WholeDistribution::Curve { low, high, curve }),
            Type::Int,
        ),
        (low, high, None) => ParsedDraw::number(ValueGenerator::Real { low, high, curve }, Type::Real),
    }
}

pub(super) fn uniform(reading: &DrawReader<'_>, item: &TomlItem<'_>) -> Result<ParsedDraw, WorkloadError> {
    Ok(match ends(reading, item)? {
        (_, _, Some((low, high))) => ParsedDraw::number(
            ValueGenerator::Whole(WholeDistribution::Uniform { low, count: high.abs_diff(low) + 1 }),
            Type::Int,
        ),
        ends => curve(ends, RealDistribution::Uniform),
    })
}

pub(super) fn zipf(
    reading: &DrawReader<'_>,
    item: &TomlItem<'_>,
    table: &TomlTable<'_>,
) -> Result<ParsedDraw, WorkloadError> {
    let (low, count) = wholes(reading, item)?;
    let (usual, least, most) = THETA;
    let theta = table.get("theta").map_or(Ok(usual), |theta| match theta.real("a number: 0.99")? {
        number if (least..=most).contains(&number) => Ok(number),
        number => Err(theta.fault(format!("{number} is not from {least} to {most}"), "")),
    })?;
    let scrambled = table.get("scrambled").map_or(Ok(true), |flag| flag.flag())?;
    // The frequent numbers are a property of the data, so they are the same in every run.
    let order = scrambled.then(|| Permutation::new(count, mix(count)));
    Ok(ParsedDraw::number(
        ValueGenerator::Whole(WholeDistribution::Zipf { low, zipf: Zipf::new(count, theta), order }),
        Type::Int,
    ))
}

/// Reads a number above 0.
fn above_0(item: &TomlItem<'_>) -> Result<f64, WorkloadError> {
    match item.real("a number above 0")? {
        number if number > 0.0 => Ok(number),
        number => Err(item.fault(format!("{number} is not above 0"), "")),
    }
}

pub(super) fn normal(
    reading: &DrawReader<'_>,
    item: &TomlItem<'_>,
    table: &TomlTable<'_>,
) -> Result<ParsedDraw, WorkloadError> {
    let ends = ends(reading, item)?;
    let sd = above_0(&table.need("sd", "the standard deviation: sd = 10")?)?;
    let mean = match table.get("mean") {
        None => ends.0 + (ends.1 - ends.0) / 2.0,
        Some(mean) => match mean.real("the mean: 100")? {
            number if (ends.0..=ends.1).contains(&number) => number,
            number => return Err(mean.fault(format!("{number} is not within the range"), "")),
        },
    };
    Ok(curve(ends, RealDistribution::Normal { mean, sd }))
}

pub(super) fn exponential(
    reading: &DrawReader<'_>,
    item: &TomlItem<'_>,
    table: &TomlTable<'_>,
) -> Result<ParsedDraw, WorkloadError> {
    let mean = above_0(&table.need("mean", "the mean above the lower end: mean = 10")?)?;
    Ok(curve(ends(reading, item)?, RealDistribution::Exponential { mean }))
}

pub(super) fn nurand<'a>(
    reading: &mut DrawReader<'a>,
    item: &TomlItem<'a>,
    table: &TomlTable<'a>,
) -> Result<ParsedDraw, WorkloadError> {
    let (low, high) = whole_range(reading, item, 0)?;
    let a = table.need("a", "the number A of TPC-C, clause 2.1.6: a = 1023")?.whole(0, END_MAX)?;
    let (count, a) = (high.abs_diff(low) + 1, a.unsigned_abs());
    // C may be the name of a value, such as one that is drawn once per run.
    if let Some(c) = table.get("c").filter(|c| c.as_text().is_some()) {
        let name = c.text("a number, or the name of one")?;
        let slot = reading.slot(&name.letters, &name, 0)?;
        numeric(reading.draw_at(slot), &name, 0)?;
        let law = ValueGenerator::Nurand { low, count, a, c: slot };
        return Ok(ParsedDraw { needs: vec![slot], ..ParsedDraw::number(law, Type::Int) });
    }
    let c = table.get("c").map_or(Ok(0), |c| c.whole(0, END_MAX))?.unsigned_abs();
    Ok(ParsedDraw::number(ValueGenerator::Whole(WholeDistribution::Nurand { low, count, a, c }), Type::Int))
}

pub(super) fn permutation(
    reading: &mut DrawReader<'_>,
    item: &TomlItem<'_>,
) -> Result<ParsedDraw, WorkloadError> {
    let (low, count) = wholes(reading, item)?;
    Ok(ParsedDraw::number(ValueGenerator::Permutation { low, count, counter: reading.counter() }, Type::Int))
}

pub(super) fn sequence(
    reading: &mut DrawReader<'_>,
    item: &TomlItem<'_>,
    table: &TomlTable<'_>,
) -> Result<ParsedDraw, WorkloadError> {
    let (low, count) = wholes(reading, item)?;
    let apart = table.get("apart").map_or(Ok(false), |flag| flag.flag())?;
    if apart && count > 1 << 30 {
        return Err(item.fault("each session has more than 2^30 numbers of its own", "write a shorter range"));
    }
    Ok(ParsedDraw::number(
        ValueGenerator::Sequence { low, count, apart, counter: reading.counter() },
        Type::Int,
    ))
}

pub(super) fn decimal(
    reading: &DrawReader<'_>,
    item: &TomlItem<'_>,
    table: &TomlTable<'_>,
) -> Result<ParsedDraw, WorkloadError> {
    let scale = digits(table)?;
    let (low, high, _) = ends(reading, item)?;
    let ten = 10f64.powi(scale as i32);
    let (low, high) = ((low * ten).round(), (high * ten).round());
    if low.abs().max(high.abs()) > 1e15 {
        return Err(item.fault("more than 15 digits", "write a shorter range, or a smaller scale"));
    }
    let (low, high) = (low as i64, high as i64);
    let law = ValueGenerator::Decimal { low, count: high.abs_diff(low) + 1, scale };
    Ok(ParsedDraw::bytes(law, Type::Literal, DECIMAL_LETTERS))
}

/// The largest number of characters in a decimal number.
pub(super) const DECIMAL_LETTERS: usize = WHOLE_LETTERS + 2;

/// Reads the number of digits after the point.
pub(super) fn digits(table: &TomlTable<'_>) -> Result<u32, WorkloadError> {
    table.get("scale").map_or(Ok(2), |scale| scale.whole(0, SCALE_MAX)).map(|scale| scale as u32)
}

pub(super) fn choice(
    reading: &mut DrawReader<'_>,
    item: &TomlItem<'_>,
    table: &TomlTable<'_>,
) -> Result<ParsedDraw, WorkloadError> {
    let values = item.list("some values: [\"paid\", \"open\"]")?;
    let mut kinds = Vec::new();
    let mut held: Vec<HeldValue> = Vec::new();
    for value in &values {
        let (one, of) = reading.value(value)?;
        if kinds.first().is_some_and(|&first| first != of) {
            return Err(
                value.fault("its type differs from that of the first value", "texts only, or numbers only")
            );
        }
        kinds.push(of);
        held.push(one);
    }
    let Some(&of) = kinds.first() else { return Err(item.fault("an empty list", "write some values")) };
    let weights = match table.get("weights") {
        None => vec![1; held.len()],
        Some(weights) => {
            let list = weights.list("one weight for each value: [70, 30]")?;
            if list.len() != held.len() {
                let problem = format!("{} weights for {} values", list.len(), held.len());
                return Err(weights.fault(problem, "write one weight for each value"));
            }
            list.iter().map(|weight| weight.whole(0, WEIGHT_MAX)).collect::<Result<Vec<_>, _>>()?
        }
    };
    let mut sum = 0;
    let sums: Box<[u64]> = weights
        .iter()
        .map(|weight| {
            sum += weight.unsigned_abs();
            sum
        })
        .collect();
    if sum == 0 {
        return Err(item.fault("all weights are 0", "give one of them a weight"));
    }
    let value_type = if of == Type::Text { literal(table)? } else { of };
    Ok(ParsedDraw::number(ValueGenerator::Choice { values: held.into(), sums }, value_type))
}
