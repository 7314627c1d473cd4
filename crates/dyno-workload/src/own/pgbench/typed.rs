//! Expressions with the types that pgbench gives them, in the language of workloads.

use super::super::expr::{Expr, One, Two};
use super::super::value::Number;

/// What an expression of pgbench is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Null,
    Bool,
    Int,
    Real,
}

impl Kind {
    /// Its name, as pgbench says it.
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool => "boolean",
            Self::Int => "int",
            Self::Real => "double",
        }
    }
}

/// An expression and what it is. Slots are places in the list of names that are given to the printer.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Typed {
    pub(super) expr: Expr,
    pub(super) kind: Kind,
}

impl Typed {
    pub(super) fn number(number: Number) -> Self {
        let kind = if matches!(number, Number::Int(_)) { Kind::Int } else { Kind::Real };
        Self { expr: Expr::Is(number), kind }
    }

    pub(super) fn truth(holds: bool) -> Self {
        Self { expr: Expr::Is(Number::truth(holds)), kind: Kind::Bool }
    }

    pub(super) fn null() -> Self {
        Self { expr: Expr::Is(Number::Int(0)), kind: Kind::Null }
    }

    /// The number that it always is, if it is.
    pub(super) fn constant(&self) -> Option<Number> {
        match self.expr {
            Expr::Is(number) => Some(number),
            _ => None,
        }
    }

    /// As a whole number: the nearest one.
    pub(super) fn whole(self) -> Expr {
        match self.kind {
            Kind::Real => of(One::Round, self.expr),
            _ => self.expr,
        }
    }

    /// As a floating-point number.
    pub(super) fn real(self) -> Expr {
        match self.kind {
            Kind::Real => self.expr,
            _ => of(One::Real, self.expr),
        }
    }
}

/// `one` of `x`, computed where that is known.
pub(super) fn of(one: One, x: Expr) -> Expr {
    match x {
        Expr::Is(number) => Expr::Is(one.of(number)),
        x => Expr::Of(one, Box::new(x)),
    }
}

/// `two` of `x` and `y`, computed where both are known.
pub(super) fn both(two: Two, x: Expr, y: Expr) -> Expr {
    match (&x, &y) {
        (Expr::Is(Number::Int(1)), _) if two == Two::Times => y,
        (Expr::Is(x), Expr::Is(y)) => Expr::Is(two.of(*x, *y)),
        _ => Expr::Both(two, Box::new(x), Box::new(y)),
    }
}
