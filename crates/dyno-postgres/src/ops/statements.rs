//! Builds the messages that send a session's statements, by protocol and route.

use std::borrow::Cow;

use super::super::counters::{FLUSH, SHARED_STATISTICS};
use super::inferred::Oids;
use super::simple::PostgresTextStatement;
use super::template::{Ending, PostgresRequestTemplate};
use crate::wire::{PostgresConnection, message};
use dyno_engine::statement::unknown;
use dyno_engine::{Commits, Isolation, OpError, ResultKind, SessionSetup, Statement, StatementId, Value};
use dyno_plan::{Connect, StatementProtocol};

/// How statements are sent to the server.
#[derive(Debug, Clone)]
pub(super) struct PostgresStatementMode {
    /// Whether statements are prepared by name when a session opens, or sent in full each time.
    pub(super) prepared: bool,
    /// Whether statements are sent as text with their values inserted.
    simple: bool,
    /// Messages before each operation, in the same transaction.
    before: Vec<u8>,
}

impl PostgresStatementMode {
    /// On the session's own connection, whose settings are already made.
    pub(super) fn direct(protocol: StatementProtocol) -> Self {
        Self {
            prepared: protocol == StatementProtocol::Prepared,
            simple: protocol == StatementProtocol::Simple,
            before: Vec::new(),
        }
    }

    /// On whichever of a pooler's connections is free: each operation makes its own settings for its
    /// transaction.
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

    /// The message that sends `statement`.
    fn message(&self, statement: &Statement, types: &[u32]) -> PostgresStatementMessage {
        match self.simple {
            true => {
                PostgresStatementMessage::Text(PostgresTextStatement::new(&statement.sql, &statement.params))
            }
            false => PostgresStatementMessage::Bound(self.template(statement, types)),
        }
    }

    /// The messages of `statement`; `types` are the server's types of its parameters.
    fn template(&self, statement: &Statement, types: &[u32]) -> PostgresRequestTemplate {
        let mut bytes = self.before.clone();
        if !self.prepared {
            message::parse(&mut bytes, "", &statement.sql, types);
        }
        self.execute_template(bytes, statement, types)
    }

    /// Like [`Self::template`], but also prepares the statement by name, for its first execution.
    fn first_use_template(&self, statement: &Statement, types: &[u32]) -> PostgresRequestTemplate {
        let mut bytes = self.before.clone();
        // After an error the statement may or may not exist; closing a missing one is allowed.
        message::forget(&mut bytes, &statement.name);
        message::parse(&mut bytes, &statement.name, &statement.sql, types);
        self.execute_template(bytes, statement, types)
    }

    /// Appends the messages that execute `statement` to `bytes`.
    fn execute_template(
        &self,
        bytes: Vec<u8>,
        statement: &Statement,
        types: &[u32],
    ) -> PostgresRequestTemplate {
        let ending = match statement.commits {
            Commits::Behind => Ending::FlushSync,
            Commits::Nothing | Commits::Inside => Ending::Sync,
        };
        let name = if self.prepared { &statement.name } else { "" };
        let template = PostgresRequestTemplate::new(bytes, name, &statement.params, types, ending);
        if statement.answer == ResultKind::Columns { template.with_columns() } else { template }
    }
}

/// The name of the prepared statement for the settings of a session through a pooler.
const SETTINGS: &str = "settings";
/// The name of the prepared statement for a window boundary.
const EDGE: &str = "edge";

/// The statement that makes the settings of a session through a pooler for one transaction; `None` if there
/// are none.
fn settings(setup: &SessionSetup) -> Option<String> {
    let method = if setup.blocks.is_some() { &super::LOCAL_SETTINGS[..] } else { &[] };
    let chosen = method.iter().map(|&name| {
        let setting = super::SESSION_SETTINGS.iter().find(|setting| setting.name == name);
        (name, setting.map_or("off", |setting| setting.value))
    });
    // A session default would apply only to the next transaction.
    let read_only = setup.read_only.then_some(("transaction_read_only", "on"));
    let all = chosen.chain(crate::connections::commit_setting(setup.commit)).chain(read_only);
    let calls: Vec<String> =
        all.map(|(name, value)| format!("pg_catalog.set_config('{name}', '{value}', true)")).collect();
    (!calls.is_empty()).then(|| format!("SELECT {}", calls.join(", ")))
}

