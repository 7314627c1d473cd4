//! Reads the parameters of a target's URL.

use std::ops::RangeInclusive;
use std::path::PathBuf;

use dyno_plan::TargetUrl;

use crate::error::TargetError;

/// The error of a `value` that the parameter `name` cannot have; `allowed` lists the values.
pub fn wrong(name: &str, value: &str, allowed: &str) -> TargetError {
    TargetError::unsupported(format!("{name} {value:?} cannot be used")).hint(format!("write {allowed}"))
}

/// Checks that the URL has only parameters of `known_names`.
///
/// # Errors
/// The URL has another parameter; the message names it.
pub fn check_names(url: &TargetUrl, known_names: &[&str]) -> Result<(), TargetError> {
    match url.params.iter().find(|(name, _)| !known_names.contains(&name.as_str())) {
        Some((name, _)) => Err(TargetError::unsupported(format!("unknown URL parameter {name:?}"))
            .hint(format!("known parameters: {}", known_names.join(", ")))),
        None => Ok(()),
    }
}

/// The value of a parameter that is a path.
pub fn path(url: &TargetUrl, name: &str) -> Option<PathBuf> {
    url.param(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// The value of a parameter that is an integer in `range`; `allowed` describes the range.
///
/// # Errors
/// The value is not an integer, or out of range.
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
