//! Reads passwords from the places that a plan names.

use dyno_engine::Secret;

use crate::error::Error;

/// Returns the password from the environment variable, or else from the first line of the file. At most one
/// of them is set, in this `section` of the plan.
pub(crate) fn named(section: &str, [variable, file]: [Option<&str>; 2]) -> Result<Option<Secret>, Error> {
    if let Some(name) = variable {
        let value = std::env::var(name).map_err(|_| {
            Error::usage(
                format!("the environment variable {name} ({section}.password_env) is not set"),
                format!("export {name}, or remove {section}.password_env from the plan"),
            )
        })?;
        return Ok(Some(Secret::new(value)));
    }
    let Some(path) = file else { return Ok(None) };
    let text = std::fs::read_to_string(path).map_err(|error| {
        let problem = format!("the password file {path} ({section}.password_file) cannot be read: {error}");
        Error::usage(problem, "")
    })?;
    let line = text.lines().next().unwrap_or_default();
    Ok(Some(Secret::new(line.to_owned())))
}
