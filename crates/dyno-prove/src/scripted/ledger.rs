//! A scripted database's own account of its work, with which recorded figures are compared.
//!
//! The script's sessions write it as a log, from the script and the clock alone. The code that drives or
//! records never reads it. The part that belongs to a window is computed from the log afterwards.

use std::collections::BTreeMap;
use std::ops::Range;

use dyno_engine::ErrorClass;
use dyno_workload::ClassId;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ScriptedClassTotals {
    /// Operations that ended without an error.
    pub count: u64,
    pub errors: u64,
    /// Rows that the operations touched.
    pub rows: u64,
    /// Number of operations for each scripted duration in nanoseconds.
    pub service_ns: BTreeMap<u64, u64>,
}

/// The work in a period of time.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ScriptedTotals {
    /// Operations by class; `commit` is a step of `update`, `slice` contains others.
    pub classes: BTreeMap<ClassId, ScriptedClassTotals>,
    /// Failures by class and code.
    pub errors: BTreeMap<(ErrorClass, String), u64>,
    /// Connections that were opened again.
    pub reconnects: u64,
}

impl ScriptedTotals {
    /// The totals of `class`; empty if it did nothing.
    pub fn class(&self, class: ClassId) -> ScriptedClassTotals {
        self.classes.get(&class).cloned().unwrap_or_default()
    }

    /// All operations: every class but `commit` and `slice`.
    pub fn all(&self) -> ScriptedClassTotals {
        let mut all = ScriptedClassTotals::default();
        let ops = self.classes.iter().filter(|(class, _)| class.place().is_some());
        for (_, account) in ops {
            all.count += account.count;
            all.errors += account.errors;
            all.rows += account.rows;
            for (ns, count) in &account.service_ns {
                *all.service_ns.entry(*ns).or_default() += count;
            }
        }
        all
    }

    fn done(&mut self, step: &LedgerStep) {
        let class = self.classes.entry(step.class).or_default();
        class.count += 1;
        class.rows += step.rows;
        *class.service_ns.entry(step.ns).or_default() += 1;
    }

    fn note(&mut self, entry: &LedgerEntry) {
        match entry {
            LedgerEntry::Call { steps, .. } => steps.iter().for_each(|step| self.done(step)),
            LedgerEntry::Failed { class, error, code, .. } => {
                self.classes.entry(*class).or_default().errors += 1;
                *self.errors.entry((*error, code.clone())).or_default() += 1;
            }
            LedgerEntry::Reconnected => self.reconnects += 1,
            LedgerEntry::Edge { .. } => {}
        }
    }
}

/// An operation, or a step of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LedgerStep {
    pub(super) class: ClassId,
    pub(super) rows: u64,
    /// The duration by the script, ns.
    pub(super) ns: u64,
}

/// One entry of a session's log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum LedgerEntry {
    /// A call without an error: one operation, or a slice of them.
    Call {
        began_ns: u64,
        ended_ns: u64,
        steps: Vec<LedgerStep>,
    },
    Failed {
        class: ClassId,
        error: ErrorClass,
        code: String,
        ended_ns: u64,
    },
    /// The session's work was published.
    Edge {
        at_ns: u64,
    },
    Reconnected,
}

impl LedgerEntry {
    fn ended_ns(&self) -> Option<u64> {
        match self {
            Self::Call { ended_ns, .. } | Self::Failed { ended_ns, .. } => Some(*ended_ns),
            Self::Edge { .. } | Self::Reconnected => None,
        }
    }
}

/// Begin and end of a window on the run's clock, as the run reported them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LedgerSpan {
    /// Work that ends after this time counts.
    pub begin_ns: u64,
    /// Work that begins after this time does not count.
    pub end_ns: u64,
}

/// The logs of all sessions of a script.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ledger {
    /// The entries by session, in order.
    log: BTreeMap<u32, Vec<LedgerEntry>>,
}

impl Ledger {
    /// The totals over all sessions' lives.
    pub fn life(&self) -> ScriptedTotals {
        let mut life = ScriptedTotals::default();
        self.log.values().flatten().for_each(|entry| life.note(entry));
        life
    }

    /// The totals of the window: every operation that ended after its begin and began before its end.
    pub fn window(&self, span: LedgerSpan) -> ScriptedTotals {
        let mut window = ScriptedTotals::default();
        self.inside(span).for_each(|(_, entry)| window.note(entry));
        window
    }

