//! Draws of numbers, and choices, as users write them.

use dyno_engine::Type;
use dyno_engine::data::{Permutation, mix};

use super::law::Law;
use super::numbers::{Curve, END_MAX, Whole};
use super::reading::{Made, Reading, literal, numeric};
use super::texts::WHOLE_LETTERS;
use crate::draw::Zipf;
use crate::own::fault::Fault;
use crate::own::scale;
use crate::own::table::{Item, Table, Written};
use crate::own::value::Held;

/// How much Zipf's law leans where nothing is said, and within which limits.
const THETA: (f64, f64, f64) = (0.99, 0.01, 10.0);
/// Digits behind the point at most; whole numbers have 18 that all fit.
const SCALE_MAX: i64 = 9;
/// Values of a choice, and the sum of their weights, at most.
const WEIGHT_MAX: i64 = 1_000_000_000;

/// The ends of a range of numbers, and the same as whole numbers where they are such.
type Ends = (f64, f64, Option<(i64, i64)>);

fn ends(reading: &Reading<'_>, item: &Item<'_>) -> Result<Ends, Fault> {
    let (low, high) = item.range(RANGE)?;
    let number = |item: &Item<'_>| scale::number(item, reading.scale, RANGE);
    let (low, high) = (number(&low)?, number(&high)?);
    let whole = match (low, high) {
        (Written::Whole(_), Written::Whole(_)) => Some(whole_range(reading, item, -END_MAX)?),
        _ => None,
    };
    let (low, high) = (low.real(), high.real());
    if low > high {
        return Err(item.fault(format!("{low} is above {high}"), "write the lower end first"));
    }
    Ok((low, high, whole))
}

/// A range of whole numbers: the first, and how many.
fn wholes(reading: &Reading<'_>, item: &Item<'_>) -> Result<(i64, u64), Fault> {
    let (low, high) = whole_range(reading, item, -END_MAX)?;
    Ok((low, high.abs_diff(low) + 1))
}

/// What a range looks like.
const RANGE: &str = "the lowest and the highest: [1, 1_000]";

/// A range of whole numbers, which may be calculated with the scale, from `least` on.
fn whole_range(reading: &Reading<'_>, item: &Item<'_>, least: i64) -> Result<(i64, i64), Fault> {
    scale::whole_range(item, reading.scale, (least, END_MAX), RANGE)
}

/// Numbers of a curve between two ends.
fn curve(ends: Ends, curve: Curve) -> Made {
    match ends {
        (_, _, Some((low, high))) => Made::number(Law::Whole(Whole::Curve { low, high, curve }), Type::Int),
        (low, high, None) => Made::number(Law::Real { low, high, curve }, Type::Real),
    }
}

pub(super) fn uniform(reading: &Reading<'_>, item: &Item<'_>) -> Result<Made, Fault> {
    Ok(match ends(reading, item)? {
        (_, _, Some((low, high))) => {
            Made::number(Law::Whole(Whole::Uniform { low, count: high.abs_diff(low) + 1 }), Type::Int)
        }
        ends => curve(ends, Curve::Uniform),
    })
}

pub(super) fn zipf(reading: &Reading<'_>, item: &Item<'_>, table: &Table<'_>) -> Result<Made, Fault> {
    let (low, count) = wholes(reading, item)?;
    let (usual, least, most) = THETA;
    let theta = table.get("theta").map_or(Ok(usual), |theta| match theta.real("a number: 0.99")? {
        number if (least..=most).contains(&number) => Ok(number),
        number => Err(theta.fault(format!("{number} is not from {least} to {most}"), "")),
    })?;
    let scrambled = table.get("scrambled").map_or(Ok(true), |flag| flag.flag())?;
    // Which numbers are popular belongs to the data, so it is the same in every run.
    let order = scrambled.then(|| Permutation::new(count, mix(count)));
    Ok(Made::number(Law::Whole(Whole::Zipf { low, zipf: Zipf::new(count, theta), order }), Type::Int))
}

/// A number above 0.
fn above_0(item: &Item<'_>) -> Result<f64, Fault> {
    match item.real("a number above 0")? {
        number if number > 0.0 => Ok(number),
        number => Err(item.fault(format!("{number} is not above 0"), "")),
    }
}

