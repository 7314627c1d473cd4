//! Builds NATS subjects, and cleans names and texts that other hosts send.

use crate::limits::NAME_MAX;

/// The subjects of a group.
#[derive(Debug, Clone)]
pub(crate) struct Subjects(String);

impl Subjects {
    /// Creates the subjects of a group; refuses a name that cannot be part of a subject.
    pub(crate) fn of(group: &str) -> Result<Self, String> {
        is_name(group).then(|| Self(format!("dyno.{group}"))).ok_or_else(|| {
            format!("{group:?} is not a group name: use letters, digits, - and _, {NAME_MAX} at most")
        })
    }

    /// The subject on which all agents receive calls.
    pub(crate) fn all(&self) -> String {
        format!("{}.all", self.0)
    }

    /// The subject on which one agent receives requests.
    pub(crate) fn agent(&self, id: &str) -> String {
        format!("{}.agent.{id}", self.0)
    }

    /// The subject on which all agents receive calls that only observe.
    pub(crate) fn observers(&self) -> String {
        format!("{}.observers", self.0)
    }

    /// The subject on which one observing agent receives requests.
    pub(crate) fn observer(&self, id: &str) -> String {
        format!("{}.observer.{id}", self.0)
    }

    /// The subject on which the controller of a run receives reports.
    pub(crate) fn reports(&self, run_id: &str) -> String {
        format!("{}.report.{run_id}", self.0)
    }

    /// The subject on which the controller of a run receives intervals and results.
    pub(crate) fn uploads(&self, run_id: &str) -> String {
        format!("{}.upload.{run_id}", self.0)
    }
}

/// Whether this name can be part of a subject.
pub(crate) fn is_name(name: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    !name.is_empty() && name.len() <= NAME_MAX && name.chars().all(is_part)
}

/// Returns received text as one line: without control characters, and cut to a maximum length.
pub(crate) fn plain(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(400).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_group_name_is_refused() {
        assert!(Subjects::of("oltp_1").is_ok());
        for wrong in ["", "a.b", "a>", "*", "a b", &"x".repeat(NAME_MAX + 1)] {
            assert!(Subjects::of(wrong).is_err(), "{wrong:?}");
        }
    }
}
