//! The block workload: operations on a given number of blocks, in tables with one row per block.

mod actor;
mod operated;
mod operator;
mod prepared;

use dyno_plan::{DataSpec, WorkloadSettings};
use dyno_record::{Class, ClassShare, RowEffect};

use crate::classes::Classes;

pub use actor::BlockActor;
pub use operated::Operated;
pub use operator::Operator;
pub use prepared::{BlockStatementBinding, PreparedBlockStatements};

/// Operations by which a session's inserts and deletes may differ from their share: a session without its own rows inserts
/// instead of deleting, and a session with all its rows deletes instead of inserting.
const TURNED: u64 = dyno_engine::data::OWN_ROWS;

/// The classes of the operations that [`OperationGenerator`](crate::OperationGenerator) draws for `workload` on `spec`, numbered as in [`ClassId`](crate::ClassId).
pub fn classes(workload: &WorkloadSettings, spec: &DataSpec) -> Classes {
    let same = |rows| (rows, rows);
    let unit = same(u64::from(workload.work_unit));
    // If the number of rows is not a multiple of the group size, the last groups have one row less.
    let by_value = (spec.group_rows(spec.groups()), spec.group_rows(1));
    let read = |name: &str, plural: &str, rows, percent| Class {
        name: name.to_owned(),
        plural: plural.to_owned(),
        rows: RowEffect::Read,
        mixed: false,
        rows_per_op: Some(rows),
        scans: false,
        commits: 0,
        share: ClassShare { percent, of_reads: true, turned: 0 },
        workload: 0,
    };
    let write = |name: &str, touch, rows, percent, turned| Class {
        rows: touch,
        commits: 1,
        share: ClassShare { percent: Some(percent), of_reads: false, turned },
        ..read(name, &format!("{name}s"), rows, None)
    };
    let churn = workload.churn_pct();
    Classes::new(vec![
        read("select", "selects", unit, None),
        read("lookup", "lookups", same(1), Some(workload.lookup_pct)),
        read("secondary", "lookups by the secondary key", by_value, Some(workload.secondary_pct)),
        Class { scans: true, ..read("scan", "scans", same(spec.scan_rows), Some(workload.scan_pct)) },
        write("update", RowEffect::Updated, unit, workload.update_pct, 0),
        write("insert", RowEffect::Inserted, same(1), churn, TURNED),
        write("delete", RowEffect::Deleted, same(1), churn, TURNED),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ClassId;
    use dyno_engine::BlockOp;

    #[test]
    fn operations_belong_to_class_of_same_name() {
        let spec = DataSpec {
            schemas: 1,
            rows: 100,
            scan_rows: 50,
            block_size: 8_192,
            compressible: 0,
            seed: 1,
            secondary: true,
            copied: false,
        };
        let classes = classes(&WorkloadSettings::default(), &spec);
        let class_facts =
            |op: BlockOp| (classes.name(ClassId::of(op)), classes.touch(ClassId::of(op)), op.writes());
        assert_eq!(class_facts(BlockOp::Select { first: 1 }), ("select", RowEffect::Read, false));
        assert_eq!(class_facts(BlockOp::Lookup { key: 1 }), ("lookup", RowEffect::Read, false));
        assert_eq!(class_facts(BlockOp::Secondary { value: 1 }), ("secondary", RowEffect::Read, false));
        assert_eq!(class_facts(BlockOp::Scan), ("scan", RowEffect::Read, false));
        assert_eq!(
            class_facts(BlockOp::Update { first: 1, number: 1 }),
            ("update", RowEffect::Updated, true)
        );
        assert_eq!(class_facts(BlockOp::Insert { key: 1, number: 1 }), ("insert", RowEffect::Inserted, true));
        assert_eq!(class_facts(BlockOp::Delete { key: 1 }), ("delete", RowEffect::Deleted, true));
        assert_eq!(classes.all().count(), classes.count());
        assert_eq!([ClassId::COMMIT, ClassId::SLICE].map(|class| classes.name(class)), ["commit", "slice"]);
    }
}
