//! The kinds of generators, and how each draws a value.

use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use dyno_engine::data::{Permutation, mix};

use super::calendar;
use super::numbers::{RealDistribution, WholeDistribution, nth};
use super::random_text;
use super::template::TextTemplate;
use crate::custom::expr::{Expr, ExprContext, ExprSeed};
use crate::custom::value::{HeldValue, SessionValues};
use crate::draw::uniform;

/// How a generator draws its values.
#[derive(Debug, Clone)]
pub(in crate::custom) enum ValueGenerator {
    Is(HeldValue),
    /// A variable with this initial value, which steps change.
    Variable(HeldValue),
    Whole(WholeDistribution),
    /// `NURand(a, low, low + count − 1)` of TPC-C, clause 2.1.6, with C in a slot.
    Nurand {
        low: i64,
        count: u64,
        a: u64,
        c: u16,
    },
    /// A floating-point number between two limits.
    Real {
        low: f64,
        high: f64,
        curve: RealDistribution,
    },
    /// Consecutive numbers that restart after the last; `apart` gives each session its own numbers, otherwise
    /// all sessions have the same.
    Sequence {
        low: i64,
        count: u64,
        apart: bool,
        counter: usize,
    },
    /// Every number once in a random order of the session, then again in another order.
    Permutation {
        low: i64,
        count: u64,
        counter: usize,
    },
    /// A decimal number: a whole number with `scale` digits after the point.
    Decimal {
        low: i64,
        count: u64,
        scale: u32,
    },
    /// The value of an expression, rounded to `scale` digits after the point.
    DecimalOf {
        expr: Expr,
        scale: u32,
    },
    /// A number spelled with words as digits: base is the number of words; only the last digits are used.
    Spelled {
        of: u16,
        words: Box<[(u32, u32)]>,
        digits: u32,
    },
    /// Characters of an alphabet; some texts contain a given word.
    Letters {
        alphabet: Box<[u8]>,
        length: (u32, u32),
        holds: Option<ContainedWord>,
    },
    /// The same with non-ASCII characters: lengths count characters, each of up to four bytes.
    WideLetters {
        alphabet: Box<[char]>,
        length: (u32, u32),
        holds: Option<WideContainedWord>,
    },
    Bytes {
        length: (u32, u32),
    },
    /// Some of these words, stored in the shared bytes, separated by spaces.
    Words {
        words: Box<[(u32, u32)]>,
        count: (u32, u32),
    },
    /// A date, from this day on.
    Day {
        low: i64,
        count: u64,
    },
    /// A time, from this second on.
    Second {
        low: i64,
        count: u64,
    },
    Uuid,
    /// UUIDs in the order of drawing, with times from this moment on.
    UuidInTime {
        from_ms: u64,
        counter: usize,
    },
    /// One of several values, with the cumulative sums of their weights.
    Choice {
        values: Box<[HeldValue]>,
        sums: Box<[u64]>,
    },
    /// A text that contains other values.
    Template(TextTemplate),
    /// The value of an expression over other values.
    Expr(Expr),
}

/// A word that some texts contain.
#[derive(Debug, Clone, Copy)]
pub(in crate::custom) struct ContainedWord {
    /// The word, in the shared bytes.
    pub(super) word: (u32, u32),
    /// How many of [`PARTS`] texts contain it.
    pub(super) share: u64,
}

/// The same for a word with a given number of characters.
#[derive(Debug, Clone, Copy)]
pub(in crate::custom) struct WideContainedWord {
    pub(super) holds: ContainedWord,
    pub(super) letters: u32,
}

/// The unit for shares of texts.
pub(super) const PARTS: u64 = 1_000_000;

/// The inputs of one draw, besides its kind.
#[derive(Debug, Clone, Copy)]
pub(super) struct DrawContext {
    /// The seed of this value.
    pub(super) key: u64,
    /// The seed of this generator in this session.
    pub(super) own_key: u64,
    /// The number of the session.
    pub(super) session: u32,
    /// Offset of the value's bytes in the session's buffer.
    pub(super) at: usize,
}

