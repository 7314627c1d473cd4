//! Parses function calls in pgbench's expressions.

use dyno_plan::error::shown;
use dyno_workload::custom::syntax::{WorkloadError, meant};

use super::functions::{ARGUMENTS_MAX, FUNCTIONS, apply_function};
use super::lex::PgbenchToken;
use super::parse::Parser;
use super::typed::{PgbenchType, Typed};

impl Parser<'_> {
    /// Parses the arguments of the function `name`, which is at byte `at`.
    pub(super) fn parse_function_call(&mut self, name: &str, at: usize) -> Result<Typed, WorkloadError> {
        let text = self.text;
        let signature = FUNCTIONS.iter().find(|(known, ..)| *known == name);
        let Some(&(_, least, most)) = signature else {
            let hint = meant(name, FUNCTIONS.map(|(name, ..)| name));
            return Err(text.fault(at, format!("pgbench has no function {}", shown(name)), hint));
        };
        self.expect("(")?;
        self.enter_nesting()?;
        let mut arguments = Vec::new();
        if self.peek() != &PgbenchToken::Sign(")") {
            arguments.push(self.binary(0)?);
            while self.accept(&PgbenchToken::Sign(",")) {
                arguments.push(self.binary(0)?);
            }
        }
        self.expect(")")?;
        self.leave_nesting();
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
        if arguments.iter().any(|argument| argument.kind == PgbenchType::Null) {
            return Ok(Typed::null());
        }
        if let Some(argument) = arguments.iter().find(|argument| argument.kind == PgbenchType::Bool) {
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
        apply_function(text, name, arguments, at)
    }
}
