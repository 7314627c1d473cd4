//! How one value is drawn.

use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use dyno_engine::data::{Permutation, mix};

use super::calendar;
use super::numbers::{Curve, Whole, nth};
use super::template::Template;
use super::texts;
use crate::draw::uniform;
use crate::own::expr::{Expr, Given, Key};
use crate::own::value::{Held, Hold};

/// How a value is drawn.
#[derive(Debug, Clone)]
pub(in crate::own) enum Law {
    /// Always the same.
    Is(Held),
    /// What steps give it; this at first.
    Variable(Held),
    /// A whole number.
    Whole(Whole),
    /// `NURand(a, low, low + count − 1)` of TPC-C, clause 2.1.6, with C in a slot.
    Nurand { low: i64, count: u64, a: u64, c: u16 },
    /// A floating-point number between two ends.
    Real { low: f64, high: f64, curve: Curve },
    /// Numbers one after the other, and from the first again after the last; sessions each with numbers of their own, or all
    /// with the same.
    Sequence { low: i64, count: u64, apart: bool, counter: usize },
    /// Every number once in an order of the session's own, then all of them in another order.
    Permutation { low: i64, count: u64, counter: usize },
    /// A decimal number: a whole one, with so many of its digits behind the point.
    Decimal { low: i64, count: u64, scale: u32 },
    /// What an expression comes to, with so many of its digits behind the point.
    DecimalOf { expr: Expr, scale: u32 },
    /// The last digits of a number to the base of as many words as there are, each as its word.
    Spelled { of: u16, words: Box<[(u32, u32)]>, digits: u32 },
    /// Letters of an alphabet; some of them hold a word anywhere.
    Letters { alphabet: Box<[u8]>, length: (u32, u32), holds: Option<Holds> },
    /// The same where alphabet or word are not of ASCII alone: lengths count letters, of which each has up to four bytes.
    WideLetters { alphabet: Box<[char]>, length: (u32, u32), holds: Option<WideHolds> },
    /// Bytes of any kind.
    Bytes { length: (u32, u32) },
    /// Some of these words, which are among the bytes that sessions share, with a space between them.
    Words { words: Box<[(u32, u32)]>, count: (u32, u32) },
    /// A day from this one on.
    Day { low: i64, count: u64 },
    /// A second from this one on.
    Second { low: i64, count: u64 },
    /// A random UUID.
    Uuid,
    /// UUIDs in the order in which they are drawn, from this moment on.
    UuidInTime { from_ms: u64, counter: usize },
    /// One of some values, with the sums of their weights.
    Choice { values: Box<[Held]>, sums: Box<[u64]> },
    /// A text with other values in it.
    Template(Template),
    /// What an expression over other values comes to.
    Expr(Expr),
}

/// A word that some texts hold.
#[derive(Debug, Clone, Copy)]
pub(in crate::own) struct Holds {
    /// The word, among the bytes that sessions share.
    pub(super) word: (u32, u32),
    /// How many of [`PARTS`] texts hold it.
    pub(super) share: u64,
}

/// The same of a word of so many letters.
#[derive(Debug, Clone, Copy)]
pub(in crate::own) struct WideHolds {
    pub(super) holds: Holds,
    pub(super) letters: u32,
}

/// Parts that shares of texts are counted in.
pub(super) const PARTS: u64 = 1_000_000;

/// What a draw depends on beside its law.
#[derive(Debug, Clone, Copy)]
pub(super) struct Turn {
    /// The seed of this value.
    pub(super) key: u64,
    /// The seed of this draw in this session.
    pub(super) own_key: u64,
    /// The session's number.
    pub(super) session: u32,
    /// Where the bytes of the value are.
    pub(super) at: usize,
}

impl Law {
    /// Draws a value.
    #[inline]
    pub(super) fn draw(&self, turn: Turn, hold: &mut Hold, shared: &[u8]) -> Held {
        let rng = || Xoshiro256PlusPlus::seed_from_u64(turn.key);
        let mut counted = |counter: usize| {
            let number = hold.counted[counter];
            hold.counted[counter] += 1;
            number
        };
        match self {
            Self::Is(held) | Self::Variable(held) => *held,
            Self::Whole(whole) => Held::Int(whole.draw(&mut rng())),
            Self::Nurand { low, count, a, c } => {
                let c = hold.number(*c).whole().unsigned_abs();
                let law = Whole::Nurand { low: *low, count: *count, a: *a, c };
                Held::Int(law.draw(&mut rng()))
            }
            Self::DecimalOf { expr, scale } => {
                let number = expr.of(&mut Given::new(hold, Key::Is(turn.key))).whole();
                own(turn.at, texts::decimal(number, *scale, &mut hold.bytes[turn.at..]))
            }
            Self::Spelled { of, words, digits } => {
                let number = hold.number(*of).whole().unsigned_abs();
                own(turn.at, texts::spelled(number, words, *digits, shared, &mut hold.bytes[turn.at..]))
            }
            Self::Real { low, high, curve } => Held::Real(curve.draw(&mut rng(), *low, *high)),
            Self::Sequence { low, count, apart, counter } => {
                let before = if *apart { count.wrapping_mul(turn.session.into()) } else { 0 };
                Held::Int(nth(*low, before + counted(*counter) % count))
            }
            Self::Permutation { low, count, counter } => {
                let number = counted(*counter);
                let order = Permutation::new(*count, mix(turn.own_key ^ (number / count)));
                Held::Int(nth(*low, order.key(number % count) - 1))
            }
            Self::Choice { values, sums } => {
                let drawn = uniform(&mut rng(), sums[sums.len() - 1]);
                values[sums.partition_point(|&sum| sum < drawn)]
            }
            Self::Words { words, count: (1, 1) } => {
                let (at, len) = words[uniform(&mut rng(), words.len() as u64) as usize - 1];
                Held::Shared { at, len }
            }
            Self::UuidInTime { from_ms, counter } => {
                let moment = from_ms + counted(*counter);
                texts::uuid(&mut rng(), Some(moment), &mut hold.bytes[turn.at..]);
                own(turn.at, texts::UUID_LETTERS)
            }
            Self::Expr(expr) => expr.of(&mut Given::new(hold, Key::Is(turn.key))).held(),
            Self::Template(template) => {
                let (before, out) = hold.bytes.split_at_mut(turn.at);
                own(turn.at, template.write(&hold.held, before, shared, out))
            }
            written => {
                let len = written.write(&mut rng(), shared, &mut hold.bytes[turn.at..]);
                own(turn.at, len)
            }
        }
    }

