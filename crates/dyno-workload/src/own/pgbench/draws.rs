//! What stands in `[draw]` for the variables of scripts, and values as TOML writes them.

use super::super::expr::{Expr, Random};
use super::super::value::Number;
use super::print::print;
use super::typed::Typed;

/// The number of the session, from 0: a sequence of one number, which each session has of its own.
pub(super) const CLIENT: &str = "{ sequence = [0, 0], apart = true, per = \"session\" }";

/// The numbers that arguments always are.
pub(super) fn constant(parts: &[Expr; 3]) -> Option<[Number; 3]> {
    match parts {
        [Expr::Is(x), Expr::Is(y), Expr::Is(z)] => Some([*x, *y, *z]),
        _ => None,
    }
}

/// The greatest exponent that a draw by Zipf's law may have.
const THETA_MAX: f64 = 10.0;

/// The draw of a random function over numbers that never change.
pub(super) fn drawn(law: Random, [low, high, bend]: [Number; 3]) -> String {
    let (low, high, bend) = (low.whole(), high.whole(), bend.real());
    // Ends that are too far away for the draws of a workload are none for expressions.
    let far = low.unsigned_abs().max(high.unsigned_abs()) > 1 << 61;
    if far || (law == Random::Zipfian && bend > THETA_MAX) {
        let parts = [Number::Int(low), Number::Int(high), Number::Real(bend)].map(Expr::Is);
        let words = print(&Expr::Random(law, Box::new(parts)), &[]);
        return format!("{{ expr = {} }}", quoted(&words));
    }
    let count = high.abs_diff(low) as f64 + 1.0;
    match law {
        Random::Uniform => format!("{{ uniform = [{low}, {high}] }}"),
        Random::Exponential => format!("{{ exponential = [{low}, {high}], mean = {:?} }}", count / bend),
        Random::Gaussian => format!("{{ normal = [{low}, {high}], sd = {:?} }}", count / (2.0 * bend)),
        Random::Zipfian => format!("{{ zipf = [{low}, {high}], theta = {bend:?}, scrambled = false }}"),
    }
}

/// The step that gives `name` a value.
pub(super) fn set_line(name: &str, typed: &Typed, slots: &[String]) -> String {
    format!("{{ set = \"{name}\", expr = {} }}", quoted(&print(&typed.expr, slots)))
}

/// A text as TOML writes it.
pub(super) fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' | '\\' => out.extend(['\\', letter]),
            letter if letter.is_control() => out.push_str(&format!("\\u{:04X}", u32::from(letter))),
            letter => out.push(letter),
        }
    }
    out.push('"');
    out
}

/// Whether `name` can be one of a variable of pgbench.
pub(super) fn is_variable(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(super::lex::is_plain)
}
