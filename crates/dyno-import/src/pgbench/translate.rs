//! Translates the tree of a script into the steps of a transaction.

use std::collections::BTreeSet;

use dyno_plan::error::shown;
use dyno_workload::custom::syntax::{Expr, Number, SourceText, WorkloadError};

use super::block::{Node, PgbenchNotes};
use super::columns::columns;
use super::draws::{CLIENT, drawn, is_fixed, is_variable, set_line};
use super::names::{Meaning, PgbenchNames};
use super::parse::{Variables, expression};
use super::pipeline::ONE_BY_ONE;
use super::print::print;
use super::scope::{PgbenchScope, Sets, Variable, merge_scopes};
use super::script::{Get, PgbenchMetaCommand};
use super::statements::PgbenchStatements;
use super::typed::{PgbenchType, Typed};
use crate::quoted::quoted;

/// The deepest nesting of steps that a workload may have.
pub(super) const DEPTH_MAX: usize = 24;

/// The state that all scripts share.
pub(super) struct PgbenchShared {
    pub(super) names: PgbenchNames,
    /// Variables that pgbench or -D sets.
    pub(super) initial_scope: PgbenchScope,
    /// Variables with an initial value that a script also sets: they keep their value between transactions.
    pub(super) lasting: BTreeSet<String>,
}

/// One step in the syntax of a workload.
#[derive(Debug)]
pub(super) enum PgbenchStep {
    /// Runs the statement with this index; its columns are read into these names.
    Run(usize, Vec<String>),
    /// A step on one line.
    Line(String),
    /// A condition, the steps if it is true, and the steps otherwise.
    If(String, Vec<PgbenchStep>, Vec<PgbenchStep>),
    /// Steps that form one database transaction.
    Transaction(Option<dyno_engine::Isolation>, Vec<PgbenchStep>),
}

/// Translates the tree of a single script.
pub(super) struct Translator<'a> {
    pub(super) text: &'a SourceText,
    pub(super) shared: &'a mut PgbenchShared,
    pub(super) scope: PgbenchScope,
    /// How often each variable is set, and whether within a condition.
    pub(super) sets: Sets,
    pub(super) statements: PgbenchStatements,
    /// The names of slots in expressions.
    pub(super) slots: Vec<String>,
    pub(super) notes: PgbenchNotes,
    depth: usize,
}

impl<'a> Translator<'a> {
    /// A translator for `text`; `sets` says how often each variable is set, and whether within a condition.
    pub(super) fn new(text: &'a SourceText, shared: &'a mut PgbenchShared, sets: Sets) -> Self {
        let scope = shared.initial_scope.clone();
        Self {
            text,
            shared,
            scope,
            sets,
            statements: PgbenchStatements::default(),
            slots: Vec::new(),
            notes: Vec::new(),
            depth: 0,
        }
    }

    /// Translates `nodes` into steps, in order.
    pub(super) fn steps(&mut self, nodes: &[Node]) -> Result<Vec<PgbenchStep>, WorkloadError> {
        let mut steps = Vec::new();
        for node in nodes {
            match node {
                Node::Sql(text, get) => steps.push(self.run(text, get.as_ref())?),
                Node::Set(meta) => steps.extend(self.set(meta)?),
                Node::Sleep(meta) => steps.push(PgbenchStep::Line(self.sleep(meta)?)),
                Node::If(arms) => steps.extend(self.arms(arms)?),
                Node::Transaction { isolation, nodes, rolls_back, at, pipeline } => {
                    if let Some(at) = pipeline {
                        self.notes.push((*at, ONE_BY_ONE.to_owned()));
                    }
                    if *rolls_back {
                        let hint = "remove the statements before and after the transaction from the script";
                        return Err(self.text.fault(
                            *at,
                            "a transaction that is rolled back, together with other statements",
                            hint,
                        ));
                    }
                    self.deeper(*at)?;
                    let inner = self.steps(nodes)?;
                    self.depth -= 1;
                    // An empty transaction is left out.
                    if !inner.is_empty() {
                        steps.push(PgbenchStep::Transaction(*isolation, inner));
                    }
                }
            }
        }
        Ok(steps)
    }

    fn deeper(&mut self, at: usize) -> Result<(), WorkloadError> {
        self.depth += 1;
        match self.depth >= DEPTH_MAX {
            true => Err(self.text.fault(at, "conditions are nested too deeply", "use fewer of them")),
            false => Ok(()),
        }
    }

