//! Encodes and decodes numbers, texts and packets of Oracle's wire protocol, as far as a scripted server
//! needs them.

use super::{ScriptedType, ScriptedValue};

#[derive(Default)]
pub(super) struct Out(pub(super) Vec<u8>);

/// Longest text that has one length byte.
const SHORT_MAX: usize = 252;
/// Length byte of a text in chunks.
const CHUNKED: u8 = 254;
/// Largest chunk of a long text, in bytes.
const CHUNK: usize = 32_767;

impl Out {
    pub(super) fn u8(&mut self, value: u8) -> &mut Self {
        self.0.push(value);
        self
    }

    pub(super) fn u16(&mut self, value: u16) -> &mut Self {
        self.raw(&value.to_be_bytes())
    }

    pub(super) fn u32(&mut self, value: u32) -> &mut Self {
        self.raw(&value.to_be_bytes())
    }

    pub(super) fn raw(&mut self, bytes: &[u8]) -> &mut Self {
        self.0.extend_from_slice(bytes);
        self
    }

    pub(super) fn zeros(&mut self, count: usize) -> &mut Self {
        self.0.resize(self.0.len() + count, 0);
        self
    }

    /// Writes a number as its length and its bytes, without leading zeros.
    pub(super) fn ub(&mut self, value: u64) -> &mut Self {
        let bytes = value.to_be_bytes();
        let bytes = &bytes[(value.leading_zeros() / 8) as usize..];
        self.u8(bytes.len() as u8).raw(bytes)
    }

    /// Writes several numbers, each 0.
    pub(super) fn ub_zeros(&mut self, count: usize) -> &mut Self {
        self.zeros(count)
    }

    /// Writes bytes after their length; in chunks if the length does not fit into a byte.
    pub(super) fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        if bytes.len() <= SHORT_MAX {
            return self.u8(bytes.len() as u8).raw(bytes);
        }
        self.u8(CHUNKED);
        for chunk in bytes.chunks(CHUNK) {
            self.ub(chunk.len() as u64).raw(chunk);
        }
        self.u8(0)
    }

    /// Writes a text after its length twice; an empty text has one length.
    pub(super) fn text(&mut self, text: &str) -> &mut Self {
        self.ub(text.len() as u64);
        if text.is_empty() { self } else { self.bytes(text.as_bytes()) }
    }

    /// Writes a column of a row, or a returned bind.
    pub(super) fn value(&mut self, value: &ScriptedValue) -> &mut Self {
        match value {
            ScriptedValue::Null => self.u8(0),
            ScriptedValue::Int(number) => self.bytes(&number_of(&number.to_string())),
            ScriptedValue::Decimal(text) => self.bytes(&number_of(text)),
            ScriptedValue::Text(text) => self.bytes(text.as_bytes()),
            ScriptedValue::Raw(bytes) => self.bytes(bytes),
        }
    }
}

/// The message is incomplete: its rest is in the next packet.
#[derive(Debug)]
pub(super) struct Short;

pub(super) struct In<'a> {
    bytes: &'a [u8],
}

