//! The generators of a workload, and the values that one session draws from them.

use dyno_engine::Type;
use dyno_engine::data::{Permutation, mix};

use super::generators::{DrawContext, ValueGenerator};
use super::null::{NULL, NULL_PARTS, Null};
use crate::custom::expr::{ExprContext, ExprSeed};
use crate::custom::value::{HeldValue, SessionValues};

/// How often a value is drawn, from least to most often.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::custom) enum DrawFrequency {
    /// Once for all sessions, at the start of the run.
    Run,
    /// Once per session, at its start.
    Session,
    /// Once per transaction, at its start.
    Transaction,
    /// Once per iteration of a `repeat` that uses it, and per transaction.
    Repeat,
    /// For each statement and condition that uses it.
    Statement,
}

/// One generator, with its definition.
#[derive(Debug, Clone)]
pub(in crate::custom) struct DrawDefinition {
    pub(in crate::custom) name: String,
    /// Its definition as written, on one line.
    pub(in crate::custom) words: String,
    pub(in crate::custom) law: ValueGenerator,
    /// The type of the parameters that receive its value.
    pub(in crate::custom) of: Type,
    pub(in crate::custom) when: DrawFrequency,
    /// Slots of other values that it reads.
    pub(in crate::custom) needs: Vec<u16>,
    /// Offset of its bytes in the session's buffer, and their maximum number.
    pub(in crate::custom) at: usize,
    pub(in crate::custom) bytes_max: usize,
    /// Distinguishes its random numbers from those of other generators.
    pub(in crate::custom) salt: u64,
    /// Which of its values statements receive as NULL.
    pub(in crate::custom) null: Option<Null>,
}

impl DrawDefinition {
    /// Whether steps set its value.
    pub(in crate::custom) fn is_variable(&self) -> bool {
        matches!(self.law, ValueGenerator::Variable(_))
    }
}

/// All generators, in the order of their slots.
#[derive(Debug, Clone, Default)]
pub(in crate::custom) struct Draws {
    pub(in crate::custom) all: Vec<DrawDefinition>,
    /// Their slots, ordered so that each follows the slots that it reads.
    pub(in crate::custom) order: Vec<u16>,
    /// Bytes that all sessions share: words, and fixed parts of templates.
    pub(in crate::custom) shared: Vec<u8>,
    /// Size of the buffer of each session.
    pub(in crate::custom) own_bytes: usize,
    /// Number of counters that the generators use.
    pub(in crate::custom) counters: usize,
}

/// Seeds of a session's random numbers.
#[derive(Debug, Clone, Copy)]
pub(in crate::custom) struct DrawSeeds {
    session_number: u32,
    session: u64,
    transaction: u64,
    /// Number of draws in the transaction so far; each draw has another seed.
    turns: u64,
}

/// Separates the random numbers for the class of a transaction, and for its think time, from others.
const CLASS: u64 = 0x636c_6173;
const REST: u64 = 0x7265_7374;
/// Separates values drawn for the run from values of a session.
const RUN: u64 = 0x72_756e;

impl DrawSeeds {
    /// The seeds of session `session`, derived from the run's seed.
    pub(in crate::custom) fn new(seed: u64, session: u32) -> Self {
        let session_seed = mix(mix(seed) ^ u64::from(session));
        Self { session_number: session, session: session_seed, transaction: session_seed, turns: 0 }
    }

    /// The seeds of values that are drawn once for all sessions.
    fn of_run(seed: u64) -> Self {
        let run = mix(mix(seed) ^ RUN);
        Self { session_number: 0, session: run, transaction: run, turns: 0 }
    }

    /// Sets the seeds for the transaction with this number.
    #[inline]
    pub(in crate::custom) fn begin_transaction(&mut self, number: u64) {
        (self.transaction, self.turns) = (mix(self.session ^ number), 0);
    }

    /// The seed for the next draw; each generator adds its salt.
    #[inline]
    pub(in crate::custom) fn next(&mut self) -> u64 {
        let key = mix(self.transaction ^ self.turns);
        self.turns += 1;
        key
    }

    /// Skips one draw, as if the first values were drawn.
    pub(in crate::custom) fn skip(&mut self) {
        self.turns += 1;
    }