    fn run(&mut self, text: &SourceText, get: Option<&Get>) -> Result<PgbenchStep, WorkloadError> {
        let scope = &self.scope;
        let workload_names = &mut self.shared.names;
        let place = self
            .statements
            .add(text, scope, &mut |name, text, at| parameter(scope, workload_names, name, text, at))?;
        let mut names = Vec::new();
        if let Some(get) = get {
            for column in columns(text)? {
                let variable = format!("{}{column}", get.prefix);
                if !is_variable(&variable) {
                    let problem = format!("{} is not a valid variable name", shown(&variable));
                    return Err(self.text.fault(
                        get.at,
                        problem,
                        "write AS NAME behind the column, or another prefix",
                    ));
                }
                if self.shared.lasting.contains(&variable) {
                    let problem =
                        format!("{} is given with -D, and a statement is to set it", shown(&variable));
                    return Err(self.text.fault(get.at, problem, "give the column another name"));
                }
                let name = self.shared.names.name(&variable, Meaning::Column);
                let variable_value =
                    Variable::Kept { name: name.clone(), kind: PgbenchType::Int, constant: None };
                self.scope.insert(variable, variable_value);
                names.push(name);
            }
        }
        Ok(PgbenchStep::Run(place, names))
    }

    /// Translates `\set NAME EXPRESSION` into a step or a generator.
    fn set(&mut self, meta: &PgbenchMetaCommand) -> Result<Option<PgbenchStep>, WorkloadError> {
        let (variable, at) = target(self.text, meta)?;
        let behind = at + variable.len();
        let line = self.text.upto(meta.rest.end);
        let typed = expression(&line, behind, self)?;
        let names = &mut self.shared.names;
        let single = self.sets.get(&variable).is_none_or(|sets| *sets == (1, false));
        if self.shared.lasting.contains(&variable) {
            let first = self.shared.initial_scope.get(&variable);
            return match first {
                Some(Variable::Kept { name, kind, .. }) if *kind == typed.kind => {
                    Ok(Some(PgbenchStep::Line(set_line(name, &typed, &self.slots))))
                }
                _ => {
                    let problem = format!(
                        "{} is {} here, and something else at first",
                        shown(&variable),
                        typed.kind.words()
                    );
                    Err(self.text.fault(at, problem, "give it a value of the same type with -D"))
                }
            };
        }
        let real = typed.kind == PgbenchType::Real;
        let (kept, step) = match (&typed.expr, typed.constant()) {
            _ if typed.kind == PgbenchType::Null => (Variable::Null, None),
            (_, Some(number)) if single => (Variable::Constant(number, typed.kind), None),
            (Expr::Random(law, parts), _) if single && is_fixed(parts, &self.slots) => {
                let words = drawn(*law, parts, &self.slots);
                let name = names.name(&variable, Meaning::Draw(words));
                (Variable::Kept { name, kind: PgbenchType::Int, constant: None }, None)
            }
            (_, constant) => {
                let name = names.name(&variable, Meaning::Number { real });
                let step = PgbenchStep::Line(set_line(&name, &typed, &self.slots));
                (Variable::Kept { name, kind: typed.kind, constant }, Some(step))
            }
        };
        self.scope.insert(variable, kept);
        Ok(step)
    }

    /// Translates conditions: each `\elif` becomes a condition inside the else branch.
    fn arms(
        &mut self,
        arms: &[(Option<PgbenchMetaCommand>, Vec<Node>)],
    ) -> Result<Option<PgbenchStep>, WorkloadError> {
        let Some(((condition, nodes), rest)) = arms.split_first() else { return Ok(None) };
        let Some(meta) = condition else { return Ok(None) };
        self.deeper(meta.at)?;
        let line = self.text.upto(meta.rest.end);
        if line.letters[meta.rest.clone()].trim().is_empty() {
            let problem = format!("\\{} without a condition", meta.name);
            return Err(self.text.fault(meta.at, problem, "write an expression behind it"));
        }
        let typed = expression(&line, meta.rest.start, self)?;
        let words =
            if typed.kind == PgbenchType::Null { "0".to_owned() } else { print(&typed.expr, &self.slots) };
        let before = self.scope.clone();
        let then = self.steps(nodes)?;
        let behind_then = std::mem::replace(&mut self.scope, before);
        let otherwise = match rest {
            [(None, nodes)] => self.steps(nodes)?,
            rest => self.arms(rest)?.into_iter().collect(),
        };
        let behind_else = std::mem::take(&mut self.scope);
        self.scope = merge_scopes(vec![behind_then, behind_else]);
        self.depth -= 1;
        Ok(match (then.is_empty(), otherwise.is_empty()) {
            (true, true) => None,
            (true, false) => Some(PgbenchStep::If(format!("not ({words})"), otherwise, Vec::new())),
            _ => Some(PgbenchStep::If(words, then, otherwise)),
        })
    }
}

