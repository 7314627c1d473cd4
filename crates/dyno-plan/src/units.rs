//! Typed quantities: bytes, blocks, rates and durations, in the spelling of users.
//!
//! One parser and one formatter per quantity, so that a size means the same in a plan, on the command line, in a record and
//! in a report.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A number of bytes. Suffixes are binary: `8K` is 8,192.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(pub u64);

/// A number of database blocks (pages).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlockCount(pub u64);

/// An amount of data: in blocks, or in bytes that are divided by the block size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BlocksOrBytes {
    /// `10000 blocks`, or a bare `10000`.
    Blocks(BlockCount),
    /// A number with a suffix: `80M`, `1.5G`, `12345B`.
    Bytes(Bytes),
}

/// A rate in events per second; finite and above 0.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Rate(pub f64);

/// A duration as users write it: `500ms`, `30s`, `5m`, `2h`; whole nanoseconds, less than ten years.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TimeSpan(pub Duration);

/// A quantity that could not be parsed: the text, the problem and the allowed forms.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not {what}: write {allowed}")]
pub struct UnitError {
    /// The text that was written.
    pub text: String,
    /// The expected quantity, such as `a size`.
    pub what: &'static str,
    /// The forms that are allowed instead.
    pub allowed: &'static str,
}

/// Serializes a quantity as text and parses it again, so that plans and records use the spelling of users.
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
as_text!(Bytes, BlocksOrBytes, Rate, TimeSpan);

const SIZE: &str = "blocks (`10000 blocks`) or bytes with K, M, G or T (`80M`, `1.5G`)";
const BYTES: &str = "bytes with an optional K, M, G or T (`8192`, `8K`, `1.5G`), below 2^64";
const RATE: &str = "a number above zero and `/s` (`5000/s`, `0.5/s`), below 10^12/s";
const SPAN: &str = "a number with its unit ms, s, m or h (`500ms`, `30s`, `5m`), less than ten years";

/// Binary suffixes, largest first, each with its power of two.
const SUFFIXES: [(char, u32); 4] = [('T', 40), ('G', 30), ('M', 20), ('K', 10)];

/// Units of time in nanoseconds; a suffix comes before those that end with the same letter.
const TIMES: [(&str, u64); 6] = [
    ("ns", 1),
    ("us", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
];

/// Ten years: a longer span is a typo, and sums of spans cannot overflow.
const SPAN_NS_END: u128 = 3_660 * 24 * 3_600 * 1_000_000_000;

fn error(text: &str, expected: &'static str, allowed: &'static str) -> UnitError {
    UnitError { text: text.to_owned(), what: expected, allowed }
}

/// Splits a plain decimal number into the digits before and after the point. At most one point, between digits; no sign,
/// no exponent, no `nan`.
fn decimal(text: &str) -> Option<(&str, &str)> {
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    match text.split_once('.') {
        Some((whole, fraction)) => (digits(whole) && digits(fraction)).then_some((whole, fraction)),
        None => digits(text).then_some((text, "")),
    }
}

/// A plain decimal number times `unit`, rounded to the nearest integer. Integer arithmetic, because an `f64` would lose
/// bytes above 2^53. `None` if it is not a number, or too large.
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
                // `KiB` is `K`; an `i` is only valid within a suffix.
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

impl Default for BlocksOrBytes {
    fn default() -> Self {
        Self::Blocks(BlockCount(0))
    }
}

impl std::str::FromStr for BlocksOrBytes {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let wrong = || error(text, "a size", SIZE);
        let lower = text.trim().to_ascii_lowercase();
        let blocks = lower.strip_suffix("blocks").or_else(|| lower.strip_suffix("block")).map(str::trim_end);
        let bare = lower.bytes().all(|b| b.is_ascii_digit()).then_some(lower.as_str());
        if let Some(count) = blocks.or(bare) {
            let digits = !count.is_empty() && count.bytes().all(|b| b.is_ascii_digit());
            let count = digits.then(|| count.parse().ok()).flatten().ok_or_else(wrong)?;
            return Ok(Self::Blocks(BlockCount(count)));
        }
        lower.parse().map(Self::Bytes).map_err(|_: UnitError| wrong())
    }
}

impl fmt::Display for BlocksOrBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Blocks(BlockCount(1)) => write!(f, "1 block"),
            Self::Blocks(BlockCount(blocks)) => write!(f, "{blocks} blocks"),
            // A bare number means blocks, so a byte count without another suffix gets a `B`.
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
        // Rust prints an f64 without exponent, with the fewest digits that parse to the same number.
        write!(f, "{}/s", self.0)
    }
}

impl std::str::FromStr for TimeSpan {
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

impl fmt::Display for TimeSpan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ns = self.0.as_nanos();
        if ns == 0 {
            return write!(f, "0s");
        }
        let (suffix, unit_ns) = TIMES
            .iter()
            .rev()
            .find(|&&(_, unit_ns)| ns.is_multiple_of(u128::from(unit_ns)))
            .expect("every span is an integer of nanoseconds");
        write!(f, "{}{suffix}", ns / u128::from(*unit_ns))
    }
}

#[cfg(test)]
mod tests;
