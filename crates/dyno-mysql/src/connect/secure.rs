//! Reads the TLS settings: mode, root certificates and versions.

use std::path::PathBuf;

use super::config::MySqlSslMode;
use super::settings::ClientSettings;
use dyno_engine::TargetError;
use dyno_engine::net::parameters::{ConnectionSetting, wrong};
use dyno_engine::net::tls::TlsOffer;

/// The TLS mode and the root certificates. As in the `mysql` client, a root certificate alone selects
/// `VERIFY_CA`.
pub(super) fn mode(settings: &ClientSettings<'_>) -> Result<(MySqlSslMode, Option<PathBuf>), TargetError> {
    let words = "DISABLED, PREFERRED, REQUIRED, VERIFY_CA or VERIFY_IDENTITY";
    let setting = settings.get("ssl-mode");
    let mode = match &setting {
        Some(setting) => Some(named_mode(setting).ok_or_else(|| setting.invalid_value(words))?),
        None => None,
    };
    let ca = settings.get("ssl-ca");
    let mode = mode.or_else(|| mariadb_mode(settings, ca.is_some()));
    let is_weak =
        matches!(mode, Some(MySqlSslMode::Disabled | MySqlSslMode::Preferred | MySqlSslMode::Required));
    // A certificate in a file does not overrule the mode from the URL or from MariaDB's switches.
    let ca = ca.filter(|ca| ca.is_of_url() || !is_weak);
    let is_system = ca.as_ref().is_some_and(|ca| ca.value == "system");
    let ca = ca.map(|ca| PathBuf::from(ca.value));
    match (mode, &ca) {
        (Some(weak), Some(_)) if is_weak => Err(wrong(
            "ssl-mode",
            weak.name(),
            "VERIFY_CA or VERIFY_IDENTITY with ssl-ca: a certificate that is not checked proves nothing",
        )),
        (Some(MySqlSslMode::VerifyCa), Some(_)) if is_system => Err(wrong(
            "ssl-mode",
            "VERIFY_CA",
            "VERIFY_IDENTITY with ssl-ca=system: anyone can get a certificate of a public authority",
        )),
        (Some(strict @ (MySqlSslMode::VerifyCa | MySqlSslMode::VerifyIdentity)), None) => Err(wrong(
            "ssl-mode",
            strict.name(),
            "ssl-ca=FILE with it, or ssl-ca=system for the authorities that this machine trusts",
        )),
        (None, Some(_)) if is_system => Ok((MySqlSslMode::VerifyIdentity, ca)),
        (None, Some(_)) => Ok((MySqlSslMode::VerifyCa, ca)),
        (mode, _) => Ok((mode.unwrap_or(MySqlSslMode::Preferred), ca)),
    }
}

fn named_mode(setting: &ConnectionSetting) -> Option<MySqlSslMode> {
    MySqlSslMode::from_name(&setting.value.to_ascii_uppercase().replace('-', "_"))
}

/// The mode that MariaDB's switches `ssl` and `ssl-verify-server-cert` in a file select.
fn mariadb_mode(settings: &ClientSettings<'_>, has_ca: bool) -> Option<MySqlSslMode> {
    match (settings.switch("ssl"), settings.switch("ssl-verify-server-cert")) {
        (Some(false), _) => Some(MySqlSslMode::Disabled),
        (_, Some(true)) => Some(MySqlSslMode::VerifyIdentity),
        (Some(true), Some(false)) => Some(MySqlSslMode::Required),
        (None, Some(false)) if has_ca => Some(MySqlSslMode::Required),
        (Some(true), None) if !has_ca => Some(MySqlSslMode::Required),
        _ => None,
    }
}

/// The TLS versions in a file's `tls-version` that Dyno supports (1.2 and 1.3).
pub(super) fn offer(settings: &ClientSettings<'_>) -> Result<TlsOffer, TargetError> {
    let Some(setting) = settings.in_files("tls-version") else { return Ok(TlsOffer::default()) };
    let has = |version| setting.value.split(',').any(|word| word.trim().eq_ignore_ascii_case(version));
    let offer = TlsOffer { tls12: has("TLSv1.2"), tls13: has("TLSv1.3"), server_name: true };
    match offer.tls12 || offer.tls13 {
        true => Ok(offer),
        false => Err(setting.invalid_value("TLSv1.2, TLSv1.3 or both")),
    }
}
