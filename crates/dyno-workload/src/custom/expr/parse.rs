//! Parses expressions by precedence climbing.

use std::ops::Range;

use super::syntax::{FUNCTIONS, function, number, number_end};
use super::{BinaryOp, Expr, UnaryOp};
use crate::custom::fault::{SourceText, WorkloadError};
use crate::custom::names::{meant, shown};

/// The deepest nesting of parentheses.
const DEPTH_MAX: u32 = 40;

/// The longest expression in characters: recursion over its length must fit on the stack.
const LETTERS_MAX: usize = 1_000;

/// Words that cannot be names.
const WORDS: [&str; 3] = ["and", "or", "not"];

/// Parses `text`; `slot` returns the slot of a name.
///
/// # Errors
/// The text is not an expression; or an error of `slot`, which receives the place of the name.
pub(in crate::custom) fn parse(
    text: &SourceText,
    slot: &mut dyn FnMut(&str, usize) -> Result<u16, WorkloadError>,
) -> Result<Expr, WorkloadError> {
    if text.letters.len() > LETTERS_MAX {
        return Err(text.fault(
            0,
            "an expression of more than 1,000 letters",
            "draw parts of it under separate names",
        ));
    }
    let mut parser = Parser { text, at: 0, depth: 0, slot };
    let expr = parser.binary(0)?;
    match parser.peek()? {
        Token { kind: Kind::End, .. } => Ok(expr),
        other => Err(parser.unexpected(&other, "an operator")),
    }
}

struct Parser<'a> {
    text: &'a SourceText,
    at: usize,
    depth: u32,
    slot: &'a mut dyn FnMut(&str, usize) -> Result<u16, WorkloadError>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Name,
    Number,
    Sign,
    End,
}

struct Token {
    kind: Kind,
    at: Range<usize>,
}

/// Operators with two operands, and their precedence.
pub const OPERATORS: [(&str, u8, BinaryOp); 18] = [
    ("or", 1, BinaryOp::Or),
    ("and", 2, BinaryOp::And),
    ("<>", COMPARED, BinaryOp::Unequal),
    ("<=", COMPARED, BinaryOp::AtMost),
    (">=", COMPARED, BinaryOp::AtLeast),
    ("=", COMPARED, BinaryOp::Equal),
    ("<", COMPARED, BinaryOp::Less),
    (">", COMPARED, BinaryOp::More),
    ("<<", BITS, BinaryOp::ShiftLeft),
    (">>", BITS, BinaryOp::ShiftRight),
    ("|", BITS, BinaryOp::BitOr),
    ("#", BITS, BinaryOp::BitXor),
    ("&", BITS, BinaryOp::BitAnd),
    ("+", 7, BinaryOp::Plus),
    ("-", 7, BinaryOp::Minus),
    ("*", 8, BinaryOp::Times),
    ("/", 8, BinaryOp::Divided),
    ("%", 8, BinaryOp::Rest),
];
/// The precedence of comparisons; 4 is that of tests which other languages have between `not` and these.
pub const COMPARED: u8 = 5;
/// The precedence of bit operators.
pub const BITS: u8 = 6;
/// The precedence of `not`: lower than comparisons, higher than `and`.
pub const NOT: u8 = 3;
/// The precedence of a sign.
pub const SIGN: u8 = 9;

