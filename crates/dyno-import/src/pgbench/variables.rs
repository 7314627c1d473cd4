//! Variables that pgbench or -D sets, and how often scripts set each variable.

use std::collections::{BTreeMap, BTreeSet};

use dyno_workload::custom::syntax::{Number, SCALE, SourceText, WorkloadError};

use super::block::Node;
use super::columns::columns as columns_of;
use super::draws::is_variable;
use super::names::{Meaning, PgbenchNames};
use super::options::PgbenchOptions;
use super::scope::{PgbenchScope, Sets, Variable};
use super::translate::{PgbenchShared, client, target};
use super::typed::PgbenchType;

/// The default seed of hashes and permutations, which scripts also see.
const SEED: i64 = 5_432;

/// The state that all scripts share: variables that pgbench sets, and those of -D.
pub(super) fn shared_variables(
    options: &PgbenchOptions,
    set: &BTreeSet<&String>,
) -> Result<PgbenchShared, WorkloadError> {
    let mut scope = PgbenchScope::new();
    let mut numbers: BTreeMap<String, Number> =
        [("default_seed", SEED), ("random_seed", SEED), ("scale", options.scale.into())]
            .map(|(name, number)| (name.to_owned(), Number::Int(number)))
            .into();
    scope.insert("client_id".to_owned(), client());
    for (name, value) in &options.variables {
        if !is_variable(name) {
            return Err(WorkloadError::whole(
                "-D",
                format!("{name} is not a valid variable name"),
                "it has letters, digits and underscores",
            ));
        }
        numbers.remove(name);
        scope.remove(name);
        match value.parse().map(Number::Int).or_else(|_| value.parse().map(Number::Real)) {
            Ok(number) => {
                numbers.insert(name.clone(), number);
            }
            Err(_) => {
                scope.insert(name.clone(), Variable::Text(value.clone()));
            }
        }
    }
    let mut names = PgbenchNames::default();
    let mut lasting = BTreeSet::new();
    if !set.contains(&SCALE.to_owned()) && !options.variables.iter().any(|(name, _)| name == SCALE) {
        numbers.remove(SCALE);
        let scale = Variable::Kept { name: SCALE.to_owned(), kind: PgbenchType::Int, constant: None };
        scope.insert(SCALE.to_owned(), scale);
    }
    for (name, number) in numbers {
        let kind = if matches!(number, Number::Real(_)) { PgbenchType::Real } else { PgbenchType::Int };
        let variable = match set.contains(&name) {
            false => Variable::Constant(number, kind),
            true => {
                let first = match number {
                    Number::Int(number) => number.to_string(),
                    Number::Real(number) => format!("{number:?}"),
                };
                lasting.insert(name.clone());
                let name = names.name(&name, Meaning::Draw(format!("{{ variable = {first} }}")));
                Variable::Kept { name, kind, constant: None }
            }
        };
        scope.insert(name, variable);
    }
    let text = scope.iter().find(|(name, value)| {
        set.contains(name) && !matches!(value, Variable::Constant(..) | Variable::Kept { .. })
    });
    if let Some((name, _)) = text {
        return Err(WorkloadError::whole(
            "-D",
            format!("{name} is a text, and a script sets it"),
            "give it a number",
        ));
    }
    if set.contains(&"client_id".to_owned()) {
        return Err(WorkloadError::whole(
            "\\set",
            "client_id is the session's number, and a script sets it",
            "use another name",
        ));
    }
    Ok(PgbenchShared { names, initial_scope: scope, lasting })
}

/// How often `nodes` set each variable, and whether within a condition.
pub(super) fn sets(text: &SourceText, nodes: &[Node]) -> Result<Sets, WorkloadError> {
    let mut sets = BTreeMap::new();
    collect_sets(text, nodes, false, &mut sets)?;
    Ok(sets)
}

fn collect_sets(
    text: &SourceText,
    nodes: &[Node],
    within: bool,
    sets: &mut Sets,
) -> Result<(), WorkloadError> {
    let mut note = |name: String| {
        let entry = sets.entry(name).or_insert((0, false));
        *entry = (entry.0 + 1, entry.1 || within);
    };
    for node in nodes {
        match node {
            Node::Set(meta) => note(target(text, meta)?.0),
            Node::Sql(sql, Some(get)) => {
                columns_of(sql)?.into_iter().for_each(|column| note(format!("{}{column}", get.prefix)));
            }
            _ => {}
        }
    }
    for node in nodes {
        match node {
            Node::If(arms) => arms.iter().try_for_each(|(_, nodes)| collect_sets(text, nodes, true, sets))?,
            Node::Transaction { nodes, .. } => collect_sets(text, nodes, within, sets)?,
            _ => {}
        }
    }
    Ok(())
}
