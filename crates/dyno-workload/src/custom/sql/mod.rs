//! Parses SQL as far as necessary: the end of statements, their parameters, and their effect.

mod changes;
mod effect;
mod split;
mod step;

pub(super) use changes::touched_objects;
pub(super) use effect::created_kind;
pub use effect::{StatementEffect, classify_statement};
pub(super) use split::split;
pub use split::{SplitStatement, single_statement};
pub use step::classify_step;
