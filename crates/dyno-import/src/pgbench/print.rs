//! Prints expressions in the syntax of workloads.

use dyno_workload::custom::syntax::{
    BITS, BinaryOp, Expr, NOT, Number, OPERATORS, RandomFunction, SIGN, UnaryOp,
};

/// The precedence of functions and numbers, above that of all operators.
const ATOM: u8 = SIGN + 1;

/// Prints `expr`; `names` are the names of its slots.
pub(super) fn print(expr: &Expr, names: &[String]) -> String {
    printed(expr, names).0
}

/// The text, and the precedence of its outermost operator.
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
        Expr::Of(UnaryOp::Minus, x) => (format!("-{}", within(x, ATOM)), SIGN),
        Expr::Of(UnaryOp::Not, x) => (format!("not {}", within(x, NOT + 1)), NOT),
        Expr::Of(UnaryOp::Turned, x) => (format!("~{}", within(x, ATOM)), BITS),
        Expr::Of(one, x) => call(named(*one), &[x]),
        Expr::Both(two, x, y) => match sign(*two) {
            Ok((sign, binds)) => (format!("{} {sign} {}", within(x, binds), within(y, binds + 1)), binds),
            Err(name) => call(name, &[x, y]),
        },
        Expr::If(parts) => call("if", &[&parts[0], &parts[1], &parts[2]]),
        Expr::Permute(parts) => call("permute", &[&parts[0], &parts[1], &parts[2]]),
        Expr::Random(RandomFunction::Uniform, parts) => call("random", &[&parts[0], &parts[1]]),
        Expr::Random(law, parts) => {
            let name = match law {
                RandomFunction::Exponential => "random_exponential",
                RandomFunction::Gaussian => "random_gaussian",
                _ => "random_zipfian",
            };
            call(name, &[&parts[0], &parts[1], &parts[2]])
        }
    }
}

/// Prints a number. The syntax has no sign inside numbers, so the lowest number is written as a difference.
fn written(number: Number) -> (String, u8) {
    match number {
        Number::Int(i64::MIN) => (format!("(-{} - 1)", i64::MAX), ATOM),
        Number::Int(number) if number < 0 => (number.to_string(), SIGN),
        Number::Int(number) => (number.to_string(), ATOM),
        Number::Real(number) if number < 0.0 => (format!("{number:?}"), SIGN),
        Number::Real(number) => (format!("{number:?}"), ATOM),
    }
}

fn named(operator: UnaryOp) -> &'static str {
    match operator {
        UnaryOp::Abs => "abs",
        UnaryOp::Int => "int",
        UnaryOp::Round => "round",
        UnaryOp::Real => "real",
        UnaryOp::Sqrt => "sqrt",
        UnaryOp::Ln => "ln",
        UnaryOp::Exp => "exp",
        UnaryOp::Minus => "-",
        UnaryOp::Not => "not",
        UnaryOp::Turned => "~",
    }
}

/// The sign and precedence of an operator, or the name of a function.
fn sign(two: BinaryOp) -> Result<(&'static str, u8), &'static str> {
    match OPERATORS.iter().find(|(.., known)| *known == two) {
        Some(&(sign, binds, _)) => Ok((sign, binds)),
        None => Err(match two {
            BinaryOp::Least => "min",
            BinaryOp::Greatest => "max",
            BinaryOp::Fnv1a => "hash_fnv1a",
            BinaryOp::Murmur2 => "hash_murmur2",
            _ => "pow",
        }),
    }
}
