//! Plans of statements over time.

use std::collections::{BTreeMap, BTreeSet};

use super::{Flag, Point};

/// Flags reports in which a statement runs by a plan that is new to it.
pub(super) fn flag(points: &mut [(Point, Vec<Flag>)]) {
    let mut known: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (point, flags) in points {
        for (statement, plans) in &point.plans {
            let before = known.entry(statement.clone()).or_default();
            let new: Vec<String> = plans.difference(before).cloned().collect();
            if !new.is_empty() && !before.is_empty() {
                let before = before.iter().cloned().collect();
                flags.push(Flag::Plan { statement: statement.clone(), new: new.clone(), before });
            }
            before.extend(new);
        }
    }
}
