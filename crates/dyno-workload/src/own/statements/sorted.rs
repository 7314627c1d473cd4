//! Which statements are none for a workload, and why.

use std::sync::Arc;

use dyno_engine::seen::Marks;

use super::text::{Read, Word};
use crate::own::fault::{File, Text};
use crate::own::sql::{Does, Kind, does, one, tokens_of_server};

/// Parameters of a statement that Dyno's reader takes at most.
const PARAMS_MAX: usize = crate::own::compile::PARAMS_MAX;

/// Why a statement is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Why {
    /// It is behind those that were asked for, in their order.
    Below,
    /// It was executed less often than was asked for, or nobody tells how often.
    Rare,
    /// There is no text of it.
    NoText,
    /// Its text is not all of it.
    Cut,
    /// It begins and ends transactions.
    Transactions,
    /// It is a block of PL/SQL.
    Block,
    /// It makes, changes or drops tables and the like.
    Tables,
    /// It is about settings of a session or the server.
    Settings,
    /// It is none of those that a transaction may have.
    Utility,
    /// It makes a table or a file of what it reads.
    Into,
    /// It reads catalogs and statistics, or asks a server about itself.
    System,
    /// It is about Dyno's own tables.
    Own,
    /// Dyno's reader refuses it.
    Unread,
}

impl Why {
    /// In words, which follow a number of statements.
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

/// How names of what a server tells of itself begin.
const SYSTEM_BEGINS: [&str; 5] = ["v$", "gv$", "v_$", "x$", "dba_"];

/// Whether a text is a block of PL/SQL.
pub(super) fn is_block(text: &str, marks: Marks) -> bool {
    let tokens = tokens_of_server(text, marks).unwrap_or_default();
    let first = tokens.into_iter().find(|token| token.kind != Kind::Comment);
    let begins = |word: &str| ["begin", "declare"].iter().any(|known| word.eq_ignore_ascii_case(known));
    marks == Marks::Colon && first.is_some_and(|token| begins(&text[token.at]))
}

/// What a statement does, with the text that Dyno's reader has of it; `schemas` are the server's own.
///
/// # Errors
/// Why it is none for a workload.
pub(super) fn sorted(read: &Read, marks: Marks, schemas: &[&str], system: bool) -> Result<Does, Why> {
    let first = read.words.first().map_or("", |word| word.letters.as_str());
    let is = |words: &[&str]| words.contains(&first);
    if is(&TRANSACTIONS) {
        return Err(Why::Transactions);
    }
    if is(&TABLES) {
        return Err(Why::Tables);
    }
    if is(&SETTINGS) {
        return Err(Why::Settings);
    }
    if !is(&DOING) {
        return Err(Why::Utility);
    }
    let sql = read.named(|place| format!("p{place}"));
    let text = Text::file(Arc::new(File { name: String::new(), text: sql }));
    let piece = one(&text).map_err(|_| Why::Unread)?;
    let does = does(&text, &piece).map_err(|_| Why::Unread)?;
    let same = piece.names(&text).all(|name| name.starts_with('p'));
    let places = read.parts.iter().filter(|part| matches!(part, super::text::Part::Param(_))).count();
    // What the reader would do is what the server has seen, with as many values.
    if !same
        || piece.params.len() != places
        || places > PARAMS_MAX
        || (marks == Marks::Question && piece.mark.is_some())
    {
        return Err(Why::Unread);
    }
    if does == Does::Reads
        && read.words.iter().any(|word| word.depth == 0 && !word.quoted && word.letters == "into")
    {
        return Err(Why::Into);
    }
    if read.words.iter().any(is_own) {
        return Err(Why::Own);
    }
    let asks = does == Does::Reads && asks_server(&read.words);
    if !system && (asks || read.words.iter().any(|word| is_system(word, marks, schemas))) {
        return Err(Why::System);
    }
    Ok(does)
}

/// Functions that tell of a server or a session, and change nothing.
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
/// Those of PostgreSQL that are work all the same.
const WORKING: [&str; 5] = ["pg_advisory", "pg_try_advisory", "pg_notify", "pg_sleep", "pg_logical_emit"];
/// How functions of PostgreSQL begin that tell those who watch a server of its state.
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
/// Words before a bracket that are no functions.
const NO_FUNCTIONS: [&str; 8] = ["in", "any", "all", "values", "and", "or", "select", "as"];

/// Whether a query reads no table, and calls nothing that may be work.
fn asks_server(words: &[Word]) -> bool {
    let tells = |word: &Word| {
        let name = word.letters.as_str();
        let asks = name.starts_with("pg_") && !WORKING.iter().any(|begin| name.starts_with(begin));
        asks || TELLING.contains(&name)
            || name.starts_with("has_")
            || name.starts_with("inet_")
            || NO_FUNCTIONS.contains(&name)
    };
    let is = |word: &Word, name: &str| !word.quoted && word.letters == name;
    is(&words[0], "select")
        && !words.iter().any(|word| is(word, "from"))
        && words.iter().filter(|word| word.behind == b'(').all(tells)
}

fn is_own(word: &Word) -> bool {
    (word.letters == "dyno" && word.behind == b'.') || word.letters.starts_with("dyno_")
}

fn is_system(word: &Word, marks: Marks, schemas: &[&str]) -> bool {
    let name = word.letters.as_str();
    // Functions such as pg_sleep() are no catalogs.
    let is_watching = WATCHING.iter().any(|begin| name.starts_with(begin));
    let catalog = marks == Marks::Dollar && name.starts_with("pg_") && (word.behind != b'(' || is_watching);
    let dictionary = marks == Marks::Colon
        && (name.ends_with('$') || SYSTEM_BEGINS.iter().any(|begin| name.starts_with(begin)));
    catalog || dictionary || (schemas.contains(&name) && word.behind == b'.')
}
