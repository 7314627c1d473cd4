//! Values of a session during a transaction: drawn values, and results of statements.

use dyno_engine::Value;

use super::draws::COLUMN_BYTES_MAX;
use super::names::shown;

/// A value that a session holds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum HeldValue {
    Null,
    Int(i64),
    Real(f64),
    /// Bytes in the session's buffer, as text or binary data.
    Own {
        at: u32,
        len: u32,
    },
    /// Bytes in the shared buffer.
    Shared {
        at: u32,
        len: u32,
    },
}

/// A number in an expression.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Number {
    Int(i64),
    Real(f64),
}

impl Number {
    /// 1 for true, 0 for false.
    #[inline]
    pub fn from_bool(holds: bool) -> Self {
        Self::Int(holds.into())
    }

    /// Converts it to a value.
    #[inline]
    pub(super) fn held(self) -> HeldValue {
        match self {
            Self::Int(whole) => HeldValue::Int(whole),
            Self::Real(broken) => HeldValue::Real(broken),
        }
    }

    #[inline]
    pub fn real(self) -> f64 {
        match self {
            Self::Int(whole) => whole as f64,
            Self::Real(broken) => broken,
        }
    }

    /// The whole number, truncated toward zero; saturated if it is too large.
    #[inline]
    pub fn whole(self) -> i64 {
        match self {
            Self::Int(whole) => whole,
            Self::Real(broken) => broken as i64,
        }
    }

    /// Whether it counts as true.
    #[inline]
    pub fn is_true(self) -> bool {
        match self {
            Self::Int(whole) => whole != 0,
            Self::Real(broken) => broken != 0.0,
        }
    }
}

/// All values that a session holds.
#[derive(Debug, Clone)]
pub(super) struct SessionValues {
    /// The values, by slot number.
    pub(super) held: Box<[HeldValue]>,
    /// The session's buffer; each slot with bytes has its own range.
    pub(super) bytes: Box<[u8]>,
    /// Counters. For generators that count, such as sequences: how many numbers were drawn. For generators
    /// that may be NULL: 1 if statements receive NULL instead of the drawn value.
    pub(super) counted: Box<[u64]>,
}

impl SessionValues {
    /// The number in `slot`; NULL counts as 0.
    #[inline]
    pub(super) fn number(&self, slot: u16) -> Number {
        match self.held[usize::from(slot)] {
            HeldValue::Int(whole) => Number::Int(whole),
            HeldValue::Real(broken) => Number::Real(broken),
            HeldValue::Null | HeldValue::Shared { .. } => Number::Int(0),
            held @ HeldValue::Own { .. } => number_in(self.bytes_of(held, &[])).unwrap_or(Number::Int(0)),
        }
    }

    /// Stores a value that was read in `slot`; its text goes to byte `at` of the session's buffer.
    ///
    /// # Errors
    /// Why the value cannot be stored.
    pub(super) fn keep(
        &mut self,
        slot: u16,
        at: usize,
        value: Value<'_>,
        is_number: bool,
    ) -> Result<(), String> {
        self.held[usize::from(slot)] = match value {
            Value::Null => HeldValue::Null,
            Value::Int(number) => HeldValue::Int(number),
            Value::Real(number) => HeldValue::Real(number),
            Value::Bytes(_) => return Err("it is bytes, not a text".to_owned()),
            Value::Text(text) if is_number && number_in(text).is_none() => {
                let text = shown(&String::from_utf8_lossy(text));
                return Err(format!("an expression needs a number, but it is {text:?}"));
            }
            Value::Text(text) => {
                if text.len() > COLUMN_BYTES_MAX {
                    return Err(format!(
                        "it is {} bytes long, but at most {COLUMN_BYTES_MAX} are allowed",
                        text.len()
                    ));
                }
                self.bytes[at..at + text.len()].copy_from_slice(text);
                // A session's buffer is far smaller than 2^32.
                HeldValue::Own { at: at as u32, len: text.len() as u32 }
            }
        };
        Ok(())
    }

    /// The bytes of a value; empty for a number.
    #[inline]
    pub(super) fn bytes_of<'a>(&'a self, held: HeldValue, shared: &'a [u8]) -> &'a [u8] {
        match held {
            HeldValue::Own { at, len } => &self.bytes[at as usize..][..len as usize],
            HeldValue::Shared { at, len } => &shared[at as usize..][..len as usize],
            HeldValue::Null | HeldValue::Int(_) | HeldValue::Real(_) => &[],
        }
    }
}

/// The number in a text, such as a decimal number that was read; `None` if it is not a number.
#[cold]
pub(super) fn number_in(text: &[u8]) -> Option<Number> {
    let letters = std::str::from_utf8(text).ok()?.trim();
    let real = || letters.parse().ok().filter(|real: &f64| real.is_finite()).map(Number::Real);
    letters.parse().ok().map(Number::Int).or_else(real)
}