impl ValueGenerator {
    #[inline]
    pub(super) fn draw(&self, turn: DrawContext, hold: &mut SessionValues, shared: &[u8]) -> HeldValue {
        let rng = || Xoshiro256PlusPlus::seed_from_u64(turn.key);
        let mut counted = |counter: usize| {
            let number = hold.counted[counter];
            hold.counted[counter] += 1;
            number
        };
        match self {
            Self::Is(held) | Self::Variable(held) => *held,
            Self::Whole(whole) => HeldValue::Int(whole.draw(&mut rng())),
            Self::Nurand { low, count, a, c } => {
                let c = hold.number(*c).whole().unsigned_abs();
                let law = WholeDistribution::Nurand { low: *low, count: *count, a: *a, c };
                HeldValue::Int(law.draw(&mut rng()))
            }
            Self::DecimalOf { expr, scale } => {
                let number = expr.evaluate(&mut ExprContext::new(hold, ExprSeed::Is(turn.key))).whole();
                own_bytes_value(turn.at, random_text::decimal(number, *scale, &mut hold.bytes[turn.at..]))
            }
            Self::Spelled { of, words, digits } => {
                let number = hold.number(*of).whole().unsigned_abs();
                own_bytes_value(
                    turn.at,
                    random_text::spelled(number, words, *digits, shared, &mut hold.bytes[turn.at..]),
                )
            }
            Self::Real { low, high, curve } => HeldValue::Real(curve.draw(&mut rng(), *low, *high)),
            Self::Sequence { low, count, apart, counter } => {
                let before = if *apart { count.wrapping_mul(turn.session.into()) } else { 0 };
                HeldValue::Int(nth(*low, before + counted(*counter) % count))
            }
            Self::Permutation { low, count, counter } => {
                let number = counted(*counter);
                let order = Permutation::new(*count, mix(turn.own_key ^ (number / count)));
                HeldValue::Int(nth(*low, order.key(number % count) - 1))
            }
            Self::Choice { values, sums } => {
                let drawn = uniform(&mut rng(), sums[sums.len() - 1]);
                values[sums.partition_point(|&sum| sum < drawn)]
            }
            Self::Words { words, count: (1, 1) } => {
                let (at, len) = words[uniform(&mut rng(), words.len() as u64) as usize - 1];
                HeldValue::Shared { at, len }
            }
            Self::UuidInTime { from_ms, counter } => {
                let moment = from_ms + counted(*counter);
                random_text::uuid(&mut rng(), Some(moment), &mut hold.bytes[turn.at..]);
                own_bytes_value(turn.at, random_text::UUID_LETTERS)
            }
            Self::Expr(expr) => expr.evaluate(&mut ExprContext::new(hold, ExprSeed::Is(turn.key))).held(),
            Self::Template(template) => {
                let (before, out) = hold.bytes.split_at_mut(turn.at);
                own_bytes_value(turn.at, template.write(&hold.held, before, shared, out))
            }
            written => {
                let len = written.write(&mut rng(), shared, &mut hold.bytes[turn.at..]);
                own_bytes_value(turn.at, len)
            }
        }
    }

    /// Writes a text or bytes; returns the number of bytes.
    fn write(&self, rng: &mut Xoshiro256PlusPlus, shared: &[u8], out: &mut [u8]) -> usize {
        match self {
            Self::Decimal { low, count, scale } => {
                random_text::decimal(nth(*low, uniform(rng, *count) - 1), *scale, out)
            }
            Self::Letters { alphabet, length, holds } => {
                let length = random_text::length(rng, *length);
                random_text::letters(rng, alphabet, &mut out[..length]);
                if let Some(ContainedWord { word: (from, len), share }) = *holds
                    && uniform(rng, PARTS) <= share
                {
                    let len = len as usize;
                    let at = uniform(rng, (length - len + 1) as u64) as usize - 1;
                    out[at..at + len].copy_from_slice(&shared[from as usize..][..len]);
                }
                length
            }
            Self::WideLetters { alphabet, length, holds } => {
                let length = random_text::length(rng, *length);
                let holds = holds.filter(|wide| uniform(rng, PARTS) <= wide.holds.share);
                let word = holds.map_or(
                    &[][..],
                    |WideContainedWord { holds: ContainedWord { word: (from, len), .. }, .. }| {
                        &shared[from as usize..][..len as usize]
                    },
                );
                let filler = length - holds.map_or(0, |wide| wide.letters as usize);
                // The word is inserted before this character of the filler.
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
                let length = random_text::length(rng, *length);
                random_text::bytes(rng, &mut out[..length]);
                length
            }
            Self::Words { words, count } => {
                let mut at = 0;
                for place in 0..random_text::length(rng, *count) {
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
                random_text::uuid(rng, None, out);
                random_text::UUID_LETTERS
            }
            // The other kinds write no bytes of the session.
            _ => 0,
        }
    }

    /// The smallest and the largest whole number that can be drawn; `None` if unknown.
    pub(in crate::custom) fn ends(&self) -> Option<(i64, i64)> {
        match self {
            Self::Is(HeldValue::Int(number)) => Some((*number, *number)),
            Self::Whole(whole) => Some(whole.ends()),
            Self::Nurand { low, count, .. } => Some((*low, nth(*low, count - 1))),
            Self::Permutation { low, count, .. } | Self::Sequence { low, count, apart: false, .. } => {
                Some((*low, nth(*low, count - 1)))
            }
            Self::Choice { values, .. } => {
                let number = |held: &HeldValue| match held {
                    HeldValue::Int(number) => Some(*number),
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

/// Bytes in the session's buffer, which is far smaller than 2^32.
#[inline]
fn own_bytes_value(at: usize, len: usize) -> HeldValue {
    HeldValue::Own { at: at as u32, len: len as u32 }
}
