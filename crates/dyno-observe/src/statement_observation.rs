//! Reads the counts of statements through an observer, from a begin to an end.

use dyno_engine::panics::{caught, panicked};
use dyno_engine::{Observer, TargetError};
use dyno_record::TopStatements;

use crate::statement_totals::StatementTotals;

/// The statements of a window, read at its begin and its end or more often.
///
/// A target without such counts costs nothing but the reason: an observation never fails because of them.
#[derive(Debug, Default)]
pub struct StatementObservation {
    totals: Option<StatementTotals>,
    /// Why the counts could not be read, and what to do about it.
    error: Option<(String, String)>,
}

impl StatementObservation {
    /// Reads the counts that a window begins with, at `at_ns`, and forgets everything before.
    pub fn begin(&mut self, observer: &mut dyn Observer, at_ns: u64) {
        *self = Self::default();
        match guarded(|| observer.statements()) {
            Ok(first) => self.totals = Some(StatementTotals::begin(first, at_ns)),
            Err(error) => self.fail(error),
        }
    }

    /// Reads the counts again, and adds what they rose by.
    pub fn add(&mut self, observer: &mut dyn Observer, at_ns: u64) {
        let Some(totals) = &mut self.totals else { return };
        match guarded(|| observer.statements()) {
            Ok(next) => totals.add(next, at_ns),
            Err(error) => self.fail(error),
        }
    }

    /// What was counted so far, with the texts of the statements.
    pub fn result(&mut self, observer: &mut dyn Observer) -> TopStatements {
        let Some(totals) = &self.totals else { return self.absent() };
        match guarded(|| observer.describe_statements(&totals.candidates())) {
            Ok(descriptions) => self.finished(totals.finish(descriptions)),
            Err(error) => {
                self.fail(error);
                self.absent()
            }
        }
    }

    /// A result without figures has the reason why they could not be read, if there is one.
    fn finished(&self, result: TopStatements) -> TopStatements {
        match (&result, &self.error) {
            (TopStatements::Absent { .. }, Some(_)) => self.absent(),
            _ => result,
        }
    }

    fn fail(&mut self, error: TargetError) {
        self.error = Some((error.message, error.hint));
    }

    fn absent(&self) -> TopStatements {
        let unread = || ("the counts of statements at the begin were not read".to_owned(), String::new());
        let (absent, hint) = self.error.clone().unwrap_or_else(unread);
        TopStatements::Absent { absent, hint }
    }
}

fn guarded<T>(read: impl FnOnce() -> Result<T, TargetError>) -> Result<T, TargetError> {
    caught(read).unwrap_or_else(|reason| Err(panicked(reason)))
}
