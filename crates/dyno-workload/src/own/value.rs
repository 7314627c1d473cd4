//! Values while a transaction runs: what was drawn, and what its statements have answered.

use dyno_engine::Value;

use super::draws::COLUMN_BYTES_MAX;
use super::names::shown;

/// A value that a session holds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Held {
    /// NULL.
    Null,
    /// A whole number.
    Int(i64),
    /// A floating-point number.
    Real(f64),
    /// Bytes of the session's own, as a text or as they are.
    Own { at: u32, len: u32 },
    /// Bytes that all sessions share.
    Shared { at: u32, len: u32 },
}

/// A number of an expression.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Number {
    Int(i64),
    Real(f64),
}

impl Number {
    /// 1 where it holds, else 0.
    #[inline]
    pub(super) fn truth(holds: bool) -> Self {
        Self::Int(holds.into())
    }

    /// What is held of it.
    #[inline]
    pub(super) fn held(self) -> Held {
        match self {
            Self::Int(whole) => Held::Int(whole),
            Self::Real(broken) => Held::Real(broken),
        }
    }

    #[inline]
    pub(super) fn real(self) -> f64 {
        match self {
            Self::Int(whole) => whole as f64,
            Self::Real(broken) => broken,
        }
    }

    /// The whole number, towards zero; the nearest there is where it is too large.
    #[inline]
    pub(super) fn whole(self) -> i64 {
        match self {
            Self::Int(whole) => whole,
            Self::Real(broken) => broken as i64,
        }
    }

    /// Whether it counts as true.
    #[inline]
    pub(super) fn holds(self) -> bool {
        match self {
            Self::Int(whole) => whole != 0,
            Self::Real(broken) => broken != 0.0,
        }
    }
}

/// Everything that a session holds.
#[derive(Debug, Clone)]
pub(super) struct Hold {
    /// By slot.
    pub(super) held: Box<[Held]>,
    /// Bytes of the session's own; each slot that has some has its place among them.
    pub(super) bytes: Box<[u8]>,
    /// Draws that count, such as sequences: how many numbers each has given. Of draws that may be NULL, 1 where statements are given
    /// that in the place of what was drawn.
    pub(super) counted: Box<[u64]>,
}

impl Hold {
    /// The number in `slot`; NULL counts as 0.
    #[inline]
    pub(super) fn number(&self, slot: u16) -> Number {
        match self.held[usize::from(slot)] {
            Held::Int(whole) => Number::Int(whole),
            Held::Real(broken) => Number::Real(broken),
            Held::Null | Held::Shared { .. } => Number::Int(0),
            held @ Held::Own { .. } => number_in(self.bytes_of(held, &[])).unwrap_or(Number::Int(0)),
        }
    }

    /// Keeps what was read in `slot`, whose text stands at byte `at` of the session's own.
    ///
    /// # Errors
    /// Why it cannot be kept.
    pub(super) fn keep(
        &mut self,
        slot: u16,
        at: usize,
        value: Value<'_>,
        is_number: bool,
    ) -> Result<(), String> {
        self.held[usize::from(slot)] = match value {
            Value::Null => Held::Null,
            Value::Int(number) => Held::Int(number),
            Value::Real(number) => Held::Real(number),
            Value::Bytes(_) => return Err("it is bytes, and no text".to_owned()),
            Value::Text(text) if is_number && number_in(text).is_none() => {
                let text = shown(&String::from_utf8_lossy(text));
                return Err(format!("an expression takes it for a number, and it is {text:?}"));
            }
            Value::Text(text) => {
                if text.len() > COLUMN_BYTES_MAX {
                    return Err(format!(
                        "it is {} bytes long, and {COLUMN_BYTES_MAX} is the most",
                        text.len()
                    ));
                }
                self.bytes[at..at + text.len()].copy_from_slice(text);
                // A session's own bytes are far below 2^32.
                Held::Own { at: at as u32, len: text.len() as u32 }
            }
        };
        Ok(())
    }

    /// The bytes of a value; none of a number.
    #[inline]
    pub(super) fn bytes_of<'a>(&'a self, held: Held, shared: &'a [u8]) -> &'a [u8] {
        match held {
            Held::Own { at, len } => &self.bytes[at as usize..][..len as usize],
            Held::Shared { at, len } => &shared[at as usize..][..len as usize],
            Held::Null | Held::Int(_) | Held::Real(_) => &[],
        }
    }
}

/// The number that a text is, such as a decimal number that was read.
#[cold]
pub(super) fn number_in(text: &[u8]) -> Option<Number> {
    let letters = std::str::from_utf8(text).ok()?.trim();
    let real = || letters.parse().ok().filter(|real: &f64| real.is_finite()).map(Number::Real);
    letters.parse().ok().map(Number::Int).or_else(real)
}
