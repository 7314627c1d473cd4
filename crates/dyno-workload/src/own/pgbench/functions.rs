//! The functions of pgbench's expressions, and what its operators make of numbers.

use std::f64::consts::PI;

use super::super::expr::{Expr, One, Random, Two};
use super::super::fault::{Fault, Text};
use super::super::value::Number;
use super::typed::{Kind, Typed, both, of};

/// Arguments of `greatest` and `least`, at most; as many as a function of a workload has.
pub(super) const ARGUMENTS_MAX: usize = 16;
/// The least that a bell is cut off at, in standard deviations.
const GAUSSIAN_LEAST: f64 = 2.0;
/// Exponents of Zipf's law.
const ZIPFIAN: (f64, f64) = (1.001, 1_000.0);

/// Functions with how many arguments each has at least and at most.
pub(super) const FUNCTIONS: [(&str, usize, usize); 21] = [
    ("abs", 1, 1),
    ("debug", 1, 1),
    ("double", 1, 1),
    ("exp", 1, 1),
    ("greatest", 1, ARGUMENTS_MAX),
    ("hash", 1, 2),
    ("hash_fnv1a", 1, 2),
    ("hash_murmur2", 1, 2),
    ("int", 1, 1),
    ("least", 1, ARGUMENTS_MAX),
    ("ln", 1, 1),
    ("mod", 2, 2),
    ("permute", 2, 3),
    ("pi", 0, 0),
    ("pow", 2, 2),
    ("power", 2, 2),
    ("random", 2, 2),
    ("random_exponential", 3, 3),
    ("random_gaussian", 3, 3),
    ("random_zipfian", 3, 3),
    ("sqrt", 1, 1),
];

/// What the function `name` makes of numbers.
pub(super) fn computed(
    text: &Text,
    name: &str,
    mut arguments: Vec<Typed>,
    at: usize,
) -> Result<Typed, Fault> {
    let int = |expr: Expr| Ok(Typed { expr, kind: Kind::Int });
    let real = |expr: Expr| Ok(Typed { expr, kind: Kind::Real });
    let mut next = || if arguments.is_empty() { Typed::null() } else { arguments.remove(0) };
    match name {
        "abs" => {
            let Typed { expr, kind } = next();
            Ok(Typed { expr: of(One::Abs, expr), kind })
        }
        "int" => {
            let argument = next();
            if let Some(Number::Real(number)) = argument.constant()
                && number.abs() >= 9.3e18
            {
                return Err(text.fault(at, "no whole number is so large", ""));
            }
            int(argument.whole())
        }
        "double" => real(next().real()),
        "pi" => Ok(Typed::number(Number::Real(PI))),
        "sqrt" => real(of(One::Sqrt, no_less(text, name, next(), at)?)),
        "ln" => real(of(One::Ln, no_less(text, name, next(), at)?)),
        "exp" => real(of(One::Exp, next().real())),
        "pow" | "power" => {
            let x = next().real();
            real(both(Two::Pow, x, next().real()))
        }
        "mod" => {
            let x = next();
            numbers(text, Two::Rest, x, next(), at)
        }
        "greatest" | "least" => {
            let two = if name == "least" { Two::Least } else { Two::Greatest };
            let is_real = arguments.iter().any(|argument| argument.kind == Kind::Real);
            let kind = if is_real { Kind::Real } else { Kind::Int };
            let each = arguments.into_iter().map(|one| if is_real { one.real() } else { one.expr });
            let all = each.reduce(|x, y| both(two, x, y)).unwrap_or(Expr::Is(Number::Int(0)));
            Ok(Typed { expr: all, kind })
        }
        "hash" | "hash_murmur2" | "hash_fnv1a" => {
            let two = if name == "hash_fnv1a" { Two::Fnv1a } else { Two::Murmur2 };
            let value = next().whole();
            int(both(two, value, next().whole()))
        }
        "permute" => {
            let (number, count, seed) = (next().whole(), next().whole(), next().whole());
            if matches!(count, Expr::Is(Number::Int(count)) if count <= 0) {
                return Err(text.fault(
                    at,
                    "permute has no numbers to permute",
                    "its second argument is above 0",
                ));
            }
            int(Expr::Permute(Box::new([number, count, seed])))
        }
        _ => random(text, name, [next(), next(), next()], at),
    }
}

