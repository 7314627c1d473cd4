//! Calls of functions, with their arguments.

use super::super::fault::Fault;
use super::super::names::{meant, shown};
use super::functions::{ARGUMENTS_MAX, FUNCTIONS, computed};
use super::lex::Token;
use super::parse::Parser;
use super::typed::{Kind, Typed};

impl Parser<'_> {
    /// The function `name` at byte `at`, whose arguments follow.
    pub(super) fn call(&mut self, name: &str, at: usize) -> Result<Typed, Fault> {
        let text = self.text;
        let known = FUNCTIONS.iter().find(|(known, ..)| *known == name);
        let Some(&(_, least, most)) = known else {
            let hint = meant(name, FUNCTIONS.map(|(name, ..)| name));
            return Err(text.fault(at, format!("pgbench has no function {}", shown(name)), hint));
        };
        self.expect("(")?;
        self.deeper()?;
        let mut arguments = Vec::new();
        if self.look() != &Token::Sign(")") {
            arguments.push(self.binary(0)?);
            while self.takes(&Token::Sign(",")) {
                arguments.push(self.binary(0)?);
            }
        }
        self.expect(")")?;
        self.shallower();
        if !(least..=most).contains(&arguments.len()) {
            let wanted = match (least, most) {
                (1, ARGUMENTS_MAX) => "1 to 16 arguments".to_owned(),
                _ if least == most => {
                    format!("{least} {}", if least == 1 { "argument" } else { "arguments" })
                }
                _ => format!("{least} or {most} arguments"),
            };
            return Err(text.fault(
                at,
                format!("{name} has {wanted}, and there are {}", arguments.len()),
                "",
            ));
        }
        if name == "debug" {
            self.variables.note(text, at, "debug prints nothing; its value is used as it is");
            return Ok(arguments.remove(0));
        }
        if arguments.iter().any(|argument| argument.kind == Kind::Null) {
            return Ok(Typed::null());
        }
        if let Some(argument) = arguments.iter().find(|argument| argument.kind == Kind::Bool) {
            return Err(text.fault(
                at,
                format!("{name}: cannot coerce {} to a number", argument.kind.words()),
                "",
            ));
        }
        let needs_seed = matches!(name, "hash" | "hash_fnv1a" | "hash_murmur2") && arguments.len() == 1
            || name == "permute" && arguments.len() == 2;
        if needs_seed {
            arguments.push(self.variables.variable("default_seed", text, at)?);
        }
        computed(text, name, arguments, at)
    }
}
