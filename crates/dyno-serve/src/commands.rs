//! The commands that a job would run on this machine: they are shown first, and run only after a user
//! confirms exactly these.

use maud::{Markup, html};
use schemars::JsonSchema;
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use dyno_report::text::clean;

/// The commands of one job request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct ServeCommandList {
    /// The commands in the order in which they run.
    pub(crate) steps: Vec<CommandShown>,
    /// The value that `confirmed` must have for these commands to run; it is a digest of them.
    pub(crate) mark: String,
}

/// One command of a job, or a title.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct CommandShown {
    /// When the command runs, or a title for the commands below.
    pub(crate) when: String,
    /// The command, or a description of the action; empty for a title.
    #[serde(rename = "what")]
    pub(crate) text: String,
}

impl ServeCommandList {
    /// Creates the list from `steps`. `args` are the arguments of the processes that run them; the mark
    /// covers both.
    pub(crate) fn of(steps: &[(String, String)], args: &[Vec<String>]) -> Self {
        let mut hash = Sha256::new();
        let words = steps.iter().flat_map(|(when, what)| [when, what]).chain(args.iter().flatten());
        for word in words {
            // The length is included, so that different lists of words never give the same input.
            hash.update(word.len().to_le_bytes());
            hash.update(word.as_bytes());
        }
        let mark: String = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        let shown = |(when, what): &(String, String)| CommandShown { when: when.clone(), text: what.clone() };
        Self { steps: steps.iter().map(shown).collect(), mark }
    }

    /// Shows all commands, with the checkbox that confirms them in the form with this id.
    pub(crate) fn shown(&self, form: &str) -> Markup {
        html! {
            h3 { "The job makes these changes, and runs commands as the server's user" }
            pre id="commands" tabindex="0" {
                @for step in &self.steps {
                    @if step.text.is_empty() { strong { (clean(&step.when)) } }
                    @else { "  " (format!("{:<11}", clean(&step.when))) " " (clean(&step.text)) }
                    "\n"
                }
            }
            p { label { input type="checkbox" name="confirmed" value=(self.mark) form=(form); " The job may do this" } }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_mark_is_valid_for_the_same_commands_only() {
        let steps = |what: &str| vec![("apply".to_owned(), what.to_owned())];
        let args = vec![vec!["study".to_owned(), "run".to_owned()]];
        let first = ServeCommandList::of(&steps("sysctl -w a=1"), &args);
        assert_eq!(first, ServeCommandList::of(&steps("sysctl -w a=1"), &args));
        assert_ne!(first.mark, ServeCommandList::of(&steps("sysctl -w a=2"), &args).mark);
        assert_ne!(
            first.mark,
            ServeCommandList::of(&steps("sysctl -w a=1"), &[vec!["studyrun".to_owned()]]).mark
        );
    }

    #[test]
    fn serve_command_text_is_html_escaped() {
        let commands =
            ServeCommandList::of(&[("apply".to_owned(), "<script>alert(1)</script>".to_owned())], &[]);
        assert!(!commands.shown("plan").into_string().contains("<script>"));
    }
}
