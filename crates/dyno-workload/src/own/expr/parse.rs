//! From a text to an expression, by precedence climbing.

use std::ops::Range;

use super::words::{FUNCTIONS, function, number, number_end};
use super::{Expr, One, Two};
use crate::own::fault::{Fault, Text};
use crate::own::names::{meant, shown};

/// Brackets within each other, at most.
const DEPTH_MAX: u32 = 40;

/// Letters of an expression, at most: what is nested as deeply as it is long has to fit the stack.
const LETTERS_MAX: usize = 1_000;

/// Words that are no names.
const WORDS: [&str; 3] = ["and", "or", "not"];

/// The expression that `text` says; `slot` tells where the value of a name is.
///
/// # Errors
/// It is none; or those of `slot`, which is given the place of the name.
pub(in crate::own) fn parse(
    text: &Text,
    slot: &mut dyn FnMut(&str, usize) -> Result<u16, Fault>,
) -> Result<Expr, Fault> {
    if text.letters.len() > LETTERS_MAX {
        return Err(text.fault(
            0,
            "an expression of more than 1,000 letters",
            "draw parts of it by names of their own",
        ));
    }
    let mut parser = Parser { text, at: 0, depth: 0, slot };
    let expr = parser.binary(0)?;
    match parser.look()? {
        Token { kind: Kind::End, .. } => Ok(expr),
        other => Err(parser.unexpected(&other, "an operator")),
    }
}

struct Parser<'a> {
    text: &'a Text,
    at: usize,
    depth: u32,
    slot: &'a mut dyn FnMut(&str, usize) -> Result<u16, Fault>,
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

/// Operators with how closely each binds; those of two characters first.
const OPERATORS: [(&str, u8, Two); 18] = [
    ("or", 1, Two::Or),
    ("and", 2, Two::And),
    ("<>", 4, Two::Unequal),
    ("<=", 4, Two::AtMost),
    (">=", 4, Two::AtLeast),
    ("=", 4, Two::Equal),
    ("<", 4, Two::Less),
    (">", 4, Two::More),
    ("<<", BITS, Two::ShiftLeft),
    (">>", BITS, Two::ShiftRight),
    ("|", BITS, Two::BitOr),
    ("#", BITS, Two::BitXor),
    ("&", BITS, Two::BitAnd),
    ("+", 6, Two::Plus),
    ("-", 6, Two::Minus),
    ("*", 7, Two::Times),
    ("/", 7, Two::Divided),
    ("%", 7, Two::Rest),
];
/// How closely operators on bits bind.
const BITS: u8 = 5;
/// How closely `not` binds: less than a comparison, more than `and`.
const NOT: u8 = 3;
/// How closely a sign binds.
const SIGN: u8 = 8;

