//! The variables of a script at one place.

use std::collections::BTreeMap;

use dyno_workload::custom::syntax::Number;

use super::typed::PgbenchType;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Variable {
    /// Stored under this name of the workload, with its constant value if known.
    Kept {
        name: String,
        kind: PgbenchType,
        constant: Option<Number>,
    },
    /// A constant that is not stored under any name yet.
    Constant(Number, PgbenchType),
    /// A text from option -D.
    Text(String),
    Null,
    /// Not usable, for this reason.
    Unusable(&'static str),
}

/// The variables of a script at one place.
pub(super) type PgbenchScope = BTreeMap<String, Variable>;

/// How often a script sets each variable, and whether within a condition.
pub(super) type Sets = BTreeMap<String, (u32, bool)>;

/// Joins the variables of several branches.
pub(super) fn merge_scopes(mut ways: Vec<PgbenchScope>) -> PgbenchScope {
    let Some(first) = ways.pop() else { return PgbenchScope::new() };
    let names: Vec<String> = ways.iter().chain([&first]).flat_map(|way| way.keys().cloned()).collect();
    let mut scope = PgbenchScope::new();
    for name in names {
        let join = |x: Variable, y: Option<&Variable>| match (x, y) {
            (_, None) => Variable::Unusable("it is not set on every path to this point"),
            (x, Some(y)) if x == *y => x,
            (
                Variable::Kept { name, kind, .. },
                Some(Variable::Kept { name: other, kind: other_kind, .. }),
            ) if name == *other && kind == *other_kind => Variable::Kept { name, kind, constant: None },
            (Variable::Unusable(why), _) => Variable::Unusable(why),
            (_, Some(Variable::Unusable(why))) => Variable::Unusable(why),
            _ => Variable::Unusable("it has different types on the paths to this point"),
        };
        let begin = first.get(&name).cloned();
        let begin = begin.unwrap_or(Variable::Unusable("it is not set on every path to this point"));
        let variable = ways.iter().fold(begin, |variable, way| join(variable, way.get(&name)));
        scope.insert(name, variable);
    }
    scope
}
