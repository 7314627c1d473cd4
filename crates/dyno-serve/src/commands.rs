//! Commands that something runs on this machine: shown first, and run only once somebody has agreed to these very ones.

use maud::{Markup, html};
use schemars::JsonSchema;
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use dyno_report::text::clean;

/// The commands of one order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Commands {
    /// In their order.
    pub(crate) steps: Vec<CommandShown>,
    /// What `confirmed` has to be for them to run: a mark of these commands, and of no others.
    pub(crate) mark: String,
}

/// One of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct CommandShown {
    /// When it runs, or a title of those below it.
    pub(crate) when: String,
    /// The command, or in words what is done; empty of a title.
    pub(crate) what: String,
}

impl Commands {
    /// Those of `steps`; `args` is what the processes are given that run them, which the mark is of, too.
    pub(crate) fn of(steps: &[(String, String)], args: &[Vec<String>]) -> Self {
        let mut hash = Sha256::new();
        let words = steps.iter().flat_map(|(when, what)| [when, what]).chain(args.iter().flatten());
        for word in words {
            // With its length, so that no two lists of words are one text.
            hash.update(word.len().to_le_bytes());
            hash.update(word.as_bytes());
        }
        let mark: String = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        let shown = |(when, what): &(String, String)| CommandShown { when: when.clone(), what: what.clone() };
        Self { steps: steps.iter().map(shown).collect(), mark }
    }

    /// All of them, with the box that agrees to them in the form of this id.
    pub(crate) fn shown(&self, form: &str) -> Markup {
        html! {
            h3 { "It runs these commands as the server's user, in this order" }
            pre id="commands" tabindex="0" {
                @for step in &self.steps {
                    @if step.what.is_empty() { strong { (clean(&step.when)) } }
                    @else { "  " (format!("{:<11}", clean(&step.when))) " " (clean(&step.what)) }
                    "\n"
                }
            }
            p { label { input type="checkbox" name="confirmed" value=(self.mark) form=(form); " These commands may run" } }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mark_is_of_these_commands_alone() {
        let steps = |what: &str| vec![("apply".to_owned(), what.to_owned())];
        let args = vec![vec!["study".to_owned(), "run".to_owned()]];
        let first = Commands::of(&steps("sysctl -w a=1"), &args);
        assert_eq!(first, Commands::of(&steps("sysctl -w a=1"), &args));
        assert_ne!(first.mark, Commands::of(&steps("sysctl -w a=2"), &args).mark);
        assert_ne!(first.mark, Commands::of(&steps("sysctl -w a=1"), &[vec!["studyrun".to_owned()]]).mark);
    }

    #[test]
    fn a_command_stays_text() {
        let commands = Commands::of(&[("apply".to_owned(), "<script>alert(1)</script>".to_owned())], &[]);
        assert!(!commands.shown("plan").into_string().contains("<script>"));
    }
}
