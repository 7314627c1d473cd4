//! Compares what a run loaded with what the database counts afterwards.

use dyno_record::{BulkLoadResult, CheckStatus};

use super::facts::AuditFacts;
use super::finding::{AuditCheckResult, conclude, skip};
use crate::number::count;

/// Whether all planned rows were loaded and are in the tables.
pub(super) fn check(facts: &AuditFacts<'_>) -> AuditCheckResult {
    let Some(loaded) = facts.record.workload.as_ref().and_then(|own| own.loaded.as_deref()) else {
        return skip("the run loads no table");
    };
    let BulkLoadResult { table, wanted, rows, counted, wrong, .. } = loaded;
    let counted = match counted {
        Ok(counted) => *counted,
        Err(why) => return skip(format!("{table} was not counted afterwards: {why}")),
    };
    let (expected, observed) = (count(*rows), count(counted));
    let head = format!("{expected} rows were loaded into {table}, and the database counts {observed}");
    let (status, detail) = if counted != *rows {
        (CheckStatus::Fail, format!("{head}: rows were lost, or other sessions write there"))
    } else if let Some(first) = wrong.first() {
        (CheckStatus::Fail, format!("{head}, but {first}"))
    } else if !loaded.is_whole() {
        let wanted = count(*wanted);
        let tail = format!("of {wanted}: the window ended first; lengthen run.time");
        (CheckStatus::Warn, format!("{head}, {tail}"))
    } else {
        (CheckStatus::Pass, head)
    };
    conclude(status, expected, observed, detail)
}

#[cfg(test)]
mod tests {
    use dyno_record::WorkloadFacts;

    use super::*;
    use crate::audit::audit;
    use crate::fixture;

    fn judged(change: impl FnOnce(&mut BulkLoadResult)) -> (CheckStatus, String) {
        let mut load = BulkLoadResult {
            table: "t".into(),
            wanted: 100,
            part_rows: 10,
            rows: 100,
            bytes: 1_000,
            seconds: 1.0,
            indexes: (0, 0),
            constraints: 0,
            logged: true,
            indexed_s: Err(String::new()),
            durable_by: String::new(),
            durable_s: Ok(0.1),
            counted: Ok(100),
            wrong: Vec::new(),
        };
        change(&mut load);
        let mut record = fixture::postgres();
        record.workload = Some(WorkloadFacts { loaded: Some(Box::new(load)), ..WorkloadFacts::default() });
        let check = audit(&record).into_iter().find(|check| check.check == "loaded").expect("it is listed");
        (check.status, check.detail)
    }

    #[test]
    fn lost_or_changed_rows_fail_and_interrupted_load_warns() {
        use CheckStatus::{Fail, Pass, Skipped, Warn};
        assert_eq!(judged(|_| ()).0, Pass);
        assert_eq!(judged(|load| load.counted = Ok(99)).0, Fail);
        let (status, detail) = judged(|load| load.wrong = vec!["the sum of id is 1, and has to be 2".into()]);
        assert!(status == Fail, "{detail}");
        assert!(detail.contains("the sum of id is 1"), "{detail}");
        let (status, detail) = judged(|load| (load.rows, load.counted) = (40, Ok(40)));
        assert!(status == Warn, "{detail}");
        assert!(detail.contains("of 100: the window ended first"), "{detail}");
        assert_eq!(judged(|load| load.counted = Err("gone".into())).0, Skipped);
    }
}
