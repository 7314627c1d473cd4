//! Generators in `[draw]` for the variables of scripts, and values in TOML syntax.

use dyno_workload::custom::syntax::{Expr, Number, RandomFunction, SCALE};

use super::print::print;
use super::typed::Typed;
use crate::quoted::quoted;

/// The number of the session, from 0: a sequence of one number that differs per session.
pub(super) const CLIENT: &str = "{ sequence = [0, 0], apart = true, per = \"session\" }";

/// The constant values of arguments; `None` if one is not constant.
fn constant(parts: &[Expr; 3]) -> Option<[Number; 3]> {
    match parts {
        [Expr::Is(x), Expr::Is(y), Expr::Is(z)] => Some([*x, *y, *z]),
        _ => None,
    }
}

/// The largest exponent of a Zipf generator.
const THETA_MAX: f64 = 10.0;

/// Whether arguments depend on nothing but the workload's scale.
pub(super) fn is_fixed(parts: &[Expr; 3], slots: &[String]) -> bool {
    let is_scale = |slot: u16| slots[usize::from(slot)] == SCALE;
    parts.iter().all(|part| !part.is_random() && part.slots().into_iter().all(is_scale))
}

/// The generator for a random function with such arguments.
pub(super) fn drawn(law: RandomFunction, parts: &[Expr; 3], slots: &[String]) -> String {
    let numbers = constant(parts).map(|[low, high, bend]| (low.whole(), high.whole(), bend.real()));
    // Limits that are too large for generators are possible in expressions.
    let far = numbers.is_some_and(|(low, high, _)| low.unsigned_abs().max(high.unsigned_abs()) > 1 << 61);
    let bound = |part: &Expr| match part {
        Expr::Is(number) => number.whole().to_string(),
        part => quoted(&print(part, slots)),
    };
    let [low, high, bend] = parts;
    let range = format!("[{}, {}]", bound(low), bound(high));
    match (law, numbers, bend) {
        (RandomFunction::Uniform, ..) if !far => format!("{{ uniform = {range} }}"),
        (RandomFunction::Zipfian, _, Expr::Is(Number::Real(bend))) if !far && *bend <= THETA_MAX => {
            format!("{{ zipf = {range}, theta = {bend:?}, scrambled = false }}")
        }
        (RandomFunction::Exponential, Some((low, high, bend)), _) if !far => {
            let mean = (high.abs_diff(low) as f64 + 1.0) / bend;
            format!("{{ exponential = {range}, mean = {mean:?} }}")
        }
        (RandomFunction::Gaussian, Some((low, high, bend)), _) if !far => {
            let sd = (high.abs_diff(low) as f64 + 1.0) / (2.0 * bend);
            format!("{{ normal = {range}, sd = {sd:?} }}")
        }
        _ => {
            let whole = Expr::Random(law, Box::new(parts.clone()));
            format!("{{ expr = {} }}", quoted(&print(&whole, slots)))
        }
    }
}

/// The step that sets `name`.
pub(super) fn set_line(name: &str, typed: &Typed, slots: &[String]) -> String {
    format!("{{ set = \"{name}\", expr = {} }}", quoted(&print(&typed.expr, slots)))
}

/// Whether `name` is a valid name of a pgbench variable.
pub(super) fn is_variable(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(super::lex::is_plain)
}
