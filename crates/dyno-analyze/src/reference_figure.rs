//! Computes the figures of a custom workload's transactions, in total and per class, and compares
//! them with reference figures.

use dyno_record::{OpStats, ReferenceFigure, RunRecord, TransactionFacts, WorkloadFacts};

/// The figures of one class of transactions.
#[derive(Debug, Clone, PartialEq)]
pub struct ClassFigures<'a> {
    /// The facts that the workload declares about the class.
    pub facts: &'a TransactionFacts,
    /// Its operations; absent if there were none.
    pub ops: Option<&'a OpStats>,
    /// Its share of the workload's successful transactions, %.
    pub share_pct: Option<f64>,
    /// Whether 90 % of the response times keep the limit; absent without a limit, or where limits
    /// do not apply.
    pub within: Option<bool>,
}

/// Whether limits of response times apply to this run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ReferenceApplicability {
    /// They apply: sessions pause as declared, and their number is the declared one.
    Yes,
    /// A class has no pause between transactions.
    NoRests,
    /// The number of sessions differs from the one that the scale requires.
    Sessions {
        /// Number of sessions in the run.
        actual: u32,
        /// Number of sessions that the scale requires.
        required: u64,
    },
    /// The workload declares no reference figures.
    Nothing,
}

/// The figures of a workload.
#[derive(Debug, Clone, PartialEq)]
pub struct WorkloadFigures<'a> {
    pub classes: Vec<ClassFigures<'a>>,
    /// The counted class, and its transactions per minute; rolled-back ones count too, because they
    /// are completed.
    pub counted: Option<(&'a str, f64)>,
    /// Transactions of all classes per minute.
    pub all_per_minute: f64,
    pub judged: ReferenceApplicability,
    /// The counted transactions in percent of the highest possible number; absent unless limits
    /// apply.
    pub efficiency_pct: Option<f64>,
}

/// The figures of `own`, a workload of `record`.
pub fn figures<'a>(record: &'a RunRecord, workload: &'a WorkloadFacts) -> Option<WorkloadFigures<'a>> {
    if workload.transactions.is_empty() || record.ops.is_empty() {
        return None;
    }
    let ops = |facts: &TransactionFacts| record.ops.get(&facts.class);
    let transaction_count: u64 = workload.transactions.iter().filter_map(ops).map(|ops| ops.count).sum();
    let per_s: f64 = workload.transactions.iter().filter_map(ops).map(|ops| ops.rate_per_s).sum();
    let judged = judged(record, workload);
    let class = |facts: &'a TransactionFacts| {
        let ops = ops(facts);
        let p90_us = ops.and_then(|ops| ops.response_us.p90);
        let within = facts.limit_p90_s.zip(p90_us).filter(|_| judged == ReferenceApplicability::Yes);
        ClassFigures {
            facts,
            ops,
            share_pct: ops
                .filter(|_| transaction_count > 0)
                .map(|ops| ops.count as f64 * 100.0 / transaction_count as f64),
            within: within.map(|(limit_s, p90_us)| p90_us <= limit_s * 1e6),
        }
    };
    let counted = workload.yardstick.as_ref().map(|yardstick| {
        let per_s = record.ops.get(&yardstick.class).map_or(0.0, |ops| ops.rate_per_s);
        (yardstick.class.as_str(), per_s * 60.0)
    });
    let most = workload.yardstick.as_ref().map(|yardstick| yardstick.most_per_minute * workload.scale as f64);
    let efficiency = counted.zip(most).filter(|_| judged == ReferenceApplicability::Yes);
    Some(WorkloadFigures {
        classes: workload.transactions.iter().map(class).collect(),
        counted,
        all_per_minute: per_s * 60.0,
        judged,
        efficiency_pct: efficiency.map(|((_, per_minute), most)| per_minute * 100.0 / most),
    })
}

fn judged(record: &RunRecord, workload: &WorkloadFacts) -> ReferenceApplicability {
    let Some(yardstick) = &workload.yardstick else { return ReferenceApplicability::Nothing };
    if workload.transactions.iter().any(|one| one.keying_s + one.think_s <= 0.0) {
        return ReferenceApplicability::NoRests;
    }
    let are = workload.share.as_ref().map_or_else(|| record.sessions(), |share| share.sessions);
    let wanted = u64::from(yardstick.sessions) * workload.scale;
    match u64::from(are) == wanted {
        true => ReferenceApplicability::Yes,
        false => ReferenceApplicability::Sessions { actual: are, required: wanted },
    }
}

/// Busy sessions of `own` on average, and the scale per busy session.
pub fn room(record: &RunRecord, workload: &WorkloadFacts) -> Option<(f64, f64)> {
    let busy: f64 = workload
        .transactions
        .iter()
        .filter_map(|one| record.ops.get(&one.class))
        .filter_map(|ops| Some(ops.rate_per_s * ops.service_us.mean? / 1e6))
        .sum();
    (busy > 0.0).then(|| (busy, workload.scale as f64 / busy))
}

/// Whether sessions of `own` wait for each other's rows rather than for the database.
pub fn is_contended(record: &RunRecord, workload: &WorkloadFacts, yardstick: &ReferenceFigure) -> bool {
    room(record, workload).is_some_and(|(_, room)| room < yardstick.roomy)
}
