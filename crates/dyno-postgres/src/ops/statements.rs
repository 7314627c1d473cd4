//! How statements come to the server.

use std::borrow::Cow;

use super::super::counters::{FLUSH, SHARED_STATISTICS};
use super::inferred::Oids;
use super::simple::Text;
use super::template::{Ending, Template};
use crate::wire::{Connection, message};
use dyno_engine::statement::unknown;
use dyno_engine::{Answer, Commits, Isolation, OpError, SessionSetup, Statement, StatementId, Value};
use dyno_plan::{Connect, Protocol};

/// How statements come to the server.
#[derive(Debug, Clone)]
pub(super) struct Form {
    /// Whether they are prepared under their names when a session opens, or sent anew each time.
    pub(super) prepared: bool,
    /// Whether they are sent as texts, with their values written out.
    simple: bool,
    /// Messages before each operation, in its own transaction.
    before: Vec<u8>,
}

impl Form {
    /// On the session's own connection, whose settings are made.
    pub(super) fn direct(protocol: Protocol) -> Self {
        Self {
            prepared: protocol == Protocol::Prepared,
            simple: protocol == Protocol::Simple,
            before: Vec::new(),
        }
    }

    /// On whichever of a pooler's connections is free: each operation makes its settings itself, until its transaction
    /// ends.
    pub(super) fn pooled(prepared: bool, setup: &SessionSetup) -> Self {
        let mut before = Vec::new();
        if let Some(settings) = settings(setup) {
            if !prepared {
                message::parse(&mut before, "", &settings, &[]);
            }
            message::bind_text(&mut before, if prepared { SETTINGS } else { "" }, &[]);
            message::execute(&mut before);
        }
        Self { prepared, simple: false, before }
    }

    /// What brings `statement`.
    fn message(&self, statement: &Statement, types: &[u32]) -> Message {
        match self.simple {
            true => Message::Text(Text::new(&statement.sql, &statement.params)),
            false => Message::Bound(self.template(statement, types)),
        }
    }

    /// The messages of `statement`, for whose parameters the server has these types.
    fn template(&self, statement: &Statement, types: &[u32]) -> Template {
        let mut bytes = self.before.clone();
        if !self.prepared {
            message::parse(&mut bytes, "", &statement.sql, types);
        }
        self.executed(bytes, statement, types)
    }

    /// The same, where the statement is prepared under its name with its first execution.
    fn first(&self, statement: &Statement, types: &[u32]) -> Template {
        let mut bytes = self.before.clone();
        // After an error nobody knows whether it is there; there need be none.
        message::forget(&mut bytes, &statement.name);
        message::parse(&mut bytes, &statement.name, &statement.sql, types);
        self.executed(bytes, statement, types)
    }

    /// `bytes`, and behind them what executes `statement`.
    fn executed(&self, bytes: Vec<u8>, statement: &Statement, types: &[u32]) -> Template {
        let ending = match statement.commits {
            Commits::Behind => Ending::FlushSync,
            Commits::Nothing | Commits::Inside => Ending::Sync,
        };
        let name = if self.prepared { &statement.name } else { "" };
        let template = Template::new(bytes, name, &statement.params, types, ending);
        if statement.answer == Answer::Columns { template.with_columns() } else { template }
    }
}

/// The name of the statement that makes the settings of a session behind a pooler.
const SETTINGS: &str = "settings";
/// That of the one at an edge.
const EDGE: &str = "edge";

/// Makes the settings of a session behind a pooler for one transaction, if there are any.
fn settings(setup: &SessionSetup) -> Option<String> {
    let method = if setup.blocks.is_some() { &super::LOCAL_SETTINGS[..] } else { &[] };
    let chosen = method.iter().map(|&name| {
        let setting = super::SESSION_SETTINGS.iter().find(|setting| setting.name == name);
        (name, setting.map_or("off", |setting| setting.value))
    });
    // The default would only hold for the transaction after this one.
    let read_only = setup.read_only.then_some(("transaction_read_only", "on"));
    let all = chosen.chain(super::commit_setting(setup.commit)).chain(read_only);
    let calls: Vec<String> =
        all.map(|(name, value)| format!("pg_catalog.set_config('{name}', '{value}', true)")).collect();
    (!calls.is_empty()).then(|| format!("SELECT {}", calls.join(", ")))
}

