//! Steps that set values and rest, and transactions of some steps.

use dyno_engine::{Isolation, Type};

use super::{Maker, Trips, plus};
use crate::own::fault::{Fault, Text};
use crate::own::program::Op;
use crate::own::steps::{Condition, Step};
use crate::own::value::Held;

impl Maker<'_> {
    /// What is in a slot before anything is read into it.
    pub(super) fn first_of(&self, slot: u16) -> Held {
        match self.around.type_of(slot) {
            _ if self.around.names.column_at(slot).is_some() => Held::Null,
            Type::Real => Held::Real(0.0),
            _ => Held::Int(0),
        }
    }

    pub(super) fn set(&mut self, slot: u16, to: &Condition, turning: &[u16]) -> Result<Trips, Fault> {
        let expr = self.condition(to, turning)?;
        // A variable keeps what it was in the transaction before.
        if usize::from(slot) >= self.around.names.draws {
            self.known.push(slot);
        }
        self.code.ops.push(Op::Set(slot, expr));
        Ok((0, Some(0)))
    }

    pub(super) fn sleep(&mut self, time: &Condition, unit_ns: u64, turning: &[u16]) -> Result<Trips, Fault> {
        let expr = self.condition(time, turning)?;
        self.code.ops.push(Op::Sleep(expr, unit_ns));
        Ok((0, Some(0)))
    }

    /// One transaction of the database, where other steps commit each by itself.
    pub(super) fn part(
        &mut self,
        isolation: Isolation,
        steps: &[Step],
        text: &Text,
        turning: &[u16],
    ) -> Result<Trips, Fault> {
        if !self.transaction.each || self.in_part {
            let hint = "take `transaction` out, or write commit = \"each\" for the steps around it";
            return Err(text.fault(0, "a transaction within a transaction", hint));
        }
        self.code.ops.push(Op::Begin(isolation));
        self.in_part = true;
        let trips = self.steps(steps, turning)?;
        self.in_part = false;
        self.code.ops.push(Op::Commit { ends: false });
        Ok(plus(trips, (2, Some(2))))
    }
}
