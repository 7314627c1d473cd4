//! Compiles steps that set values, sleep, or form a database transaction.

use dyno_engine::{Isolation, Type};

use super::{RoundTrips, TransactionCompiler, add_trips};
use crate::custom::fault::{SourceText, WorkloadError};
use crate::custom::program::ProgramOp;
use crate::custom::steps::{Condition, TransactionStep};
use crate::custom::value::HeldValue;

impl TransactionCompiler<'_> {
    /// The value of a slot before anything is read into it.
    pub(super) fn first_of(&self, slot: u16) -> HeldValue {
        match self.around.type_of(slot) {
            _ if self.around.names.column_at(slot).is_some() => HeldValue::Null,
            Type::Real => HeldValue::Real(0.0),
            _ => HeldValue::Int(0),
        }
    }

    pub(super) fn set(
        &mut self,
        slot: u16,
        to: &Condition,
        turning: &[u16],
    ) -> Result<RoundTrips, WorkloadError> {
        let expr = self.condition(to, turning)?;
        // A variable keeps its value from the transaction before.
        if usize::from(slot) >= self.around.names.draws {
            self.read_slots.push(slot);
        }
        self.code.ops.push(ProgramOp::Set(slot, expr));
        Ok((0, Some(0)))
    }

    pub(super) fn sleep(
        &mut self,
        time: &Condition,
        unit_ns: u64,
        turning: &[u16],
    ) -> Result<RoundTrips, WorkloadError> {
        let expr = self.condition(time, turning)?;
        self.code.ops.push(ProgramOp::Sleep(expr, unit_ns));
        Ok((0, Some(0)))
    }

    /// Compiles one database transaction among steps that commit separately.
    pub(super) fn part(
        &mut self,
        isolation: Isolation,
        steps: &[TransactionStep],
        text: &SourceText,
        turning: &[u16],
    ) -> Result<RoundTrips, WorkloadError> {
        if !self.transaction.commits_each || self.in_part {
            let hint = "remove `transaction`, or write commit = \"each\" for the steps around it";
            return Err(text.fault(0, "a transaction within a transaction", hint));
        }
        self.code.ops.push(ProgramOp::Begin(isolation));
        self.in_part = true;
        let trips = self.steps(steps, turning)?;
        self.in_part = false;
        self.code.ops.push(ProgramOp::Commit { ends: false });
        Ok(add_trips(trips, (2, Some(2))))
    }
}
