//! Counts the operations of an open loop that were overdue when the window began: work of the
//! warm-up in the window's figures.

use dyno_record::RunRecord;

use crate::number::{count, percent};

/// Share of the operations due in the window, %, up to which overdue ones do not matter.
const FREE_PCT: f64 = 1.0;

/// Overdue operations at both ends of a window.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Overdue {
    pub(crate) begin: u64,
    pub(crate) end: u64,
    /// Operations that the window did in excess of its own, in percent of those due in it.
    pub(crate) surplus_pct: f64,
}

impl Overdue {
    /// For a run with a known rate; `None` where the overdue operations do not matter.
    pub(crate) fn of(record: &RunRecord, due: f64) -> Option<Self> {
        let (begin, end) = record.window.as_ref()?.overdue?;
        let surplus_pct = 100.0 * begin.saturating_sub(end) as f64 / due.max(1.0);
        let begin_pct = 100.0 * begin as f64 / due.max(1.0);
        // Each session may be one operation behind at any moment.
        let matters = begin_pct > FREE_PCT && begin > u64::from(record.sessions());
        matters.then_some(Self { begin, end, surplus_pct })
    }

    pub(crate) fn words(&self) -> String {
        // As many or more were overdue at the end: the window did none in excess of its own.
        let rate = match self.surplus_pct > 0.0 {
            true => format!("its rate (+{} %) and in ", percent(self.surplus_pct)),
            false => String::new(),
        };
        format!(
            "{} operations of the warm-up were overdue at the window's begin ({} at its end): they are in {rate}its response times; \
             a longer run.warmup keeps them out",
            count(self.begin),
            count(self.end)
        )
    }
}
