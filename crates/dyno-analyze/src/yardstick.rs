//! What transactions of a user's own workload came to, a minute and each for itself, and what that is held against.

use dyno_record::{OpStats, OwnWorkload, RunRecord, TransactionFacts, Yardstick};

/// What one class of transactions came to.
#[derive(Debug, Clone, PartialEq)]
pub struct ClassFigures<'a> {
    /// What is known of it beforehand.
    pub facts: &'a TransactionFacts,
    /// What it did, if it did anything.
    pub ops: Option<&'a OpStats>,
    /// Its share of all transactions of the workload that ended well, %.
    pub share_pct: Option<f64>,
    /// Whether nine of ten response times stay below the limit, where there is one and it is judged.
    pub within: Option<bool>,
}

/// Whether limits of response times are judged.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Judged {
    /// They are: sessions rest as they are to, and are as many as they are to be.
    Yes,
    /// Some class is without a rest.
    NoRests,
    /// There is another number of sessions than the scale asks for.
    Sessions {
        /// How many there are.
        are: u32,
        /// How many there have to be.
        wanted: u64,
    },
    /// Nothing says what they are to be.
    Nothing,
}

/// What a workload came to.
#[derive(Debug, Clone, PartialEq)]
pub struct Figures<'a> {
    /// Each class.
    pub classes: Vec<ClassFigures<'a>>,
    /// The class that is counted, and how many of it there were a minute; those that were rolled back are among them, as they are done.
    pub counted: Option<(&'a str, f64)>,
    /// All transactions a minute.
    pub all_per_minute: f64,
    /// Whether limits are judged.
    pub judged: Judged,
    /// What was counted of what there is at most, %; only where sessions rest.
    pub efficiency_pct: Option<f64>,
}

/// What `own`, a workload of `record`, came to.
pub fn figures<'a>(record: &'a RunRecord, own: &'a OwnWorkload) -> Option<Figures<'a>> {
    if own.transactions.is_empty() || record.ops.is_empty() {
        return None;
    }
    let ops = |facts: &TransactionFacts| record.ops.get(&facts.class);
    let done: u64 = own.transactions.iter().filter_map(ops).map(|ops| ops.count).sum();
    let per_s: f64 = own.transactions.iter().filter_map(ops).map(|ops| ops.rate_per_s).sum();
    let judged = judged(record, own);
    let class = |facts: &'a TransactionFacts| {
        let ops = ops(facts);
        let p90_us = ops.and_then(|ops| ops.response_us.p90);
        let within = facts.limit_p90_s.zip(p90_us).filter(|_| judged == Judged::Yes);
        ClassFigures {
            facts,
            ops,
            share_pct: ops.filter(|_| done > 0).map(|ops| ops.count as f64 * 100.0 / done as f64),
            within: within.map(|(limit_s, p90_us)| p90_us <= limit_s * 1e6),
        }
    };
    let counted = own.yardstick.as_ref().map(|yardstick| {
        let per_s = record.ops.get(&yardstick.class).map_or(0.0, |ops| ops.rate_per_s);
        (yardstick.class.as_str(), per_s * 60.0)
    });
    let most = own.yardstick.as_ref().map(|yardstick| yardstick.most_per_minute * own.scale as f64);
    let efficiency = counted.zip(most).filter(|_| judged == Judged::Yes);
    Some(Figures {
        classes: own.transactions.iter().map(class).collect(),
        counted,
        all_per_minute: per_s * 60.0,
        judged,
        efficiency_pct: efficiency.map(|((_, per_minute), most)| per_minute * 100.0 / most),
    })
}

fn judged(record: &RunRecord, own: &OwnWorkload) -> Judged {
    let Some(yardstick) = &own.yardstick else { return Judged::Nothing };
    if own.transactions.iter().any(|one| one.keying_s + one.think_s <= 0.0) {
        return Judged::NoRests;
    }
    let are = own.share.as_ref().map_or_else(|| record.sessions(), |share| share.sessions);
    let wanted = u64::from(yardstick.sessions) * own.scale;
    match u64::from(are) == wanted {
        true => Judged::Yes,
        false => Judged::Sessions { are, wanted },
    }
}

/// How many sessions of `own` are busy in the mean, and how much scale there is for each of them.
pub fn room(record: &RunRecord, own: &OwnWorkload) -> Option<(f64, f64)> {
    let busy: f64 = own
        .transactions
        .iter()
        .filter_map(|one| record.ops.get(&one.class))
        .filter_map(|ops| Some(ops.rate_per_s * ops.service_us.mean? / 1e6))
        .sum();
    (busy > 0.0).then(|| (busy, own.scale as f64 / busy))
}

/// Whether sessions of `own` wait for each other's rows rather than for the database.
pub fn is_crowded(record: &RunRecord, own: &OwnWorkload, yardstick: &Yardstick) -> bool {
    room(record, own).is_some_and(|(_, room)| room < yardstick.roomy)
}
