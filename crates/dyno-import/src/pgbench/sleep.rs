//! Translates `\sleep` into a step.

use dyno_plan::error::shown;
use dyno_workload::custom::syntax::{UnaryOp, WorkloadError};

use super::draws::is_variable;
use super::parse::Variables as _;
use super::print::print;
use super::script::PgbenchMetaCommand;
use super::translate::Translator;
use super::typed::{PgbenchType, unary_expr};
use crate::quoted::quoted;

impl Translator<'_> {
    /// The sleep step for a `\sleep` command.
    pub(super) fn sleep(&mut self, meta: &PgbenchMetaCommand) -> Result<String, WorkloadError> {
        let rest = &self.text.letters[meta.rest.clone()];
        let words: Vec<&str> = rest.split_whitespace().collect();
        let refuse = |problem: String, hint: &str| Err(self.text.fault(meta.at, problem, hint));
        let Some(first) = words.first() else {
            return refuse("\\sleep without a time".to_owned(), "write \\sleep 10 ms");
        };
        let digits = first.bytes().take_while(u8::is_ascii_digit).count();
        let (amount, unit, more) = match words.as_slice() {
            [both] if digits > 0 && digits < both.len() => (&both[..digits], &both[digits..], false),
            [amount] => (*amount, "s", false),
            [amount, unit] => (*amount, *unit, false),
            _ => (*first, "s", true),
        };
        if more {
            return refuse("too many words behind \\sleep".to_owned(), "write \\sleep 10 ms");
        }
        let unit = unit.to_ascii_lowercase();
        if !["us", "ms", "s"].contains(&unit.as_str()) {
            return refuse(format!("{} is not a unit of time", shown(&unit)), "us, ms or s");
        }
        match amount.strip_prefix(':') {
            Some(name) if is_variable(name) => {
                let at = meta.rest.start + rest.find(amount).unwrap_or(0);
                let text = self.text.clone();
                let typed = self.variable(name, &text, at)?;
                let whole = match typed.kind {
                    PgbenchType::Int => typed.expr,
                    PgbenchType::Real => unary_expr(UnaryOp::Int, typed.expr),
                    PgbenchType::Bool | PgbenchType::Null => {
                        return Err(self.text.fault(at, "no time", "give it a number"));
                    }
                };
                let words = print(&whole, &self.slots);
                Ok(format!("{{ sleep = {}, unit = \"{unit}\" }}", quoted(&words)))
            }
            _ => match amount.parse::<u32>() {
                Ok(number) => Ok(format!("{{ sleep = \"{number}\", unit = \"{unit}\" }}")),
                Err(_) => refuse(
                    format!("{} is not a time", shown(amount)),
                    "write a whole number or :name, and us, ms or s",
                ),
            },
        }
    }
}
