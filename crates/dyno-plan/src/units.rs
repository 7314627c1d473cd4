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
    /// `80M`, `1.5G`.
    Bytes(Bytes),
}

/// A rate in events per second; finite and above zero.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Rate(pub f64);

/// A span of time as users write it: `500ms`, `30s`, `5m`, `2h`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
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

const SIZE: &str = "a whole number of blocks (`10000 blocks`) or bytes with K, M, G or T (`80M`, `1.5G`)";
const BYTES: &str = "bytes with an optional K, M, G or T (`8192`, `8K`, `1.5G`)";
const RATE: &str = "a rate per second above zero (`5000/s`, `0.5/s`)";
const SPAN: &str = "a duration with ms, s, m or h (`500ms`, `30s`, `5m`)";

/// Binary suffixes, largest first, with the power of two of each.
const SUFFIXES: [(char, u32); 4] = [('T', 40), ('G', 30), ('M', 20), ('K', 10)];

fn error(text: &str, what: &'static str, allowed: &'static str) -> UnitError {
    UnitError { text: text.to_owned(), what, allowed }
}

/// Reads a plain decimal number: digits with at most one point, no sign, no exponent, no `nan`.
fn decimal(text: &str) -> Option<f64> {
    let plain = !text.is_empty()
        && text.bytes().all(|b| b.is_ascii_digit() || b == b'.')
        && text.bytes().any(|b| b.is_ascii_digit());
    plain.then(|| text.parse().ok()).flatten()
}

impl std::str::FromStr for Bytes {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let wrong = || error(text, "a number of bytes", BYTES);
        let trimmed = text.trim();
        if let Ok(bytes) = trimmed.parse::<u64>() {
            return if trimmed.starts_with('+') { Err(wrong()) } else { Ok(Self(bytes)) };
        }
        let upper = trimmed.to_ascii_uppercase();
        let body = upper.strip_suffix("IB").or_else(|| upper.strip_suffix('B')).unwrap_or(&upper);
        let (number, shift) = SUFFIXES
            .iter()
            .find_map(|&(suffix, shift)| body.strip_suffix(suffix).map(|number| (number, shift)))
            .ok_or_else(wrong)?;
        let bytes = decimal(number.trim_end()).ok_or_else(wrong)? * (1u64 << shift) as f64;
        // 2^63 and above is no size of any database; below it the conversion to u64 cannot saturate.
        if bytes < 9.2e18 { Ok(Self(bytes.round() as u64)) } else { Err(wrong()) }
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (suffix, shift) in SUFFIXES {
            if self.0 != 0 && self.0 % (1 << shift) == 0 {
                return write!(f, "{}{suffix}", self.0 >> shift);
            }
        }
        write!(f, "{}", self.0)
    }
}

impl std::str::FromStr for Size {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let trimmed = text.trim();
        let number = trimmed.strip_suffix("blocks").or_else(|| trimmed.strip_suffix("block"));
        let count = number.unwrap_or(trimmed).trim_end();
        if count.bytes().all(|b| b.is_ascii_digit()) && !count.is_empty() {
            let blocks = count.parse().map_err(|_| error(text, "a size", SIZE))?;
            return Ok(Self::Blocks(Blocks(blocks)));
        }
        if number.is_some() {
            return Err(error(text, "a size", SIZE));
        }
        trimmed.parse().map(Self::Bytes).map_err(|_| error(text, "a size", SIZE))
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Blocks(Blocks(blocks)) => write!(f, "{blocks} blocks"),
            // A bare number is blocks, so a byte count without a suffix says that it is bytes.
            Self::Bytes(bytes) if bytes.0 % 1024 != 0 || bytes.0 == 0 => {
                write!(f, "{}K", bytes.0 as f64 / 1024.0)
            }
            Self::Bytes(bytes) => write!(f, "{bytes}"),
        }
    }
}

impl std::str::FromStr for Rate {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let number = text.trim().strip_suffix("/s").unwrap_or(text.trim());
        let rate = decimal(number.trim_end()).ok_or_else(|| error(text, "a rate", RATE))?;
        if rate > 0.0 && rate < 1e12 { Ok(Self(rate)) } else { Err(error(text, "a rate", RATE)) }
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/s", self.0)
    }
}

impl std::str::FromStr for Span {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let wrong = || error(text, "a duration", SPAN);
        let trimmed = text.trim();
        let units = [("us", 1e-6), ("ms", 1e-3), ("s", 1.0), ("m", 60.0), ("h", 3600.0)];
        let (number, unit_s) = units
            .iter()
            .find_map(|&(suffix, unit_s)| {
                let number = trimmed.strip_suffix(suffix)?;
                number
                    .ends_with(|c: char| c.is_ascii_digit() || c == '.' || c == ' ')
                    .then_some((number, unit_s))
            })
            .ok_or_else(wrong)?;
        let seconds = decimal(number.trim_end()).ok_or_else(wrong)? * unit_s;
        // Ten years: longer is a slip of the keyboard, and every sum of spans stays far from overflow.
        if seconds < 3.2e8 { Ok(Self(Duration::from_secs_f64(seconds))) } else { Err(wrong()) }
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let micros = self.0.as_micros();
        match micros {
            0 => write!(f, "0s"),
            m if m % 3_600_000_000 == 0 => write!(f, "{}h", m / 3_600_000_000),
            m if m % 60_000_000 == 0 => write!(f, "{}m", m / 60_000_000),
            m if m % 1_000_000 == 0 => write!(f, "{}s", m / 1_000_000),
            m if m % 1_000 == 0 => write!(f, "{}ms", m / 1_000),
            m => write!(f, "{m}us"),
        }
    }
}