impl Parser<'_> {
    fn letters(&self, token: &Token) -> &str {
        &self.text.letters[token.at.clone()]
    }

    /// The next token, without consuming it.
    fn peek(&self) -> Result<Token, WorkloadError> {
        let bytes = self.text.letters.as_bytes();
        let begin = self.at + bytes[self.at..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        let run = |of: fn(&u8) -> bool| begin + bytes[begin..].iter().take_while(|byte| of(byte)).count();
        let (kind, end) = match bytes.get(begin) {
            None => (Kind::End, begin),
            Some(b'0'..=b'9') => (Kind::Number, number_end(bytes, begin)),
            Some(byte) if byte.is_ascii_alphabetic() => {
                (Kind::Name, run(|byte| byte.is_ascii_alphanumeric() || *byte == b'_'))
            }
            Some(_) => (Kind::Sign, self.sign(begin)?),
        };
        Ok(Token { kind, at: begin..end })
    }

    /// The end of the operator at `begin`.
    fn sign(&self, begin: usize) -> Result<usize, WorkloadError> {
        let rest = &self.text.letters[begin..];
        for (foreign, ours) in [("==", "="), ("!=", "<>"), ("&&", "and"), ("||", "or"), ("!", "not")] {
            if rest.starts_with(foreign) {
                return Err(self.text.fault(
                    begin,
                    format!("{foreign} is not an operator"),
                    format!("write {ours}"),
                ));
            }
        }
        let signs = OPERATORS.iter().map(|(sign, ..)| *sign).chain(["(", ")", ",", "~"]);
        let length = signs.filter(|sign| rest.starts_with(sign)).map(str::len).max();
        length.map(|length| begin + length).ok_or_else(|| {
            let first: String = rest.chars().take(1).collect();
            let hint = "numbers, names, + - * / %, = <> < <= > >=, | # & ~ << >>, and, or, not, and functions as min and max";
            self.text.fault(begin, format!("{} is not an operator", shown(&first)), hint)
        })
    }

    fn unexpected(&self, token: &Token, wanted: &str) -> WorkloadError {
        let problem = match token.kind {
            Kind::End => "the expression is incomplete".to_owned(),
            _ => format!("{} where {wanted} is expected", shown(self.letters(token))),
        };
        self.text.fault(token.at.start, problem, format!("write {wanted}"))
    }

    /// Parses an expression of operators with a precedence above `least`.
    fn binary(&mut self, least: u8) -> Result<Expr, WorkloadError> {
        let mut left = self.unary()?;
        loop {
            let token = self.peek()?;
            let letters = self.letters(&token);
            let operator = OPERATORS.iter().find(|(sign, ..)| *sign == letters);
            let Some(&(_, closeness, two)) = operator.filter(|&&(_, closeness, _)| closeness > least) else {
                return Ok(left);
            };
            self.at = token.at.end;
            let right = self.binary(closeness)?;
            left = Expr::Both(two, Box::new(left), Box::new(right));
        }
    }

    fn unary(&mut self) -> Result<Expr, WorkloadError> {
        let token = self.peek()?;
        let (one, closeness) = match self.letters(&token) {
            "-" => (UnaryOp::Minus, SIGN),
            "not" => (UnaryOp::Not, NOT),
            "~" => (UnaryOp::Turned, BITS),
            _ => return self.atom(&token),
        };
        self.at = token.at.end;
        self.enter_nesting(&token)?;
        let inner = self.binary(closeness)?;
        self.depth -= 1;
        Ok(Expr::Of(one, Box::new(inner)))
    }

    fn enter_nesting(&mut self, token: &Token) -> Result<(), WorkloadError> {
        self.depth += 1;
        match self.depth > DEPTH_MAX {
            true => Err(self.text.fault(token.at.start, "parentheses are nested too deeply", "use fewer")),
            false => Ok(()),
        }
    }

    fn atom(&mut self, token: &Token) -> Result<Expr, WorkloadError> {
        let letters = self.letters(token).to_owned();
        match token.kind {
            Kind::Number => {
                self.at = token.at.end;
                number(&letters).map(Expr::Is).ok_or_else(|| {
                    self.text.fault(token.at.start, format!("{} is not a number", shown(&letters)), "")
                })
            }
            Kind::Sign if letters == "(" => {
                self.at = token.at.end;
                self.enter_nesting(token)?;
                let inner = self.binary(0)?;
                self.depth -= 1;
                self.expect(")")?;
                Ok(inner)
            }
            Kind::Name if !WORDS.contains(&letters.as_str()) => {
                self.at = token.at.end;
                match self.peek()? {
                    next if self.letters(&next) == "(" => self.call(&letters, token),
                    _ => (self.slot)(&letters, token.at.start).map(Expr::Slot),
                }
            }
            _ => Err(self.unexpected(token, "a number or a name")),
        }
    }

    /// Parses the arguments of the function with this name.
    fn call(&mut self, name: &str, token: &Token) -> Result<Expr, WorkloadError> {
        let Some(&(_, least, most)) = FUNCTIONS.iter().find(|(known, ..)| *known == name) else {
            let hint = meant(name, FUNCTIONS.map(|(name, ..)| name));
            return Err(self.text.fault(token.at.start, format!("unknown function {}", shown(name)), hint));
        };
        self.enter_nesting(token)?;
        let mut arguments = Vec::new();
        for place in 0..most {
            if place >= least && !self.letters(&self.peek()?).starts_with(',') {
                break;
            }
            self.expect(if place == 0 { "(" } else { "," })?;
            arguments.push(self.binary(0)?);
        }
        self.expect(")")?;
        self.depth -= 1;
        Ok(function(name, arguments))
    }

    fn expect(&mut self, sign: &str) -> Result<(), WorkloadError> {
        let token = self.peek()?;
        if self.letters(&token) != sign {
            return Err(self.unexpected(&token, sign));
        }
        self.at = token.at.end;
        Ok(())
    }
}