/// Appends the messages that prepare the statements of `setup` and the session's own ones, each by name. With
/// the simple protocol the statements of `setup` are not prepared but sent as text.
pub(super) fn prepare(
    connection: &mut PostgresConnection,
    setup: &SessionSetup,
    types: &[Oids],
    pooled: bool,
) {
    let flushes = flushes(connection);
    let out = &mut connection.line.out;
    if setup.protocol == StatementProtocol::Simple && !pooled {
        // This replaces the statements, so that a session has the same number of transactions with each
        // protocol.
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

/// Whether a session can flush its statistics.
pub(super) fn flushes(connection: &PostgresConnection) -> bool {
    connection.server_version_num() >= SHARED_STATISTICS
}

/// The statement that begins a transaction.
pub(super) fn begin_words(isolation: Isolation) -> Cow<'static, str> {
    match isolation.words() {
        None => Cow::Borrowed("BEGIN"),
        Some(words) => Cow::Owned(format!("BEGIN ISOLATION LEVEL {words}")),
    }
}

/// How one statement is sent.
#[derive(Debug)]
enum PostgresStatementMessage {
    Bound(PostgresRequestTemplate),
    Text(PostgresTextStatement),
}

/// The messages that a session sends, built in advance.
#[derive(Debug)]
pub(super) struct PostgresSessionMessages {
    messages: Vec<PostgresStatementMessage>,
    /// The messages that also prepare their statement, used for its first execution on a connection, and
    /// whether each statement is prepared.
    first_use_templates: Vec<PostgresRequestTemplate>,
    is_prepared: Vec<bool>,
    /// Whether rows contain their values as text.
    pub(super) is_text: bool,
    edge: Vec<u8>,
    begin: Vec<u8>,
    commit: Vec<u8>,
    rollback: Vec<u8>,
}

impl PostgresSessionMessages {
    /// Builds the messages of the statements of `setup` in the mode `form`; `types` are the server's types of
    /// the parameters of each.
    pub(super) fn new(
        setup: &SessionSetup,
        form: &PostgresStatementMode,
        types: &[Oids],
        flushes: bool,
    ) -> Self {
        let statements = setup.statements.iter().zip(types);
        let query = |sql: &str| {
            let mut bytes = Vec::new();
            message::query(&mut bytes, sql);
            bytes
        };
        // A window boundary needs no settings.
        let bare = PostgresStatementMode { prepared: form.prepared, simple: false, before: Vec::new() };
        let mut edge = Vec::new();
        match flushes {
            true => edge.extend_from_slice(bare.template(&super::method::edge(), &[]).bytes()),
            // The server answers this message without any work.
            false => message::sync(&mut edge),
        }
        let at_first_use = form.prepared && setup.connect == Connect::Transaction;
        Self {
            first_use_templates: statements
                .clone()
                .filter(|_| at_first_use)
                .map(|(statement, types)| form.first_use_template(statement, types))
                .collect(),
            is_prepared: vec![true; setup.statements.len()],
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
    /// The statement does not exist, or a value does not have its parameter's type.
    #[inline]
    pub(super) fn execute(&mut self, id: StatementId, values: &[Value<'_>]) -> Result<&[u8], Box<OpError>> {
        let Self { messages, first_use_templates: firsts, is_prepared, .. } = self;
        match messages.get_mut(id.index()).ok_or_else(|| unknown(id))? {
            PostgresStatementMessage::Bound(template) => {
                let template = match firsts.get_mut(id.index()) {
                    Some(first) if !is_prepared[id.index()] => first,
                    _ => template,
                };
                template.fill(values)?;
                is_prepared[id.index()] = true;
                Ok(template.bytes())
            }
            PostgresStatementMessage::Text(text) => {
                text.fill(values)?;
                Ok(text.bytes())
            }
        }
    }

    /// Marks all statements as not prepared, for those that are prepared at their first use.
    pub(super) fn mark_unprepared(&mut self) {
        self.is_prepared.fill(false);
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
