//! Hosts that a run may observe. The server's list names them, so no URL, user, password or file name comes
//! from a page.

use std::path::Path;
use std::str::FromStr as _;

use dyno_plan::HostSpec;
use serde::Deserialize;

/// A host of the server's list, with the fields of `observe.hosts`.
#[derive(Debug, Clone, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub(crate) struct ListedHost {
    /// URL of the host, such as `ssh://db1`.
    url: String,
    /// A description of the host for users.
    #[serde(default)]
    pub(crate) about: String,
    target: Option<u32>,
    data: Option<String>,
    redo: Option<String>,
    password_env: Option<String>,
    password_file: Option<String>,
    ca: Option<String>,
}

impl ListedHost {
    /// Returns the host as plans describe it.
    ///
    /// # Errors
    /// A value is invalid in a plan; the error names it and says why, but never quotes it.
    pub(crate) fn spec(&self) -> Result<HostSpec, String> {
        let url = self.url.parse().map_err(|error: dyno_plan::HostError| error.to_string())?;
        let spec = HostSpec {
            target: self.target,
            data: self.data.clone(),
            redo: self.redo.clone(),
            password_env: self.password_env.clone(),
            password_file: self.password_file.clone(),
            ca: self.ca.clone(),
            ..HostSpec::database(url)
        };
        // Parsing the text checks the values against each other, as in a plan.
        HostSpec::from_str(&spec.to_string()).map_err(|error| error.to_string())
    }

    /// The file that contains the password; absent if there is none.
    pub(crate) fn password_file(&self) -> Option<&Path> {
        self.password_file.as_deref().map(Path::new)
    }

    /// The host as pages show it, without the place of its password.
    pub(crate) fn shown(&self) -> String {
        self.url.clone()
    }
}
