//! Parses SQL as far as necessary: the end of statements, their parameters, and their effect.

mod does;
mod lex;
mod split;
mod step;
mod touches;

pub(super) use does::{StatementEffect, classify_statement, created_kind};
pub(super) use lex::{SqlToken, SqlTokenKind, tokens_of_server};
pub(super) use split::{SplitStatement, single_statement, split};
pub(super) use step::classify_step;
pub(super) use touches::touched_objects;
