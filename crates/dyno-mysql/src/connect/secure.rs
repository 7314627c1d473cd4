//! What is asked of TLS: the mode, the root certificates, the versions.

use std::path::PathBuf;

use super::config::SslMode;
use super::settings::{ClientSetting, ClientSettings};
use dyno_engine::TargetError;
use dyno_engine::net::tls::TlsOffer;
use dyno_engine::net::url::wrong;

/// The TLS mode and the root certificates. As the `mysql` client: a root certificate alone asks for `VERIFY_CA`.
pub(super) fn mode(settings: &ClientSettings<'_>) -> Result<(SslMode, Option<PathBuf>), TargetError> {
    let words = "DISABLED, PREFERRED, REQUIRED, VERIFY_CA or VERIFY_IDENTITY";
    let setting = settings.get("ssl-mode");
    let mode = match &setting {
        Some(setting) => Some(named_mode(setting).ok_or_else(|| setting.wrong(words))?),
        None => None,
    };
    let ca = settings.get("ssl-ca");
    let mode = mode.or_else(|| mariadb_mode(settings, ca.is_some()));
    let is_weak = matches!(mode, Some(SslMode::Disabled | SslMode::Preferred | SslMode::Required));
    // A file's certificate cannot overrule the mode that the URL, or MariaDB's switches, ask for.
    let ca = ca.filter(|ca| ca.is_of_url() || !is_weak);
    let is_system = ca.as_ref().is_some_and(|ca| ca.value == "system");
    let ca = ca.map(|ca| PathBuf::from(ca.value));
    match (mode, &ca) {
        (Some(weak), Some(_)) if is_weak => Err(wrong(
            "ssl-mode",
            weak.name(),
            "VERIFY_CA or VERIFY_IDENTITY with ssl-ca: a certificate that is not checked proves nothing",
        )),
        (Some(SslMode::VerifyCa), Some(_)) if is_system => Err(wrong(
            "ssl-mode",
            "VERIFY_CA",
            "VERIFY_IDENTITY with ssl-ca=system: anyone can get a certificate of a public authority",
        )),
        (Some(strict @ (SslMode::VerifyCa | SslMode::VerifyIdentity)), None) => Err(wrong(
            "ssl-mode",
            strict.name(),
            "ssl-ca=FILE beside it, or ssl-ca=system for the authorities that this machine trusts",
        )),
        (None, Some(_)) if is_system => Ok((SslMode::VerifyIdentity, ca)),
        (None, Some(_)) => Ok((SslMode::VerifyCa, ca)),
        (mode, _) => Ok((mode.unwrap_or(SslMode::Preferred), ca)),
    }
}

fn named_mode(setting: &ClientSetting) -> Option<SslMode> {
    SslMode::from_name(&setting.value.to_ascii_uppercase().replace('-', "_"))
}

/// What MariaDB's switches `ssl` and `ssl-verify-server-cert` in a file ask for.
fn mariadb_mode(settings: &ClientSettings<'_>, has_ca: bool) -> Option<SslMode> {
    match (settings.switch("ssl"), settings.switch("ssl-verify-server-cert")) {
        (Some(false), _) => Some(SslMode::Disabled),
        (_, Some(true)) => Some(SslMode::VerifyIdentity),
        (Some(true), Some(false)) => Some(SslMode::Required),
        (None, Some(false)) if has_ca => Some(SslMode::Required),
        (Some(true), None) if !has_ca => Some(SslMode::Required),
        _ => None,
    }
}

/// The versions of TLS that a file's `tls-version` lists, of those that Dyno has (1.2 and 1.3).
pub(super) fn offer(settings: &ClientSettings<'_>) -> Result<TlsOffer, TargetError> {
    let Some(setting) = settings.in_files("tls-version") else { return Ok(TlsOffer::default()) };
    let has = |version| setting.value.split(',').any(|word| word.trim().eq_ignore_ascii_case(version));
    let offer = TlsOffer { tls12: has("TLSv1.2"), tls13: has("TLSv1.3"), server_name: true };
    match offer.tls12 || offer.tls13 {
        true => Ok(offer),
        false => Err(setting.wrong("TLSv1.2, TLSv1.3 or both")),
    }
}
