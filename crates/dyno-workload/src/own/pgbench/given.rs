//! The variables of scripts: those that pgbench sets by itself, those of -D, and how often each is set.

use std::collections::{BTreeMap, BTreeSet};

use super::super::fault::{Fault, Text};
use super::super::scale::SCALE;
use super::super::value::Number;
use super::block::Node;
use super::columns::columns as columns_of;
use super::draws::is_variable;
use super::names::{Known, Meaning};
use super::options::Options;
use super::scope::{Scope, Sets, Variable};
use super::translate::{Shared, client, target};
use super::typed::Kind;

/// The seed of hashes and permutations where -D gives none, and the seed that a script sees.
const SEED: i64 = 5_432;

/// What all scripts share: variables that pgbench sets itself, and those of -D.
pub(super) fn shared(options: &Options, set: &BTreeSet<&String>) -> Result<Shared, Fault> {
    let mut given = Scope::new();
    let mut numbers: BTreeMap<String, Number> =
        [("default_seed", SEED), ("random_seed", SEED), ("scale", options.scale.into())]
            .map(|(name, number)| (name.to_owned(), Number::Int(number)))
            .into();
    given.insert("client_id".to_owned(), client());
    for (name, value) in &options.variables {
        if !is_variable(name) {
            return Err(Fault::whole(
                "-D",
                format!("{name} is no name of a variable"),
                "it has letters, digits and underscores",
            ));
        }
        numbers.remove(name);
        given.remove(name);
        match value.parse().map(Number::Int).or_else(|_| value.parse().map(Number::Real)) {
            Ok(number) => {
                numbers.insert(name.clone(), number);
            }
            Err(_) => {
                given.insert(name.clone(), Variable::Text(value.clone()));
            }
        }
    }
    let mut known = Known::default();
    let mut lasting = BTreeSet::new();
    if !set.contains(&SCALE.to_owned()) && !options.variables.iter().any(|(name, _)| name == SCALE) {
        numbers.remove(SCALE);
        let scale = Variable::Kept { name: SCALE.to_owned(), kind: Kind::Int, constant: None };
        given.insert(SCALE.to_owned(), scale);
    }
    for (name, number) in numbers {
        let kind = if matches!(number, Number::Real(_)) { Kind::Real } else { Kind::Int };
        let variable = match set.contains(&name) {
            false => Variable::Constant(number, kind),
            true => {
                let first = match number {
                    Number::Int(number) => number.to_string(),
                    Number::Real(number) => format!("{number:?}"),
                };
                lasting.insert(name.clone());
                let name = known.name(&name, Meaning::Draw(format!("{{ variable = {first} }}")));
                Variable::Kept { name, kind, constant: None }
            }
        };
        given.insert(name, variable);
    }
    let text = given.iter().find(|(name, value)| {
        set.contains(name) && !matches!(value, Variable::Constant(..) | Variable::Kept { .. })
    });
    if let Some((name, _)) = text {
        return Err(Fault::whole(
            "-D",
            format!("{name} is a text, and a script sets it"),
            "give it a number",
        ));
    }
    if set.contains(&"client_id".to_owned()) {
        return Err(Fault::whole(
            "\\set",
            "client_id is the session's number, and a script sets it",
            "use another name",
        ));
    }
    Ok(Shared { known, given, lasting })
}

/// How often each variable is set by `nodes`, and whether that is within a condition.
pub(super) fn sets(text: &Text, nodes: &[Node]) -> Result<Sets, Fault> {
    let mut sets = BTreeMap::new();
    gather(text, nodes, false, &mut sets)?;
    Ok(sets)
}

fn gather(text: &Text, nodes: &[Node], within: bool, sets: &mut Sets) -> Result<(), Fault> {
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
            Node::If(arms) => arms.iter().try_for_each(|(_, nodes)| gather(text, nodes, true, sets))?,
            Node::Transaction { nodes, .. } => gather(text, nodes, within, sets)?,
            _ => {}
        }
    }
    Ok(())
}
