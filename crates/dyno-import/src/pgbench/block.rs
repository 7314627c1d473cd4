//! Turns the commands of a script into a tree of conditions and database transactions.

use dyno_plan::error::shown;
use dyno_workload::custom::syntax::{SourceText, WorkloadError};

use super::control::{Control, control};
use super::script::{Get, PgbenchCommand, PgbenchMetaCommand};
use dyno_engine::Isolation;

/// One action of a script.
#[derive(Debug)]
pub(super) enum Node {
    /// A statement without its terminator, and the `\gset` after it.
    Sql(SourceText, Option<Get>),
    /// `\set`, with the text after it.
    Set(PgbenchMetaCommand),
    /// `\sleep`, with the text after it.
    Sleep(PgbenchMetaCommand),
    /// Conditions, each with the actions if it is the first that is true; the last arm may have no condition.
    If(Vec<(Option<PgbenchMetaCommand>, Vec<Node>)>),
    /// One database transaction: the place where it begins, whether it rolls back at the end, and the place
    /// of the pipeline if it is the whole of one.
    Transaction {
        isolation: Option<Isolation>,
        nodes: Vec<Node>,
        at: usize,
        rolls_back: bool,
        pipeline: Option<usize>,
    },
}

/// Differences from pgbench, each with its place.
pub(super) type PgbenchNotes = Vec<(usize, String)>;

/// A construct that has begun but not ended.
pub(super) struct PgbenchOpenBlock {
    pub(super) at: usize,
    pub(super) kind: PgbenchBlockKind,
    pub(super) nodes: Vec<Node>,
}

/// The kind of an open construct.
pub(super) enum PgbenchBlockKind {
    Script,
    /// The complete arms, and the condition of the current arm; `None` for ELSE.
    If(Vec<(Option<PgbenchMetaCommand>, Vec<Node>)>, Option<PgbenchMetaCommand>),
    Transaction(Option<Isolation>),
    Pipeline,
}

/// Builds the tree from commands.
pub(super) struct PgbenchBlockParser<'a> {
    text: &'a SourceText,
    pub(super) open: Vec<PgbenchOpenBlock>,
    /// Differences from pgbench, each with its place.
    pub(super) notes: PgbenchNotes,
}

/// Builds the tree of `commands`; also returns notes on differences from pgbench.
///
/// # Errors
/// A construct has no end, or has no counterpart in workloads.
pub(super) fn blocks(
    text: &SourceText,
    commands: Vec<PgbenchCommand>,
) -> Result<(Vec<Node>, PgbenchNotes), WorkloadError> {
    let script = PgbenchOpenBlock { at: 0, kind: PgbenchBlockKind::Script, nodes: Vec::new() };
    let mut blocks = PgbenchBlockParser { text, open: vec![script], notes: Vec::new() };
    for command in commands {
        match command {
            PgbenchCommand::Sql { statements, get } => blocks.sql(&statements, get)?,
            PgbenchCommand::Meta(meta) => blocks.meta(meta)?,
        }
    }
    let Some(PgbenchOpenBlock { at, kind, nodes }) = blocks.open.pop() else {
        return Ok((Vec::new(), blocks.notes));
    };
    match kind {
        PgbenchBlockKind::Script => Ok((nodes, blocks.notes)),
        PgbenchBlockKind::If(..) => {
            Err(text.fault(at, "\\if without \\endif", "write \\endif where it ends"))
        }
        PgbenchBlockKind::Pipeline => {
            Err(text.fault(at, "\\startpipeline without \\endpipeline", "write \\endpipeline where it ends"))
        }
        PgbenchBlockKind::Transaction(_) => Err(text.fault(
            at,
            "the transaction that begins here is not ended",
            "write END before the script, the \\if or the pipeline ends",
        )),
    }
}

