//! Conditions within expressions: `CASE`, and what `IS` asks.

use super::super::expr::{Expr, One};
use super::super::fault::Fault;
use super::parse::Parser;
use super::typed::{Kind, Typed, of};

impl Parser<'_> {
    /// `x IS NOT NULL` and the like, if that follows.
    pub(super) fn is(&mut self, left: &Typed) -> Option<Result<Typed, Fault>> {
        let is_null = left.kind == Kind::Null;
        if self.word("isnull") {
            return Some(Ok(Typed::truth(is_null)));
        }
        if self.word("notnull") {
            return Some(Ok(Typed::truth(!is_null)));
        }
        if !self.word("is") {
            return None;
        }
        let not = self.word("not");
        let is = if self.word("null") {
            Typed::truth(is_null)
        } else if self.word("true") {
            if left.kind == Kind::Bool { left.clone() } else { Typed::truth(false) }
        } else if self.word("false") {
            match left.kind {
                Kind::Bool => Typed { expr: of(One::Not, left.expr.clone()), kind: Kind::Bool },
                _ => Typed::truth(false),
            }
        } else {
            return Some(Err(self.unexpected("NULL, TRUE or FALSE")));
        };
        Some(Ok(if not { Typed { expr: of(One::Not, is.expr), kind: Kind::Bool } } else { is }))
    }

    /// `CASE WHEN … THEN … ELSE … END`
    pub(super) fn case(&mut self) -> Result<Typed, Fault> {
        let begin = self.at();
        self.go();
        self.deeper()?;
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
        self.shallower();
        let Some(otherwise) = otherwise else {
            let problem =
                "CASE without ELSE is NULL where nothing holds, and a value of a workload is always a number";
            return Err(self.text.fault(begin, problem, "write ELSE"));
        };
        let kind = otherwise.kind;
        if kind == Kind::Null || arms.iter().any(|(_, value)| value.kind != kind) {
            let problem = "the values of CASE have different types";
            return Err(self.text.fault(
                begin,
                problem,
                "write double(…) or int(…) around some, so that all are alike",
            ));
        }
        let fold = |otherwise: Expr, (condition, value): (Typed, Typed)| match condition.constant() {
            Some(number) if condition.kind == Kind::Null || !number.holds() => otherwise,
            Some(_) => value.expr,
            None => Expr::If(Box::new([condition.expr, value.expr, otherwise])),
        };
        let expr = arms.into_iter().rev().fold(otherwise.expr, fold);
        Ok(Typed { expr, kind })
    }
}
