//! The draws of a workload, and what one session draws of them.

use dyno_engine::Type;
use dyno_engine::data::{Permutation, mix};

use super::law::{Law, Turn};
use super::null::{NULL, NULL_PARTS, Null};
use crate::own::expr::{Given, Key};
use crate::own::value::{Held, Hold};

/// How often a value is drawn anew, the rarest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::own) enum When {
    /// Once for all sessions, when the run begins.
    Run,
    /// Once, when the session begins.
    Session,
    /// For each transaction.
    Transaction,
    /// For each turn of a `repeat` that uses it, beside each transaction.
    Repeat,
    /// For each statement and condition that uses it.
    Statement,
}

/// A draw.
#[derive(Debug, Clone)]
pub(in crate::own) struct Draw {
    pub(in crate::own) name: String,
    /// How it was written, on one line.
    pub(in crate::own) words: String,
    pub(in crate::own) law: Law,
    /// The type of the parameters that it is given to.
    pub(in crate::own) of: Type,
    pub(in crate::own) when: When,
    /// Slots that it reads.
    pub(in crate::own) needs: Vec<u16>,
    /// Where its bytes are among the session's own, and how many there are at most.
    pub(in crate::own) at: usize,
    pub(in crate::own) bytes_max: usize,
    /// What tells it from the others.
    pub(in crate::own) salt: u64,
    /// Which of its values are NULL for statements.
    pub(in crate::own) null: Option<Null>,
}

impl Draw {
    /// Whether steps set it.
    pub(in crate::own) fn is_variable(&self) -> bool {
        matches!(self.law, Law::Variable(_))
    }
}

/// All draws: one for each slot from the first on.
#[derive(Debug, Clone, Default)]
pub(in crate::own) struct Draws {
    pub(in crate::own) all: Vec<Draw>,
    /// Their slots, each after those that it needs.
    pub(in crate::own) order: Vec<u16>,
    /// Bytes that sessions share: words, and fixed parts of templates.
    pub(in crate::own) shared: Vec<u8>,
    /// Bytes of each session's own.
    pub(in crate::own) own_bytes: usize,
    /// How many of them count.
    pub(in crate::own) counters: usize,
}

/// What a session's values are drawn with.
#[derive(Debug, Clone, Copy)]
pub(in crate::own) struct Keys {
    session_number: u32,
    session: u64,
    transaction: u64,
    /// Draws within the transaction so far, each of which is another one.
    turns: u64,
}

/// Tells the class of a transaction, and the rest behind it, from other draws.
const CLASS: u64 = 0x636c_6173;
const REST: u64 = 0x7265_7374;
/// Tells what is drawn for the run from what a session draws.
const RUN: u64 = 0x72_756e;

impl Keys {
    /// Those of session `session` with this seed.
    pub(in crate::own) fn new(seed: u64, session: u32) -> Self {
        let own = mix(mix(seed) ^ u64::from(session));
        Self { session_number: session, session: own, transaction: own, turns: 0 }
    }

    /// Those of what is drawn once for all sessions.
    fn of_run(seed: u64) -> Self {
        let run = mix(mix(seed) ^ RUN);
        Self { session_number: 0, session: run, transaction: run, turns: 0 }
    }

    /// Turns to the transaction of this number.
    #[inline]
    pub(in crate::own) fn turn_to(&mut self, number: u64) {
        (self.transaction, self.turns) = (mix(self.session ^ number), 0);
    }

    /// The seed of what is drawn now, beside draws with names.
    #[inline]
    pub(in crate::own) fn next(&mut self) -> u64 {
        let key = mix(self.transaction ^ self.turns);
        self.turns += 1;
        key
    }

    /// As if the first values were drawn.
    pub(in crate::own) fn skip(&mut self) {
        self.turns += 1;
    }

    /// A number below `whole` that decides on the class of the transaction.
    #[inline]
    pub(in crate::own) fn class(&self, whole: u64) -> u64 {
        below(mix(self.transaction ^ CLASS), whole)
    }

    /// The card that decides on the class of transaction `number`, from 1: of each `whole` transactions every one once.
    #[inline]
    pub(in crate::own) fn card(&self, number: u64, whole: u64) -> u64 {
        let before = number - 1;
        let order = Permutation::new(whole, mix(self.session ^ CLASS ^ (before / whole)));
        order.key(before % whole) - 1
    }

    /// What decides on the rest behind it: any number of 64 bits.
    #[inline]
    pub(in crate::own) fn rest(&self) -> u64 {
        mix(self.transaction ^ REST)
    }
}

/// What `bits` say of the numbers below `whole`.
#[inline]
fn below(bits: u64, whole: u64) -> u64 {
    ((u128::from(bits) * u128::from(whole)) >> 64) as u64
}

impl Draws {
    /// Draws the values of `slots`, each after those that it needs.
    #[inline]
    pub(in crate::own) fn draw(&self, slots: &[u16], keys: &mut Keys, hold: &mut Hold) {
        let key = keys.next();
        for &slot in slots {
            let draw = &self.all[usize::from(slot)];
            let turn = Turn {
                key: key ^ draw.salt,
                own_key: keys.session ^ draw.salt,
                session: keys.session_number,
                at: draw.at,
            };
            hold.held[usize::from(slot)] = draw.law.draw(turn, hold, &self.shared);
            if let Some(Null { share, when, counter }) = &draw.null {
                let is_null = mix(turn.key ^ NULL) % NULL_PARTS < u64::from(*share)
                    || when.as_ref().is_some_and(|when| when.of(&mut Given::new(hold, Key::Is(0))).holds());
                hold.counted[*counter] = u64::from(is_null);
            }
        }
    }

    /// What a session holds at first, in so many slots, where the run has this seed.
    pub(in crate::own) fn hold(&self, slots: usize, seed: u64, keys: &mut Keys) -> Hold {
        let mut hold = Hold {
            held: vec![Held::Int(0); slots].into(),
            bytes: vec![0; self.own_bytes].into(),
            counted: vec![0; self.counters].into(),
        };
        let once = |when: When| -> Vec<u16> {
            let is_then = |slot: &u16| self.all[usize::from(*slot)].when == when;
            self.order.iter().copied().filter(is_then).collect()
        };
        self.draw(&once(When::Run), &mut Keys::of_run(seed), &mut hold);
        self.draw(&once(When::Session), keys, &mut hold);
        hold
    }

    /// `slots` and all that they need, in order, as far as `of` says so of each.
    pub(in crate::own) fn closure(&self, slots: &[u16], of: impl Fn(&Draw) -> bool) -> Vec<u16> {
        let mut wanted = vec![false; self.all.len()];
        let mut open: Vec<u16> = slots.to_vec();
        while let Some(slot) = open.pop() {
            let Some(is_wanted) = wanted.get_mut(usize::from(slot)) else { continue };
            if !std::mem::replace(is_wanted, true) {
                open.extend(&self.all[usize::from(slot)].needs);
            }
        }
        let is_wanted = |slot: &u16| wanted[usize::from(*slot)] && of(&self.all[usize::from(*slot)]);
        self.order.iter().copied().filter(is_wanted).collect()
    }

    /// The slots that `slots` are made of in the end and that are no draws: numbers that are read or counted.
    pub(in crate::own) fn read_by(&self, slots: &[u16]) -> Vec<u16> {
        let of_draws = self.closure(slots, |_| true);
        let needed = of_draws.iter().flat_map(|&slot| &self.all[usize::from(slot)].needs);
        let no_draw = |slot: &u16| usize::from(*slot) >= self.all.len();
        slots.iter().chain(needed).copied().filter(no_draw).collect()
    }
}
