//! Texts with values of other draws in them, and JSON documents made in the same way.

use std::io::Write as _;

use super::texts::whole;
use crate::own::value::Held;

/// Letters of a floating-point number at most.
pub(super) const REAL_LETTERS: usize = 32;

/// A text of pieces.
#[derive(Debug, Clone)]
pub(in crate::own) struct Template {
    pub(super) pieces: Box<[Piece]>,
}

/// A piece of it.
#[derive(Debug, Clone)]
pub(super) enum Piece {
    /// Letters that are always the same, among those that sessions share.
    Fixed { at: u32, len: u32 },
    /// The value in a slot.
    Of(u16, Quotes),
}

/// How a text is put into another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quotes {
    /// As it is.
    None,
    /// As a string of JSON.
    Json,
}

impl Quotes {
    /// Bytes that a text of so many takes at most.
    pub(super) fn most(self, bytes: usize) -> usize {
        match self {
            Self::None => bytes,
            Self::Json => 6 * bytes + 2,
        }
    }
}

impl Template {
    /// Writes it; returns how many bytes it has. `before` are the bytes of the session's own that stand before its place, where
    /// those of all that it is made of are.
    pub(super) fn write(&self, held: &[Held], before: &[u8], shared: &[u8], out: &mut [u8]) -> usize {
        let mut at = 0;
        for piece in &self.pieces {
            at += match *piece {
                Piece::Fixed { at: from, len } => {
                    copy(&shared[from as usize..][..len as usize], &mut out[at..])
                }
                Piece::Of(slot, quotes) => match held[usize::from(slot)] {
                    Held::Null if quotes == Quotes::Json => copy(b"null", &mut out[at..]),
                    Held::Null => 0,
                    Held::Int(number) => whole(number, &mut out[at..]),
                    Held::Real(number) => real(number, &mut out[at..]),
                    Held::Own { at: from, len } => {
                        quoted(&before[from as usize..][..len as usize], quotes, &mut out[at..])
                    }
                    Held::Shared { at: from, len } => {
                        quoted(&shared[from as usize..][..len as usize], quotes, &mut out[at..])
                    }
                },
            };
        }
        at
    }

    /// The slots that it reads.
    pub(super) fn slots(&self) -> Vec<u16> {
        let of = |piece: &Piece| match piece {
            Piece::Of(slot, _) => Some(*slot),
            Piece::Fixed { .. } => None,
        };
        self.pieces.iter().filter_map(of).collect()
    }
}

fn copy(bytes: &[u8], out: &mut [u8]) -> usize {
    out[..bytes.len()].copy_from_slice(bytes);
    bytes.len()
}

/// A floating-point number as both SQL and JSON write it.
fn real(number: f64, out: &mut [u8]) -> usize {
    let room = out.len();
    let mut rest = out;
    let plain = number == 0.0 || (1e-5..1e15).contains(&number.abs());
    // There is room for the longest number.
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
    fn texts_become_strings_of_json_and_numbers_stay() {
        let shared = b"{\"a\":,\"b\":}x\"\\\n";
        let fixed = |at, len| Piece::Fixed { at, len };
        let pieces =
            [fixed(0, 5), Piece::Of(0, Quotes::Json), fixed(5, 5), Piece::Of(1, Quotes::Json), fixed(10, 1)];
        let template = Template { pieces: pieces.into() };
        let held = [Held::Shared { at: 11, len: 4 }, Held::Real(1e20)];
        let mut out = [0; 100];
        let len = template.write(&held, b"", shared, &mut out);
        let text = std::str::from_utf8(&out[..len]).expect("UTF-8");
        assert_eq!(text, "{\"a\":\"x\\\"\\\\\\u000a\",\"b\":1e20}");
        assert_eq!(template.slots(), [0, 1]);
    }
}
