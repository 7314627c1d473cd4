//! Quantities as types: bytes, blocks, rates and durations, with the spelling users write.
//!
//! One reader and one writer per quantity, so that a size means the same in a plan, on the command line, in a
//! record and in a report.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A number of bytes. Suffixes are binary, as database administrators use them: `8K` is 8,192.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(pub u64);

/// A number of database blocks (pages).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Blocks(pub u64);

/// How much data: in blocks, or in bytes to be divided by the block size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Size {
    /// `10000 blocks`, or a bare `10000`.
    Blocks(Blocks),
    /// `80M`, `1.5G`, `12345B`.
    Bytes(Bytes),
}

/// A rate in events per second; finite and above zero.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Rate(pub f64);

/// A span of time as users write it: `500ms`, `30s`, `5m`, `2h`; whole nanoseconds, shorter than ten years.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span(pub Duration);

/// A quantity that could not be read; says the text, what is wrong and what is allowed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not {what}: write {allowed}")]
pub struct UnitError {
    /// What was written.
    pub text: String,
    /// What it should have been: `a size`.
    pub what: &'static str,
    /// What can be written instead.
    pub allowed: &'static str,
}

/// Serializes a quantity as its text and reads it back, so plans and records spell it as users do.
macro_rules! as_text {
    ($($type:ty),*) => {$(
        impl Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
                s.collect_str(self)
            }
        }
        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
                let text = String::deserialize(d)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
        impl schemars::JsonSchema for $type {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($type).into()
            }
            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({ "type": "string" })
            }
        }
    )*};
}
as_text!(Bytes, Size, Rate, Span);

const SIZE: &str = "blocks (`10000 blocks`) or bytes with K, M, G or T (`80M`, `1.5G`)";
const BYTES: &str = "bytes with an optional K, M, G or T (`8192`, `8K`, `1.5G`), below 2^64";
const RATE: &str = "a number above zero and `/s` (`5000/s`, `0.5/s`), below 10^12/s";
const SPAN: &str = "a number with its unit ms, s, m or h (`500ms`, `30s`, `5m`), less than ten years";

/// Binary suffixes, largest first, with the power of two of each.
const SUFFIXES: [(char, u32); 4] = [('T', 40), ('G', 30), ('M', 20), ('K', 10)];

/// Units of time with their nanoseconds; a suffix comes before those that end in the same letter.
const TIMES: [(&str, u64); 6] = [
    ("ns", 1),
    ("us", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
];

/// Ten years: longer is a slip of the keyboard, and every sum of spans stays far from overflow.
const SPAN_NS_END: u128 = 3_660 * 24 * 3_600 * 1_000_000_000;

fn error(text: &str, what: &'static str, allowed: &'static str) -> UnitError {
    UnitError { text: text.to_owned(), what, allowed }
}

/// Splits a plain decimal number (digits, at most one point between digits; no sign, no exponent, no `nan`) into the
/// digits before and after the point.
fn decimal(text: &str) -> Option<(&str, &str)> {
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    match text.split_once('.') {
        Some((whole, fraction)) => (digits(whole) && digits(fraction)).then_some((whole, fraction)),
        None => digits(text).then_some((text, "")),
    }
}

/// A plain decimal number times `unit`, rounded to the nearest whole. Integers all the way, because an `f64` would
/// lose bytes above 2^53. `None` is not a number, or too large.
fn scaled(text: &str, unit: u64) -> Option<u128> {
    let (whole, fraction) = decimal(text)?;
    let fraction = fraction.trim_end_matches('0');
    let ten = 10u128.checked_pow(u32::try_from(fraction.len()).ok()?)?;
    let fraction = if fraction.is_empty() { 0 } else { fraction.parse::<u128>().ok()? };
    let digits = whole.parse::<u128>().ok()?.checked_mul(ten)?.checked_add(fraction)?;
    let product = digits.checked_mul(u128::from(unit))?;
    Some(product.checked_add(ten / 2)? / ten)
}

impl std::str::FromStr for Bytes {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let upper = text.trim().to_ascii_uppercase();
        let body = upper.strip_suffix('B').unwrap_or(&upper);
        let (number, shift) = SUFFIXES
            .iter()
            .find_map(|&(suffix, shift)| {
                // `KiB` is `K`; an `i` belongs to a suffix and to nothing else.
                let body = body.strip_suffix('I').filter(|_| upper.ends_with('B')).unwrap_or(body);
                body.strip_suffix(suffix).map(|number| (number.trim_end(), shift))
            })
            .unwrap_or((body.trim_end(), 0));
        let bytes = if shift == 0 {
            decimal(number).filter(|(_, f)| f.is_empty()).map(|_| number)
        } else {
            Some(number)
        };
        bytes
            .and_then(|number| scaled(number, 1 << shift))
            .and_then(|bytes| u64::try_from(bytes).ok())
            .map(Self)
            .ok_or_else(|| error(text, "a number of bytes", BYTES))
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (suffix, shift) in SUFFIXES {
            if self.0 != 0 && self.0.is_multiple_of(1 << shift) {
                return write!(f, "{}{suffix}", self.0 >> shift);
            }
        }
        write!(f, "{}", self.0)
    }
}

