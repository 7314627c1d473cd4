//! From the tree of a script to the steps of a transaction.

use std::collections::BTreeSet;

use super::super::expr::Expr;
use super::super::fault::{Fault, Text};
use super::super::names::shown;
use super::super::quoted::quoted;
use super::super::value::Number;
use super::block::{Node, Notes};
use super::columns::columns;
use super::draws::{CLIENT, drawn, is_fixed, is_variable, set_line};
use super::names::{Known, Meaning};
use super::parse::{Variables, expression};
use super::pipeline::ONE_BY_ONE;
use super::print::print;
use super::scope::{Scope, Sets, Variable, joined};
use super::script::{Get, Meta};
use super::statements::Statements;
use super::typed::{Kind, Typed};

/// Steps within each other, at most, as a workload may have them.
pub(super) const DEPTH_MAX: usize = 24;

/// What all scripts share.
pub(super) struct Shared {
    pub(super) known: Known,
    /// What pgbench sets by itself, and what -D gives.
    pub(super) given: Scope,
    /// Variables that are given and that a script sets: they keep their value from one transaction to the next.
    pub(super) lasting: BTreeSet<String>,
}

/// A step, as it is written in a workload.
#[derive(Debug)]
pub(super) enum Step {
    /// A statement of the script's file, by its place; and the names that its columns are read into.
    Run(usize, Vec<String>),
    /// A step of one line.
    Line(String),
    /// A condition with the steps where it holds and where not.
    If(String, Vec<Step>, Vec<Step>),
    /// Steps that are one transaction of the database.
    Transaction(Option<dyno_engine::Isolation>, Vec<Step>),
}

/// Translates one script.
pub(super) struct Translator<'a> {
    pub(super) text: &'a Text,
    pub(super) shared: &'a mut Shared,
    pub(super) scope: Scope,
    /// How often each variable is set, and whether that is within a condition.
    pub(super) sets: Sets,
    pub(super) statements: Statements,
    /// Names of the slots of expressions.
    pub(super) slots: Vec<String>,
    pub(super) notes: Notes,
    depth: usize,
}

impl<'a> Translator<'a> {
    /// What translates `text`, whose variables are set as `sets` says: how often, and whether that is within a condition.
    pub(super) fn new(text: &'a Text, shared: &'a mut Shared, sets: Sets) -> Self {
        let scope = shared.given.clone();
        Self {
            text,
            shared,
            scope,
            sets,
            statements: Statements::default(),
            slots: Vec::new(),
            notes: Vec::new(),
            depth: 0,
        }
    }

    /// The steps of `nodes`.
    pub(super) fn steps(&mut self, nodes: &[Node]) -> Result<Vec<Step>, Fault> {
        let mut steps = Vec::new();
        for node in nodes {
            match node {
                Node::Sql(text, get) => steps.push(self.run(text, get.as_ref())?),
                Node::Set(meta) => steps.extend(self.set(meta)?),
                Node::Sleep(meta) => steps.push(Step::Line(self.sleep(meta)?)),
                Node::If(arms) => steps.extend(self.arms(arms)?),
                Node::Transaction { isolation, nodes, rolls_back, at, pipeline } => {
                    if let Some(at) = pipeline {
                        self.notes.push((*at, ONE_BY_ONE.to_owned()));
                    }
                    if *rolls_back {
                        let hint = "take the statements before and behind the transaction out of the script";
                        return Err(self.text.fault(
                            *at,
                            "a transaction that is taken back, among others",
                            hint,
                        ));
                    }
                    self.deeper(*at)?;
                    let inner = self.steps(nodes)?;
                    self.depth -= 1;
                    // One of nothing is none.
                    if !inner.is_empty() {
                        steps.push(Step::Transaction(*isolation, inner));
                    }
                }
            }
        }
        Ok(steps)
    }

    fn deeper(&mut self, at: usize) -> Result<(), Fault> {
        self.depth += 1;
        match self.depth >= DEPTH_MAX {
            true => Err(self.text.fault(at, "too many conditions within each other", "use fewer of them")),
            false => Ok(()),
        }
    }

