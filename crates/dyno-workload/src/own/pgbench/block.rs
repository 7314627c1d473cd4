//! What a script does, as a tree: conditions, transactions of the database, and what is within them.

use super::super::fault::{Fault, Text};
use super::super::names::shown;
use super::control::{Control, control};
use super::script::{Command, Get, Meta};
use dyno_engine::Isolation;

/// One thing that a script does.
#[derive(Debug)]
pub(super) enum Node {
    /// A statement, without what ends it; and the `\gset` behind it.
    Sql(Text, Option<Get>),
    /// `\set`, with what stands behind it.
    Set(Meta),
    /// `\sleep`, alike.
    Sleep(Meta),
    /// Conditions with what is done where each is the first that holds; the last may have none.
    If(Vec<(Option<Meta>, Vec<Node>)>),
    /// What is one transaction of the database; where that begins, whether it is taken back in the end, and where the pipeline begins
    /// of which it is all.
    Transaction {
        isolation: Option<Isolation>,
        nodes: Vec<Node>,
        at: usize,
        rolls_back: bool,
        pipeline: Option<usize>,
    },
}

/// What differs from pgbench, each with its place.
pub(super) type Notes = Vec<(usize, String)>;

/// Something that has begun and not ended.
pub(super) struct Open {
    pub(super) at: usize,
    pub(super) kind: Kind,
    pub(super) nodes: Vec<Node>,
}

/// What has begun.
pub(super) enum Kind {
    Script,
    /// Its arms so far, the condition of the one that is read, and whether that is ELSE.
    If(Vec<(Option<Meta>, Vec<Node>)>, Option<Meta>),
    Transaction(Option<Isolation>),
    Pipeline,
}

/// Reads commands into a tree.
pub(super) struct Blocks<'a> {
    text: &'a Text,
    pub(super) open: Vec<Open>,
    /// What differs from pgbench, with its place.
    pub(super) notes: Notes,
}

/// The tree of `commands`, and notes of what differs from pgbench.
///
/// # Errors
/// Something begins without an end, or has no counterpart.
pub(super) fn blocks(text: &Text, commands: Vec<Command>) -> Result<(Vec<Node>, Notes), Fault> {
    let script = Open { at: 0, kind: Kind::Script, nodes: Vec::new() };
    let mut blocks = Blocks { text, open: vec![script], notes: Vec::new() };
    for command in commands {
        match command {
            Command::Sql { statements, get } => blocks.sql(&statements, get)?,
            Command::Meta(meta) => blocks.meta(meta)?,
        }
    }
    let Some(Open { at, kind, nodes }) = blocks.open.pop() else { return Ok((Vec::new(), blocks.notes)) };
    match kind {
        Kind::Script => Ok((nodes, blocks.notes)),
        Kind::If(..) => Err(text.fault(at, "\\if without \\endif", "write \\endif where it ends")),
        Kind::Pipeline => {
            Err(text.fault(at, "\\startpipeline without \\endpipeline", "write \\endpipeline where it ends"))
        }
        Kind::Transaction(_) => Err(text.fault(
            at,
            "the transaction that begins here does not end",
            "write END before the script, the \\if or the pipeline ends",
        )),
    }
}