    /// For each session, the numbers of its operations in the window; a call counts as one.
    pub fn numbers(&self, span: LedgerSpan) -> BTreeMap<u32, Range<u64>> {
        let mut numbers = BTreeMap::new();
        for (&session, log) in &self.log {
            let calls =
                |entries: &[LedgerEntry]| entries.iter().filter(|e| e.ended_ns().is_some()).count() as u64;
            let last = calls(&log[..last_of(log, span)]);
            let first = log.iter().filter(|e| e.ended_ns().is_some_and(|ns| ns <= span.begin_ns)).count();
            numbers.insert(session, first as u64..last);
        }
        numbers
    }

    /// The longest call in the window, on this clock, ns.
    pub fn longest_ns(&self, span: LedgerSpan) -> u64 {
        let length = |(_, entry): (u32, &LedgerEntry)| match entry {
            LedgerEntry::Call { began_ns, ended_ns, .. } => ended_ns - began_ns,
            _ => 0,
        };
        self.inside(span).map(length).max().unwrap_or(0)
    }

    /// For calls in progress at the window's begin: the sum of their elapsed shares, each times its number of
    /// operations.
    pub fn before(&self, span: LedgerSpan) -> f64 {
        let share = |(_, entry): (u32, &LedgerEntry)| match entry {
            LedgerEntry::Call { began_ns, ended_ns, steps } if *began_ns < span.begin_ns => {
                let is_one = |step: &&LedgerStep| step.class.place().is_some();
                let ops = steps.iter().filter(is_one).count() as f64;
                ops * (span.begin_ns - began_ns) as f64 / (ended_ns - began_ns) as f64
            }
            _ => 0.0,
        };
        self.inside(span).map(share).sum()
    }

    /// The elapsed time of the calls in progress at the window's begin, summed, ns.
    pub fn before_ns(&self, span: LedgerSpan) -> u64 {
        let before = |(_, entry): (u32, &LedgerEntry)| match entry {
            LedgerEntry::Call { began_ns, .. } => span.begin_ns.saturating_sub(*began_ns),
            _ => 0,
        };
        self.inside(span).map(before).sum()
    }

    /// Whether an operation ended so close to the window's begin that log and client may disagree about its
    /// side; the client reads the clock a moment later.
    pub fn is_ambiguous(&self, span: LedgerSpan) -> bool {
        self.log.values().any(|log| {
            let mut last_end_ns = 0;
            log.iter().any(|entry| match entry {
                LedgerEntry::Call { began_ns, ended_ns, .. } => {
                    let until = (*began_ns).min(last_end_ns + NOTICED_NS);
                    let between = last_end_ns > 0 && (last_end_ns..=until).contains(&span.begin_ns);
                    last_end_ns = *ended_ns;
                    between
                }
                _ => false,
            })
        })
    }

    fn inside(&self, span: LedgerSpan) -> impl Iterator<Item = (u32, &LedgerEntry)> {
        self.log.iter().flat_map(move |(&session, log)| {
            let mut has_begun = false;
            let within = log[..last_of(log, span)].iter().filter(move |entry| {
                has_begun |= entry.ended_ns().is_some_and(|ns| ns > span.begin_ns);
                has_begun
            });
            within.map(move |entry| (session, entry))
        })
    }

    /// Adds the log of a session.
    pub(super) fn absorb(&mut self, session: u32, entries: Vec<LedgerEntry>) {
        self.log.entry(session).or_default().extend(entries);
    }
}

/// How long after an operation's end its client reads the clock at the latest, ns. A session may lack a
/// processor for a while without a trace in the record, if other sessions of its client have one.
pub const NOTICED_NS: u64 = 50_000_000;

/// Number of entries before the session noticed the window's end and published its work.
fn last_of(log: &[LedgerEntry], span: LedgerSpan) -> usize {
    let ends = |entry: &LedgerEntry| matches!(entry, LedgerEntry::Edge { at_ns } if *at_ns >= span.end_ns);
    log.iter().position(ends).unwrap_or(log.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn begin_after_operation_is_ambiguous_while_client_may_be_delayed() {
        let call = |began_ms: u64, ended_ms: u64| LedgerEntry::Call {
            began_ns: began_ms * 1_000_000,
            ended_ns: ended_ms * 1_000_000,
            steps: Vec::new(),
        };
        let mut ledger = Ledger::default();
        // It has no processor for 20 ms after its first operation, and idles after its second.
        ledger.absorb(1, vec![call(100, 101), call(121, 122), call(500, 501)]);
        for (begin_ms, is_open) in [(100, false), (115, true), (121, true), (150, true), (300, false)] {
            let span = LedgerSpan { begin_ns: begin_ms * 1_000_000, end_ns: u64::MAX };
            assert_eq!(ledger.is_ambiguous(span), is_open, "{begin_ms} ms");
        }
    }
}
