//! Implements `target_session_attrs`: the kind of server that a session accepts.

use dyno_engine::TargetError;

/// The kind of server that sessions accept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SessionAttrs {
    /// Any server, whether or not it accepts writes.
    #[default]
    Any,
    /// A server whose sessions write by default.
    ReadWrite,
    /// A server whose sessions do not write by default.
    ReadOnly,
    /// A server that is not in recovery.
    Primary,
    /// A server that is in recovery.
    Standby,
    /// Prefers a server in recovery and accepts any: with one host this means any.
    PreferStandby,
}

dyno_plan::names! {
    /// The value's name in libpq: `read-write`.
    SessionAttrs {
        Any = "any", ReadWrite = "read-write", ReadOnly = "read-only", Primary = "primary", Standby = "standby",
        PreferStandby = "prefer-standby"
    }
}

impl SessionAttrs {
    /// Returns an error if the server that reported these parameters is not of this kind.
    pub(super) fn check<'a>(self, parameter: impl Fn(&str) -> Option<&'a str>) -> Result<(), TargetError> {
        if matches!(self, Self::Any | Self::PreferStandby) {
            return Ok(());
        }
        let name = self.name();
        let is_on = |setting| {
            parameter(setting).map(|value| value == "on").ok_or_else(|| {
                TargetError::unsupported(format!(
                    "target_session_attrs {name} cannot be checked: the server does not report {setting}"
                ))
                .hint(
                    "PostgreSQL 14 and later report it, but poolers may not: write target_session_attrs=any",
                )
            })
        };
        let is_standby = is_on("in_hot_standby")?;
        let is_read_only = is_standby || is_on("default_transaction_read_only")?;
        let is_wanted = match self {
            Self::Any | Self::PreferStandby => true,
            Self::ReadWrite => !is_read_only,
            Self::ReadOnly => is_read_only,
            Self::Primary => !is_standby,
            Self::Standby => is_standby,
        };
        if is_wanted {
            return Ok(());
        }
        let kind = match (is_standby, is_read_only) {
            (true, _) => "a standby",
            (false, true) => "a primary whose sessions are read-only by default",
            (false, false) => "a primary",
        };
        Err(TargetError::unreachable(format!("the server is {kind}, but target_session_attrs is {name}"))
            .hint("name the right server, or write target_session_attrs=any"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn session_attrs_accept_the_same_servers_as_libpq() {
        // In recovery, read-only by default, and the values that accept it.
        for (standby, read_only, accepted) in [
            ("off", "off", "any read-write primary prefer-standby"),
            ("off", "on", "any read-only primary prefer-standby"),
            ("on", "off", "any read-only standby prefer-standby"),
            ("on", "on", "any read-only standby prefer-standby"),
        ] {
            for name in ["any", "read-write", "read-only", "primary", "standby", "prefer-standby"] {
                let outcome = SessionAttrs::from_name(name).unwrap().check(|setting| match setting {
                    "in_hot_standby" => Some(standby),
                    _ => Some(read_only),
                });
                let is_expected = accepted.split(' ').any(|word| word == name);
                assert_eq!(outcome.is_ok(), is_expected, "{name} {standby} {read_only}");
            }
        }
        let error = SessionAttrs::Primary.check(|_| None).expect_err("nothing is reported");
        assert!(error.message.contains("cannot be checked"), "{error}");
        assert!(SessionAttrs::Any.check(|_| None).is_ok());
    }
}
