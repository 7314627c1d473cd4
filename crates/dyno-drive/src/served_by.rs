//! Which instance of a database served a session.

use serde::{Deserialize, Serialize};

/// The longest name of an instance that another host may report; Oracle's have up to 16 bytes.
const NAME_BYTES_MAX: usize = 128;

/// The instance that served a session.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum ServedBy {
    /// The session does not report one, or has a connection for each transaction.
    #[default]
    Unknown,
    /// The instance with this name, from log-on to log-off.
    Instance(String),
    /// Several: it reconnected to another one.
    Several,
}

impl ServedBy {
    /// Notes the instance that serves the session's connection; `None` changes nothing.
    #[cold]
    pub(crate) fn note(&mut self, instance: Option<String>) {
        let Some(instance) = instance else { return };
        *self = match self {
            Self::Unknown => Self::Instance(instance),
            Self::Instance(former) if *former == instance => return,
            _ => Self::Several,
        };
    }

    /// Whether it can be an instance's name; it may come from another host.
    pub(crate) fn is_plausible(&self) -> bool {
        match self {
            Self::Instance(name) => name.len() <= NAME_BYTES_MAX && !name.chars().any(char::is_control),
            Self::Unknown | Self::Several => true,
        }
    }

    /// The name of the instance, if it is one.
    pub(crate) fn name(&self) -> Option<String> {
        match self {
            Self::Instance(name) => Some(name.clone()),
            Self::Unknown | Self::Several => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn served_by(instances: &[&str]) -> ServedBy {
        let mut served_by = ServedBy::default();
        instances.iter().for_each(|name| served_by.note(Some((*name).to_owned())));
        served_by
    }

    #[test]
    fn session_that_changes_its_instance_belongs_to_none() {
        let mut unknown = served_by(&[]);
        unknown.note(None);
        assert_eq!(unknown, ServedBy::Unknown);
        let mut constant = served_by(&["orcl1", "orcl1"]);
        constant.note(None);
        assert_eq!(constant, ServedBy::Instance("orcl1".to_owned()));
        assert_eq!(served_by(&["orcl1", "orcl2", "orcl1"]), ServedBy::Several);
        assert!(constant.is_plausible());
        assert!(!served_by(&["a\u{1b}[2J"]).is_plausible());
        assert!(!served_by(&[&"a".repeat(200)]).is_plausible());
    }
}