/// The argument of a root or a logarithm, which is not below 0.
fn no_less(text: &Text, name: &str, argument: Typed, at: usize) -> Result<Expr, Fault> {
    match argument.constant().map(Number::real) {
        Some(number) if number < 0.0 || (name == "ln" && number == 0.0) => {
            Err(text.fault(at, format!("there is no {name} of {number}"), ""))
        }
        _ => Ok(argument.real()),
    }
}

/// One of the random functions.
fn random(text: &Text, name: &str, [low, high, bend]: [Typed; 3], at: usize) -> Result<Typed, Fault> {
    let law = match name {
        "random" => Random::Uniform,
        "random_exponential" => Random::Exponential,
        "random_gaussian" => Random::Gaussian,
        _ => Random::Zipfian,
    };
    let (low, high) = (low.whole(), high.whole());
    if let (Expr::Is(Number::Int(low)), Expr::Is(Number::Int(high))) = (&low, &high) {
        if low > high {
            return Err(text.fault(
                at,
                format!("no number is from {low} to {high}"),
                "write the lower end first",
            ));
        }
        if high.checked_sub(*low).is_none_or(|span| span == i64::MAX) {
            return Err(text.fault(
                at,
                format!("the range from {low} to {high} is too large"),
                "write a shorter one",
            ));
        }
    }
    let bend = if law == Random::Uniform { Expr::Is(Number::Int(0)) } else { bend.real() };
    if let Expr::Is(Number::Real(number)) = bend {
        let wanted = match law {
            Random::Exponential if number <= 0.0 => Some("above 0"),
            Random::Gaussian if number < GAUSSIAN_LEAST => Some("2.0 or more"),
            Random::Zipfian if !(ZIPFIAN.0..=ZIPFIAN.1).contains(&number) => Some("from 1.001 to 1000"),
            _ => None,
        };
        if let Some(wanted) = wanted {
            let problem = format!("{name} with the parameter {number}");
            return Err(text.fault(at, problem, format!("it is {wanted}")));
        }
    }
    Ok(Typed { expr: Expr::Random(law, Box::new([low, high, bend])), kind: Kind::Int })
}

/// What an operator, at byte `at`, makes of two numbers.
pub(super) fn numbers(text: &Text, two: Two, x: Typed, y: Typed, at: usize) -> Result<Typed, Fault> {
    for side in [&x, &y] {
        if side.kind == Kind::Bool {
            return Err(text.fault(
                at,
                "cannot coerce boolean to a number",
                "compare numbers, and use and, or, not for truths",
            ));
        }
    }
    if x.kind == Kind::Null || y.kind == Kind::Null {
        return Ok(Typed::null());
    }
    use Two::{BitAnd, BitOr, BitXor, Divided, Minus, Plus, Rest, ShiftLeft, ShiftRight, Times};
    let is_real = x.kind == Kind::Real || y.kind == Kind::Real;
    if matches!(two, Divided | Rest) && y.constant().is_some_and(|number| !number.holds()) {
        return Err(text.fault(at, "division by zero", ""));
    }
    match two {
        Rest | BitAnd | BitOr | BitXor | ShiftLeft | ShiftRight => {
            Ok(Typed { expr: both(two, x.whole(), y.whole()), kind: Kind::Int })
        }
        Plus | Minus | Times | Divided => {
            if let (Some(Number::Int(x)), Some(Number::Int(y))) = (x.constant(), y.constant()) {
                let fits = match two {
                    Plus => x.checked_add(y),
                    Minus => x.checked_sub(y),
                    Times => x.checked_mul(y),
                    _ => x.checked_div(y),
                };
                if fits.is_none() {
                    return Err(text.fault(at, "no whole number is so large", ""));
                }
            }
            let kind = if is_real { Kind::Real } else { Kind::Int };
            Ok(Typed { expr: both(two, x.expr, y.expr), kind })
        }
        _ => Ok(Typed { expr: both(two, x.expr, y.expr), kind: Kind::Bool }),
    }
}
