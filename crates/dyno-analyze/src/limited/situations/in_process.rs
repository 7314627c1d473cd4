//! A database inside this program, without wait events.

use dyno_record::Counter;

use super::super::scripted::{group, host, step, timed};
use super::*;
use crate::fixture;

fn embedded() -> RunRecord {
    let mut record = fixture::sqlite();
    record.ops.remove("commit");
    unsampled(&mut record);
    record
}

fn writers(record: &mut RunRecord) {
    record.classes.iter_mut().for_each(|class| class.commits = 1);
}

// One line for each situation, as far as it fits.
#[rustfmt::skip]
pub(super) const ROWS: &[SituationRow] = &[
    ("CPU alone", [76.0, 0.0, 1.0], &[], |_| {}, (Cpu, Sure), ""),
    ("CPU shared with neighbours", [12.0, 0.0, 64.0], &[], |_| {}, (Cpu, Likely), "shared with"),
    ("too few sessions", [38.0, 0.0, 0.0], &[], |_| {}, (Sessions, Sure), ""),
    ("one processor of eight", [9.8, 0.0, 0.0], &[], |record| record.hosts[0].cpus_allowed = 1, (Cpu, Sure), "may use 1 of 8"),
    ("quota", [2.0, 0.0, 0.0], &[], |record| group(record, "own", 0.2, 97.0), (CpuQuota, Sure), ""),
    ("one writer", [10.0, 0.0, 0.0], &[], writers, (Locks, Likely), "one writer"),
    ("writers beside neighbours", [10.0, 0.0, 64.0], &[], writers, (Cpu, Likely), "shared with"),
    ("commits", [4.0, 0.0, 0.0], &[], |record| step(record, "commit", 2_000, 16_000.0), (Commits, Sure), ""),
    ("commits beside neighbours", [4.0, 0.0, 70.0], &[], |record| step(record, "commit", 2_000, 16_000.0), (Commits, Likely), ""),
    ("device", [4.0, 0.0, 0.0], &[], |record| timed(record, Counter::PhysicalReadTime, 33.0), (Device, Sure), ""),
    ("device beside neighbours", [4.0, 0.0, 70.0], &[], |record| timed(record, Counter::PhysicalReadTime, 33.0), (Device, Sure), ""),
    ("half of the time nothing runs", [38.0, 0.0, 0.0], &[],
        |record| { record.window.as_mut().unwrap().busy_s = 20.0; host(record, &[]); }, UNKNOWN, ""),
];

#[test]
fn limits_inside_the_program_are_due() {
    assert_limits(embedded, ROWS);
}