impl<'a> In<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    pub(super) fn raw(&mut self, count: usize) -> Result<&'a [u8], Short> {
        let (taken, rest) = self.bytes.split_at_checked(count).ok_or(Short)?;
        self.bytes = rest;
        Ok(taken)
    }

    pub(super) fn u8(&mut self) -> Result<u8, Short> {
        Ok(self.raw(1)?[0])
    }

    pub(super) fn u16(&mut self) -> Result<u16, Short> {
        let bytes = self.raw(2)?;
        Ok(u16::from_be_bytes([bytes[0], bytes[1]]))
    }

    pub(super) fn u32(&mut self) -> Result<u32, Short> {
        let bytes = self.raw(4)?;
        Ok(u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    }

    /// Reads bytes up to a zero byte, which is not included.
    pub(super) fn until_zero(&mut self) -> Result<&'a [u8], Short> {
        let length = self.bytes.iter().position(|&byte| byte == 0).ok_or(Short)?;
        let text = self.raw(length)?;
        self.skip_u8(1)?;
        Ok(text)
    }

    pub(super) fn ub(&mut self) -> Result<u64, Short> {
        let length = usize::from(self.u8()? & 0x7f);
        Ok(self.raw(length)?.iter().fold(0, |value, &byte| value << 8 | u64::from(byte)))
    }

    pub(super) fn skip_u8(&mut self, count: usize) -> Result<(), Short> {
        self.raw(count).map(drop)
    }

    pub(super) fn skip_ub(&mut self, count: usize) -> Result<(), Short> {
        (0..count).try_for_each(|_| self.ub().map(drop))
    }

    /// Reads a text after its length twice, as [`Out::text`] writes it.
    pub(super) fn text(&mut self) -> Result<Vec<u8>, Short> {
        if self.ub()? == 0 { Ok(Vec::new()) } else { self.bytes() }
    }

    pub(super) fn bytes(&mut self) -> Result<Vec<u8>, Short> {
        match self.u8()? {
            255 => Ok(Vec::new()),
            CHUNKED => {
                let mut bytes = Vec::new();
                loop {
                    match self.ub()? {
                        0 => return Ok(bytes),
                        length => bytes.extend_from_slice(self.raw(length as usize)?),
                    }
                }
            }
            length => Ok(self.raw(length.into())?.to_vec()),
        }
    }
}

/// The value of a bind or a column of this type.
pub(super) fn value_of(kind: u8, bytes: Vec<u8>) -> ScriptedValue {
    if bytes.is_empty() {
        return ScriptedValue::Null;
    }
    match kind {
        NUMBER => match text_of(&bytes) {
            text if text.contains('.') => ScriptedValue::Decimal(text),
            text => text.parse().map_or(ScriptedValue::Decimal(text), ScriptedValue::Int),
        },
        BINARY_DOUBLE => match bytes.try_into() {
            // The sign is inverted, and negative numbers have all bits inverted.
            Ok(bytes) => {
                let bits = u64::from_be_bytes(bytes);
                let number = f64::from_bits(if bits >> 63 == 1 { bits ^ (1 << 63) } else { !bits });
                ScriptedValue::Decimal(format!("{number:?}"))
            }
            Err(bytes) => ScriptedValue::Raw(bytes),
        },
        VARCHAR | CHAR | LONG => ScriptedValue::Text(String::from_utf8_lossy(&bytes).into_owned()),
        _ => ScriptedValue::Raw(bytes),
    }
}

const VARCHAR: u8 = 1;
const NUMBER: u8 = 2;
const LONG: u8 = 8;
const DATE: u8 = 12;
const RAW: u8 = 23;
const CHAR: u8 = 96;
const BINARY_DOUBLE: u8 = 101;
const CLOB: u8 = 112;
const BLOB: u8 = 113;
const TIMESTAMP: u8 = 180;

impl ScriptedType {
    /// Number of the type, length of its buffer, character form, and maximum number of characters.
    pub(super) fn on_the_wire(self) -> (u8, u64, u8, u64) {
        match self {
            Self::Number => (NUMBER, 22, 0, 0),
            Self::Text => (VARCHAR, 4_000, 1, 4_000),
            Self::Date => (DATE, 7, 0, 0),
            Self::Timestamp => (TIMESTAMP, 11, 0, 0),
            Self::Raw => (RAW, 2_000, 0, 0),
            Self::Double => (BINARY_DOUBLE, 8, 0, 0),
            Self::Clob => (CLOB, 4_000, 1, 4_000),
            Self::Blob => (BLOB, 4_000, 0, 0),
        }
    }
}