impl Blocks<'_> {
    pub(super) fn top(&mut self) -> &mut Open {
        self.open.last_mut().expect("the script stays open until the end")
    }

    pub(super) fn push(&mut self, node: Node) {
        self.top().nodes.push(node);
    }

    fn begin(&mut self, at: usize, kind: Kind) {
        self.open.push(Open { at, kind, nodes: Vec::new() });
    }

    pub(super) fn in_transaction(&self) -> bool {
        self.open.iter().any(|open| matches!(open.kind, Kind::Transaction(_)))
    }

    fn in_pipeline(&self) -> bool {
        self.open.iter().any(|open| matches!(open.kind, Kind::Pipeline))
    }

    pub(super) fn fault(&self, at: usize, problem: &str, hint: &str) -> Fault {
        self.text.fault(at, problem, hint)
    }

    fn sql(&mut self, statements: &[std::ops::Range<usize>], mut get: Option<Get>) -> Result<(), Fault> {
        if let Some(get) = &get
            && (get.all || self.in_pipeline())
        {
            let (problem, hint) = if get.all {
                (
                    "\\aset has no counterpart: it sets nothing where there is no row",
                    "write \\gset behind a query that always gives one row",
                )
            } else {
                ("\\gset within a pipeline", "pgbench refuses it, too; end the pipeline before")
            };
            return Err(self.fault(get.at, problem, hint));
        }
        let parts: Vec<Text> = statements.iter().map(|range| self.text.part(range.clone())).collect();
        let controls = parts.iter().map(control).collect::<Result<Vec<_>, _>>()?;
        let together = parts.len() > 1
            && !self.in_transaction()
            && !self.in_pipeline()
            && controls.iter().all(Option::is_none);
        let first = statements.first().map_or(0, |range| range.start);
        if parts.len() > 1 {
            self.notes
                .push((first, "statements with \\; between them are sent one after the other".to_owned()));
        }
        if together {
            self.begin(first, Kind::Transaction(None));
        }
        let last = parts.len().saturating_sub(1);
        for (place, (part, control)) in parts.into_iter().zip(controls).enumerate() {
            let at = statements[place].start;
            match control {
                Some(control) => self.control(control, at)?,
                None => {
                    let get = if place == last { get.take() } else { None };
                    self.push(Node::Sql(part, get));
                }
            }
        }
        if let Some(get) = get {
            return Err(self.fault(get.at, "\\gset behind a statement that gives no row", "take it out"));
        }
        if together {
            self.control(Control::End { rolls_back: false }, first)?;
        }
        Ok(())
    }

    fn control(&mut self, control: Control, at: usize) -> Result<(), Fault> {
        match control {
            Control::Begin { .. } if self.in_transaction() => Err(self.fault(
                at,
                "a transaction within a transaction",
                "take it out: one has begun already",
            )),
            Control::Begin { isolation, reads_only } => {
                if reads_only {
                    let note =
                        "the transaction begins without READ ONLY: PostgreSQL does not refuse changes in it";
                    self.notes.push((at, note.to_owned()));
                }
                self.begin(at, Kind::Transaction(isolation));
                Ok(())
            }
            Control::End { rolls_back } => match self.open.pop() {
                Some(Open { at, kind: Kind::Transaction(isolation), nodes }) => {
                    self.push(Node::Transaction { isolation, nodes, at, rolls_back, pipeline: None });
                    Ok(())
                }
                _ if self.in_transaction() => Err(self.fault(
                    at,
                    "the transaction ends within an \\if or a pipeline, and began outside",
                    "begin and end it at the same place",
                )),
                _ => {
                    Err(self.fault(at, "no transaction has begun here", "write BEGIN before, or take it out"))
                }
            },
        }
    }

    fn meta(&mut self, meta: Meta) -> Result<(), Fault> {
        let (at, rest) = (meta.at, self.text.letters[meta.rest.clone()].trim().to_owned());
        let bare = |blocks: &Self| match rest.is_empty() {
            true => Ok(()),
            false => {
                let problem = format!("{} behind \\{}", shown(&rest), meta.name);
                Err(blocks.fault(meta.rest.start, &problem, "take it out"))
            }
        };
        match meta.name.as_str() {
            "set" => self.push(Node::Set(meta)),
            "sleep" => self.push(Node::Sleep(meta)),
            "if" => self.begin(at, Kind::If(Vec::new(), Some(meta))),
            "elif" | "else" => {
                let is_else = meta.name == "else";
                if is_else {
                    bare(self)?;
                }
                let top = self.top();
                let nodes = std::mem::take(&mut top.nodes);
                match &mut top.kind {
                    Kind::If(arms, condition @ Some(_)) => {
                        arms.push((condition.take(), nodes));
                        *condition = (!is_else).then_some(meta);
                    }
                    Kind::If(..) => {
                        let problem = format!("\\{} behind \\else", meta.name);
                        return Err(self.fault(at, &problem, "write \\endif before it"));
                    }
                    _ => return Err(self.misplaced(&meta)),
                }
            }
            "endif" => {
                bare(self)?;
                if !matches!(self.top().kind, Kind::If(..)) {
                    return Err(self.misplaced(&meta));
                }
                if let Some(Open { kind: Kind::If(mut arms, condition), nodes, .. }) = self.open.pop() {
                    arms.push((condition, nodes));
                    self.push(Node::If(arms));
                }
            }
            "startpipeline" => {
                bare(self)?;
                if self.in_pipeline() {
                    return Err(self.fault(
                        at,
                        "a pipeline within a pipeline",
                        "take it out: one has begun already",
                    ));
                }
                self.begin(at, Kind::Pipeline);
            }
            "syncpipeline" | "endpipeline" => {
                bare(self)?;
                self.end_pipeline(&meta)?;
                if meta.name == "syncpipeline" {
                    self.begin(at, Kind::Pipeline);
                }
            }
            "shell" | "setshell" => {
                let problem = format!("\\{}: a workload runs no command of a shell", meta.name);
                return Err(self.fault(at, &problem, "take it out, or give its value with -D NAME=VALUE"));
            }
            "setrandom" => {
                let words: Vec<&str> = rest.split_whitespace().collect();
                let hint = match words.as_slice() {
                    [name, low, high] | [name, low, high, "uniform"] => {
                        format!("write \\set {} random({}, {})", shown(name), shown(low), shown(high))
                    }
                    [name, low, high, law @ ("gaussian" | "exponential"), parameter] => format!(
                        "write \\set {} random_{law}({}, {}, {})",
                        shown(name),
                        shown(low),
                        shown(high),
                        shown(parameter)
                    ),
                    _ => "write \\set NAME random(LOW, HIGH)".to_owned(),
                };
                return Err(self.fault(at, "\\setrandom is of pgbench before 9.6", &hint));
            }
            other => {
                let known = [
                    "set",
                    "sleep",
                    "if",
                    "elif",
                    "else",
                    "endif",
                    "gset",
                    "aset",
                    "startpipeline",
                    "syncpipeline",
                    "endpipeline",
                    "setshell",
                    "shell",
                ];
                let problem = format!("pgbench has no command \\{}", shown(other));
                return Err(self.text.fault(at, problem, super::super::names::meant(other, known)));
            }
        }
        Ok(())
    }

    fn misplaced(&self, meta: &Meta) -> Fault {
        let within = self.open.iter().any(|open| matches!(open.kind, Kind::If(..)));
        match within {
            true => {
                let problem =
                    format!("\\{} within a transaction or a pipeline that began behind \\if", meta.name);
                self.fault(meta.at, &problem, "end it before")
            }
            false => {
                let problem = format!("\\{} without \\if", meta.name);
                self.fault(meta.at, &problem, "write \\if CONDITION before it")
            }
        }
    }
}

impl Node {
    /// Whether it asks the database for nothing, and takes no time.
    pub(super) fn is_quiet(&self) -> bool {
        match self {
            Self::Set(_) => true,
            Self::If(arms) => arms.iter().flat_map(|(_, nodes)| nodes).all(Self::is_quiet),
            _ => false,
        }
    }
}
