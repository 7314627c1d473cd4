//! Decides which statements are suitable for a workload.

use dyno_engine::executed_statements::PlaceholderStyle;
use dyno_engine::sql_tokens::{SqlTokenKind, tokens_of_server};
use dyno_workload::custom::syntax::{
    PARAMS_MAX, SourceText, StatementEffect, classify_statement, single_statement,
};

use super::text::{ParsedStatement, StatementWord};

/// Why a statement is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SkipReason {
    /// More statements than requested come before it.
    Below,
    /// It was executed less often than requested, or the number is unknown.
    Rare,
    /// The source has no text of it.
    NoText,
    /// The source has only part of its text.
    Cut,
    /// It begins or ends transactions.
    Transactions,
    /// It is a PL/SQL block.
    Block,
    /// It creates, changes or drops tables or other objects.
    Tables,
    /// It changes settings of a session or the server.
    Settings,
    /// It is a kind of statement that transactions cannot contain.
    Utility,
    /// It stores its result in a table or file.
    Into,
    /// It reads catalogs or statistics, or asks a server about itself.
    System,
    /// It uses Dyno's own tables.
    Own,
    /// Dyno's own reader does not accept it.
    Unread,
}

impl SkipReason {
    /// The reason as text, to follow a number of statements.
    pub fn words(self) -> &'static str {
        match self {
            Self::Below => "behind those that were asked for (--top)",
            Self::Rare => "executed too rarely (--min-calls), or nobody tells how often",
            Self::NoText => "no text: the source has none, or this user may not see it",
            Self::Cut => "the source has the beginning of the text only",
            Self::Transactions => "begin and end of transactions: steps and `commit` of a workload say these",
            Self::Block => "blocks of PL/SQL; CALL is a statement of workloads",
            Self::Tables => "makes, changes or drops tables and the like",
            Self::Settings => "settings",
            Self::Utility => "no SELECT, VALUES, TABLE, WITH, INSERT, UPDATE, DELETE, MERGE, REPLACE or CALL",
            Self::Into => "SELECT … INTO, which makes a table or a file",
            Self::System => {
                "catalogs, statistics, and what drivers and monitoring ask of a server (--system takes these, too)"
            }
            Self::Own => "Dyno's own tables",
            Self::Unread => "Dyno's reader does not take the text",
        }
    }
}

const TRANSACTIONS: [&str; 8] =
    ["begin", "start", "commit", "end", "rollback", "abort", "savepoint", "release"];
const TABLES: [&str; 16] = [
    "create", "drop", "alter", "truncate", "grant", "revoke", "analyze", "vacuum", "comment", "reindex",
    "cluster", "refresh", "rename", "optimize", "flush", "repair",
];
const SETTINGS: [&str; 5] = ["set", "reset", "show", "use", "discard"];
const DOING: [&str; 10] =
    ["select", "values", "table", "with", "insert", "update", "delete", "merge", "replace", "call"];

/// Prefixes of names with information about the server.
const SYSTEM_BEGINS: [&str; 5] = ["v$", "gv$", "v_$", "x$", "dba_"];

/// Whether a text is a PL/SQL block.
pub(super) fn is_block(text: &str, marks: PlaceholderStyle) -> bool {
    let tokens = tokens_of_server(text, marks).unwrap_or_default();
    let first = tokens.into_iter().find(|token| token.kind != SqlTokenKind::Comment);
    let begins = |word: &str| ["begin", "declare"].iter().any(|known| word.eq_ignore_ascii_case(known));
    marks == PlaceholderStyle::Colon && first.is_some_and(|token| begins(&text[token.at]))
}

