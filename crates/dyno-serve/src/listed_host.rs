//! Hosts that a run may observe: named on the server's side, so that no URL, user, password or file name comes from a page.

use std::path::Path;
use std::str::FromStr as _;

use dyno_plan::HostSpec;
use serde::Deserialize;

/// One host in the server's list, in the words of `observe.hosts`.
#[derive(Debug, Clone, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub(crate) struct ListedHost {
    /// How it is reached: `ssh://db1`.
    url: String,
    /// A description for people.
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
    /// The host as a plan has it.
    ///
    /// # Errors
    /// A value is not one that a plan may have; says which and why, and never quotes it.
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
        // Reading its text checks the values against each other, as in a plan.
        HostSpec::from_str(&spec.to_string()).map_err(|error| error.to_string())
    }

    /// The file of its password.
    pub(crate) fn password_file(&self) -> Option<&Path> {
        self.password_file.as_deref().map(Path::new)
    }

    /// The host as pages show it: without where its password is.
    pub(crate) fn shown(&self) -> String {
        self.url.clone()
    }
}
