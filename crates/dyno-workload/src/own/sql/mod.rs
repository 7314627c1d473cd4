//! SQL as far as it has to be understood: where statements end, where their parameters are, and what they do.

mod does;
mod lex;
mod split;
mod step;
mod touches;

pub(super) use does::{Does, created_kind, does};
pub(super) use lex::{Kind, Token, tokens_of_server};
pub(super) use split::{Piece, one, split};
pub(super) use step::does_as_step;
pub(super) use touches::touches;