impl Parser<'_> {
    fn letters(&self, token: &Token) -> &str {
        &self.text.letters[token.at.clone()]
    }

    /// The next token, which stays.
    fn look(&self) -> Result<Token, Fault> {
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

    /// The end of the sign at `begin`.
    fn sign(&self, begin: usize) -> Result<usize, Fault> {
        let rest = &self.text.letters[begin..];
        for (foreign, ours) in [("==", "="), ("!=", "<>"), ("&&", "and"), ("||", "or"), ("!", "not")] {
            if rest.starts_with(foreign) {
                return Err(self.text.fault(
                    begin,
                    format!("{foreign} is no operator"),
                    format!("write {ours}"),
                ));
            }
        }
        let known = OPERATORS.iter().map(|(sign, ..)| *sign).chain(["(", ")", ",", "~"]);
        let length = known.filter(|sign| rest.starts_with(sign)).map(str::len).max();
        length.map(|length| begin + length).ok_or_else(|| {
            let first: String = rest.chars().take(1).collect();
            let hint = "numbers, names, + - * / %, = <> < <= > >=, | # & ~ << >>, and, or, not, and functions as min and max";
            self.text.fault(begin, format!("{} is no operator", shown(&first)), hint)
        })
    }

    fn unexpected(&self, token: &Token, wanted: &str) -> Fault {
        let problem = match token.kind {
            Kind::End => "the expression ends too soon".to_owned(),
            _ => format!("{} where {wanted} is due", shown(self.letters(token))),
        };
        self.text.fault(token.at.start, problem, format!("write {wanted}"))
    }

    /// An expression of operators that bind more closely than `least`.
    fn binary(&mut self, least: u8) -> Result<Expr, Fault> {
        let mut left = self.unary()?;
        loop {
            let token = self.look()?;
            let letters = self.letters(&token);
            let found = OPERATORS.iter().find(|(sign, ..)| *sign == letters);
            let Some(&(_, closeness, two)) = found.filter(|&&(_, closeness, _)| closeness > least) else {
                return Ok(left);
            };
            self.at = token.at.end;
            let right = self.binary(closeness)?;
            left = Expr::Both(two, Box::new(left), Box::new(right));
        }
    }

    fn unary(&mut self) -> Result<Expr, Fault> {
        let token = self.look()?;
        let (one, closeness) = match self.letters(&token) {
            "-" => (One::Minus, SIGN),
            "not" => (One::Not, NOT),
            "~" => (One::Turned, BITS),
            _ => return self.atom(&token),
        };
        self.at = token.at.end;
        self.deeper(&token)?;
        let inner = self.binary(closeness)?;
        self.depth -= 1;
        Ok(Expr::Of(one, Box::new(inner)))
    }

    fn deeper(&mut self, token: &Token) -> Result<(), Fault> {
        self.depth += 1;
        match self.depth > DEPTH_MAX {
            true => Err(self.text.fault(token.at.start, "too many brackets within each other", "use fewer")),
            false => Ok(()),
        }
    }

    fn atom(&mut self, token: &Token) -> Result<Expr, Fault> {
        let letters = self.letters(token).to_owned();
        match token.kind {
            Kind::Number => {
                self.at = token.at.end;
                number(&letters).map(Expr::Is).ok_or_else(|| {
                    self.text.fault(token.at.start, format!("{} is no number", shown(&letters)), "")
                })
            }
            Kind::Sign if letters == "(" => {
                self.at = token.at.end;
                self.deeper(token)?;
                let inner = self.binary(0)?;
                self.depth -= 1;
                self.expect(")")?;
                Ok(inner)
            }
            Kind::Name if !WORDS.contains(&letters.as_str()) => {
                self.at = token.at.end;
                match self.look()? {
                    next if self.letters(&next) == "(" => self.call(&letters, token),
                    _ => (self.slot)(&letters, token.at.start).map(Expr::Slot),
                }
            }
            _ => Err(self.unexpected(token, "a number or a name")),
        }
    }

    /// The function of this name, whose arguments follow.
    fn call(&mut self, name: &str, token: &Token) -> Result<Expr, Fault> {
        let Some(&(_, least, most)) = FUNCTIONS.iter().find(|(known, ..)| *known == name) else {
            let hint = meant(name, FUNCTIONS.map(|(name, ..)| name));
            return Err(self.text.fault(
                token.at.start,
                format!("there is no function {}", shown(name)),
                hint,
            ));
        };
        self.deeper(token)?;
        let mut arguments = Vec::new();
        for place in 0..most {
            if place >= least && !self.letters(&self.look()?).starts_with(',') {
                break;
            }
            self.expect(if place == 0 { "(" } else { "," })?;
            arguments.push(self.binary(0)?);
        }
        self.expect(")")?;
        self.depth -= 1;
        Ok(function(name, arguments))
    }

    fn expect(&mut self, sign: &str) -> Result<(), Fault> {
        let token = self.look()?;
        if self.letters(&token) != sign {
            return Err(self.unexpected(&token, sign));
        }
        self.at = token.at.end;
        Ok(())
    }
}
