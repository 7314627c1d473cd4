//! What a scripted database itself knows of what it did: the truth that recorded figures are held against.
//!
//! Kept by the sessions of the script, from the script alone, and never read by what drives or records.

use std::collections::BTreeMap;
use std::ops::Range;

use dyno_record::OpClass;
use dyno_target::ErrorClass;

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

impl ClassAccount {
    fn absorb(&mut self, other: Self) {
        self.count += other.count;
        self.errors += other.errors;
        self.rows += other.rows;
        for (ns, count) in other.service_ns {
            *self.service_ns.entry(ns).or_default() += count;
        }
    }
}

/// What was done in a stretch of time.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Account {
    /// Operations by class; `commit` is a part of `update`, `slice` a bundle of the others.
    pub classes: BTreeMap<OpClass, ClassAccount>,
    /// Failures by class and code.
    pub errors: BTreeMap<(ErrorClass, String), u64>,
    /// Connections that were opened anew.
    pub reconnects: u64,
}

impl Account {
    /// The account of `class`; empty if it did nothing.
    pub fn class(&self, class: OpClass) -> ClassAccount {
        self.classes.get(&class).cloned().unwrap_or_default()
    }

    /// All operations: every class but `commit` and `slice`.
    pub fn all(&self) -> ClassAccount {
        let mut all = ClassAccount::default();
        let ops = self.classes.iter().filter(|(class, _)| !matches!(class, OpClass::Commit | OpClass::Slice));
        ops.for_each(|(_, account)| all.absorb(account.clone()));
        all
    }

    fn absorb(&mut self, other: Self) {
        for (class, account) in other.classes {
            self.classes.entry(class).or_default().absorb(account);
        }
        for (error, count) in other.errors {
            *self.errors.entry(error).or_default() += count;
        }
        self.reconnects += other.reconnects;
    }
}

/// Everything that the sessions of a script did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ledger {
    /// Between each session's two edges.
    pub window: Account,
    /// Over each session's whole life.
    pub life: Account,
    /// By session, the numbers of its operations between its edges.
    pub inside: BTreeMap<u32, Range<u64>>,
}

impl Ledger {
    /// Adds what another ledger holds.
    pub(super) fn absorb(&mut self, other: Self) {
        self.window.absorb(other.window);
        self.life.absorb(other.life);
        self.inside.extend(other.inside);
    }
}

/// One session's page: knows on which side of the edges it is.
#[derive(Debug, Default)]
pub(super) struct Page {
    ledger: Ledger,
    edges: u32,
    began: u64,
}

impl Page {
    fn accounts(&mut self) -> impl Iterator<Item = &mut Account> {
        let inside = (self.edges == 1).then_some(&mut self.ledger.window);
        std::iter::once(&mut self.ledger.life).chain(inside)
    }

    /// An operation, or a part of one, of `ns`.
    pub(super) fn done(&mut self, class: OpClass, rows: u64, ns: u64) {
        for account in self.accounts() {
            let class = account.classes.entry(class).or_default();
            class.count += 1;
            class.rows += rows;
            *class.service_ns.entry(ns).or_default() += 1;
        }
    }

    /// An operation that failed.
    pub(super) fn failed(&mut self, class: OpClass, error: ErrorClass, code: &str) {
        for account in self.accounts() {
            account.classes.entry(class).or_default().errors += 1;
            *account.errors.entry((error, code.to_owned())).or_default() += 1;
        }
    }

    /// A connection opened anew.
    pub(super) fn reconnected(&mut self) {
        self.accounts().for_each(|account| account.reconnects += 1);
    }

    /// Session `number` is at an edge of the window, after `ops` operations.
    pub(super) fn edge(&mut self, number: u32, ops: u64) {
        match self.edges {
            0 => self.began = ops,
            1 => {
                self.ledger.inside.insert(number, self.began..ops);
            }
            _ => {}
        }
        self.edges += 1;
    }

    /// What was noted since this was last asked.
    pub(super) fn take(&mut self) -> Ledger {
        std::mem::take(&mut self.ledger)
    }
}
