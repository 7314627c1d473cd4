//! The language of workloads, for crates that translate files of other tools into it.
//!
//! Texts with places for errors ([`SourceText`]), expressions ([`Expr`]), SQL ([`single_statement`],
//! [`classify_step`]), names, and the limits of Dyno's own reader.

pub use super::compile::PARAMS_MAX;
pub use super::expr::{BITS, BinaryOp, COMPARED, Expr, NOT, OPERATORS, RandomFunction, SIGN, UnaryOp};
pub use super::fault::{SourceText, WorkloadError};
pub use super::missing_generators::TODO;
pub use super::names::{is_name, meant};
pub use super::read_transaction::WEIGHT_MAX;
pub use super::scale::SCALE;
pub use super::sql::{SplitStatement, StatementEffect, classify_statement, classify_step, single_statement};
pub use super::value::Number;