/// Encodes a decimal number as Oracle's NUMBER: an exponent of 100, then digits of base 100, complemented if
/// negative.
pub(super) fn number_of(text: &str) -> Vec<u8> {
    let (is_negative, text) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let whole = if whole.len() % 2 == 1 { format!("0{whole}") } else { whole.to_owned() };
    let fraction = if fraction.len() % 2 == 1 { format!("{fraction}0") } else { fraction.to_owned() };
    let digits = format!("{whole}{fraction}").into_bytes();
    let pairs: Vec<u8> = digits.chunks(2).map(|pair| (pair[0] - b'0') * 10 + pair[1] - b'0').collect();
    let leading = pairs.iter().take_while(|&&pair| pair == 0).count();
    let significant = pairs.len() - pairs.iter().rev().take_while(|&&pair| pair == 0).count();
    if leading >= significant {
        return vec![0x80];
    }
    let exponent = whole.len() as i32 / 2 - 1 - leading as i32;
    let pairs = &pairs[leading..significant];
    if is_negative {
        let end = if pairs.len() < 20 { &[102][..] } else { &[] };
        let complement: Vec<u8> = pairs.iter().map(|pair| 101 - pair).collect();
        return [&[(62 - exponent) as u8][..], &complement, end].concat();
    }
    let digits: Vec<u8> = pairs.iter().map(|pair| pair + 1).collect();
    [&[(193 + exponent) as u8][..], &digits].concat()
}

/// Decodes an Oracle NUMBER to decimal text.
fn text_of(bytes: &[u8]) -> String {
    if bytes == [0x80] {
        return "0".to_owned();
    }
    let is_negative = bytes[0] & 0x80 == 0;
    let digits = &bytes[1..];
    let (exponent, pairs): (i32, Vec<u8>) = if is_negative {
        let digits = digits.strip_suffix(&[102]).unwrap_or(digits);
        (62 - i32::from(bytes[0]), digits.iter().map(|digit| 101 - digit).collect())
    } else {
        (i32::from(bytes[0]) - 193, digits.iter().map(|digit| digit - 1).collect())
    };
    let at = |place: i32| {
        usize::try_from(exponent - place).ok().and_then(|index| pairs.get(index)).copied().unwrap_or(0)
    };
    let whole: String = (0..=exponent.max(0)).rev().map(|place| format!("{:02}", at(place))).collect();
    let last = exponent - pairs.len() as i32 + 1;
    let fraction: String = (last..0).rev().map(|place| format!("{:02}", at(place))).collect();
    let (whole, fraction) = (whole.trim_start_matches('0'), fraction.trim_end_matches('0'));
    let sign = if is_negative { "-" } else { "" };
    let whole = if whole.is_empty() { "0" } else { whole };
    if fraction.is_empty() { format!("{sign}{whole}") } else { format!("{sign}{whole}.{fraction}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn oracle_numbers_are_encoded_as_documented() {
        // From the manual of the call interface: 5, 100, -5, 2767, -2767, 0.1, 1234567.
        for (text, bytes) in [
            ("5", &[193, 6][..]),
            ("100", &[194, 2]),
            ("-5", &[62, 96, 102]),
            ("2767", &[194, 28, 68]),
            ("-2767", &[61, 74, 34, 102]),
            ("0.1", &[192, 11]),
            ("1234567", &[196, 2, 24, 46, 68]),
            ("0", &[128]),
        ] {
            assert_eq!(number_of(text), bytes, "{text}");
            assert_eq!(text_of(bytes), text);
        }
        for text in
            ["-0.00000001", "12345.6789", "9007199254740993", "-9223372036854775808", "0.5", "1000000.25"]
        {
            assert_eq!(text_of(&number_of(text)), text);
        }
    }

    #[test]
    fn oracle_binary_doubles_are_decoded() {
        for (number, text) in [(1.5, "1.5"), (-0.5, "-0.5"), (0.0, "0.0"), (1e-7, "1e-7")] {
            let ScriptedValue::Raw(bytes) = ScriptedValue::double(number) else { panic!("it is bytes") };
            assert_eq!(value_of(BINARY_DOUBLE, bytes), ScriptedValue::Decimal(text.to_owned()));
        }
    }

    #[test]
    fn codec_reads_back_text_of_every_length() {
        for length in [0, 1, 252, 253, 32_767, 32_768, 70_000] {
            let mut out = Out::default();
            let text = vec![b'x'; length];
            out.bytes(&text).ub(1 << 40);
            let mut message = In::new(&out.0);
            assert_eq!((message.bytes().unwrap(), message.ub().unwrap()), (text, 1 << 40), "{length}");
            assert!(message.is_empty());
            let cut = out.0.len() - 1;
            let mut cut = In::new(&out.0[..cut]);
            assert!(cut.bytes().and_then(|_| cut.ub()).is_err());
        }
    }
}
