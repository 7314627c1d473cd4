//! Reads the parameters of a target's URL, by a table of the engine.

use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

use dyno_plan::TargetUrl;
use dyno_plan::similar::closest;

use crate::error::TargetError;

/// One parameter of an engine, which fills a `C`. [`parameters!`](crate::parameters) makes tables of them.
pub struct UrlParameter<C> {
    /// The name in URLs: `connect-timeout`.
    pub name: &'static str,
    /// The valid values, as errors list them.
    pub allowed: &'static str,
    /// Sets the field; `None` if the value is invalid.
    pub apply: fn(&mut C, &ConnectionSetting) -> Option<()>,
}

/// A table of [`UrlParameter`]s, one a line: the name, the valid values, and the field with its value, which is `None`
/// if it is invalid.
#[macro_export]
macro_rules! parameters {
    ($config:ident: $type:ty, $setting:ident; $($name:literal, $allowed:expr, $($field:ident).+ = $value:expr;)*) => {
        &[$($crate::net::parameters::UrlParameter {
            name: $name,
            allowed: $allowed,
            apply: |$config: &mut $type, $setting| {
                $config.$($field).+ = ($value)?.into();
                Some(())
            },
        }),*]
    };
}

/// Fills `config` from the parameters of `url`, which must be in the table.
///
/// # Errors
/// A parameter is unknown, or has an invalid value.
pub fn read_url<C>(url: &TargetUrl, table: &[UrlParameter<C>], config: &mut C) -> Result<(), TargetError> {
    check_names(url, table.iter().map(|parameter| parameter.name))?;
    read(table, config, |name| {
        let value = url.param(name)?.to_owned();
        Some(ConnectionSetting { name, value, origin: String::new() })
    })
}

/// Fills `config` from the parameters that `setting` finds in the URL or elsewhere.
///
/// # Errors
/// A parameter has an invalid value.
pub fn read<C>(
    table: &[UrlParameter<C>],
    config: &mut C,
    setting: impl Fn(&'static str) -> Option<ConnectionSetting>,
) -> Result<(), TargetError> {
    table.iter().try_for_each(|UrlParameter { name, allowed, apply }| match setting(name) {
        Some(setting) => apply(config, &setting).ok_or_else(|| setting.invalid_value(allowed)),
        None => Ok(()),
    })
}

/// Checks that the URL has only parameters with these names.
///
/// # Errors
/// The URL has another parameter; the hint names a similar one and all.
pub fn check_names(
    url: &TargetUrl,
    names: impl Iterator<Item = &'static str> + Clone,
) -> Result<(), TargetError> {
    let Some((name, _)) = url.params.iter().find(|(name, _)| !names.clone().any(|known| known == name))
    else {
        return Ok(());
    };
    let near = closest(name, names.clone()).map_or(String::new(), |near| format!("did you mean {near}? "));
    let all: Vec<&str> = names.collect();
    Err(TargetError::unsupported(format!("unknown URL parameter {name:?}"))
        .hint(format!("{near}known parameters: {}", all.join(", "))))
}

/// The error of a `value` that the parameter `name` cannot have; `allowed` lists the values.
pub fn wrong(name: &str, value: &str, allowed: &str) -> TargetError {
    TargetError::unsupported(format!("{name} {value:?} cannot be used")).hint(format!("write {allowed}"))
}

/// The value of a setting, and where it is set.
#[derive(Debug, Clone)]
pub struct ConnectionSetting {
    /// The name of its parameter or option.
    pub name: &'static str,
    /// The text, which may be invalid.
    pub value: String,
    /// Empty for the URL, otherwise for example ` (from /etc/my.cnf)`.
    pub origin: String,
}

impl ConnectionSetting {
    /// The URL parameter `name`; an empty value counts as not set.
    pub fn of_url(url: &TargetUrl, name: &'static str) -> Option<Self> {
        let value = url.param(name).filter(|value| !value.is_empty())?;
        Some(Self { name, value: value.to_owned(), origin: String::new() })
    }

    /// Whether the URL sets it.
    pub fn is_of_url(&self) -> bool {
        self.origin.is_empty()
    }

    /// The error for an invalid value; `allowed` lists the valid ones.
    pub fn invalid_value(&self, allowed: &str) -> TargetError {
        let error = wrong(self.name, &self.value, allowed);
        TargetError { message: format!("{}{}", error.message, self.origin), ..error }
    }

    /// The word that equals the value.
    pub fn choice(&self, words: &[&'static str]) -> Option<&'static str> {
        words.iter().find(|word| **word == self.value).copied()
    }

    /// The value as a path; `None` if it is empty.
    pub fn path(&self) -> Option<PathBuf> {
        (!self.value.is_empty()).then(|| PathBuf::from(&self.value))
    }

    /// The value as a number in `range`.
    pub fn number(&self, range: RangeInclusive<u32>) -> Option<u32> {
        self.value.trim().parse().ok().filter(|number| range.contains(number))
    }

    /// The value as a number of seconds in `range`.
    pub fn seconds(&self, range: RangeInclusive<u32>) -> Option<Duration> {
        self.number(range).map(|seconds| Duration::from_secs(seconds.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_parameter_error_names_a_similar_one_and_all() {
        #[derive(Default)]
        struct Limits {
            timeout: Option<u32>,
        }
        let table: &[UrlParameter<Limits>] = parameters! { limits: Limits, setting; "timeout", "seconds, from 1", timeout = setting.number(1..=9); };
        let read = |url: &str| {
            let mut limits = Limits::default();
            read_url(&url.parse().unwrap(), table, &mut limits).map(|()| limits.timeout)
        };
        assert_eq!(read("x://h/?timeout=7").unwrap(), Some(7));
        assert_eq!(read("x://h/").unwrap(), None);
        for (url, message, hint) in [
            ("x://h/?timeuot=7", "\"timeuot\"", "did you mean timeout? known parameters: timeout"),
            ("x://h/?color=red", "\"color\"", "known parameters: timeout"),
            ("x://h/?timeout=0", "timeout \"0\" cannot be used", "write seconds, from 1"),
        ] {
            let error = read(url).unwrap_err();
            assert!(error.message.contains(message), "{error} {}", error.hint);
            assert!(error.hint == hint, "{error} {}", error.hint);
        }
    }
}
