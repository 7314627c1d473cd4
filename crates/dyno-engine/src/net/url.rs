//! Reading the parameters of a target's URL.

use std::ops::RangeInclusive;
use std::path::PathBuf;

use dyno_plan::TargetUrl;

use crate::error::TargetError;

/// That `value` is none that `name` can have.
pub fn wrong(name: &str, value: &str, allowed: &str) -> TargetError {
    TargetError::unsupported(format!("{name} {value:?} cannot be used")).hint(format!("write {allowed}"))
}

/// Fails where the URL has a parameter that is not among `known`.
///
/// # Errors
/// It names the parameter.
pub fn check_names(url: &TargetUrl, known: &[&str]) -> Result<(), TargetError> {
    match url.params.iter().find(|(name, _)| !known.contains(&name.as_str())) {
        Some((name, _)) => {
            Err(TargetError::unsupported(format!("the URL parameter {name:?} is not known here"))
                .hint(format!("these are: {}", known.join(", "))))
        }
        None => Ok(()),
    }
}

/// A parameter that is a path.
pub fn path(url: &TargetUrl, name: &str) -> Option<PathBuf> {
    url.param(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// A parameter that is a whole number in `range`, which `allowed` says in words.
///
/// # Errors
/// It is something else.
pub fn whole(
    url: &TargetUrl,
    name: &str,
    allowed: &str,
    range: RangeInclusive<u32>,
) -> Result<Option<u32>, TargetError> {
    let Some(text) = url.param(name) else { return Ok(None) };
    let number = text.parse().ok().filter(|number| range.contains(number));
    number.map(Some).ok_or_else(|| wrong(name, text, allowed))
}
