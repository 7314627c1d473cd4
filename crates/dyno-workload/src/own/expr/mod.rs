//! Expressions over the values of a transaction: whole and floating-point numbers, comparisons, conditions, random numbers.

mod functions;
mod given;
mod hash;
mod parse;
mod random;
mod words;

use super::value::Number;

pub(super) use functions::{One, Two};
pub(super) use given::{Given, Key};
pub(super) use parse::parse;
pub(super) use random::Random;

/// An expression.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Expr {
    /// A number as it is.
    Is(Number),
    /// What is in a slot.
    Slot(u16),
    /// `-x`, or `not x`.
    Of(One, Box<Expr>),
    /// `x + y` and the like, `min(x, y)`, `max(x, y)`.
    Both(Two, Box<Expr>, Box<Expr>),
    /// The second where the first holds, else the third.
    If(Box<[Expr; 3]>),
    /// `permute(number, count, seed)`.
    Permute(Box<[Expr; 3]>),
    /// A random number from the first to the second; the third says how bent its law is.
    Random(Random, Box<[Expr; 3]>),
}

impl Expr {
    /// Whether it draws a random number.
    pub(super) fn is_random(&self) -> bool {
        match self {
            Self::Is(_) | Self::Slot(_) => false,
            Self::Of(_, of) => of.is_random(),
            Self::Both(_, one, other) => one.is_random() || other.is_random(),
            Self::If(all) | Self::Permute(all) => all.iter().any(Self::is_random),
            Self::Random(..) => true,
        }
    }

    /// What it comes to.
    #[inline]
    pub(super) fn of(&self, given: &mut Given<'_>) -> Number {
        match self {
            Self::Is(number) => *number,
            Self::Slot(slot) => given.number(*slot),
            Self::Of(one, x) => one.of(x.of(given)),
            Self::Both(Two::And, x, y) => Number::truth(x.of(given).holds() && y.of(given).holds()),
            Self::Both(Two::Or, x, y) => Number::truth(x.of(given).holds() || y.of(given).holds()),
            Self::Both(two, x, y) => {
                let x = x.of(given);
                two.of(x, y.of(given))
            }
            Self::If(parts) => {
                let [condition, then, otherwise] = &**parts;
                if condition.of(given).holds() { then.of(given) } else { otherwise.of(given) }
            }
            Self::Permute(parts) => {
                let [number, count, seed] = parts.each_ref().map(|part| part.of(given).whole());
                Number::Int(hash::permute(number, count, seed))
            }
            Self::Random(law, parts) => {
                let [low, high, bend] = parts.each_ref().map(|part| part.of(given));
                Number::Int(law.draw(given.rng(), low.whole(), high.whole(), bend.real()))
            }
        }
    }

    /// The parts that it is made of.
    fn parts(&self) -> Vec<&Self> {
        match self {
            Self::Is(_) | Self::Slot(_) => Vec::new(),
            Self::Of(_, x) => vec![x],
            Self::Both(_, x, y) => vec![x, y],
            Self::If(parts) | Self::Permute(parts) | Self::Random(_, parts) => parts.iter().collect(),
        }
    }

    /// The slots that it reads.
    pub(super) fn slots(&self) -> Vec<u16> {
        match self {
            Self::Slot(slot) => vec![*slot],
            other => other.parts().into_iter().flat_map(Self::slots).collect(),
        }
    }

    /// Whether it is a floating-point number, where slots that are such are known.
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

    /// The same as a whole number, towards zero.
    pub(super) fn in_whole(self) -> Self {
        Self::Of(One::Int, Box::new(self))
    }

    /// The same as a floating-point number.
    pub(super) fn in_real(self) -> Self {
        Self::Of(One::Real, Box::new(self))
    }
}