impl PgbenchBlockParser<'_> {
    pub(super) fn top(&mut self) -> &mut PgbenchOpenBlock {
        self.open.last_mut().expect("the script stays open until the end")
    }

    pub(super) fn push(&mut self, node: Node) {
        self.top().nodes.push(node);
    }

    fn begin(&mut self, at: usize, kind: PgbenchBlockKind) {
        self.open.push(PgbenchOpenBlock { at, kind, nodes: Vec::new() });
    }

    pub(super) fn in_transaction(&self) -> bool {
        self.open.iter().any(|open| matches!(open.kind, PgbenchBlockKind::Transaction(_)))
    }

    fn in_pipeline(&self) -> bool {
        self.open.iter().any(|open| matches!(open.kind, PgbenchBlockKind::Pipeline))
    }

    pub(super) fn fault(&self, at: usize, problem: &str, hint: &str) -> WorkloadError {
        self.text.fault(at, problem, hint)
    }

    fn sql(
        &mut self,
        statements: &[std::ops::Range<usize>],
        mut get: Option<Get>,
    ) -> Result<(), WorkloadError> {
        if let Some(get) = &get
            && (get.all || self.in_pipeline())
        {
            let (problem, hint) = if get.all {
                (
                    "\\aset has no counterpart: it sets nothing if there is no row",
                    "write \\gset behind a query that always gives one row",
                )
            } else {
                ("\\gset within a pipeline", "pgbench refuses it, too; end the pipeline before")
            };
            return Err(self.fault(get.at, problem, hint));
        }
        let parts: Vec<SourceText> = statements.iter().map(|range| self.text.part(range.clone())).collect();
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
            self.begin(first, PgbenchBlockKind::Transaction(None));
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
            return Err(self.fault(get.at, "\\gset after a statement that returns no rows", "take it out"));
        }
        if together {
            self.control(Control::End { rolls_back: false }, first)?;
        }
        Ok(())
    }

    fn control(&mut self, control: Control, at: usize) -> Result<(), WorkloadError> {
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
                self.begin(at, PgbenchBlockKind::Transaction(isolation));
                Ok(())
            }
            Control::End { rolls_back } => match self.open.pop() {
                Some(PgbenchOpenBlock { at, kind: PgbenchBlockKind::Transaction(isolation), nodes }) => {
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

    fn meta(&mut self, meta: PgbenchMetaCommand) -> Result<(), WorkloadError> {
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
            "if" => self.begin(at, PgbenchBlockKind::If(Vec::new(), Some(meta))),
            "elif" | "else" => {
                let is_else = meta.name == "else";
                if is_else {
                    bare(self)?;
                }
                let top = self.top();
                let nodes = std::mem::take(&mut top.nodes);
                match &mut top.kind {
                    PgbenchBlockKind::If(arms, condition @ Some(_)) => {
                        arms.push((condition.take(), nodes));
                        *condition = (!is_else).then_some(meta);
                    }
                    PgbenchBlockKind::If(..) => {
                        let problem = format!("\\{} behind \\else", meta.name);
                        return Err(self.fault(at, &problem, "write \\endif before it"));
                    }
                    _ => return Err(self.misplaced(&meta)),
                }
            }
            "endif" => {
                bare(self)?;
                if !matches!(self.top().kind, PgbenchBlockKind::If(..)) {
                    return Err(self.misplaced(&meta));
                }
                if let Some(PgbenchOpenBlock {
                    kind: PgbenchBlockKind::If(mut arms, condition), nodes, ..
                }) = self.open.pop()
                {
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
                self.begin(at, PgbenchBlockKind::Pipeline);
            }
            "syncpipeline" | "endpipeline" => {
                bare(self)?;
                self.end_pipeline(&meta)?;
                if meta.name == "syncpipeline" {
                    self.begin(at, PgbenchBlockKind::Pipeline);
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
                let command_names = [
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
                return Err(self.text.fault(
                    at,
                    problem,
                    dyno_workload::custom::syntax::meant(other, command_names),
                ));
            }
        }
        Ok(())
    }

    fn misplaced(&self, meta: &PgbenchMetaCommand) -> WorkloadError {
        let within = self.open.iter().any(|open| matches!(open.kind, PgbenchBlockKind::If(..)));
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
    /// Whether it sends nothing to the database and takes no time.
    pub(super) fn is_quiet(&self) -> bool {
        match self {
            Self::Set(_) => true,
            Self::If(arms) => arms.iter().flat_map(|(_, nodes)| nodes).all(Self::is_quiet),
            _ => false,
        }
    }
}
