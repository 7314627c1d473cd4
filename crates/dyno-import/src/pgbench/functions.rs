//! Functions and operators of pgbench's expressions.

use std::f64::consts::PI;

use dyno_workload::custom::syntax::{
    BinaryOp, Expr, Number, RandomFunction, SourceText, UnaryOp, WorkloadError,
};

use super::typed::{PgbenchType, Typed, binary_expr, unary_expr};

/// The largest number of arguments of `greatest` and `least`, as for functions of workloads.
pub(super) const ARGUMENTS_MAX: usize = 16;
/// The smallest truncation of a normal distribution, in standard deviations.
const GAUSSIAN_LEAST: f64 = 2.0;
/// Smallest and largest exponent of Zipf's law.
const ZIPFIAN: (f64, f64) = (1.001, 1_000.0);

/// Functions with their minimum and maximum number of arguments.
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

/// Translates the function `name` of numbers.
pub(super) fn apply_function(
    text: &SourceText,
    name: &str,
    mut arguments: Vec<Typed>,
    at: usize,
) -> Result<Typed, WorkloadError> {
    let int = |expr: Expr| Ok(Typed { expr, kind: PgbenchType::Int });
    let real = |expr: Expr| Ok(Typed { expr, kind: PgbenchType::Real });
    let mut next = || if arguments.is_empty() { Typed::null() } else { arguments.remove(0) };
    match name {
        "abs" => {
            let Typed { expr, kind } = next();
            Ok(Typed { expr: unary_expr(UnaryOp::Abs, expr), kind })
        }
        "int" => {
            let argument = next();
            if let Some(Number::Real(number)) = argument.constant()
                && number.abs() >= 9.3e18
            {
                return Err(text.fault(at, "the value is too large for a whole number", ""));
            }
            int(argument.whole())
        }
        "double" => real(next().real()),
        "pi" => Ok(Typed::number(Number::Real(PI))),
        "sqrt" => real(unary_expr(UnaryOp::Sqrt, require_domain(text, name, next(), at)?)),
        "ln" => real(unary_expr(UnaryOp::Ln, require_domain(text, name, next(), at)?)),
        "exp" => real(unary_expr(UnaryOp::Exp, next().real())),
        "pow" | "power" => {
            let x = next().real();
            real(binary_expr(BinaryOp::Pow, x, next().real()))
        }
        "mod" => {
            let x = next();
            numeric_operation(text, BinaryOp::Rest, x, next(), at)
        }
        "greatest" | "least" => {
            let two = if name == "least" { BinaryOp::Least } else { BinaryOp::Greatest };
            let is_real = arguments.iter().any(|argument| argument.kind == PgbenchType::Real);
            let kind = if is_real { PgbenchType::Real } else { PgbenchType::Int };
            let operands = arguments.into_iter().map(|one| if is_real { one.real() } else { one.expr });
            let all = operands.reduce(|x, y| binary_expr(two, x, y)).unwrap_or(Expr::Is(Number::Int(0)));
            Ok(Typed { expr: all, kind })
        }
        "hash" | "hash_murmur2" | "hash_fnv1a" => {
            let two = if name == "hash_fnv1a" { BinaryOp::Fnv1a } else { BinaryOp::Murmur2 };
            let value = next().whole();
            int(binary_expr(two, value, next().whole()))
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

/// Checks that the argument of a root or logarithm is not negative.
fn require_domain(text: &SourceText, name: &str, argument: Typed, at: usize) -> Result<Expr, WorkloadError> {
    match argument.constant().map(Number::real) {
        Some(number) if number < 0.0 || (name == "ln" && number == 0.0) => {
            Err(text.fault(at, format!("there is no {name} of {number}"), ""))
        }
        _ => Ok(argument.real()),
    }
}

/// Translates one of the random functions.
fn random(
    text: &SourceText,
    name: &str,
    [low, high, bend]: [Typed; 3],
    at: usize,
) -> Result<Typed, WorkloadError> {
    let law = match name {
        "random" => RandomFunction::Uniform,
        "random_exponential" => RandomFunction::Exponential,
        "random_gaussian" => RandomFunction::Gaussian,
        _ => RandomFunction::Zipfian,
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
    let bend = if law == RandomFunction::Uniform { Expr::Is(Number::Int(0)) } else { bend.real() };
    if let Expr::Is(Number::Real(number)) = bend {
        let wanted = match law {
            RandomFunction::Exponential if number <= 0.0 => Some("above 0"),
            RandomFunction::Gaussian if number < GAUSSIAN_LEAST => Some("2.0 or more"),
            RandomFunction::Zipfian if !(ZIPFIAN.0..=ZIPFIAN.1).contains(&number) => {
                Some("from 1.001 to 1000")
            }
            _ => None,
        };
        if let Some(wanted) = wanted {
            let problem = format!("{name} with the parameter {number}");
            return Err(text.fault(at, problem, format!("it is {wanted}")));
        }
    }
    Ok(Typed { expr: Expr::Random(law, Box::new([low, high, bend])), kind: PgbenchType::Int })
}

/// Translates the operator at byte `at` of two numbers.
pub(super) fn numeric_operation(
    text: &SourceText,
    two: BinaryOp,
    x: Typed,
    y: Typed,
    at: usize,
) -> Result<Typed, WorkloadError> {
    for side in [&x, &y] {
        if side.kind == PgbenchType::Bool {
            return Err(text.fault(
                at,
                "cannot coerce boolean to a number",
                "compare numbers, and use and, or, not for truths",
            ));
        }
    }
    if x.kind == PgbenchType::Null || y.kind == PgbenchType::Null {
        return Ok(Typed::null());
    }
    use BinaryOp::{BitAnd, BitOr, BitXor, Divided, Minus, Plus, Rest, ShiftLeft, ShiftRight, Times};
    let is_real = x.kind == PgbenchType::Real || y.kind == PgbenchType::Real;
    if matches!(two, Divided | Rest) && y.constant().is_some_and(|number| !number.is_true()) {
        return Err(text.fault(at, "division by zero", ""));
    }
    match two {
        Rest | BitAnd | BitOr | BitXor | ShiftLeft | ShiftRight => {
            Ok(Typed { expr: binary_expr(two, x.whole(), y.whole()), kind: PgbenchType::Int })
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
                    return Err(text.fault(at, "the value is too large for a whole number", ""));
                }
            }
            let kind = if is_real { PgbenchType::Real } else { PgbenchType::Int };
            Ok(Typed { expr: binary_expr(two, x.expr, y.expr), kind })
        }
        _ => Ok(Typed { expr: binary_expr(two, x.expr, y.expr), kind: PgbenchType::Bool }),
    }
}
