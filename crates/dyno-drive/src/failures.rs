//! Counts what went wrong in one session, by kind.

use std::collections::BTreeMap;

use dyno_engine::{ErrorClass, OpError};
use dyno_record::ErrorTally;

/// The failures of one session, in the order in which their kinds appeared.
#[derive(Debug, Default)]
pub(crate) struct Failures(Vec<FailureTally>);

#[derive(Debug)]
pub(crate) struct FailureTally {
    error: OpError,
    pub(crate) count: u64,
    /// Transactions that were retried after this failure.
    pub(crate) retried: u64,
    /// Operations that lost their connection while a commit was in progress.
    pub(crate) in_doubt: u64,
    reconnects: u64,
}

impl Failures {
    /// The failures of the kind of `error`.
    pub(crate) fn of(&mut self, error: &OpError) -> &mut FailureTally {
        let same = |known: &FailureTally| known.error.code == error.code && known.error.class == error.class;
        let place = self.0.iter().position(same).unwrap_or_else(|| {
            self.0.push(FailureTally {
                error: error.clone(),
                count: 0,
                retried: 0,
                in_doubt: 0,
                reconnects: 0,
            });
            self.0.len() - 1
        });
        &mut self.0[place]
    }

    /// Counts a reconnection after the last kind of failure that breaks the connection.
    pub(crate) fn reconnected(&mut self) {
        let lost = self.0.iter_mut().rev().find(|known| known.error.class == ErrorClass::Connection);
        if let Some(known) = lost {
            known.reconnects += 1;
        }
    }

    pub(crate) fn into_tallies(self) -> Vec<ErrorTally> {
        let tally = |FailureTally { error, count, retried, in_doubt, reconnects }: FailureTally| ErrorTally {
            class: error.class.name().to_owned(),
            code: error.code,
            message: error.message,
            count,
            reconnects,
            retried,
            in_doubt,
        };
        self.0.into_iter().map(tally).collect()
    }
}

/// The sum of each kind in `tallies`, by class and code, with its first message.
pub(crate) fn sum<'a>(tallies: impl IntoIterator<Item = &'a ErrorTally>) -> Vec<ErrorTally> {
    let mut sums: BTreeMap<(&str, &str), ErrorTally> = BTreeMap::new();
    for tally in tallies {
        sums.entry((&tally.class, &tally.code))
            .and_modify(|sum| {
                sum.count += tally.count;
                sum.reconnects += tally.reconnects;
                sum.retried += tally.retried;
                sum.in_doubt += tally.in_doubt;
            })
            .or_insert_with(|| tally.clone());
    }
    sums.into_values().collect()
}
