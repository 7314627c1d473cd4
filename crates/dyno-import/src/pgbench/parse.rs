//! Parses pgbench's expressions, as its manual describes them, with types and operator precedence.

use dyno_plan::error::shown;
use dyno_workload::custom::syntax::{
    BITS, BinaryOp, COMPARED, NOT, Number, OPERATORS, SIGN, SourceText, UnaryOp, WorkloadError,
};

use super::functions::numeric_operation;
use super::lex::{PgbenchToken, tokens};
use super::typed::{PgbenchType, Typed, binary_expr, unary_expr};

/// The deepest nesting of parentheses, as for expressions of workloads.
const DEPTH_MAX: u32 = 40;

/// Looks up the variables of an expression and receives notes.
pub(super) trait Variables {
    /// The meaning of `name`, which is at byte `at` of `text`.
    fn variable(&mut self, name: &str, text: &SourceText, at: usize) -> Result<Typed, WorkloadError>;
    /// Notes a difference from pgbench.
    fn note(&mut self, text: &SourceText, at: usize, words: &str);
}

/// Parses the expression in `text` from byte `from` on.
///
/// # Errors
/// The text is not an expression, or pgbench would refuse it or fail on evaluation.
pub(super) fn expression(
    text: &SourceText,
    from: usize,
    variables: &mut dyn Variables,
) -> Result<Typed, WorkloadError> {
    let tokens = tokens(text, from)?;
    let mut parser = Parser { text, tokens, next: 0, depth: 0, variables };
    let typed = parser.binary(0)?;
    match parser.peek() {
        PgbenchToken::End => Ok(typed),
        _ => Err(parser.unexpected("an operator")),
    }
}

pub(super) struct Parser<'a> {
    pub(super) text: &'a SourceText,
    tokens: Vec<(PgbenchToken, usize)>,
    next: usize,
    depth: u32,
    pub(super) variables: &'a mut dyn Variables,
}

/// The precedence of `IS`. Operators have the signs and the order of those of workloads.
const IS: u8 = 4;

fn operator(token: &PgbenchToken) -> Option<(BinaryOp, u8)> {
    let token = match token {
        PgbenchToken::Word(word) => word.as_str(),
        PgbenchToken::Sign("!=") => "<>",
        PgbenchToken::Sign(sign) => sign,
        _ => return None,
    };
    OPERATORS.iter().find(|(sign, ..)| *sign == token).map(|&(_, closeness, two)| (two, closeness))
}