impl Default for Size {
    fn default() -> Self {
        Self::Blocks(Blocks(0))
    }
}

impl std::str::FromStr for Size {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let wrong = || error(text, "a size", SIZE);
        let lower = text.trim().to_ascii_lowercase();
        let blocks = lower.strip_suffix("blocks").or_else(|| lower.strip_suffix("block")).map(str::trim_end);
        let bare = lower.bytes().all(|b| b.is_ascii_digit()).then_some(lower.as_str());
        if let Some(count) = blocks.or(bare) {
            let digits = !count.is_empty() && count.bytes().all(|b| b.is_ascii_digit());
            let count = digits.then(|| count.parse().ok()).flatten().ok_or_else(wrong)?;
            return Ok(Self::Blocks(Blocks(count)));
        }
        lower.parse().map(Self::Bytes).map_err(|_: UnitError| wrong())
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Blocks(Blocks(1)) => write!(f, "1 block"),
            Self::Blocks(Blocks(blocks)) => write!(f, "{blocks} blocks"),
            // A bare number is blocks, so a byte count without a suffix says that it is bytes.
            Self::Bytes(Bytes(bytes)) if *bytes == 0 || !bytes.is_multiple_of(1024) => write!(f, "{bytes}B"),
            Self::Bytes(bytes) => write!(f, "{bytes}"),
        }
    }
}

impl std::str::FromStr for Rate {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        text.trim()
            .strip_suffix("/s")
            .map(str::trim_end)
            .filter(|number| decimal(number).is_some())
            .and_then(|number| number.parse().ok())
            .filter(|rate| *rate > 0.0 && *rate < 1e12)
            .map(Self)
            .ok_or_else(|| error(text, "a rate", RATE))
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Rust writes an f64 without exponent, with the fewest digits that read back as the same number.
        write!(f, "{}/s", self.0)
    }
}

impl std::str::FromStr for Span {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let trimmed = text.trim();
        TIMES
            .iter()
            .find_map(|&(suffix, unit_ns)| trimmed.strip_suffix(suffix).map(|number| (number, unit_ns)))
            .and_then(|(number, unit_ns)| scaled(number.trim_end(), unit_ns))
            .filter(|ns| *ns < SPAN_NS_END)
            .and_then(|ns| u64::try_from(ns).ok())
            .map(|ns| Self(Duration::from_nanos(ns)))
            .ok_or_else(|| error(text, "a duration", SPAN))
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ns = self.0.as_nanos();
        if ns == 0 {
            return write!(f, "0s");
        }
        let (suffix, unit_ns) = TIMES
            .iter()
            .rev()
            .find(|&&(_, unit_ns)| ns.is_multiple_of(u128::from(unit_ns)))
            .expect("every span is a whole number of nanoseconds");
        write!(f, "{}{suffix}", ns / u128::from(*unit_ns))
    }
}

#[cfg(test)]
mod tests;
