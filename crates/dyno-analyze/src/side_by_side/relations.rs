//! Tables and indexes of both sides: what the sessions did to each, per unit of work.

use std::collections::BTreeMap;

use dyno_record::{CountedTables, RelationActivity, RunRecord, TableActivity, Unit};

use super::counters::wide_metric;
use super::spec::{ComparedSides, RowSpec};

/// Most tables, and most indexes, that are compared: those with the most activity over both sides.
const RELATIONS_MAX: usize = 10;

/// Counts of a relation and their labels.
const COUNTS: [(&str, &str); 8] = [
    ("rows_read", "rows read"),
    ("rows_inserted", "rows inserted"),
    ("rows_updated", "rows updated"),
    ("rows_deleted", "rows deleted"),
    ("table_scans", "table scans"),
    ("index_scans", "index scans"),
    ("blocks_read", "blocks read"),
    ("blocks_hit", "blocks hit"),
];

/// Lists the relations of a record: its tables, or its indexes.
type RelationList = fn(&CountedTables) -> &Vec<RelationActivity>;

pub(super) fn specs(sides: &ComparedSides<'_>) -> Vec<RowSpec<'static>> {
    let lists: [RelationList; 2] = [|counted| &counted.tables, |counted| &counted.indexes];
    lists.into_iter().flat_map(|list| of_list(sides, list)).collect()
}

fn of_list(sides: &ComparedSides<'_>, list: RelationList) -> Vec<RowSpec<'static>> {
    let mut totals: BTreeMap<&str, BTreeMap<&str, u64>> = BTreeMap::new();
    for relation in sides.records().filter_map(counted).flat_map(list) {
        let sums = totals.entry(relation.name.as_str()).or_default();
        relation.counts.iter().for_each(|(name, count)| *sums.entry(name).or_default() += count);
    }
    let mut relations: Vec<_> = totals.into_iter().collect();
    let activity =
        |sums: &BTreeMap<&str, u64>| sums.values().fold(0_u64, |sum, count| sum.saturating_add(*count));
    relations.sort_by_key(|(_, sums)| std::cmp::Reverse(activity(sums)));
    let relations = relations.into_iter().take(RELATIONS_MAX);
    let rows = relations.flat_map(|(relation, sums)| {
        let used = COUNTS.into_iter().filter(move |(name, _)| sums.get(name).is_some_and(|sum| *sum > 0));
        used.map(move |(name, label)| row(sides.per.is_some(), list, relation, (name, label)))
    });
    let metric = wide_metric(sides);
    rows.map(|row| RowSpec { metric: metric.clone(), ..row }).collect()
}

fn row(
    is_per_work: bool,
    list: RelationList,
    relation: &str,
    (name, label): (&str, &str),
) -> RowSpec<'static> {
    let (title, name) = (relation.to_owned(), name.to_owned());
    RowSpec {
        // Names come from the server.
        title: title.chars().filter(|c| !c.is_control()).collect(),
        is_per_work,
        ..RowSpec::new(label, Unit::PerSecond, move |record: &RunRecord| {
            let counted = counted(record).filter(|counted| counted.seconds > 0.0)?;
            let of_relation = list(counted).iter().find(|relation| relation.name == title);
            // Relations without activity are not listed; those beyond the list are unknown.
            match of_relation {
                // A lower limit compares with nothing.
                Some(relation) if relation.at_least => None,
                Some(relation) => Some(*relation.counts.get(&name)? as f64 / counted.seconds),
                None => (counted.more_tables + counted.more_indexes == 0).then_some(0.0),
            }
        })
    }
}

fn counted(record: &RunRecord) -> Option<&CountedTables> {
    match record.tables.as_ref()? {
        TableActivity::Counted(counted) => Some(counted),
        TableActivity::Absent { .. } => None,
    }
}