impl Parser<'_> {
    pub(super) fn peek(&self) -> &PgbenchToken {
        &self.tokens[self.next].0
    }

    pub(super) fn at(&self) -> usize {
        self.tokens[self.next].1
    }

    pub(super) fn advance(&mut self) {
        self.next = (self.next + 1).min(self.tokens.len() - 1);
    }

    pub(super) fn accept(&mut self, token: &PgbenchToken) -> bool {
        let matches = self.peek() == token;
        if matches {
            self.advance();
        }
        matches
    }

    pub(super) fn word(&mut self, word: &str) -> bool {
        self.accept(&PgbenchToken::Word(word.to_owned()))
    }

    pub(super) fn unexpected(&self, wanted: &str) -> WorkloadError {
        let problem = match self.peek() {
            PgbenchToken::End => "the expression is incomplete".to_owned(),
            PgbenchToken::Sign(sign) => format!("{sign} where {wanted} is expected"),
            PgbenchToken::Word(word) => format!("{} where {wanted} is expected", shown(word)),
            PgbenchToken::Variable(name) => format!(":{} where {wanted} is expected", shown(name)),
            PgbenchToken::Number(_) | PgbenchToken::OneTooMany => format!(
                "a number where {wanted} is \
                                                                           expected"
            ),
        };
        self.text.fault(self.at(), problem, format!("write {wanted}"))
    }

    pub(super) fn enter_nesting(&mut self) -> Result<(), WorkloadError> {
        self.depth += 1;
        match self.depth > DEPTH_MAX {
            true => Err(self.text.fault(
                self.at(),
                "parentheses are nested too deeply",
                "\\set parts of it first",
            )),
            false => Ok(()),
        }
    }

    pub(super) fn leave_nesting(&mut self) {
        self.depth -= 1;
    }

    /// Parses an expression of operators with a precedence above `least`.
    pub(super) fn binary(&mut self, least: u8) -> Result<Typed, WorkloadError> {
        let mut left = self.unary()?;
        let mut compared = false;
        loop {
            let at = self.at();
            if IS > least
                && let Some(is) = self.parse_is(&left)
            {
                left = is?;
                continue;
            }
            let Some((two, closeness)) = operator(self.peek()).filter(|(_, closeness)| *closeness > least)
            else {
                return Ok(left);
            };
            if closeness == COMPARED && std::mem::replace(&mut compared, true) {
                return Err(self.text.fault(
                    at,
                    "a comparison of a comparison",
                    "put one of them into parentheses",
                ));
            }
            self.advance();
            let right = self.binary(closeness)?;
            left = self.combined(two, left, right, at)?;
        }
    }

    /// Translates an operator with both operands.
    fn combined(&self, two: BinaryOp, x: Typed, y: Typed, at: usize) -> Result<Typed, WorkloadError> {
        if matches!(two, BinaryOp::And | BinaryOp::Or) {
            for side in [&x, &y] {
                if side.kind != PgbenchType::Bool {
                    let problem = format!("cannot coerce {} to boolean", side.kind.words());
                    return Err(self.text.fault(at, problem, "write a comparison on both sides"));
                }
            }
            return Ok(Typed { expr: binary_expr(two, x.expr, y.expr), kind: PgbenchType::Bool });
        }
        numeric_operation(self.text, two, x, y, at)
    }

    fn unary(&mut self) -> Result<Typed, WorkloadError> {
        let at = self.at();
        let (one, closeness) = match self.peek() {
            PgbenchToken::Sign("-") => (UnaryOp::Minus, SIGN),
            PgbenchToken::Sign("+") => {
                self.advance();
                self.enter_nesting()?;
                let inner = self.binary(SIGN)?;
                self.leave_nesting();
                return Ok(inner);
            }
            PgbenchToken::Sign("~") => (UnaryOp::Turned, BITS),
            PgbenchToken::Word(word) if word == "not" => (UnaryOp::Not, NOT),
            _ => return self.atom(),
        };
        self.advance();
        if one == UnaryOp::Minus && self.accept(&PgbenchToken::OneTooMany) {
            return Ok(Typed::number(Number::Int(i64::MIN)));
        }
        self.enter_nesting()?;
        let inner = self.binary(closeness)?;
        self.leave_nesting();
        let refuse = |to: &str| {
            let problem = format!("cannot coerce {} to {to}", inner.kind.words());
            Err(self.text.fault(at, problem, ""))
        };
        match (one, inner.kind) {
            (_, PgbenchType::Null) => Ok(Typed::null()),
            (UnaryOp::Not, PgbenchType::Bool) => {
                Ok(Typed { expr: unary_expr(one, inner.expr), kind: PgbenchType::Bool })
            }
            (UnaryOp::Not, _) => refuse("boolean"),
            (_, PgbenchType::Bool) => refuse("int"),
            (UnaryOp::Turned, _) => {
                Ok(Typed { expr: unary_expr(one, inner.whole()), kind: PgbenchType::Int })
            }
            (_, kind) => Ok(Typed { expr: unary_expr(one, inner.expr), kind }),
        }
    }

    fn atom(&mut self) -> Result<Typed, WorkloadError> {
        let (token, at) = self.tokens[self.next].clone();
        match token {
            PgbenchToken::Number(number) => {
                self.advance();
                Ok(Typed::number(number))
            }
            PgbenchToken::OneTooMany => {
                Err(self.text.fault(at, "9223372036854775808 is too large", "the largest number is one less"))
            }
            PgbenchToken::Variable(name) => {
                self.advance();
                self.variables.variable(&name, self.text, at)
            }
            PgbenchToken::Sign("(") => {
                self.advance();
                self.enter_nesting()?;
                let inner = self.binary(0)?;
                self.leave_nesting();
                self.expect(")")?;
                Ok(inner)
            }
            PgbenchToken::Word(word) => match word.as_str() {
                "true" | "false" => {
                    self.advance();
                    Ok(Typed::from_bool(word == "true"))
                }
                "null" => {
                    self.advance();
                    Ok(Typed::null())
                }
                "case" => self.parse_case(),
                "and" | "or" | "is" | "isnull" | "notnull" | "when" | "then" | "else" | "end" => {
                    Err(self.unexpected("a number, a :variable or a function"))
                }
                _ => {
                    self.advance();
                    self.parse_function_call(&word, at)
                }
            },
            PgbenchToken::Sign(_) | PgbenchToken::End => {
                Err(self.unexpected("a number, a :variable or a function"))
            }
        }
    }

    pub(super) fn expect(&mut self, sign: &'static str) -> Result<(), WorkloadError> {
        if self.accept(&PgbenchToken::Sign(sign)) { Ok(()) } else { Err(self.unexpected(sign)) }
    }
}
