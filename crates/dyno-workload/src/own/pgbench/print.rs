//! Expressions as workloads write them.

use super::super::expr::{Expr, One, Random, Two};
use super::super::value::Number;

/// How closely the operators of a workload's expressions bind; functions and numbers most.
const ATOM: u8 = 9;
const SIGN: u8 = 8;
const BITS: u8 = 5;
const NOT: u8 = 3;

/// `expr`, with the names of its slots.
pub(super) fn print(expr: &Expr, names: &[String]) -> String {
    printed(expr, names).0
}

/// The words, and how closely what is outermost in them binds.
fn printed(expr: &Expr, names: &[String]) -> (String, u8) {
    let within = |expr: &Expr, least: u8| match printed(expr, names) {
        (words, binds) if binds >= least => words,
        (words, _) => format!("({words})"),
    };
    let call = |name: &str, parts: &[&Expr]| {
        let parts: Vec<String> = parts.iter().map(|part| print(part, names)).collect();
        (format!("{name}({})", parts.join(", ")), ATOM)
    };
    match expr {
        Expr::Is(number) => written(*number),
        Expr::Slot(slot) => (names[usize::from(*slot)].clone(), ATOM),
        Expr::Of(One::Minus, x) => (format!("-{}", within(x, ATOM)), SIGN),
        Expr::Of(One::Not, x) => (format!("not {}", within(x, NOT + 1)), NOT),
        Expr::Of(One::Turned, x) => (format!("~{}", within(x, ATOM)), BITS),
        Expr::Of(one, x) => call(named(*one), &[x]),
        Expr::Both(two, x, y) => match sign(*two) {
            Ok((sign, binds)) => (format!("{} {sign} {}", within(x, binds), within(y, binds + 1)), binds),
            Err(name) => call(name, &[x, y]),
        },
        Expr::If(parts) => call("if", &[&parts[0], &parts[1], &parts[2]]),
        Expr::Permute(parts) => call("permute", &[&parts[0], &parts[1], &parts[2]]),
        Expr::Random(Random::Uniform, parts) => call("random", &[&parts[0], &parts[1]]),
        Expr::Random(law, parts) => {
            let name = match law {
                Random::Exponential => "random_exponential",
                Random::Gaussian => "random_gaussian",
                _ => "random_zipfian",
            };
            call(name, &[&parts[0], &parts[1], &parts[2]])
        }
    }
}

/// A number: the language has no sign within, and the lowest one is what the highest is less 1.
fn written(number: Number) -> (String, u8) {
    match number {
        Number::Int(i64::MIN) => (format!("(-{} - 1)", i64::MAX), ATOM),
        Number::Int(number) if number < 0 => (number.to_string(), SIGN),
        Number::Int(number) => (number.to_string(), ATOM),
        Number::Real(number) if number < 0.0 => (format!("{number:?}"), SIGN),
        Number::Real(number) => (format!("{number:?}"), ATOM),
    }
}

fn named(one: One) -> &'static str {
    match one {
        One::Abs => "abs",
        One::Int => "int",
        One::Round => "round",
        One::Real => "real",
        One::Sqrt => "sqrt",
        One::Ln => "ln",
        One::Exp => "exp",
        One::Minus => "-",
        One::Not => "not",
        One::Turned => "~",
    }
}

/// The sign and how closely it binds, or the function's name.
fn sign(two: Two) -> Result<(&'static str, u8), &'static str> {
    Ok(match two {
        Two::Or => ("or", 1),
        Two::And => ("and", 2),
        Two::Equal => ("=", 4),
        Two::Unequal => ("<>", 4),
        Two::Less => ("<", 4),
        Two::AtMost => ("<=", 4),
        Two::More => (">", 4),
        Two::AtLeast => (">=", 4),
        Two::BitOr => ("|", BITS),
        Two::BitXor => ("#", BITS),
        Two::BitAnd => ("&", BITS),
        Two::ShiftLeft => ("<<", BITS),
        Two::ShiftRight => (">>", BITS),
        Two::Plus => ("+", 6),
        Two::Minus => ("-", 6),
        Two::Times => ("*", 7),
        Two::Divided => ("/", 7),
        Two::Rest => ("%", 7),
        Two::Least => return Err("min"),
        Two::Greatest => return Err("max"),
        Two::Pow => return Err("pow"),
        Two::Fnv1a => return Err("hash_fnv1a"),
        Two::Murmur2 => return Err("hash_murmur2"),
    })
}
