//! pgbench's expressions, as its manual describes them: by how closely operators bind, with the types of what they are made of.

use super::super::expr::{One, Two};
use super::super::fault::{Fault, Text};
use super::super::names::shown;
use super::super::value::Number;
use super::functions::numbers;
use super::lex::{Token, tokens};
use super::typed::{Kind, Typed, both, of};

/// Brackets within each other, at most: as many as a workload's expression may have.
const DEPTH_MAX: u32 = 40;

/// What a variable is at this place; and what the seed of hashes is.
pub(super) trait Variables {
    /// What `name`, which stands at byte `at` of `text`, is.
    fn variable(&mut self, name: &str, text: &Text, at: usize) -> Result<Typed, Fault>;
    /// Something pgbench would say here is not said.
    fn note(&mut self, text: &Text, at: usize, words: &str);
}

/// The expression that `text` holds from byte `from` on.
///
/// # Errors
/// It is none, or pgbench would refuse it, or give up when it comes to it.
pub(super) fn expression(text: &Text, from: usize, variables: &mut dyn Variables) -> Result<Typed, Fault> {
    let tokens = tokens(text, from)?;
    let mut parser = Parser { text, tokens, next: 0, depth: 0, variables };
    let typed = parser.binary(0)?;
    match parser.look() {
        Token::End => Ok(typed),
        _ => Err(parser.unexpected("an operator")),
    }
}

pub(super) struct Parser<'a> {
    pub(super) text: &'a Text,
    tokens: Vec<(Token, usize)>,
    next: usize,
    depth: u32,
    pub(super) variables: &'a mut dyn Variables,
}

/// How closely operators bind, as in the table of the manual.
const OR: u8 = 1;
const AND: u8 = 2;
const NOT: u8 = 3;
const IS: u8 = 4;
const COMPARED: u8 = 5;
const BITS: u8 = 6;
const SIGN: u8 = 9;

fn operator(token: &Token) -> Option<(Two, u8)> {
    Some(match token {
        Token::Word(word) => match word.as_str() {
            "or" => (Two::Or, OR),
            "and" => (Two::And, AND),
            _ => return None,
        },
        Token::Sign(sign) => match *sign {
            "=" => (Two::Equal, COMPARED),
            "<>" | "!=" => (Two::Unequal, COMPARED),
            "<" => (Two::Less, COMPARED),
            "<=" => (Two::AtMost, COMPARED),
            ">" => (Two::More, COMPARED),
            ">=" => (Two::AtLeast, COMPARED),
            "|" => (Two::BitOr, BITS),
            "#" => (Two::BitXor, BITS),
            "&" => (Two::BitAnd, BITS),
            "<<" => (Two::ShiftLeft, BITS),
            ">>" => (Two::ShiftRight, BITS),
            "+" => (Two::Plus, 7),
            "-" => (Two::Minus, 7),
            "*" => (Two::Times, 8),
            "/" => (Two::Divided, 8),
            "%" => (Two::Rest, 8),
            _ => return None,
        },
        _ => return None,
    })
}

