//! Reads the counts of tables and indexes through an observer, at a begin and an end.

use std::collections::BTreeMap;

use dyno_engine::panics::{caught, panicked};
use dyno_engine::table_counts::{CumulativeRelation, TableSnapshot};
use dyno_engine::{Observer, TargetError};
use dyno_record::{CountedTables, RelationActivity, TableActivity};

/// Counts, which some databases do not keep; or why they could not be read, and what to do about it.
type TableReading = Result<Option<TableSnapshot>, (String, String)>;

/// The tables of a window. An observation never fails because of them.
#[derive(Debug, Default)]
pub struct TableObservation {
    /// The reading at the begin, and its time.
    begin: Option<(TableReading, u64)>,
}

impl TableObservation {
    /// Reads the counts that a window begins with, at `at_ns`.
    pub fn begin(&mut self, observer: &mut dyn Observer, at_ns: u64) {
        self.begin = Some((read(observer).map_err(|error| (error.message, error.hint)), at_ns));
    }

    /// Reads the counts at the end, and returns what they rose by; `None` if the database keeps none.
    pub fn end(&mut self, observer: &mut dyn Observer, at_ns: u64) -> Option<TableActivity> {
        let absent = |absent: &str, hint: &str| {
            Some(TableActivity::Absent { absent: absent.into(), hint: hint.into() })
        };
        match &self.begin {
            None => absent("the counts of tables at the begin were not read", ""),
            Some((Err((reason, hint)), _)) => absent(reason, hint),
            Some((Ok(None), _)) => None,
            Some((Ok(Some(begin)), begin_ns)) => match read(observer) {
                Ok(end) => end.map(|end| between(begin, end, at_ns.saturating_sub(*begin_ns))),
                Err(error) => absent(&error.message, &error.hint),
            },
        }
    }
}

fn read(observer: &mut dyn Observer) -> Result<Option<TableSnapshot>, TargetError> {
    caught(|| observer.tables()).unwrap_or_else(|reason| Err(panicked(reason)))
}

fn between(begin: &TableSnapshot, end: TableSnapshot, elapsed_ns: u64) -> TableActivity {
    if begin.epoch != end.epoch {
        return TableActivity::Absent {
            absent: "the statistics of tables were reset in this time, or the server restarted".into(),
            hint: String::new(),
        };
    }
    let has_sizes = begin.relations.values().any(|one| one.bytes.is_some());
    let dropped = begin.relations.keys().filter(|key| !end.relations.contains_key(*key)).count();
    let mut all: Vec<RelationActivity> = end
        .relations
        .into_iter()
        .map(|(key, now)| activity(now, begin.relations.get(&key), has_sizes))
        .filter(|one| one.begin_bytes != one.end_bytes || total(one) > 0)
        .collect();
    all.sort_by(|a, b| total(b).cmp(&total(a)).then_with(|| a.name.cmp(&b.name)));
    let (mut indexes, mut tables): (Vec<_>, Vec<_>) = all.into_iter().partition(|one| one.table.is_some());
    let shorten = |list: &mut Vec<RelationActivity>| {
        let more = list.len().saturating_sub(CountedTables::LISTED_MAX);
        list.truncate(CountedTables::LISTED_MAX);
        more as u64
    };
    let (more_tables, more_indexes) = (shorten(&mut tables), shorten(&mut indexes));
    let mut notes = vec![end.size_note];
    if dropped > 0 {
        let were = if dropped == 1 { "table or index was" } else { "tables and indexes were" };
        notes.push(format!("{dropped} {were} dropped in this time; their activity is missing"));
    }
    let seconds = elapsed_ns as f64 / 1e9;
    let source = end.source;
    TableActivity::Counted(Box::new(CountedTables {
        source,
        seconds,
        tables,
        more_tables,
        indexes,
        more_indexes,
        notes,
    }))
}

fn total(activity: &RelationActivity) -> u64 {
    activity.counts.values().fold(0, |sum, count| sum.saturating_add(*count))
}

/// What the counts rose by. If one fell, the server counted from 0 again. Without `begin` it is new, and had no size if sizes
/// were read.
fn activity(
    now: CumulativeRelation,
    begin: Option<&CumulativeRelation>,
    has_sizes: bool,
) -> RelationActivity {
    let earlier = |name: &str| begin.and_then(|one| one.counts.get(name)).copied().unwrap_or(0);
    let at_least = now.counts.iter().any(|(name, count)| *count < earlier(name));
    let rise = |(name, count): (&&str, &u64)| {
        ((*name).to_owned(), if at_least { *count } else { count - earlier(name) })
    };
    let counts: BTreeMap<String, u64> = now.counts.iter().map(rise).collect();
    RelationActivity {
        counts,
        name: now.name,
        table: now.table,
        at_least,
        begin_bytes: begin.map_or(has_sizes.then_some(0), |one| one.bytes),
        end_bytes: now.bytes,
        dead_rows: now.dead_rows,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn snapshot(epoch: &str, tables: &[(&str, u64, u64)]) -> TableSnapshot {
        let relation = |(name, inserted, bytes): &(&str, u64, u64)| {
            let counted = CumulativeRelation {
                name: (*name).into(),
                bytes: Some(*bytes),
                counts: BTreeMap::from([("rows_inserted", *inserted)]),
                ..CumulativeRelation::default()
            };
            ((*name).to_owned(), counted)
        };
        TableSnapshot {
            epoch: epoch.into(),
            relations: tables.iter().map(relation).collect(),
            ..TableSnapshot::default()
        }
    }

    #[test]
    fn table_counts_follow_created_dropped_and_truncated_tables() {
        let begin =
            snapshot("e", &[("t", 5, 80), ("fell", 9, 8), ("gone", 1, 8), ("idle", 3, 8), ("cut", 4, 80)]);
        let end =
            snapshot("e", &[("t", 12, 96), ("fell", 2, 8), ("new", 3, 8), ("idle", 3, 8), ("cut", 4, 0)]);
        let TableActivity::Counted(counted) = between(&begin, end, 2_000_000_000) else { panic!() };
        let listed: Vec<_> =
            counted.tables.iter().map(|one| (one.name.as_str(), total(one), one.at_least)).collect();
        assert_eq!(listed, [("t", 7, false), ("new", 3, false), ("fell", 2, true), ("cut", 0, false)]);
        assert_eq!((counted.tables[1].begin_bytes, counted.tables[3].end_bytes), (Some(0), Some(0)));
        assert!(counted.notes[1].starts_with("1 table or index was dropped"));
    }

    #[test]
    fn reset_table_statistics_give_no_figures() {
        let activity = between(&snapshot("a", &[("t", 1, 8)]), snapshot("b", &[("t", 9, 8)]), 1);
        assert!(matches!(activity, TableActivity::Absent { absent, .. } if absent.contains("reset")));
    }
}