/// Appends the messages that prepare the statements of `setup` and what a session needs beside them, each under its name.
/// With the simple protocol nothing of `setup` is prepared: statements go as texts.
pub(super) fn prepare(connection: &mut Connection, setup: &SessionSetup, types: &[Oids], pooled: bool) {
    let flushes = flushes(connection);
    let out = &mut connection.line.out;
    if setup.protocol == Protocol::Simple && !pooled {
        // It takes the place of the statements, so that a session has as many transactions with each protocol.
        message::parse(out, "", "SELECT WHERE false", &[]);
    } else {
        for (statement, types) in setup.statements.iter().zip(types) {
            message::parse(out, &statement.name, &statement.sql, types);
        }
    }
    if let Some(settings) = settings(setup).filter(|_| pooled) {
        message::parse(out, SETTINGS, &settings, &[]);
    }
    if flushes {
        message::parse(out, EDGE, FLUSH, &[]);
    }
}

/// Whether a session can make its statistics visible.
pub(super) fn flushes(connection: &Connection) -> bool {
    connection.server_version_num() >= SHARED_STATISTICS
}

/// The statement that begins a transaction.
pub(super) fn begin_words(isolation: Isolation) -> Cow<'static, str> {
    match isolation.words() {
        None => Cow::Borrowed("BEGIN"),
        Some(words) => Cow::Owned(format!("BEGIN ISOLATION LEVEL {words}")),
    }
}

/// What brings one statement.
#[derive(Debug)]
enum Message {
    Bound(Template),
    Text(Text),
}

/// What a session sends, ready.
#[derive(Debug)]
pub(super) struct Ready {
    messages: Vec<Message>,
    /// The same with the preparation of each, where statements are prepared at their first use on a connection; and which are.
    firsts: Vec<Template>,
    known: Vec<bool>,
    /// Whether rows come as text.
    pub(super) is_text: bool,
    edge: Vec<u8>,
    begin: Vec<u8>,
    commit: Vec<u8>,
    rollback: Vec<u8>,
}

impl Ready {
    /// The messages of the statements of `setup`, as `form` brings them to the server, which has `types` for the parameters
    /// of each.
    pub(super) fn new(setup: &SessionSetup, form: &Form, types: &[Oids], flushes: bool) -> Self {
        let statements = setup.statements.iter().zip(types);
        let query = |sql: &str| {
            let mut bytes = Vec::new();
            message::query(&mut bytes, sql);
            bytes
        };
        // An edge needs no settings.
        let bare = Form { prepared: form.prepared, simple: false, before: Vec::new() };
        let mut edge = Vec::new();
        match flushes {
            true => edge.extend_from_slice(bare.template(&super::method::edge(), &[]).bytes()),
            // The server answers it and does nothing for it.
            false => message::sync(&mut edge),
        }
        let at_first_use = form.prepared && setup.connect == Connect::Transaction;
        Self {
            firsts: statements
                .clone()
                .filter(|_| at_first_use)
                .map(|(statement, types)| form.first(statement, types))
                .collect(),
            known: vec![true; setup.statements.len()],
            messages: statements.map(|(statement, types)| form.message(statement, types)).collect(),
            is_text: form.simple,
            edge,
            begin: Vec::new(),
            commit: query("COMMIT"),
            rollback: query("ROLLBACK"),
        }
    }

    /// The messages that execute a statement with `values`.
    ///
    /// # Errors
    /// There is no such statement, or the values are not of its parameters' types.
    #[inline]
    pub(super) fn execute(&mut self, id: StatementId, values: &[Value<'_>]) -> Result<&[u8], Box<OpError>> {
        let Self { messages, firsts, known, .. } = self;
        match messages.get_mut(id.index()).ok_or_else(|| unknown(id))? {
            Message::Bound(template) => {
                let template = match firsts.get_mut(id.index()) {
                    Some(first) if !known[id.index()] => first,
                    _ => template,
                };
                template.fill(values)?;
                known[id.index()] = true;
                Ok(template.bytes())
            }
            Message::Text(text) => {
                text.fill(values)?;
                Ok(text.bytes())
            }
        }
    }

    /// Nothing is prepared any more that is prepared at its first use.
    pub(super) fn forget(&mut self) {
        self.known.fill(false);
    }

    pub(super) fn edge(&self) -> &[u8] {
        &self.edge
    }

    pub(super) fn begin(&mut self, isolation: Isolation) -> &[u8] {
        self.begin.clear();
        message::query(&mut self.begin, &begin_words(isolation));
        &self.begin
    }

    pub(super) fn commit(&self) -> &[u8] {
        &self.commit
    }

    pub(super) fn rollback(&self) -> &[u8] {
        &self.rollback
    }
}
