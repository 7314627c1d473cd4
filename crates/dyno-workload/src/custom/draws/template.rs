//! Texts that contain values of other generators, including JSON documents.

use std::io::Write as _;

use super::random_text::whole;
use crate::custom::value::HeldValue;

/// The largest number of characters in a floating-point number.
pub(super) const REAL_LETTERS: usize = 32;

/// A text made of pieces.
#[derive(Debug, Clone)]
pub(in crate::custom) struct TextTemplate {
    pub(super) pieces: Box<[TemplatePiece]>,
}

/// One piece of a template.
#[derive(Debug, Clone)]
pub(super) enum TemplatePiece {
    /// A fixed text in the shared bytes.
    Fixed { at: u32, len: u32 },
    /// The value in a slot.
    Of(u16, Quotes),
}

/// How a text is inserted into a template.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quotes {
    /// As it is, without quotation marks.
    None,
    /// As a JSON string, with quotation marks and escapes.
    Json,
}

impl Quotes {
    /// The largest number of bytes that a text of `bytes` bytes needs.
    pub(super) fn most(self, bytes: usize) -> usize {
        match self {
            Self::None => bytes,
            Self::Json => 6 * bytes + 2,
        }
    }
}

impl TextTemplate {
    /// Writes the text; returns its number of bytes. `before` is the part of the session's buffer before this
    /// text, which contains all values that it uses.
    pub(super) fn write(&self, held: &[HeldValue], before: &[u8], shared: &[u8], out: &mut [u8]) -> usize {
        let mut at = 0;
        for piece in &self.pieces {
            at += match *piece {
                TemplatePiece::Fixed { at: from, len } => {
                    copy(&shared[from as usize..][..len as usize], &mut out[at..])
                }
                TemplatePiece::Of(slot, quotes) => match held[usize::from(slot)] {
                    HeldValue::Null if quotes == Quotes::Json => copy(b"null", &mut out[at..]),
                    HeldValue::Null => 0,
                    HeldValue::Int(number) => whole(number, &mut out[at..]),
                    HeldValue::Real(number) => real(number, &mut out[at..]),
                    HeldValue::Own { at: from, len } => {
                        quoted(&before[from as usize..][..len as usize], quotes, &mut out[at..])
                    }
                    HeldValue::Shared { at: from, len } => {
                        quoted(&shared[from as usize..][..len as usize], quotes, &mut out[at..])
                    }
                },
            };
        }
        at
    }

    /// The slots of the values that it uses.
    pub(super) fn slots(&self) -> Vec<u16> {
        let slot_of = |piece: &TemplatePiece| match piece {
            TemplatePiece::Of(slot, _) => Some(*slot),
            TemplatePiece::Fixed { .. } => None,
        };
        self.pieces.iter().filter_map(slot_of).collect()
    }
}

fn copy(bytes: &[u8], out: &mut [u8]) -> usize {
    out[..bytes.len()].copy_from_slice(bytes);
    bytes.len()
}

/// Writes a floating-point number in a form that is valid in SQL and JSON.
fn real(number: f64, out: &mut [u8]) -> usize {
    let room = out.len();
    let mut rest = out;
    let plain = number == 0.0 || (1e-5..1e15).contains(&number.abs());
    // The buffer has room for the longest number.
    let _ = if plain { write!(rest, "{number}") } else { write!(rest, "{number:e}") };
    room - rest.len()
}

fn quoted(text: &[u8], quotes: Quotes, out: &mut [u8]) -> usize {
    if quotes == Quotes::None {
        return copy(text, out);
    }
    let mut at = copy(b"\"", out);
    for &byte in text {
        at += match byte {
            b'"' | b'\\' => copy(&[b'\\', byte], &mut out[at..]),
            0..=31 => {
                const HEX: &[u8; 16] = b"0123456789abcdef";
                let (high, low) = (HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]);
                copy(&[b'\\', b'u', b'0', b'0', high, low], &mut out[at..])
            }
            _ => copy(&[byte], &mut out[at..]),
        };
    }
    at + copy(b"\"", &mut out[at..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn template_quotes_text_as_json_and_keeps_numbers() {
        let shared = b"{\"a\":,\"b\":}x\"\\\n";
        let fixed = |at, len| TemplatePiece::Fixed { at, len };
        let pieces = [
            fixed(0, 5),
            TemplatePiece::Of(0, Quotes::Json),
            fixed(5, 5),
            TemplatePiece::Of(1, Quotes::Json),
            fixed(10, 1),
        ];
        let template = TextTemplate { pieces: pieces.into() };
        let held = [HeldValue::Shared { at: 11, len: 4 }, HeldValue::Real(1e20)];
        let mut out = [0; 100];
        let len = template.write(&held, b"", shared, &mut out);
        let text = std::str::from_utf8(&out[..len]).expect("UTF-8");
        assert_eq!(text, "{\"a\":\"x\\\"\\\\\\u000a\",\"b\":1e20}");
        assert_eq!(template.slots(), [0, 1]);
    }
}
