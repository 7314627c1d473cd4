//! Parses SQL as far as necessary: the end of statements, their parameters, and their effect.

mod changes;
mod effect;
mod lex;
mod split;
mod step;

pub(super) use changes::touched_objects;
pub(super) use effect::{StatementEffect, classify_statement, created_kind};
pub(super) use lex::{SqlToken, SqlTokenKind, tokens_of_server};
pub(super) use split::{SplitStatement, single_statement, split};
pub(super) use step::classify_step;
