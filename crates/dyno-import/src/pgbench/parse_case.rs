//! Parses `CASE` and `IS` in pgbench's expressions.

use dyno_workload::custom::syntax::{Expr, UnaryOp, WorkloadError};

use super::parse::Parser;
use super::typed::{PgbenchType, Typed, unary_expr};

impl Parser<'_> {
    /// Parses `IS NOT NULL` and similar tests after an operand; `None` if there is none.
    pub(super) fn parse_is(&mut self, left: &Typed) -> Option<Result<Typed, WorkloadError>> {
        let is_null = left.kind == PgbenchType::Null;
        if self.word("isnull") {
            return Some(Ok(Typed::from_bool(is_null)));
        }
        if self.word("notnull") {
            return Some(Ok(Typed::from_bool(!is_null)));
        }
        if !self.word("is") {
            return None;
        }
        let not = self.word("not");
        let is = if self.word("null") {
            Typed::from_bool(is_null)
        } else if self.word("true") {
            if left.kind == PgbenchType::Bool { left.clone() } else { Typed::from_bool(false) }
        } else if self.word("false") {
            match left.kind {
                PgbenchType::Bool => {
                    Typed { expr: unary_expr(UnaryOp::Not, left.expr.clone()), kind: PgbenchType::Bool }
                }
                _ => Typed::from_bool(false),
            }
        } else {
            return Some(Err(self.unexpected("NULL, TRUE or FALSE")));
        };
        Some(Ok(if not {
            Typed { expr: unary_expr(UnaryOp::Not, is.expr), kind: PgbenchType::Bool }
        } else {
            is
        }))
    }

    /// Parses `CASE WHEN … THEN … ELSE … END`.
    pub(super) fn parse_case(&mut self) -> Result<Typed, WorkloadError> {
        let begin = self.at();
        self.advance();
        self.enter_nesting()?;
        let mut arms = Vec::new();
        while self.word("when") {
            let condition = self.binary(0)?;
            if !self.word("then") {
                return Err(self.unexpected("THEN"));
            }
            arms.push((condition, self.binary(0)?));
        }
        if arms.is_empty() {
            return Err(self.unexpected("WHEN"));
        }
        let otherwise = if self.word("else") { Some(self.binary(0)?) } else { None };
        if !self.word("end") {
            return Err(self.unexpected("WHEN, ELSE or END"));
        }
        self.leave_nesting();
        let Some(otherwise) = otherwise else {
            let problem =
                "CASE without ELSE is NULL where nothing holds, and a value of a workload is always a number";
            return Err(self.text.fault(begin, problem, "write ELSE"));
        };
        let kind = otherwise.kind;
        if kind == PgbenchType::Null || arms.iter().any(|(_, value)| value.kind != kind) {
            let problem = "the values of CASE have different types";
            return Err(self.text.fault(
                begin,
                problem,
                "write double(…) or int(…) around some, so that all are alike",
            ));
        }
        let fold = |otherwise: Expr, (condition, value): (Typed, Typed)| match condition.constant() {
            Some(number) if condition.kind == PgbenchType::Null || !number.is_true() => otherwise,
            Some(_) => value.expr,
            None => Expr::If(Box::new([condition.expr, value.expr, otherwise])),
        };
        let expr = arms.into_iter().rev().fold(otherwise.expr, fold);
        Ok(Typed { expr, kind })
    }
}
