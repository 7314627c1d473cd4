//! The classic method: operations that touch as many blocks as the plan says, on tables with one row in each block.

mod actor;
mod operated;
mod operator;
mod prepared;

use dyno_plan::{DataSpec, Workload};
use dyno_record::{Class, Share, Touch};

use crate::classes::Classes;

pub use actor::Actor;
pub use operated::Operated;
pub use operator::Operator;
pub use prepared::{Bound, Prepared};

/// Operations of a session by which inserts and deletes may differ from their share: one that has no row of its own inserts
/// instead of deleting, and the other way round where it has them all.
const TURNED: u64 = dyno_engine::data::OWN_ROWS;

/// The classes of what [`Draw`](crate::Draw) draws for `workload` on `spec`, as [`ClassId`](crate::ClassId) numbers them.
pub fn classes(workload: &Workload, spec: &DataSpec) -> Classes {
    let same = |rows| (rows, rows);
    let unit = same(u64::from(workload.work_unit));
    // Where the rows are no multiple of a value's rows, the last values have one less.
    let by_value = (spec.group_rows(spec.groups()), spec.group_rows(1));
    let read = |name: &str, plural: &str, rows, percent| Class {
        name: name.to_owned(),
        plural: plural.to_owned(),
        rows: Touch::Read,
        mixed: false,
        rows_per_op: Some(rows),
        scans: false,
        commits: 0,
        share: Share { percent, of_reads: true, turned: 0 },
        workload: 0,
    };
    let write = |name: &str, touch, rows, percent, turned| Class {
        rows: touch,
        commits: 1,
        share: Share { percent: Some(percent), of_reads: false, turned },
        ..read(name, &format!("{name}s"), rows, None)
    };
    let churn = workload.churn_pct();
    Classes::new(vec![
        read("select", "selects", unit, None),
        read("lookup", "lookups", same(1), Some(workload.lookup_pct)),
        read("secondary", "lookups by the secondary key", by_value, Some(workload.secondary_pct)),
        Class { scans: true, ..read("scan", "scans", same(spec.scan_rows), Some(workload.scan_pct)) },
        write("update", Touch::Updated, unit, workload.update_pct, 0),
        write("insert", Touch::Inserted, same(1), churn, TURNED),
        write("delete", Touch::Deleted, same(1), churn, TURNED),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ClassId;
    use dyno_engine::Op;

    #[test]
    fn operations_are_of_the_class_that_has_their_name() {
        let spec = DataSpec {
            schemas: 1,
            rows: 100,
            scan_rows: 50,
            block_size: 8_192,
            compressible: 0,
            seed: 1,
            secondary: true,
        };
        let classes = classes(&Workload::default(), &spec);
        let of = |op: Op| (classes.name(ClassId::of(op)), classes.touch(ClassId::of(op)), op.writes());
        assert_eq!(of(Op::Select { first: 1 }), ("select", Touch::Read, false));
        assert_eq!(of(Op::Lookup { key: 1 }), ("lookup", Touch::Read, false));
        assert_eq!(of(Op::Secondary { value: 1 }), ("secondary", Touch::Read, false));
        assert_eq!(of(Op::Scan), ("scan", Touch::Read, false));
        assert_eq!(of(Op::Update { first: 1, number: 1 }), ("update", Touch::Updated, true));
        assert_eq!(of(Op::Insert { key: 1, number: 1 }), ("insert", Touch::Inserted, true));
        assert_eq!(of(Op::Delete { key: 1 }), ("delete", Touch::Deleted, true));
        assert_eq!(classes.all().count(), classes.count());
        assert_eq!([ClassId::COMMIT, ClassId::SLICE].map(|class| classes.name(class)), ["commit", "slice"]);
    }
}