    fn run(&mut self, text: &Text, get: Option<&Get>) -> Result<Step, Fault> {
        let scope = &self.scope;
        let known = &mut self.shared.known;
        let place = self
            .statements
            .add(text, scope, &mut |name, text, at| parameter(scope, known, name, text, at))?;
        let mut names = Vec::new();
        if let Some(get) = get {
            for column in columns(text)? {
                let variable = format!("{}{column}", get.prefix);
                if !is_variable(&variable) {
                    let problem = format!("{} is no name of a variable", shown(&variable));
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
                let name = self.shared.known.name(&variable, Meaning::Column);
                let kept = Variable::Kept { name: name.clone(), kind: Kind::Int, constant: None };
                self.scope.insert(variable, kept);
                names.push(name);
            }
        }
        Ok(Step::Run(place, names))
    }

    /// `\set NAME EXPRESSION`: a step, or a draw.
    fn set(&mut self, meta: &Meta) -> Result<Option<Step>, Fault> {
        let (variable, at) = target(self.text, meta)?;
        let behind = at + variable.len();
        let line = self.text.upto(meta.rest.end);
        let typed = expression(&line, behind, self)?;
        let known = &mut self.shared.known;
        let single = self.sets.get(&variable).is_none_or(|sets| *sets == (1, false));
        if self.shared.lasting.contains(&variable) {
            let first = self.shared.given.get(&variable);
            return match first {
                Some(Variable::Kept { name, kind, .. }) if *kind == typed.kind => {
                    Ok(Some(Step::Line(set_line(name, &typed, &self.slots))))
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
        let real = typed.kind == Kind::Real;
        let (kept, step) = match (&typed.expr, typed.constant()) {
            _ if typed.kind == Kind::Null => (Variable::Null, None),
            (_, Some(number)) if single => (Variable::Constant(number, typed.kind), None),
            (Expr::Random(law, parts), _) if single && is_fixed(parts, &self.slots) => {
                let words = drawn(*law, parts, &self.slots);
                let name = known.name(&variable, Meaning::Draw(words));
                (Variable::Kept { name, kind: Kind::Int, constant: None }, None)
            }
            (_, constant) => {
                let name = known.name(&variable, Meaning::Number { real });
                let step = Step::Line(set_line(&name, &typed, &self.slots));
                (Variable::Kept { name, kind: typed.kind, constant }, Some(step))
            }
        };
        self.scope.insert(variable, kept);
        Ok(step)
    }

    /// Conditions: each `\elif` is a condition within what is done else.
    fn arms(&mut self, arms: &[(Option<Meta>, Vec<Node>)]) -> Result<Option<Step>, Fault> {
        let Some(((condition, nodes), rest)) = arms.split_first() else { return Ok(None) };
        let Some(meta) = condition else { return Ok(None) };
        self.deeper(meta.at)?;
        let line = self.text.upto(meta.rest.end);
        if line.letters[meta.rest.clone()].trim().is_empty() {
            let problem = format!("\\{} without a condition", meta.name);
            return Err(self.text.fault(meta.at, problem, "write an expression behind it"));
        }
        let typed = expression(&line, meta.rest.start, self)?;
        let words = if typed.kind == Kind::Null { "0".to_owned() } else { print(&typed.expr, &self.slots) };
        let before = self.scope.clone();
        let then = self.steps(nodes)?;
        let behind_then = std::mem::replace(&mut self.scope, before);
        let otherwise = match rest {
            [(None, nodes)] => self.steps(nodes)?,
            rest => self.arms(rest)?.into_iter().collect(),
        };
        let behind_else = std::mem::take(&mut self.scope);
        self.scope = joined(vec![behind_then, behind_else]);
        self.depth -= 1;
        Ok(match (then.is_empty(), otherwise.is_empty()) {
            (true, true) => None,
            (true, false) => Some(Step::If(format!("not ({words})"), otherwise, Vec::new())),
            _ => Some(Step::If(words, then, otherwise)),
        })
    }
}

impl Variables for Translator<'_> {
    fn variable(&mut self, name: &str, text: &Text, at: usize) -> Result<Typed, Fault> {
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
        let name = bound(&self.scope, &mut self.shared.known, name, text, at)?;
        let place = self.slots.iter().position(|known| *known == name).unwrap_or_else(|| {
            self.slots.push(name);
            self.slots.len() - 1
        });
        Ok(Typed { expr: Expr::Slot(place as u16), kind })
    }

    fn note(&mut self, _text: &Text, at: usize, words: &str) {
        self.notes.push((at, words.to_owned()));
    }
}

/// The variable that `\set` sets, and where its name is.
pub(super) fn target(text: &Text, meta: &Meta) -> Result<(String, usize), Fault> {
    let rest = &text.letters[meta.rest.clone()];
    let begin = rest.len() - rest.trim_start().len();
    let name: &str = rest[begin..].split_whitespace().next().unwrap_or_default();
    let at = meta.rest.start + begin;
    if name.is_empty() {
        return Err(text.fault(meta.at, "\\set without a name", "write \\set NAME EXPRESSION"));
    }
    if !is_variable(name) {
        let problem = format!("{} is no name of a variable", shown(name));
        return Err(text.fault(at, problem, "it has letters, digits and underscores"));
    }
    if rest[begin + name.len()..].trim().is_empty() {
        return Err(text.fault(meta.at, "\\set without a value", "write \\set NAME EXPRESSION"));
    }
    Ok((name.to_owned(), at))
}

fn unusable(variable: Option<&Variable>, name: &str, text: &Text, at: usize) -> Fault {
    match variable {
        Some(Variable::Unusable(why)) => text.fault(
            at,
            format!("{} cannot be used here: {why}", shown(name)),
            "\\set it before, on each way alike",
        ),
        _ => text.fault(
            at,
            format!("nothing sets {} before", shown(name)),
            format!("\\set it before, or give its first value with -D {}=VALUE", shown(name)),
        ),
    }
}

/// The name in the workload of what a script calls `name`.
fn bound(scope: &Scope, known: &mut Known, name: &str, text: &Text, at: usize) -> Result<String, Fault> {
    Ok(match scope.get(name) {
        Some(Variable::Kept { name, .. }) if name.is_empty() => {
            known.name("client_id", Meaning::Draw(CLIENT.to_owned()))
        }
        Some(Variable::Kept { name, .. }) => name.clone(),
        Some(Variable::Constant(Number::Int(number), _)) => {
            known.name(name, Meaning::Draw(number.to_string()))
        }
        Some(Variable::Constant(Number::Real(number), _)) => {
            known.name(name, Meaning::Draw(format!("{number:?}")))
        }
        Some(Variable::Text(value)) => {
            known.name(name, Meaning::Draw(format!("{{ choice = [{}], literal = true }}", quoted(value))))
        }
        Some(Variable::Null) => {
            return Err(text.fault(at, format!("{} is NULL", shown(name)), "write NULL into the statement"));
        }
        other => return Err(unusable(other, name, text, at)),
    })
}

/// The same for a parameter of a statement.
fn parameter(scope: &Scope, known: &mut Known, name: &str, text: &Text, at: usize) -> Result<String, Fault> {
    match scope.get(name) {
        Some(Variable::Kept { kind: Kind::Bool, .. } | Variable::Constant(_, Kind::Bool)) => {
            let problem = format!("{} is true or false, which a statement has no parameter for", shown(name));
            Err(text.fault(at, problem, "\\set it to CASE WHEN … THEN 1 ELSE 0 END"))
        }
        _ => bound(scope, known, name, text, at),
    }
}

/// The variable of pgbench that has the session's number.
pub(super) fn client() -> Variable {
    Variable::Kept { name: String::new(), kind: Kind::Int, constant: None }
}