pub(super) fn normal(reading: &Reading<'_>, item: &Item<'_>, table: &Table<'_>) -> Result<Made, Fault> {
    let ends = ends(reading, item)?;
    let sd = above_0(&table.need("sd", "the standard deviation: sd = 10")?)?;
    let mean = match table.get("mean") {
        None => ends.0 + (ends.1 - ends.0) / 2.0,
        Some(mean) => match mean.real("the mean: 100")? {
            number if (ends.0..=ends.1).contains(&number) => number,
            number => return Err(mean.fault(format!("{number} is not within the range"), "")),
        },
    };
    Ok(curve(ends, Curve::Normal { mean, sd }))
}

pub(super) fn exponential(reading: &Reading<'_>, item: &Item<'_>, table: &Table<'_>) -> Result<Made, Fault> {
    let mean = above_0(&table.need("mean", "the mean above the lower end: mean = 10")?)?;
    Ok(curve(ends(reading, item)?, Curve::Exponential { mean }))
}

pub(super) fn nurand<'a>(
    reading: &mut Reading<'a>,
    item: &Item<'a>,
    table: &Table<'a>,
) -> Result<Made, Fault> {
    let (low, high) = whole_range(reading, item, 0)?;
    let a = table.need("a", "the number A of TPC-C, clause 2.1.6: a = 1023")?.whole(0, END_MAX)?;
    let (count, a) = (high.abs_diff(low) + 1, a.unsigned_abs());
    // C may be a value of its own, such as one that is drawn once for the run.
    if let Some(c) = table.get("c").filter(|c| c.as_text().is_some()) {
        let name = c.text("a number, or the name of one")?;
        let slot = reading.slot(&name.letters, &name, 0)?;
        numeric(reading.of(slot), &name, 0)?;
        let law = Law::Nurand { low, count, a, c: slot };
        return Ok(Made { needs: vec![slot], ..Made::number(law, Type::Int) });
    }
    let c = table.get("c").map_or(Ok(0), |c| c.whole(0, END_MAX))?.unsigned_abs();
    Ok(Made::number(Law::Whole(Whole::Nurand { low, count, a, c }), Type::Int))
}

pub(super) fn permutation(reading: &mut Reading<'_>, item: &Item<'_>) -> Result<Made, Fault> {
    let (low, count) = wholes(reading, item)?;
    Ok(Made::number(Law::Permutation { low, count, counter: reading.counter() }, Type::Int))
}

pub(super) fn sequence(reading: &mut Reading<'_>, item: &Item<'_>, table: &Table<'_>) -> Result<Made, Fault> {
    let (low, count) = wholes(reading, item)?;
    let apart = table.get("apart").map_or(Ok(false), |flag| flag.flag())?;
    if apart && count > 1 << 30 {
        return Err(item.fault("each session has more than 2^30 numbers of its own", "write a shorter range"));
    }
    Ok(Made::number(Law::Sequence { low, count, apart, counter: reading.counter() }, Type::Int))
}

pub(super) fn decimal(reading: &Reading<'_>, item: &Item<'_>, table: &Table<'_>) -> Result<Made, Fault> {
    let scale = digits(table)?;
    let (low, high, _) = ends(reading, item)?;
    let ten = 10f64.powi(scale as i32);
    let (low, high) = ((low * ten).round(), (high * ten).round());
    if low.abs().max(high.abs()) > 1e15 {
        return Err(item.fault("more than 15 digits", "write a shorter range, or a smaller scale"));
    }
    let (low, high) = (low as i64, high as i64);
    let law = Law::Decimal { low, count: high.abs_diff(low) + 1, scale };
    Ok(Made::bytes(law, Type::Literal, DECIMAL_LETTERS))
}

/// Letters of a decimal number at most.
pub(super) const DECIMAL_LETTERS: usize = WHOLE_LETTERS + 2;

/// Digits behind the point.
pub(super) fn digits(table: &Table<'_>) -> Result<u32, Fault> {
    table.get("scale").map_or(Ok(2), |scale| scale.whole(0, SCALE_MAX)).map(|scale| scale as u32)
}

pub(super) fn choice(reading: &mut Reading<'_>, item: &Item<'_>, table: &Table<'_>) -> Result<Made, Fault> {
    let values = item.list("some values: [\"paid\", \"open\"]")?;
    let mut kinds = Vec::new();
    let mut held: Vec<Held> = Vec::new();
    for value in &values {
        let (one, of) = reading.value(value)?;
        if kinds.first().is_some_and(|&first| first != of) {
            return Err(value.fault("another type than the first value", "texts only, or numbers only"));
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
    let of = if of == Type::Text { literal(table)? } else { of };
    Ok(Made::number(Law::Choice { values: held.into(), sums }, of))
}
