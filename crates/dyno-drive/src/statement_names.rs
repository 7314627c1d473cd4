//! Names the statements of the run's workload among those that the server counted.

use std::collections::BTreeMap;

use dyno_engine::Statement;
use dyno_engine::statement_key::statement_key;
use dyno_record::{CountedStatements, TopStatements};

use crate::job::DriveJob;
use crate::prepared::PreparedSessions;

/// The statements that the server of the target at `at` counted, with the names of the workload's own.
pub(crate) fn named(job: &DriveJob<'_>, at: usize, counted: Option<TopStatements>) -> Option<TopStatements> {
    let mut counted = counted?;
    if let TopStatements::Counted(counted) = &mut counted
        // Without the workload's statements, all statements are shown without names.
        && let Ok(prepared) = PreparedSessions::of(job, &job.plan.target.assign(job.plan.sessions()))
    {
        name_statements(counted, prepared.statements(at));
        if job.is_custom() {
            // The files of the workload have the texts; a record of it has names only.
            let named = counted.statements.iter_mut().filter(|one| one.operation.is_some());
            named.for_each(|one| one.text = None);
        }
    }
    Some(counted)
}

fn name_statements<'a>(counted: &mut CountedStatements, own: impl Iterator<Item = &'a Statement>) {
    let mut names: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for statement in own {
        let same = names.entry(statement_key(&statement.sql)).or_default();
        if !same.contains(&statement.name.as_str()) {
            same.push(&statement.name);
        }
    }
    for statement in &mut counted.statements {
        let Some(text) = &statement.text else { continue };
        let key = statement_key(text);
        let whole = names.get(&key).cloned();
        let named = whole.or_else(|| beginning(text, &key).map(|begin| names_from(&names, begin)));
        statement.operation = named.filter(|names| !names.is_empty()).map(|names| names.join(", "));
    }
}

/// The beginning of a key that surely belongs to a statement of which the server kept only the beginning; `None`
/// if it kept all.
fn beginning<'k>(text: &str, key: &'k str) -> Option<&'k str> {
    let without_last = |key: &'k str| key.rsplit_once(' ').map(|(begin, _)| begin);
    // The last token may have been cut, and dots after it are a token too.
    match text.ends_with("...") {
        true => without_last(key).and_then(without_last),
        false if text.chars().count() >= CountedStatements::TEXT_MAX => without_last(key),
        false => None,
    }
}

/// The names of all statements whose keys start with `begin`: the server counts them as one.
fn names_from<'a>(names: &BTreeMap<String, Vec<&'a str>>, begin: &str) -> Vec<&'a str> {
    let from = names.range(begin.to_owned()..);
    from.take_while(|(key, _)| key.starts_with(begin)).flat_map(|(_, names)| names.iter().copied()).collect()
}

#[cfg(test)]
mod tests {
    use dyno_engine::ResultKind;
    use dyno_record::StatementUse;

    use super::*;

    #[test]
    fn statements_of_workload_get_its_names() {
        let long = format!("SELECT {} FROM t", "c, ".repeat(1_000));
        let own = [("select", "SELECT COUNT(c2) FROM t WHERE a >= $1"), ("wide", long.as_str())];
        let own = own.map(|(name, sql)| Statement::read(name, sql.to_owned(), &[], ResultKind::Rows));
        let texts = [
            Some("select count ( `c2` ) from `t` where `a` >= ?".to_owned()),
            Some(long.chars().take(CountedStatements::TEXT_MAX).collect()),
            Some(format!("EXECUTE {} ...", long.chars().take(1_000).collect::<String>())),
            Some("SELECT COUNT(c2) FROM other".to_owned()),
            None,
        ];
        let used = texts.map(|text| StatementUse { text, ..StatementUse::default() });
        let mut counted = CountedStatements { statements: used.to_vec(), ..CountedStatements::default() };
        name_statements(&mut counted, own.iter());
        let names: Vec<_> = counted.statements.iter().map(|one| one.operation.as_deref()).collect();
        assert_eq!(names, [Some("select"), Some("wide"), Some("wide"), None, None]);
    }
}