/// The effect of a statement that is suitable for a workload; `schemas` are the server's own schemas.
///
/// # Errors
/// Why the statement is not suitable.
pub(super) fn classify_observed(
    read: &ParsedStatement,
    marks: PlaceholderStyle,
    schemas: &[&str],
    system: bool,
) -> Result<StatementEffect, SkipReason> {
    let first = read.words.first().map_or("", |word| word.letters.as_str());
    let is = |words: &[&str]| words.contains(&first);
    if is(&TRANSACTIONS) {
        return Err(SkipReason::Transactions);
    }
    if is(&TABLES) {
        return Err(SkipReason::Tables);
    }
    if is(&SETTINGS) {
        return Err(SkipReason::Settings);
    }
    if !is(&DOING) {
        return Err(SkipReason::Utility);
    }
    let sql = read.named(|place| format!("p{place}"));
    let text = SourceText::new("", &sql);
    let piece = single_statement(&text).map_err(|_| SkipReason::Unread)?;
    let does = classify_statement(&text, &piece).map_err(|_| SkipReason::Unread)?;
    let same = piece.names(&text).all(|name| name.starts_with('p'));
    let places =
        read.parts.iter().filter(|part| matches!(part, super::text::StatementPart::Param(_))).count();
    // Dyno's reader must see the same statement as the server, with the same number of values.
    if !same
        || piece.params.len() != places
        || places > PARAMS_MAX
        || (marks == PlaceholderStyle::Question && piece.mark.is_some())
    {
        return Err(SkipReason::Unread);
    }
    if does == StatementEffect::Reads
        && read.words.iter().any(|word| word.depth == 0 && !word.quoted && word.letters == "into")
    {
        return Err(SkipReason::Into);
    }
    if read.words.iter().any(is_dyno_object) {
        return Err(SkipReason::Own);
    }
    let asks = does == StatementEffect::Reads && asks_server(&read.words);
    if !system && (asks || read.words.iter().any(|word| is_system(word, marks, schemas))) {
        return Err(SkipReason::System);
    }
    Ok(does)
}

/// Functions that describe a server or session and change nothing.
const TELLING: [&str; 23] = [
    "version",
    "current_database",
    "current_schema",
    "current_schemas",
    "current_setting",
    "format_type",
    "host",
    "to_regclass",
    "obj_description",
    "set_config",
    "database",
    "schema",
    "user",
    "connection_id",
    "current_user",
    "session_user",
    "system_user",
    "last_insert_id",
    "sys_context",
    "userenv",
    "now",
    "coalesce",
    "concat",
];
/// PostgreSQL functions with such prefixes that nevertheless do work.
const WORKING: [&str; 5] = ["pg_advisory", "pg_try_advisory", "pg_notify", "pg_sleep", "pg_logical_emit"];
/// Prefixes of PostgreSQL functions for monitoring.
const WATCHING: [&str; 10] = [
    "pg_stat_",
    "pg_postmaster_",
    "pg_conf_",
    "pg_current_wal",
    "pg_last_",
    "pg_wal_",
    "pg_is_in_recovery",
    "pg_control_",
    "pg_lock_status",
    "pg_ls_",
];
/// Words before a parenthesis that are not functions.
const NO_FUNCTIONS: [&str; 8] = ["in", "any", "all", "values", "and", "or", "select", "as"];

/// Whether a query reads no table and calls no function that could do work.
fn asks_server(words: &[StatementWord]) -> bool {
    let tells = |word: &StatementWord| {
        let name = word.letters.as_str();
        let asks = name.starts_with("pg_") && !WORKING.iter().any(|begin| name.starts_with(begin));
        asks || TELLING.contains(&name)
            || name.starts_with("has_")
            || name.starts_with("inet_")
            || NO_FUNCTIONS.contains(&name)
    };
    let is = |word: &StatementWord, name: &str| !word.quoted && word.letters == name;
    is(&words[0], "select")
        && !words.iter().any(|word| is(word, "from"))
        && words.iter().filter(|word| word.behind == b'(').all(tells)
}

fn is_dyno_object(word: &StatementWord) -> bool {
    (word.letters == "dyno" && word.behind == b'.') || word.letters.starts_with("dyno_")
}

fn is_system(word: &StatementWord, marks: PlaceholderStyle, schemas: &[&str]) -> bool {
    let name = word.letters.as_str();
    // Functions such as pg_sleep() do not read catalogs.
    let is_watching = WATCHING.iter().any(|begin| name.starts_with(begin));
    let catalog =
        marks == PlaceholderStyle::Dollar && name.starts_with("pg_") && (word.behind != b'(' || is_watching);
    let dictionary = marks == PlaceholderStyle::Colon
        && (name.ends_with('$') || SYSTEM_BEGINS.iter().any(|begin| name.starts_with(begin)));
    catalog || dictionary || (schemas.contains(&name) && word.behind == b'.')
}
