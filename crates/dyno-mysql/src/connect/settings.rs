//! Looks up connection settings in the URL, then the option files, then the environment, like the `mysql`
//! client.

use dyno_plan::TargetUrl;

use super::option_file::OptionFiles;
use dyno_engine::TargetError;
use dyno_engine::net::Environment;
use dyno_engine::net::parameters::ConnectionSetting;

/// Options in files that would change the connection and that Dyno does not support, each with a hint.
const REFUSED: [(&str, &str); 22] = [
    ("ssl-capath", "put the certificates into one file, and name it with ssl-ca"),
    ("ssl-crl", NO_REVOCATION),
    ("ssl-crlpath", NO_REVOCATION),
    ("ssl-cipher", NO_CIPHERS),
    ("tls-ciphersuites", NO_CIPHERS),
    ("ssl-fips-mode", NO_CIPHERS),
    ("ssl-passphrase", "name a private key without a passphrase with ssl-key"),
    ("ssl-fp", NO_FINGERPRINT),
    ("ssl-fplist", NO_FINGERPRINT),
    ("tls-fp", NO_FINGERPRINT),
    ("tls-fplist", NO_FINGERPRINT),
    ("tls-sni-servername", "leave it out: Dyno sends the name of the host"),
    ("compress", NO_COMPRESSION),
    ("compression-algorithms", NO_COMPRESSION),
    ("server-public-key-path", "leave it out, and write ssl-mode=VERIFY_CA"),
    ("default-auth", "leave it out: the server chooses how users log in"),
    ("password2", NO_FACTORS),
    ("password3", NO_FACTORS),
    ("bind-address", "leave it out: the system chooses the address of the client"),
    ("dns-srv-name", "name the host"),
    ("init-command", NO_COMMANDS),
    ("init-command-add", NO_COMMANDS),
];

const NO_REVOCATION: &str = "leave it out: Dyno does not check revoked certificates";
const NO_CIPHERS: &str = "leave it out: Dyno offers the ciphers of rustls";
const NO_FINGERPRINT: &str = "leave it out, and name the certificate with ssl-ca";
const NO_COMPRESSION: &str = "leave it out: Dyno does not compress what it sends";
const NO_FACTORS: &str = "use an account with one password";
const NO_COMMANDS: &str = "leave it out, and set variables on the server or in the workload";

/// Access to the settings of one target.
pub(super) struct ClientSettings<'a> {
    pub(super) url: &'a TargetUrl,
    pub(super) files: &'a OptionFiles,
    pub(super) environment: Environment,
}

impl ClientSettings<'_> {
    /// Returns an error if a file sets an option that Dyno does not support.
    pub(super) fn check(&self) -> Result<(), TargetError> {
        for (name, way_out) in REFUSED {
            let Some(option) = self.files.get(name) else { continue };
            if matches!(option.value.as_deref(), Some("" | "0")) {
                continue;
            }
            let path = option.path.display();
            return Err(TargetError::unsupported(format!("{path} sets {name}, which Dyno does not support"))
                .hint(format!("{way_out}; option-files=off in the URL ignores all option files")));
        }
        Ok(())
    }

    /// The URL parameter `name`, otherwise the option `name` of a file; an empty value counts as not set.
    pub(super) fn get(&self, name: &'static str) -> Option<ConnectionSetting> {
        ConnectionSetting::of_url(self.url, name).or_else(|| self.in_files(name))
    }

    /// The option `name` of a file; an empty value counts as not set.
    pub(super) fn in_files(&self, name: &'static str) -> Option<ConnectionSetting> {
        let option = self.files.get(name)?;
        let value = option.value.clone().filter(|value| !value.is_empty())?;
        let origin = format!(" (from {})", option.path.display());
        Some(ConnectionSetting { name, value, origin })
    }

    /// The environment variable `name`, unless it is empty.
    pub(super) fn in_environment(&self, name: &'static str) -> Option<ConnectionSetting> {
        let value = self.environment.var(name)?;
        Some(ConnectionSetting { name, value, origin: " (from the environment)".to_owned() })
    }

    /// Whether a file switches `name` on or off, in any spelling that the client accepts.
    pub(super) fn switch(&self, name: &str) -> Option<bool> {
        let off =
            ["skip", "disable"].iter().any(|prefix| self.files.get(&format!("{prefix}-{name}")).is_some());
        if off {
            return Some(false);
        }
        let value = self.files.get(name)?.value.as_deref().unwrap_or("1").to_ascii_lowercase();
        Some(!matches!(value.as_str(), "0" | "off" | "false" | "no"))
    }
}
