//! Statements of the ready workloads, as they are written for this engine.

use std::collections::BTreeSet;
use std::path::PathBuf;

use dyno_workload::own::example::EXAMPLES;
use dyno_workload::own::{After, Choice, DescribedStatement, Own};

use super::{Sent, scan_binds};
use crate::ops::called;

/// What is chosen of the options of `orders`, one after the other: together all of its statements.
const ORDERS: [&[&str]; 6] = [
    &[],
    &["requests=batched", "lock_district=false", "lock_stock=false", "lock_delivery=false"],
    &["requests=batched"],
    &["deferred=true"],
    &["drive=server"],
    &["drive=server", "deferred=true"],
];

/// As it is sent: what is called is a block.
fn text(one: &DescribedStatement) -> String {
    let reads = one.returns_number || one.returns == "columns";
    if one.sql.starts_with("CALL ") { called(&one.sql, reads.then_some(":told")) } else { one.sql.clone() }
}

/// Each statement once.
pub(super) fn statements() -> Vec<Sent> {
    let mut all = Vec::new();
    // The first one shows how a workload is made, without this engine.
    for example in EXAMPLES.iter().filter(|example| example.name != "shop") {
        let choices = if example.name == "orders" { &ORDERS[..] } else { &ORDERS[..1] };
        for options in choices {
            let options: Vec<String> = options.iter().map(|&option| option.to_owned()).collect();
            let choice = Choice { options: &options, ..Choice::default() };
            let own = Own::read_as(&PathBuf::from(format!("@{}", example.name)), choice).expect(example.name);
            for transaction in own.described("oracle").expect(example.name) {
                let named = |of: &str| format!("{}_{of}", example.name);
                all.extend(transaction.statements.into_iter().map(|one| (named(&one.name), text(&one))));
            }
            for script in [own.setup("oracle"), own.teardown("oracle")] {
                let script = script.expect(example.name);
                all.extend(script.into_iter().map(|one| (format!("{}_script", example.name), one.sql)));
            }
            for after in [After::Load, After::Run] {
                let asked = own.invariants("oracle", after).expect(example.name);
                all.extend(asked.into_iter().map(|one| (format!("{}_{}", example.name, one.name), one.sql)));
            }
        }
    }
    let mut seen = BTreeSet::new();
    all.retain(|(_, sql)| seen.insert(sql.clone()));
    all.into_iter().map(|(name, sql)| Sent { binds: scan_binds(&sql), name, sql }).collect()
}

#[test]
fn they_are_those_of_orders_too() {
    let all = statements();
    let texts = |words: &str| all.iter().filter(|one| one.sql.contains(words)).count();
    assert!(texts("FROM dual") == 1 && texts("FETCH FIRST 1 ROW ONLY") == 3, "{}", all.len());
    assert!(texts("FOR UPDATE") >= 4 && texts("SKIP LOCKED") >= 1 && texts("LIMIT ") == 0);
    assert!(all.iter().any(|one| one.name == "orders_condition_12"));
    // What is read of a procedure is its last parameter.
    assert!(texts("BEGIN orders_new_order(:w_id, ") == 1 && texts(":quantities, :told); END;") == 1);
    assert!(texts("BEGIN orders_payment(") == 1 && texts("CREATE OR REPLACE PROCEDURE orders_") == 5);
}
