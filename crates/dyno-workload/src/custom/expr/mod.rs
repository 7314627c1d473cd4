//! Expressions over the values of a transaction: whole and floating-point numbers, comparisons, conditions,
//! random numbers.

mod functions;
mod hash;
mod inputs;
mod parse;
mod random;
mod syntax;

use super::value::Number;

pub use functions::{BinaryOp, UnaryOp};
pub(super) use inputs::{ExprContext, ExprSeed};
pub(super) use parse::parse;
pub use parse::{BITS, COMPARED, NOT, OPERATORS, SIGN};
pub use random::RandomFunction;

#[derive(Debug, Clone, PartialEq)]
pub enum Expr {
    Is(Number),
    /// The value in a slot.
    Slot(u16),
    /// A function of one value: `-x`, `not x`.
    Of(UnaryOp, Box<Expr>),
    /// A function of two values: `x + y`, `min(x, y)`, `max(x, y)`.
    Both(BinaryOp, Box<Expr>, Box<Expr>),
    /// The second value if the first is true, otherwise the third.
    If(Box<[Expr; 3]>),
    /// The function `permute(number, count, seed)`.
    Permute(Box<[Expr; 3]>),
    /// A random number from the first to the second value; the third is the parameter of its distribution.
    Random(RandomFunction, Box<[Expr; 3]>),
}

impl Expr {
    /// Whether it draws a random number.
    pub fn is_random(&self) -> bool {
        match self {
            Self::Is(_) | Self::Slot(_) => false,
            Self::Of(_, of) => of.is_random(),
            Self::Both(_, one, other) => one.is_random() || other.is_random(),
            Self::If(all) | Self::Permute(all) => all.iter().any(Self::is_random),
            Self::Random(..) => true,
        }
    }

    /// Evaluates the expression with the given inputs.
    #[inline]
    pub(super) fn evaluate(&self, context: &mut ExprContext<'_>) -> Number {
        match self {
            Self::Is(number) => *number,
            Self::Slot(slot) => context.number(*slot),
            Self::Of(one, x) => one.apply(x.evaluate(context)),
            Self::Both(BinaryOp::And, x, y) => {
                Number::from_bool(x.evaluate(context).is_true() && y.evaluate(context).is_true())
            }
            Self::Both(BinaryOp::Or, x, y) => {
                Number::from_bool(x.evaluate(context).is_true() || y.evaluate(context).is_true())
            }
            Self::Both(two, x, y) => {
                let x = x.evaluate(context);
                two.apply(x, y.evaluate(context))
            }
            Self::If(parts) => {
                let [condition, then, otherwise] = &**parts;
                if condition.evaluate(context).is_true() {
                    then.evaluate(context)
                } else {
                    otherwise.evaluate(context)
                }
            }
            Self::Permute(parts) => {
                let [number, count, seed] = parts.each_ref().map(|part| part.evaluate(context).whole());
                Number::Int(hash::permute(number, count, seed))
            }
            Self::Random(law, parts) => {
                let [low, high, bend] = parts.each_ref().map(|part| part.evaluate(context));
                Number::Int(law.draw(context.rng(), low.whole(), high.whole(), bend.real()))
            }
        }
    }

    /// Its direct subexpressions, without deeper ones.
    fn parts(&self) -> Vec<&Self> {
        match self {
            Self::Is(_) | Self::Slot(_) => Vec::new(),
            Self::Of(_, x) => vec![x],
            Self::Both(_, x, y) => vec![x, y],
            Self::If(parts) | Self::Permute(parts) | Self::Random(_, parts) => parts.iter().collect(),
        }
    }

    /// The slots that it reads.
    pub fn slots(&self) -> Vec<u16> {
        match self {
            Self::Slot(slot) => vec![*slot],
            other => other.parts().into_iter().flat_map(Self::slots).collect(),
        }
    }

    /// Whether the result is a floating-point number; `slot` says which slots hold one.
    pub(super) fn is_real(&self, slot: &impl Fn(u16) -> bool) -> bool {
        match self {
            Self::Is(number) => matches!(number, Number::Real(_)),
            Self::Slot(number) => slot(*number),
            Self::Of(one, x) => one.is_real().unwrap_or_else(|| x.is_real(slot)),
            Self::Both(two, x, y) => two.is_real().unwrap_or_else(|| x.is_real(slot) || y.is_real(slot)),
            Self::If(parts) => parts[1..].iter().any(|part| part.is_real(slot)),
            Self::Permute(_) | Self::Random(..) => false,
        }
    }

    /// Converts the result to a whole number, truncated toward zero.
    pub(super) fn in_whole(self) -> Self {
        Self::Of(UnaryOp::Int, Box::new(self))
    }

    /// Converts the result to a floating-point number.
    pub(super) fn in_real(self) -> Self {
        Self::Of(UnaryOp::Real, Box::new(self))
    }
}
