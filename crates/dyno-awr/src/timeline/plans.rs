//! Follows the plans of statements over time.

use std::collections::{BTreeMap, BTreeSet};

use super::{AwrTimelinePoint, Flag};

/// Flags reports in which a statement uses a new plan.
pub(super) fn flag(points: &mut [(AwrTimelinePoint, Vec<Flag>)]) {
    let mut plans_by_statement: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (point, flags) in points {
        for (statement, plans) in &point.plans {
            let before = plans_by_statement.entry(statement.clone()).or_default();
            let new: Vec<String> = plans.difference(before).cloned().collect();
            if !new.is_empty() && !before.is_empty() {
                let before = before.iter().cloned().collect();
                flags.push(Flag::Plan { statement: statement.clone(), new: new.clone(), before });
            }
            before.extend(new);
        }
    }
}