impl Variables for Translator<'_> {
    fn variable(&mut self, name: &str, text: &SourceText, at: usize) -> Result<Typed, WorkloadError> {
        let (constant, kind) = match self.scope.get(name) {
            Some(Variable::Constant(number, kind) | Variable::Kept { constant: Some(number), kind, .. }) => {
                (Some(*number), *kind)
            }
            Some(Variable::Kept { kind, .. }) => (None, *kind),
            Some(Variable::Null) => return Ok(Typed::null()),
            Some(Variable::Text(value)) => {
                let problem = format!("{} is {}, which is no number", shown(name), shown(value));
                return Err(text.fault(at, problem, "give it a number with -D"));
            }
            other => return Err(unusable(other, name, text, at)),
        };
        if let Some(number) = constant {
            return Ok(Typed { expr: Expr::Is(number), kind });
        }
        let name = workload_name(&self.scope, &mut self.shared.names, name, text, at)?;
        let place = self.slots.iter().position(|known| *known == name).unwrap_or_else(|| {
            self.slots.push(name);
            self.slots.len() - 1
        });
        Ok(Typed { expr: Expr::Slot(place as u16), kind })
    }

    fn note(&mut self, _text: &SourceText, at: usize, words: &str) {
        self.notes.push((at, words.to_owned()));
    }
}

/// The variable that `\set` sets, and the place of its name.
pub(super) fn target(text: &SourceText, meta: &PgbenchMetaCommand) -> Result<(String, usize), WorkloadError> {
    let rest = &text.letters[meta.rest.clone()];
    let begin = rest.len() - rest.trim_start().len();
    let name: &str = rest[begin..].split_whitespace().next().unwrap_or_default();
    let at = meta.rest.start + begin;
    if name.is_empty() {
        return Err(text.fault(meta.at, "\\set without a name", "write \\set NAME EXPRESSION"));
    }
    if !is_variable(name) {
        let problem = format!("{} is not a valid variable name", shown(name));
        return Err(text.fault(at, problem, "it has letters, digits and underscores"));
    }
    if rest[begin + name.len()..].trim().is_empty() {
        return Err(text.fault(meta.at, "\\set without a value", "write \\set NAME EXPRESSION"));
    }
    Ok((name.to_owned(), at))
}

fn unusable(variable: Option<&Variable>, name: &str, text: &SourceText, at: usize) -> WorkloadError {
    match variable {
        Some(Variable::Unusable(why)) => text.fault(
            at,
            format!("{} cannot be used here: {why}", shown(name)),
            "\\set it before, on every path",
        ),
        _ => text.fault(
            at,
            format!("{} is not set before", shown(name)),
            format!("\\set it before, or give its first value with -D {}=VALUE", shown(name)),
        ),
    }
}

/// The workload's name for the variable `name` of a script.
fn workload_name(
    scope: &PgbenchScope,
    names: &mut PgbenchNames,
    name: &str,
    text: &SourceText,
    at: usize,
) -> Result<String, WorkloadError> {
    Ok(match scope.get(name) {
        Some(Variable::Kept { name, .. }) if name.is_empty() => {
            names.name("client_id", Meaning::Draw(CLIENT.to_owned()))
        }
        Some(Variable::Kept { name, .. }) => name.clone(),
        Some(Variable::Constant(Number::Int(number), _)) => {
            names.name(name, Meaning::Draw(number.to_string()))
        }
        Some(Variable::Constant(Number::Real(number), _)) => {
            names.name(name, Meaning::Draw(format!("{number:?}")))
        }
        Some(Variable::Text(value)) => {
            names.name(name, Meaning::Draw(format!("{{ choice = [{}], literal = true }}", quoted(value))))
        }
        Some(Variable::Null) => {
            return Err(text.fault(at, format!("{} is NULL", shown(name)), "write NULL into the statement"));
        }
        other => return Err(unusable(other, name, text, at)),
    })
}

/// The same for a parameter of a statement.
fn parameter(
    scope: &PgbenchScope,
    names: &mut PgbenchNames,
    name: &str,
    text: &SourceText,
    at: usize,
) -> Result<String, WorkloadError> {
    match scope.get(name) {
        Some(Variable::Kept { kind: PgbenchType::Bool, .. } | Variable::Constant(_, PgbenchType::Bool)) => {
            let problem = format!("{} is true or false, which a statement has no parameter for", shown(name));
            Err(text.fault(at, problem, "\\set it to CASE WHEN … THEN 1 ELSE 0 END"))
        }
        _ => workload_name(scope, names, name, text, at),
    }
}

/// The variable of pgbench with the session's number.
pub(super) fn client() -> Variable {
    Variable::Kept { name: String::new(), kind: PgbenchType::Int, constant: None }
}
