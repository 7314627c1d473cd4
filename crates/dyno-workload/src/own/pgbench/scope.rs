//! What the variables of a script are at one place of it.

use std::collections::BTreeMap;

use super::super::value::Number;
use super::typed::Kind;

/// What a variable is.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Variable {
    /// In this name of the workload; and the number that it always is, where that is known.
    Kept { name: String, kind: Kind, constant: Option<Number> },
    /// Always this number, and in no name yet.
    Constant(Number, Kind),
    /// A text that was given with -D.
    Text(String),
    /// NULL.
    Null,
    /// Nothing that can be used, for this reason.
    Unusable(&'static str),
}

/// The variables of a script at one place.
pub(super) type Scope = BTreeMap<String, Variable>;

/// How often each variable is set by a script, and whether that is within a condition.
pub(super) type Sets = BTreeMap<String, (u32, bool)>;

/// What variables are where several ways come together.
pub(super) fn joined(mut ways: Vec<Scope>) -> Scope {
    let Some(first) = ways.pop() else { return Scope::new() };
    let names: Vec<String> = ways.iter().chain([&first]).flat_map(|way| way.keys().cloned()).collect();
    let mut scope = Scope::new();
    for name in names {
        let join = |x: Variable, y: Option<&Variable>| match (x, y) {
            (_, None) => Variable::Unusable("it is not set on every way that leads here"),
            (x, Some(y)) if x == *y => x,
            (
                Variable::Kept { name, kind, .. },
                Some(Variable::Kept { name: other, kind: other_kind, .. }),
            ) if name == *other && kind == *other_kind => Variable::Kept { name, kind, constant: None },
            (Variable::Unusable(why), _) => Variable::Unusable(why),
            (_, Some(Variable::Unusable(why))) => Variable::Unusable(why),
            _ => Variable::Unusable("it is of different types on the ways that lead here"),
        };
        let begin = first.get(&name).cloned();
        let begin = begin.unwrap_or(Variable::Unusable("it is not set on every way that leads here"));
        let variable = ways.iter().fold(begin, |variable, way| join(variable, way.get(&name)));
        scope.insert(name, variable);
    }
    scope
}