    /// A number below `whole` that selects the class of the transaction.
    #[inline]
    pub(in crate::custom) fn class(&self, whole: u64) -> u64 {
        below(mix(self.transaction ^ CLASS), whole)
    }

    /// The card that selects the class of transaction `number`, from 1: each block of `whole` transactions
    /// has every card once.
    #[inline]
    pub(in crate::custom) fn card(&self, number: u64, whole: u64) -> u64 {
        let before = number - 1;
        let order = Permutation::new(whole, mix(self.session ^ CLASS ^ (before / whole)));
        order.key(before % whole) - 1
    }

    /// The 64-bit random number for the think time.
    #[inline]
    pub(in crate::custom) fn rest(&self) -> u64 {
        mix(self.transaction ^ REST)
    }
}

/// Maps 64 random bits to a number below `whole`.
#[inline]
fn below(bits: u64, whole: u64) -> u64 {
    ((u128::from(bits) * u128::from(whole)) >> 64) as u64
}

impl Draws {
    /// Draws the values of `slots`, ordered so that each follows the slots that it reads.
    #[inline]
    pub(in crate::custom) fn draw(&self, slots: &[u16], keys: &mut DrawSeeds, hold: &mut SessionValues) {
        let key = keys.next();
        for &slot in slots {
            let draw = &self.all[usize::from(slot)];
            let turn = DrawContext {
                key: key ^ draw.salt,
                own_key: keys.session ^ draw.salt,
                session: keys.session_number,
                at: draw.at,
            };
            hold.held[usize::from(slot)] = draw.law.draw(turn, hold, &self.shared);
            if let Some(Null { share, when, counter }) = &draw.null {
                let is_null = mix(turn.key ^ NULL) % NULL_PARTS < u64::from(*share)
                    || when.as_ref().is_some_and(|when| {
                        when.evaluate(&mut ExprContext::new(hold, ExprSeed::Is(0))).is_true()
                    });
                hold.counted[*counter] = u64::from(is_null);
            }
        }
    }

    /// The initial values of a session with this number of slots, for this seed of the run.
    pub(in crate::custom) fn initial_values(
        &self,
        slots: usize,
        seed: u64,
        keys: &mut DrawSeeds,
    ) -> SessionValues {
        let mut hold = SessionValues {
            held: vec![HeldValue::Int(0); slots].into(),
            bytes: vec![0; self.own_bytes].into(),
            counted: vec![0; self.counters].into(),
        };
        let once = |when: DrawFrequency| -> Vec<u16> {
            let is_then = |slot: &u16| self.all[usize::from(*slot)].when == when;
            self.order.iter().copied().filter(is_then).collect()
        };
        self.draw(&once(DrawFrequency::Run), &mut DrawSeeds::of_run(seed), &mut hold);
        self.draw(&once(DrawFrequency::Session), keys, &mut hold);
        hold
    }

    /// `slots` and all slots that they read, in order, if `filter` is true for their generator.
    pub(in crate::custom) fn closure(
        &self,
        slots: &[u16],
        filter: impl Fn(&DrawDefinition) -> bool,
    ) -> Vec<u16> {
        let mut wanted = vec![false; self.all.len()];
        let mut open: Vec<u16> = slots.to_vec();
        while let Some(slot) = open.pop() {
            let Some(is_wanted) = wanted.get_mut(usize::from(slot)) else { continue };
            if !std::mem::replace(is_wanted, true) {
                open.extend(&self.all[usize::from(slot)].needs);
            }
        }
        let is_wanted = |slot: &u16| wanted[usize::from(*slot)] && filter(&self.all[usize::from(*slot)]);
        self.order.iter().copied().filter(is_wanted).collect()
    }

    /// The slots behind `slots`, directly or indirectly, that are not generators: numbers that are read or
    /// counted.
    pub(in crate::custom) fn read_by(&self, slots: &[u16]) -> Vec<u16> {
        let of_draws = self.closure(slots, |_| true);
        let needed = of_draws.iter().flat_map(|&slot| &self.all[usize::from(slot)].needs);
        let no_draw = |slot: &u16| usize::from(*slot) >= self.all.len();
        slots.iter().chain(needed).copied().filter(no_draw).collect()
    }
}
