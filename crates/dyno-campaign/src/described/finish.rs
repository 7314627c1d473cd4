//! Behind the rows: keys and indexes, statistics, and whether all is there.

use dyno_engine::{ObjectKind, Target, TargetError, TargetErrorKind, pool};
use dyno_workload::own::{DescribedTable, Own};

use super::book::ask;
use super::create::at;
use super::fill::{Fillers, connections};
use crate::event::{Event, LoadEvent};
use crate::lead::Lead;

/// Makes what is made behind the rows, and verifies them.
pub(super) fn finish(
    lead: &Lead<'_>,
    target: &dyn Target,
    own: &Own,
    parallel: u32,
) -> Result<(), TargetError> {
    let words = target.table_words();
    let connections = connections(target, parallel);
    let all =
        || own.loaded_tables().flat_map(|table| table.indexes(&words).into_iter().map(move |i| (table, i)));
    let indexes: Vec<_> = all().collect();
    let names: Vec<&str> = indexes.iter().map(|(_, index)| index.name.as_str()).collect();
    let there = target.find(ObjectKind::Index, &names)?;
    let missing: Vec<_> =
        indexes.iter().filter(|(_, index)| !there.iter().any(|item| item.name == index.name)).collect();
    phase(lead, "index", missing.iter().map(|(table, _)| table.rows()).sum());
    pool::run(&Fillers(target), connections, missing.len(), &lead.cancel, &|filler, job| {
        let (table, index) = missing[job];
        if let Err(error) = filler.execute(&index.sql) {
            // A load that was killed may have left the server at work on it.
            if target.find(ObjectKind::Index, &[&index.name])?.is_empty() {
                return Err(at(table, error));
            }
        }
        lead.tell(Event::Load(LoadEvent::Advance(table.rows(), 0)));
        Ok(())
    })?;
    let tables: Vec<&DescribedTable> = own.loaded_tables().collect();
    let rows = tables.iter().map(|table| table.rows()).sum();
    phase(lead, "analyze", rows);
    pool::run(&Fillers(target), connections, tables.len(), &lead.cancel, &|filler, job| {
        filler.execute(&(words.analyze)(tables[job].name())).map_err(|error| at(tables[job], error))?;
        lead.tell(Event::Load(LoadEvent::Advance(tables[job].rows(), 0)));
        Ok(())
    })?;
    phase(lead, "verify", rows);
    for table in tables {
        if lead.cancel.is_cancelled() {
            return Err(pool::cancelled());
        }
        verify(target, table)?;
        lead.tell(Event::Load(LoadEvent::Advance(table.rows(), 0)));
    }
    Ok(())
}

fn phase(lead: &Lead<'_>, name: &str, rows: u64) {
    lead.tell(Event::Load(LoadEvent::Phase(name.to_owned(), rows)));
}

/// What a table is and what it has to be: something of it in words, both in figures.
pub(super) type Difference = (String, String, String);

/// Counts the rows and adds their keys up; what of this is not what was described, behind how many rows there are.
pub(super) fn look(
    target: &dyn Target,
    table: &DescribedTable,
) -> Result<(String, Vec<Difference>), TargetError> {
    let keys = table.whole_keys();
    let column = |key: &usize| table.columns()[*key].name.as_str();
    let sums: String = keys.iter().map(|key| format!(", SUM({})", column(key))).collect();
    let rows = ask(target, &format!("SELECT COUNT(*){sums} FROM {}", table.name()))?;
    let told = |place: usize| {
        let text = rows.first().map(|row| row.text(place)).unwrap_or_default();
        // Of no rows there is no sum.
        if text.is_empty() { "0".to_owned() } else { text.to_owned() }
    };
    let (count, wanted) = (told(0), table.rows().to_string());
    let mut wrong = Vec::new();
    if count != wanted {
        wrong.push(("the number of rows".to_owned(), count.clone(), wanted));
    }
    for (place, key) in keys.iter().enumerate() {
        let (sum, wanted) = (told(place + 1), table.sum(*key).to_string());
        if sum != wanted {
            wrong.push((format!("the sum of {}", column(key)), sum, wanted));
        }
    }
    Ok((count, wrong))
}

/// Holds a table against what was described.
fn verify(target: &dyn Target, table: &DescribedTable) -> Result<(), TargetError> {
    let (_, wrong) = look(target, table)?;
    let Some((what, there, wanted)) = wrong.into_iter().next() else { return Ok(()) };
    let message = format!("{what} of {} is {there}, and has to be {wanted}", table.name());
    Err(TargetError::new(TargetErrorKind::Data, message)
        .hint("something else has changed its rows: `dyno load --replace` loads it anew"))
}
