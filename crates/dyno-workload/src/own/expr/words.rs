//! Functions and numbers, as expressions write them.

use super::{Expr, One, Random, Two};
use crate::own::value::Number;

/// Arguments of a function, at most.
const ARGUMENTS_MAX: usize = 16;

/// Functions with how many arguments each has at least and at most.
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

/// The function of this name over so many arguments as it has.
pub(super) fn function(name: &str, mut arguments: Vec<Expr>) -> Expr {
    let three = |arguments: Vec<Expr>| {
        let mut all = arguments.into_iter();
        let mut next = || all.next().unwrap_or(Expr::Is(Number::Int(0)));
        Box::new([next(), next(), next()])
    };
    let folded = |two: Two, arguments: Vec<Expr>| {
        let both = |x: Expr, y: Expr| Expr::Both(two, Box::new(x), Box::new(y));
        arguments.into_iter().reduce(both).unwrap_or(Expr::Is(Number::Int(0)))
    };
    let mut of = |one: One| Expr::Of(one, Box::new(arguments.swap_remove(0)));
    match name {
        "abs" => of(One::Abs),
        "int" => of(One::Int),
        "real" => of(One::Real),
        "round" => of(One::Round),
        "sqrt" => of(One::Sqrt),
        "ln" => of(One::Ln),
        "exp" => of(One::Exp),
        "min" => folded(Two::Least, arguments),
        "max" => folded(Two::Greatest, arguments),
        "pow" => folded(Two::Pow, arguments),
        "hash_fnv1a" => folded(Two::Fnv1a, arguments),
        "hash_murmur2" => folded(Two::Murmur2, arguments),
        "if" => Expr::If(three(arguments)),
        "nth" => {
            let place = arguments.remove(0);
            nth(&place, 1, &arguments)
        }
        "permute" => Expr::Permute(three(arguments)),
        "random" => Expr::Random(Random::Uniform, three(arguments)),
        "random_exponential" => Expr::Random(Random::Exponential, three(arguments)),
        "random_gaussian" => Expr::Random(Random::Gaussian, three(arguments)),
        _ => Expr::Random(Random::Zipfian, three(arguments)),
    }
}

/// The one of `values`, of which the first has the place `first`, whose place it is: by halves, so that of many none is far away.
fn nth(place: &Expr, first: usize, values: &[Expr]) -> Expr {
    if values.len() < 2 {
        return values.first().cloned().unwrap_or(Expr::Is(Number::Int(0)));
    }
    let (low, high) = values.split_at(values.len() / 2);
    let last = Expr::Is(Number::Int((first + low.len() - 1) as i64));
    let is_low = Expr::Both(Two::AtMost, Box::new(place.clone()), Box::new(last));
    Expr::If(Box::new([is_low, nth(place, first, low), nth(place, first + low.len(), high)]))
}

/// The end of the number that begins at `begin`: digits, a point, and an exponent with its sign.
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

/// The number that is written, with underscores between digits where that helps.
pub(super) fn number(letters: &str) -> Option<Number> {
    let plain = letters.replace('_', "");
    match plain.contains(['.', 'e', 'E']) {
        true => plain.parse().ok().filter(|number: &f64| number.is_finite()).map(Number::Real),
        false => plain.parse().ok().map(Number::Int),
    }
}
