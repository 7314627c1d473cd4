//! Expressions over the values of a transaction: whole and floating-point numbers, comparisons, conditions.

mod parse;

use super::value::Number;

pub(super) use parse::parse;

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
}

/// What is done to one number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum One {
    Minus,
    Not,
    Abs,
    /// Towards zero.
    Int,
    Real,
}

/// What is done to two numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Two {
    Or,
    And,
    Equal,
    Unequal,
    Less,
    AtMost,
    More,
    AtLeast,
    Plus,
    Minus,
    Times,
    Divided,
    Rest,
    Least,
    Greatest,
}

impl Expr {
    /// What it comes to, with the numbers in the slots.
    #[inline]
    pub(super) fn of(&self, slots: &impl Fn(u16) -> Number) -> Number {
        match self {
            Self::Is(number) => *number,
            Self::Slot(slot) => slots(*slot),
            Self::Of(one, x) => one.of(x.of(slots)),
            Self::Both(Two::And, x, y) => truth(x.of(slots).holds() && y.of(slots).holds()),
            Self::Both(Two::Or, x, y) => truth(x.of(slots).holds() || y.of(slots).holds()),
            Self::Both(two, x, y) => two.of(x.of(slots), y.of(slots)),
        }
    }

    /// The slots that it reads.
    pub(super) fn slots(&self) -> Vec<u16> {
        match self {
            Self::Is(_) => Vec::new(),
            Self::Slot(slot) => vec![*slot],
            Self::Of(_, x) => x.slots(),
            Self::Both(_, x, y) => [x.slots(), y.slots()].concat(),
        }
    }

    /// Whether it is a floating-point number, where slots that are such are known.
    pub(super) fn is_real(&self, slot: &impl Fn(u16) -> bool) -> bool {
        match self {
            Self::Is(number) => matches!(number, Number::Real(_)),
            Self::Slot(number) => slot(*number),
            Self::Of(One::Not | One::Int, _) => false,
            Self::Of(One::Real, _) => true,
            Self::Of(One::Minus | One::Abs, x) => x.is_real(slot),
            Self::Both(two, x, y) => two.gives_its_own() && (x.is_real(slot) || y.is_real(slot)),
        }
    }
}

#[inline]
fn truth(holds: bool) -> Number {
    Number::Int(holds.into())
}

impl One {
    #[inline]
    fn of(self, x: Number) -> Number {
        match (self, x) {
            (Self::Not, x) => truth(!x.holds()),
            (Self::Int, x) => Number::Int(x.whole()),
            (Self::Real, x) => Number::Real(x.real()),
            (Self::Minus, Number::Int(x)) => Number::Int(x.saturating_neg()),
            (Self::Minus, Number::Real(x)) => Number::Real(-x),
            (Self::Abs, Number::Int(x)) => Number::Int(x.saturating_abs()),
            (Self::Abs, Number::Real(x)) => Number::Real(x.abs()),
        }
    }
}

impl Two {
    /// Whether it gives a number of its arguments' kind, and no truth.
    fn gives_its_own(self) -> bool {
        use Two::{Divided, Greatest, Least, Minus, Plus, Rest, Times};
        matches!(self, Plus | Minus | Times | Divided | Rest | Least | Greatest)
    }

    /// Sums and products beyond the largest number stay at it; what is divided by 0 is 0.
    #[inline]
    fn of(self, x: Number, y: Number) -> Number {
        if let (Number::Int(x), Number::Int(y)) = (x, y) {
            return match self {
                Self::Or => truth(x != 0 || y != 0),
                Self::And => truth(x != 0 && y != 0),
                Self::Equal => truth(x == y),
                Self::Unequal => truth(x != y),
                Self::Less => truth(x < y),
                Self::AtMost => truth(x <= y),
                Self::More => truth(x > y),
                Self::AtLeast => truth(x >= y),
                Self::Plus => Number::Int(x.saturating_add(y)),
                Self::Minus => Number::Int(x.saturating_sub(y)),
                Self::Times => Number::Int(x.saturating_mul(y)),
                Self::Divided => Number::Int(if y == 0 { 0 } else { x.saturating_div(y) }),
                Self::Rest => Number::Int(x.checked_rem(y).unwrap_or(0)),
                Self::Least => Number::Int(x.min(y)),
                Self::Greatest => Number::Int(x.max(y)),
            };
        }
        let (x, y) = (x.real(), y.real());
        match self {
            Self::Or => truth(x != 0.0 || y != 0.0),
            Self::And => truth(x != 0.0 && y != 0.0),
            Self::Equal => truth(x == y),
            Self::Unequal => truth(x != y),
            Self::Less => truth(x < y),
            Self::AtMost => truth(x <= y),
            Self::More => truth(x > y),
            Self::AtLeast => truth(x >= y),
            Self::Plus => Number::Real(x + y),
            Self::Minus => Number::Real(x - y),
            Self::Times => Number::Real(x * y),
            Self::Divided => Number::Real(if y == 0.0 { 0.0 } else { x / y }),
            Self::Rest => Number::Real(if y == 0.0 { 0.0 } else { x % y }),
            Self::Least => Number::Real(x.min(y)),
            Self::Greatest => Number::Real(x.max(y)),
        }
    }
}
