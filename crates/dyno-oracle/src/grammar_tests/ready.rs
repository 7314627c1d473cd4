//! The statements of the ready workloads, in their form for this engine.

use std::collections::BTreeSet;
use std::path::PathBuf;

use dyno_workload::custom::example::EXAMPLES;
use dyno_workload::custom::{CustomWorkload, DescribedStatement, InvariantTiming, WorkloadChoice};

use super::{Sent, scan_binds};
use crate::ops::call_block;

/// Combinations of the options of `orders`, which together use all of its statements.
const ORDERS: [&[&str]; 6] = [
    &[],
    &["requests=batched", "lock_district=false", "lock_stock=false", "lock_delivery=false"],
    &["requests=batched"],
    &["deferred=true"],
    &["drive=server"],
    &["drive=server", "deferred=true"],
];

/// The text as it is sent: a call becomes a block.
fn text(statement: &DescribedStatement) -> String {
    let reads = statement.returns_number || statement.returns == "columns";
    if statement.sql.starts_with("CALL ") {
        call_block(&statement.sql, reads.then_some(":told"))
    } else {
        statement.sql.clone()
    }
}

/// Every statement of the ready workloads, without duplicates.
pub(super) fn statements() -> Vec<Sent> {
    let mut all = Vec::new();
    // The example `shop` shows how to write a workload and does not support this engine.
    for example in EXAMPLES.iter().filter(|example| example.name != "shop") {
        let choices = if example.name == "orders" { &ORDERS[..] } else { &ORDERS[..1] };
        for options in choices {
            let options: Vec<String> = options.iter().map(|&option| option.to_owned()).collect();
            let choice = WorkloadChoice { options: &options, ..WorkloadChoice::default() };
            let workload = CustomWorkload::read_as(&PathBuf::from(format!("@{}", example.name)), choice)
                .expect(example.name);
            for transaction in workload.described("oracle").expect(example.name) {
                let named = |of: &str| format!("{}_{of}", example.name);
                all.extend(transaction.statements.into_iter().map(|one| (named(&one.name), text(&one))));
            }
            for script in [workload.setup("oracle"), workload.teardown("oracle")] {
                let script = script.expect(example.name);
                all.extend(script.into_iter().map(|one| (format!("{}_script", example.name), one.sql)));
            }
            for after in [InvariantTiming::Load, InvariantTiming::Run] {
                let invariants = workload.invariants("oracle", after).expect(example.name);
                all.extend(
                    invariants.into_iter().map(|one| (format!("{}_{}", example.name, one.name), one.sql)),
                );
            }
        }
    }
    let mut unique_sql = BTreeSet::new();
    all.retain(|(_, sql)| unique_sql.insert(sql.clone()));
    all.into_iter().map(|(name, sql)| Sent { binds: scan_binds(&sql), name, sql }).collect()
}

#[test]
fn grammar_statements_include_order_entry() {
    let all = statements();
    let texts = |words: &str| all.iter().filter(|one| one.sql.contains(words)).count();
    assert!(texts("FROM dual") == 1, "{}", all.len());
    assert!(texts("FETCH FIRST 1 ROW ONLY") == 3, "{}", all.len());
    assert!(texts("FOR UPDATE") >= 4);
    assert!(texts("SKIP LOCKED") >= 1);
    assert!(texts("LIMIT ") == 0);
    assert!(all.iter().any(|one| one.name == "orders_condition_12"));
    // A procedure's result is its last parameter.
    assert!(texts("BEGIN orders_new_order(:w_id, ") == 1);
    assert!(texts(":quantities, :told); END;") == 1);
    assert!(texts("BEGIN orders_payment(") == 1);
    assert!(texts("CREATE OR REPLACE PROCEDURE orders_") == 5);
}
