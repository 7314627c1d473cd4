//! Functions and operators of expressions, with one or two arguments.

use super::hash;
use crate::custom::value::Number;

/// A function of one number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnaryOp {
    Minus,
    Not,
    Abs,
    /// Truncates toward zero to a whole number.
    Int,
    /// Rounds to the nearest integer, ties to even.
    Round,
    Real,
    Sqrt,
    Ln,
    Exp,
    /// Inverts every bit of a whole number.
    Turned,
}

/// An operator or function of two numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BinaryOp {
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

/// A floating-point number; 0 if the result is not a number.
#[inline]
fn real(x: f64) -> Number {
    Number::Real(if x.is_finite() { x } else { 0.0 })
}

impl UnaryOp {
    /// Whether the result is a floating-point number; `None` if it has the type of the argument.
    pub(super) fn is_real(self) -> Option<bool> {
        match self {
            Self::Minus | Self::Abs => None,
            Self::Not | Self::Int | Self::Round | Self::Turned => Some(false),
            Self::Real | Self::Sqrt | Self::Ln | Self::Exp => Some(true),
        }
    }

    #[inline]
    pub fn apply(self, x: Number) -> Number {
        match (self, x) {
            (Self::Not, x) => Number::from_bool(!x.is_true()),
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

impl BinaryOp {
    /// Whether the result is a floating-point number; `None` if it depends on the arguments.
    pub(super) fn is_real(self) -> Option<bool> {
        use BinaryOp::{Divided, Greatest, Least, Minus, Plus, Pow, Rest, Times};
        match self {
            Plus | Minus | Times | Divided | Rest | Least | Greatest => None,
            Pow => Some(true),
            _ => Some(false),
        }
    }

    /// Applies it. Sums and products saturate; a division by 0 gives 0.
    #[inline]
    pub fn apply(self, x: Number, y: Number) -> Number {
        match (x, y) {
            (Number::Int(x), Number::Int(y)) => self.apply_int(x, y),
            (x, y) => self.apply_real(x, y),
        }
    }

    #[inline]
    fn apply_int(self, x: i64, y: i64) -> Number {
        let truth = Number::from_bool;
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

    fn apply_real(self, x: Number, y: Number) -> Number {
        let truth = Number::from_bool;
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
            | Self::Murmur2 => self.apply_int(x.whole(), y.whole()),
        }
    }
}