    /// Writes a text or bytes; returns how many there are.
    fn write(&self, rng: &mut Xoshiro256PlusPlus, shared: &[u8], out: &mut [u8]) -> usize {
        match self {
            Self::Decimal { low, count, scale } => {
                texts::decimal(nth(*low, uniform(rng, *count) - 1), *scale, out)
            }
            Self::Letters { alphabet, length, holds } => {
                let length = texts::length(rng, *length);
                texts::letters(rng, alphabet, &mut out[..length]);
                if let Some(Holds { word: (from, len), share }) = *holds
                    && uniform(rng, PARTS) <= share
                {
                    let len = len as usize;
                    let at = uniform(rng, (length - len + 1) as u64) as usize - 1;
                    out[at..at + len].copy_from_slice(&shared[from as usize..][..len]);
                }
                length
            }
            Self::WideLetters { alphabet, length, holds } => {
                let length = texts::length(rng, *length);
                let holds = holds.filter(|wide| uniform(rng, PARTS) <= wide.holds.share);
                let word =
                    holds.map_or(&[][..], |WideHolds { holds: Holds { word: (from, len), .. }, .. }| {
                        &shared[from as usize..][..len as usize]
                    });
                let filler = length - holds.map_or(0, |wide| wide.letters as usize);
                // The word stands before this letter of the filler.
                let place = holds.map(|_| uniform(rng, filler as u64 + 1) as usize - 1);
                let mut at = 0;
                for at_letter in 0..=filler {
                    if place == Some(at_letter) {
                        out[at..at + word.len()].copy_from_slice(word);
                        at += word.len();
                    }
                    if at_letter < filler {
                        let letter = alphabet[uniform(rng, alphabet.len() as u64) as usize - 1];
                        at += letter.encode_utf8(&mut out[at..]).len();
                    }
                }
                at
            }
            Self::Bytes { length } => {
                let length = texts::length(rng, *length);
                texts::bytes(rng, &mut out[..length]);
                length
            }
            Self::Words { words, count } => {
                let mut at = 0;
                for place in 0..texts::length(rng, *count) {
                    let (from, len) = words[uniform(rng, words.len() as u64) as usize - 1];
                    if place > 0 {
                        out[at] = b' ';
                        at += 1;
                    }
                    out[at..at + len as usize].copy_from_slice(&shared[from as usize..][..len as usize]);
                    at += len as usize;
                }
                at
            }
            Self::Day { low, count } => {
                calendar::write_day(nth(*low, uniform(rng, *count) - 1), out);
                calendar::DATE_LETTERS
            }
            Self::Second { low, count } => {
                calendar::write_second(nth(*low, uniform(rng, *count) - 1), out);
                calendar::MOMENT_LETTERS
            }
            Self::Uuid => {
                texts::uuid(rng, None, out);
                texts::UUID_LETTERS
            }
            // The others are no texts of the session's own.
            _ => 0,
        }
    }

    /// The lowest and the highest whole number that is drawn, where that is known.
    pub(in crate::own) fn ends(&self) -> Option<(i64, i64)> {
        match self {
            Self::Is(Held::Int(number)) => Some((*number, *number)),
            Self::Whole(whole) => Some(whole.ends()),
            Self::Nurand { low, count, .. } => Some((*low, nth(*low, count - 1))),
            Self::Permutation { low, count, .. } | Self::Sequence { low, count, apart: false, .. } => {
                Some((*low, nth(*low, count - 1)))
            }
            Self::Choice { values, .. } => {
                let number = |held: &Held| match held {
                    Held::Int(number) => Some(*number),
                    _ => None,
                };
                let numbers: Option<Vec<i64>> = values.iter().map(number).collect();
                let numbers = numbers?;
                Some((*numbers.iter().min()?, *numbers.iter().max()?))
            }
            _ => None,
        }
    }
}

/// Bytes of the session's own. A session holds far fewer than 2^32.
#[inline]
fn own(at: usize, len: usize) -> Held {
    Held::Own { at: at as u32, len: len as u32 }
}
