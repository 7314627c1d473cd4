//! Expressions of workloads with their types in pgbench.

use dyno_workload::custom::syntax::{BinaryOp, Expr, Number, UnaryOp};

/// The type of an expression in pgbench.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PgbenchType {
    Null,
    Bool,
    Int,
    Real,
}

impl PgbenchType {
    /// Its name in pgbench's messages.
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool => "boolean",
            Self::Int => "int",
            Self::Real => "double",
        }
    }
}

/// An expression with its type. Its slots are indices into the list of names that the printer receives.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Typed {
    pub(super) expr: Expr,
    pub(super) kind: PgbenchType,
}

impl Typed {
    pub(super) fn number(number: Number) -> Self {
        let kind = if matches!(number, Number::Int(_)) { PgbenchType::Int } else { PgbenchType::Real };
        Self { expr: Expr::Is(number), kind }
    }

    pub(super) fn from_bool(holds: bool) -> Self {
        Self { expr: Expr::Is(Number::from_bool(holds)), kind: PgbenchType::Bool }
    }

    pub(super) fn null() -> Self {
        Self { expr: Expr::Is(Number::Int(0)), kind: PgbenchType::Null }
    }

    /// Its constant value; `None` if it is not constant.
    pub(super) fn constant(&self) -> Option<Number> {
        match self.expr {
            Expr::Is(number) => Some(number),
            _ => None,
        }
    }

    /// Converts it to a whole number, rounded to the nearest.
    pub(super) fn whole(self) -> Expr {
        match self.kind {
            PgbenchType::Real => unary_expr(UnaryOp::Round, self.expr),
            _ => self.expr,
        }
    }

    pub(super) fn real(self) -> Expr {
        match self.kind {
            PgbenchType::Real => self.expr,
            _ => unary_expr(UnaryOp::Real, self.expr),
        }
    }
}

/// Applies `operator` to `x`; evaluates the result if `x` is constant.
pub(super) fn unary_expr(operator: UnaryOp, x: Expr) -> Expr {
    match x {
        Expr::Is(number) => Expr::Is(operator.apply(number)),
        x => Expr::Of(operator, Box::new(x)),
    }
}

/// Applies `two` to `x` and `y`; evaluates the result if both are constant.
pub(super) fn binary_expr(two: BinaryOp, x: Expr, y: Expr) -> Expr {
    match (&x, &y) {
        (Expr::Is(Number::Int(1)), _) if two == BinaryOp::Times => y,
        (Expr::Is(x), Expr::Is(y)) => Expr::Is(two.apply(*x, *y)),
        _ => Expr::Both(two, Box::new(x), Box::new(y)),
    }
}
