//! What expressions do to one number, and to two.

use super::hash;
use crate::own::value::Number;

/// What is done to one number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::own) enum One {
    Minus,
    Not,
    Abs,
    /// Towards zero.
    Int,
    /// To the nearest, of two the even one.
    Round,
    Real,
    Sqrt,
    Ln,
    Exp,
    /// Every bit the other way round.
    Turned,
}

/// What is done to two numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::own) enum Two {
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
    Pow,
    BitOr,
    BitXor,
    BitAnd,
    ShiftLeft,
    ShiftRight,
    Fnv1a,
    Murmur2,
}

/// A floating-point number; 0 where there is none.
#[inline]
fn real(x: f64) -> Number {
    Number::Real(if x.is_finite() { x } else { 0.0 })
}

impl One {
    /// Whether it gives a floating-point number; nothing where it gives a number of its argument's kind.
    pub(super) fn is_real(self) -> Option<bool> {
        match self {
            Self::Minus | Self::Abs => None,
            Self::Not | Self::Int | Self::Round | Self::Turned => Some(false),
            Self::Real | Self::Sqrt | Self::Ln | Self::Exp => Some(true),
        }
    }

    #[inline]
    pub(in crate::own) fn of(self, x: Number) -> Number {
        match (self, x) {
            (Self::Not, x) => Number::truth(!x.holds()),
            (Self::Int, x) => Number::Int(x.whole()),
            (Self::Round, Number::Real(x)) => Number::Int(x.round_ties_even() as i64),
            (Self::Round, x) => x,
            (Self::Turned, x) => Number::Int(!x.whole()),
            (Self::Real, x) => Number::Real(x.real()),
            (Self::Sqrt, x) => real(x.real().sqrt()),
            (Self::Ln, x) => real(x.real().ln()),
            (Self::Exp, x) => real(x.real().exp()),
            (Self::Minus, Number::Int(x)) => Number::Int(x.saturating_neg()),
            (Self::Minus, Number::Real(x)) => Number::Real(-x),
            (Self::Abs, Number::Int(x)) => Number::Int(x.saturating_abs()),
            (Self::Abs, Number::Real(x)) => Number::Real(x.abs()),
        }
    }
}

impl Two {
    /// Whether it gives a floating-point number; nothing where that depends on its arguments.
    pub(super) fn is_real(self) -> Option<bool> {
        use Two::{Divided, Greatest, Least, Minus, Plus, Pow, Rest, Times};
        match self {
            Plus | Minus | Times | Divided | Rest | Least | Greatest => None,
            Pow => Some(true),
            _ => Some(false),
        }
    }

    /// Sums and products beyond the largest number stay at it; what is divided by 0 is 0.
    #[inline]
    pub(in crate::own) fn of(self, x: Number, y: Number) -> Number {
        match (x, y) {
            (Number::Int(x), Number::Int(y)) => self.of_whole(x, y),
            (x, y) => self.of_real(x, y),
        }
    }

    #[inline]
    fn of_whole(self, x: i64, y: i64) -> Number {
        let truth = Number::truth;
        Number::Int(match self {
            Self::Or => return truth(x != 0 || y != 0),
            Self::And => return truth(x != 0 && y != 0),
            Self::Equal => return truth(x == y),
            Self::Unequal => return truth(x != y),
            Self::Less => return truth(x < y),
            Self::AtMost => return truth(x <= y),
            Self::More => return truth(x > y),
            Self::AtLeast => return truth(x >= y),
            Self::Pow => return real((x as f64).powf(y as f64)),
            Self::Plus => x.saturating_add(y),
            Self::Minus => x.saturating_sub(y),
            Self::Times => x.saturating_mul(y),
            Self::Divided => {
                if y == 0 {
                    0
                } else {
                    x.saturating_div(y)
                }
            }
            Self::Rest => x.checked_rem(y).unwrap_or(0),
            Self::Least => x.min(y),
            Self::Greatest => x.max(y),
            Self::BitOr => x | y,
            Self::BitXor => x ^ y,
            Self::BitAnd => x & y,
            Self::ShiftLeft => x.wrapping_shl(y as u32),
            Self::ShiftRight => x.wrapping_shr(y as u32),
            Self::Fnv1a => hash::fnv1a(x, y),
            Self::Murmur2 => hash::murmur2(x, y),
        })
    }

    fn of_real(self, x: Number, y: Number) -> Number {
        let truth = Number::truth;
        let (left, right) = (x.real(), y.real());
        match self {
            Self::Or => truth(left != 0.0 || right != 0.0),
            Self::And => truth(left != 0.0 && right != 0.0),
            Self::Equal => truth(left == right),
            Self::Unequal => truth(left != right),
            Self::Less => truth(left < right),
            Self::AtMost => truth(left <= right),
            Self::More => truth(left > right),
            Self::AtLeast => truth(left >= right),
            Self::Plus => Number::Real(left + right),
            Self::Minus => Number::Real(left - right),
            Self::Times => Number::Real(left * right),
            Self::Divided => Number::Real(if right == 0.0 { 0.0 } else { left / right }),
            Self::Rest => Number::Real(if right == 0.0 { 0.0 } else { left % right }),
            Self::Least => Number::Real(left.min(right)),
            Self::Greatest => Number::Real(left.max(right)),
            Self::Pow => real(left.powf(right)),
            Self::BitOr
            | Self::BitXor
            | Self::BitAnd
            | Self::ShiftLeft
            | Self::ShiftRight
            | Self::Fnv1a
            | Self::Murmur2 => self.of_whole(x.whole(), y.whole()),
        }
    }
}
