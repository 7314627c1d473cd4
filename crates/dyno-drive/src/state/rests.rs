//! A session that asks for nothing for a while in the middle of an operation, or for nothing at all.

use dyno_engine::OpError;

use super::{Doing, Next, SessionState};
use crate::counts::{Counts, Timing};
use crate::shared::Phase;

impl SessionState {
    /// Asks for nothing for so long, in the middle of an operation; not where the run is over.
    #[cold]
    pub(super) fn pause(&mut self, ns: u64) -> Next {
        let Self { worker, doing, .. } = self;
        let ns = if worker.shared.phase() == Phase::Stop { 0 } else { ns };
        let until_ns = worker.clock.now_ns().saturating_add(ns);
        if let Doing::Operation { rests_until_ns, .. } = doing {
            *rests_until_ns = Some(until_ns);
        }
        Next::Sleeps(until_ns)
    }

    /// Until when it rests in the middle of an operation, if it does.
    #[inline]
    pub(crate) fn rests_until_ns(&self) -> Option<u64> {
        match self.doing {
            Doing::Operation { rests_until_ns, .. } => rests_until_ns,
            _ => None,
        }
    }

    /// Its rest is over: goes on with the operation. Whether that has ended.
    #[cold]
    pub(crate) fn rested(&mut self, counts: &mut Counts) -> Result<bool, Box<OpError>> {
        if let Doing::Operation { rests_until_ns, .. } = &mut self.doing {
            *rests_until_ns = None;
        }
        self.step(counts, None)
    }

    /// A transaction whose conditions left nothing to ask for has ended with its begin: another one comes when others have had
    /// their turn.
    #[cold]
    pub(super) fn ended_unasked(&mut self, counts: &mut Counts, due_ns: u64, began_ns: u64) -> Next {
        self.doing = Doing::Nothing;
        let ended_ns = self.worker.clock.now_ns();
        self.worker.count(counts, Timing { due_ns, began_ns, ended_ns }, None);
        self.worker.look_at_ops(counts);
        Next::Sleeps(ended_ns)
    }
}
