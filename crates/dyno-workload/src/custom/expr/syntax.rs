//! Functions and numbers in the syntax of expressions.

use super::{BinaryOp, Expr, RandomFunction, UnaryOp};
use crate::custom::value::Number;

/// The largest number of arguments of a function.
const ARGUMENTS_MAX: usize = 16;

/// Functions with their minimum and maximum number of arguments.
pub(super) const FUNCTIONS: [(&str, usize, usize); 19] = [
    ("min", 2, ARGUMENTS_MAX),
    ("max", 2, ARGUMENTS_MAX),
    ("abs", 1, 1),
    ("int", 1, 1),
    ("real", 1, 1),
    ("round", 1, 1),
    ("sqrt", 1, 1),
    ("ln", 1, 1),
    ("exp", 1, 1),
    ("pow", 2, 2),
    ("if", 3, 3),
    ("nth", 2, ARGUMENTS_MAX),
    ("hash_fnv1a", 2, 2),
    ("hash_murmur2", 2, 2),
    ("permute", 3, 3),
    ("random", 2, 2),
    ("random_exponential", 3, 3),
    ("random_gaussian", 3, 3),
    ("random_zipfian", 3, 3),
];

/// Builds the function with this name and these arguments.
pub(super) fn function(name: &str, mut arguments: Vec<Expr>) -> Expr {
    let three = |arguments: Vec<Expr>| {
        let mut all = arguments.into_iter();
        let mut next = || all.next().unwrap_or(Expr::Is(Number::Int(0)));
        Box::new([next(), next(), next()])
    };
    let folded = |two: BinaryOp, arguments: Vec<Expr>| {
        let combine = |x: Expr, y: Expr| Expr::Both(two, Box::new(x), Box::new(y));
        arguments.into_iter().reduce(combine).unwrap_or(Expr::Is(Number::Int(0)))
    };
    let mut unary = |one: UnaryOp| Expr::Of(one, Box::new(arguments.swap_remove(0)));
    match name {
        "abs" => unary(UnaryOp::Abs),
        "int" => unary(UnaryOp::Int),
        "real" => unary(UnaryOp::Real),
        "round" => unary(UnaryOp::Round),
        "sqrt" => unary(UnaryOp::Sqrt),
        "ln" => unary(UnaryOp::Ln),
        "exp" => unary(UnaryOp::Exp),
        "min" => folded(BinaryOp::Least, arguments),
        "max" => folded(BinaryOp::Greatest, arguments),
        "pow" => folded(BinaryOp::Pow, arguments),
        "hash_fnv1a" => folded(BinaryOp::Fnv1a, arguments),
        "hash_murmur2" => folded(BinaryOp::Murmur2, arguments),
        "if" => Expr::If(three(arguments)),
        "nth" => {
            let place = arguments.remove(0);
            nth(&place, 1, &arguments)
        }
        "permute" => Expr::Permute(three(arguments)),
        "random" => Expr::Random(RandomFunction::Uniform, three(arguments)),
        "random_exponential" => Expr::Random(RandomFunction::Exponential, three(arguments)),
        "random_gaussian" => Expr::Random(RandomFunction::Gaussian, three(arguments)),
        _ => Expr::Random(RandomFunction::Zipfian, three(arguments)),
    }
}

/// Selects one of `values` by index, where the first has the index `first`; a binary search, so depth stays
/// low for many values.
fn nth(place: &Expr, first: usize, values: &[Expr]) -> Expr {
    if values.len() < 2 {
        return values.first().cloned().unwrap_or(Expr::Is(Number::Int(0)));
    }
    let (low, high) = values.split_at(values.len() / 2);
    let last = Expr::Is(Number::Int((first + low.len() - 1) as i64));
    let is_low = Expr::Both(BinaryOp::AtMost, Box::new(place.clone()), Box::new(last));
    Expr::If(Box::new([is_low, nth(place, first, low), nth(place, first + low.len(), high)]))
}

/// The end of the number that starts at `begin`: digits, a point, and an exponent with its sign.
pub(super) fn number_end(bytes: &[u8], begin: usize) -> usize {
    let plain = |byte: &u8| byte.is_ascii_digit() || b"._".contains(byte);
    let run = |from: usize| from + bytes[from..].iter().take_while(|byte| plain(byte)).count();
    let end = run(begin);
    if !bytes.get(end).is_some_and(|byte| b"eE".contains(byte)) {
        return end;
    }
    let digits = end + 1 + usize::from(bytes.get(end + 1).is_some_and(|byte| b"+-".contains(byte)));
    if bytes.get(digits).is_some_and(u8::is_ascii_digit) { run(digits) } else { end }
}

/// Parses a number, with optional underscores between digits.
pub(super) fn number(letters: &str) -> Option<Number> {
    let plain = letters.replace('_', "");
    match plain.contains(['.', 'e', 'E']) {
        true => plain.parse().ok().filter(|number: &f64| number.is_finite()).map(Number::Real),
        false => plain.parse().ok().map(Number::Int),
    }
}