impl Parser<'_> {
    pub(super) fn look(&self) -> &Token {
        &self.tokens[self.next].0
    }

    pub(super) fn at(&self) -> usize {
        self.tokens[self.next].1
    }

    pub(super) fn go(&mut self) {
        self.next = (self.next + 1).min(self.tokens.len() - 1);
    }

    pub(super) fn takes(&mut self, token: &Token) -> bool {
        let found = self.look() == token;
        if found {
            self.go();
        }
        found
    }

    pub(super) fn word(&mut self, word: &str) -> bool {
        self.takes(&Token::Word(word.to_owned()))
    }

    pub(super) fn unexpected(&self, wanted: &str) -> Fault {
        let problem = match self.look() {
            Token::End => "the expression ends too soon".to_owned(),
            Token::Sign(sign) => format!("{sign} where {wanted} is due"),
            Token::Word(word) => format!("{} where {wanted} is due", shown(word)),
            Token::Variable(name) => format!(":{} where {wanted} is due", shown(name)),
            Token::Number(_) | Token::OneTooMany => format!("a number where {wanted} is due"),
        };
        self.text.fault(self.at(), problem, format!("write {wanted}"))
    }

    pub(super) fn deeper(&mut self) -> Result<(), Fault> {
        self.depth += 1;
        match self.depth > DEPTH_MAX {
            true => Err(self.text.fault(
                self.at(),
                "too many brackets within each other",
                "\\set parts of it first",
            )),
            false => Ok(()),
        }
    }

    pub(super) fn shallower(&mut self) {
        self.depth -= 1;
    }

    /// An expression of operators that bind more closely than `least`.
    pub(super) fn binary(&mut self, least: u8) -> Result<Typed, Fault> {
        let mut left = self.unary()?;
        let mut compared = false;
        loop {
            let at = self.at();
            if IS > least
                && let Some(is) = self.is(&left)
            {
                left = is?;
                continue;
            }
            let Some((two, closeness)) = operator(self.look()).filter(|(_, closeness)| *closeness > least)
            else {
                return Ok(left);
            };
            if closeness == COMPARED && std::mem::replace(&mut compared, true) {
                return Err(self.text.fault(
                    at,
                    "a comparison of a comparison",
                    "put one of them into brackets",
                ));
            }
            self.go();
            let right = self.binary(closeness)?;
            left = self.combined(two, left, right, at)?;
        }
    }

    /// What an operator makes of both its sides.
    fn combined(&self, two: Two, x: Typed, y: Typed, at: usize) -> Result<Typed, Fault> {
        if matches!(two, Two::And | Two::Or) {
            for side in [&x, &y] {
                if side.kind != Kind::Bool {
                    let problem = format!("cannot coerce {} to boolean", side.kind.words());
                    return Err(self.text.fault(at, problem, "write a comparison on both sides"));
                }
            }
            return Ok(Typed { expr: both(two, x.expr, y.expr), kind: Kind::Bool });
        }
        numbers(self.text, two, x, y, at)
    }

    fn unary(&mut self) -> Result<Typed, Fault> {
        let at = self.at();
        let (one, closeness) = match self.look() {
            Token::Sign("-") => (One::Minus, SIGN),
            Token::Sign("+") => {
                self.go();
                self.deeper()?;
                let inner = self.binary(SIGN)?;
                self.shallower();
                return Ok(inner);
            }
            Token::Sign("~") => (One::Turned, BITS),
            Token::Word(word) if word == "not" => (One::Not, NOT),
            _ => return self.atom(),
        };
        self.go();
        if one == One::Minus && self.takes(&Token::OneTooMany) {
            return Ok(Typed::number(Number::Int(i64::MIN)));
        }
        self.deeper()?;
        let inner = self.binary(closeness)?;
        self.shallower();
        let refuse = |to: &str| {
            let problem = format!("cannot coerce {} to {to}", inner.kind.words());
            Err(self.text.fault(at, problem, ""))
        };
        match (one, inner.kind) {
            (_, Kind::Null) => Ok(Typed::null()),
            (One::Not, Kind::Bool) => Ok(Typed { expr: of(one, inner.expr), kind: Kind::Bool }),
            (One::Not, _) => refuse("boolean"),
            (_, Kind::Bool) => refuse("int"),
            (One::Turned, _) => Ok(Typed { expr: of(one, inner.whole()), kind: Kind::Int }),
            (_, kind) => Ok(Typed { expr: of(one, inner.expr), kind }),
        }
    }

    fn atom(&mut self) -> Result<Typed, Fault> {
        let (token, at) = self.tokens[self.next].clone();
        match token {
            Token::Number(number) => {
                self.go();
                Ok(Typed::number(number))
            }
            Token::OneTooMany => {
                Err(self.text.fault(at, "9223372036854775808 is too large", "the largest number is one less"))
            }
            Token::Variable(name) => {
                self.go();
                self.variables.variable(&name, self.text, at)
            }
            Token::Sign("(") => {
                self.go();
                self.deeper()?;
                let inner = self.binary(0)?;
                self.shallower();
                self.expect(")")?;
                Ok(inner)
            }
            Token::Word(word) => match word.as_str() {
                "true" | "false" => {
                    self.go();
                    Ok(Typed::truth(word == "true"))
                }
                "null" => {
                    self.go();
                    Ok(Typed::null())
                }
                "case" => self.case(),
                "and" | "or" | "is" | "isnull" | "notnull" | "when" | "then" | "else" | "end" => {
                    Err(self.unexpected("a number, a :variable or a function"))
                }
                _ => {
                    self.go();
                    self.call(&word, at)
                }
            },
            Token::Sign(_) | Token::End => Err(self.unexpected("a number, a :variable or a function")),
        }
    }

    pub(super) fn expect(&mut self, sign: &'static str) -> Result<(), Fault> {
        if self.takes(&Token::Sign(sign)) { Ok(()) } else { Err(self.unexpected(sign)) }
    }
}
