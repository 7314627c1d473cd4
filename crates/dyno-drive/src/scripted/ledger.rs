//! What a scripted database itself knows of what it did: the truth that recorded figures are held against.
//!
//! Kept by the sessions of the script as a log, from the script and the clock alone, and never read by what drives or
//! records. What belongs to a window is worked out from the log afterwards.

use std::collections::BTreeMap;
use std::ops::Range;

use dyno_engine::ErrorClass;
use dyno_workload::ClassId;

/// One class of operations.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClassAccount {
    /// Operations that ended well.
    pub count: u64,
    /// Operations that failed.
    pub errors: u64,
    /// Rows that they touched.
    pub rows: u64,
    /// How many operations took how long by the script, in nanoseconds.
    pub service_ns: BTreeMap<u64, u64>,
}

/// What was done in a stretch of time.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Account {
    /// Operations by class; `commit` is a step of `update`, `slice` a bundle of the others.
    pub classes: BTreeMap<ClassId, ClassAccount>,
    /// Failures by class and code.
    pub errors: BTreeMap<(ErrorClass, String), u64>,
    /// Connections that were opened anew.
    pub reconnects: u64,
}

impl Account {
    /// The account of `class`; empty if it did nothing.
    pub fn class(&self, class: ClassId) -> ClassAccount {
        self.classes.get(&class).cloned().unwrap_or_default()
    }

    /// All operations: every class but `commit` and `slice`.
    pub fn all(&self) -> ClassAccount {
        let mut all = ClassAccount::default();
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

    fn done(&mut self, step: &Step) {
        let class = self.classes.entry(step.class).or_default();
        class.count += 1;
        class.rows += step.rows;
        *class.service_ns.entry(step.ns).or_default() += 1;
    }

    fn note(&mut self, entry: &Entry) {
        match entry {
            Entry::Call { steps, .. } => steps.iter().for_each(|step| self.done(step)),
            Entry::Failed { class, error, code, .. } => {
                self.classes.entry(*class).or_default().errors += 1;
                *self.errors.entry((*error, code.clone())).or_default() += 1;
            }
            Entry::Reconnected => self.reconnects += 1,
            Entry::Edge { .. } => {}
        }
    }
}

/// An operation, or a step of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) class: ClassId,
    pub(super) rows: u64,
    /// How long it took by the script.
    pub(super) ns: u64,
}

/// Something that a session did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Entry {
    /// A call that ended well: one operation, or a slice of them.
    Call { began_ns: u64, ended_ns: u64, steps: Vec<Step> },
    /// An operation that failed.
    Failed { class: ClassId, error: ErrorClass, code: String, ended_ns: u64 },
    /// What it had done was made visible.
    Edge { at_ns: u64 },
    /// A connection opened anew.
    Reconnected,
}

impl Entry {
    fn ended_ns(&self) -> Option<u64> {
        match self {
            Self::Call { ended_ns, .. } | Self::Failed { ended_ns, .. } => Some(*ended_ns),
            Self::Edge { .. } | Self::Reconnected => None,
        }
    }
}

/// Begin and end of a window on the run's clock, as the run told them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Span {
    /// Since when what ends counts.
    pub begin_ns: u64,
    /// From when on nothing more is begun that counts.
    pub end_ns: u64,
}

/// Everything that the sessions of a script did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ledger {
    /// By session, in their order.
    log: BTreeMap<u32, Vec<Entry>>,
}

impl Ledger {
    /// Over each session's whole life.
    pub fn life(&self) -> Account {
        let mut life = Account::default();
        self.log.values().flatten().for_each(|entry| life.note(entry));
        life
    }

    /// What belongs to the window: every operation that ended after its begin, and was under way at its end at the latest.
    pub fn window(&self, span: Span) -> Account {
        let mut window = Account::default();
        self.inside(span).for_each(|(_, entry)| window.note(entry));
        window
    }

    /// By session, the numbers of its operations in the window; a call is one.
    pub fn numbers(&self, span: Span) -> BTreeMap<u32, Range<u64>> {
        let mut numbers = BTreeMap::new();
        for (&session, log) in &self.log {
            let calls = |entries: &[Entry]| entries.iter().filter(|e| e.ended_ns().is_some()).count() as u64;
            let last = calls(&log[..last_of(log, span)]);
            let first = log.iter().filter(|e| e.ended_ns().is_some_and(|ns| ns <= span.begin_ns)).count();
            numbers.insert(session, first as u64..last);
        }
        numbers
    }

