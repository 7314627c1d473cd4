//! Where messages go, and what of elsewhere may be a name or a line of text.

use crate::limits::NAME_MAX;

/// The subjects of a group.
#[derive(Debug, Clone)]
pub(crate) struct Subjects(String);

impl Subjects {
    /// Of a group; a name that is no part of a subject is refused.
    pub(crate) fn of(group: &str) -> Result<Self, String> {
        is_name(group).then(|| Self(format!("dyno.{group}"))).ok_or_else(|| {
            format!("{group:?} is no name of a group: letters, digits, - and _, {NAME_MAX} at most")
        })
    }

    /// Where all agents hear.
    pub(crate) fn all(&self) -> String {
        format!("{}.all", self.0)
    }

    /// Where one agent hears.
    pub(crate) fn agent(&self, id: &str) -> String {
        format!("{}.agent.{id}", self.0)
    }

    /// Where all agents hear that only observe.
    pub(crate) fn observers(&self) -> String {
        format!("{}.observers", self.0)
    }

    /// Where one of these hears.
    pub(crate) fn observer(&self, id: &str) -> String {
        format!("{}.observer.{id}", self.0)
    }

    /// Where the leader of a run hears what agents report.
    pub(crate) fn reports(&self, run_id: &str) -> String {
        format!("{}.report.{run_id}", self.0)
    }

    /// Where it takes what they hand over.
    pub(crate) fn uploads(&self, run_id: &str) -> String {
        format!("{}.upload.{run_id}", self.0)
    }
}

/// Whether this can be a part of a subject.
pub(crate) fn is_name(name: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    !name.is_empty() && name.len() <= NAME_MAX && name.chars().all(is_part)
}

/// What came from elsewhere as a line of text: no control characters, and not too long.
pub(crate) fn plain(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(400).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_is_a_name_and_no_subject_of_others() {
        assert!(Subjects::of("oltp_1").is_ok());
        for wrong in ["", "a.b", "a>", "*", "a b", &"x".repeat(NAME_MAX + 1)] {
            assert!(Subjects::of(wrong).is_err(), "{wrong:?}");
        }
    }
}