    /// The longest call in the window, by this clock.
    pub fn longest_ns(&self, span: Span) -> u64 {
        let length = |(_, entry): (u32, &Entry)| match entry {
            Entry::Call { began_ns, ended_ns, .. } => ended_ns - began_ns,
            _ => 0,
        };
        self.inside(span).map(length).max().unwrap_or(0)
    }

    /// Of the calls that were under way at the window's begin, the sum of the shares that had passed by then, each times its
    /// operations.
    pub fn before(&self, span: Span) -> f64 {
        let share = |(_, entry): (u32, &Entry)| match entry {
            Entry::Call { began_ns, ended_ns, steps } if *began_ns < span.begin_ns => {
                let is_one = |step: &&Step| step.class.place().is_some();
                let ops = steps.iter().filter(is_one).count() as f64;
                ops * (span.begin_ns - began_ns) as f64 / (ended_ns - began_ns) as f64
            }
            _ => 0.0,
        };
        self.inside(span).map(share).sum()
    }

    /// How long the calls that were under way at the window's begin had taken by then, summed.
    pub fn before_ns(&self, span: Span) -> u64 {
        let before = |(_, entry): (u32, &Entry)| match entry {
            Entry::Call { began_ns, .. } => span.begin_ns.saturating_sub(*began_ns),
            _ => 0,
        };
        self.inside(span).map(before).sum()
    }

    /// Whether an operation ended so close to the window's begin that this log and the client, which reads the clock a moment
    /// later, may differ about which side it is on.
    pub fn is_ambiguous(&self, span: Span) -> bool {
        self.log.values().any(|log| {
            let mut ended = 0;
            log.iter().any(|entry| match entry {
                Entry::Call { began_ns, ended_ns, .. } => {
                    let until = (*began_ns).min(ended + NOTICED_NS);
                    let between = ended > 0 && (ended..=until).contains(&span.begin_ns);
                    ended = *ended_ns;
                    between
                }
                _ => false,
            })
        })
    }

    fn inside(&self, span: Span) -> impl Iterator<Item = (u32, &Entry)> {
        self.log.iter().flat_map(move |(&session, log)| {
            let mut begun = false;
            let within = log[..last_of(log, span)].iter().filter(move |entry| {
                begun |= entry.ended_ns().is_some_and(|ns| ns > span.begin_ns);
                begun
            });
            within.map(move |entry| (session, entry))
        })
    }

    /// Adds what a session has done.
    pub(super) fn absorb(&mut self, session: u32, entries: Vec<Entry>) {
        self.log.entry(session).or_default().extend(entries);
    }
}

/// How soon after an operation has ended its client has read the clock, ns: one session of several may be without a processor for a
/// while of which the record does not tell, as others of its client had one.
pub const NOTICED_NS: u64 = 50_000_000;

/// The number of entries until a session noticed that the window was over: then it makes visible what it has done.
fn last_of(log: &[Entry], span: Span) -> usize {
    let ends = |entry: &Entry| matches!(entry, Entry::Edge { at_ns } if *at_ns >= span.end_ns);
    log.iter().position(ends).unwrap_or(log.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_begin_behind_an_operation_is_open_as_long_as_its_client_may_not_have_looked() {
        let call = |began_ms: u64, ended_ms: u64| Entry::Call {
            began_ns: began_ms * 1_000_000,
            ended_ns: ended_ms * 1_000_000,
            steps: Vec::new(),
        };
        let mut ledger = Ledger::default();
        // Without a processor for 20 ms behind its first operation, and at rest behind its second.
        ledger.absorb(1, vec![call(100, 101), call(121, 122), call(500, 501)]);
        for (begin_ms, is_open) in [(100, false), (115, true), (121, true), (150, true), (300, false)] {
            let span = Span { begin_ns: begin_ms * 1_000_000, end_ns: u64::MAX };
            assert_eq!(ledger.is_ambiguous(span), is_open, "{begin_ms} ms");
        }
    }
}
