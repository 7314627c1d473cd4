//! Reads the settings for TLS.

use std::path::PathBuf;

use super::config::PostgresSslMode;
use super::settings::LibpqSettings;
use dyno_engine::TargetError;
use dyno_engine::net::tls::TlsOffer;

/// The TLS mode and the root certificates, with libpq's rules for `sslrootcert=system` and for a root
/// certificate at its default path.
pub(super) fn mode(settings: &LibpqSettings<'_>) -> Result<(PostgresSslMode, Option<PathBuf>), TargetError> {
    let words = "disable, allow, prefer, require, verify-ca or verify-full";
    let mode = settings
        .get("sslmode")
        .map(|setting| PostgresSslMode::from_name(&setting.value).ok_or_else(|| setting.invalid_value(words)))
        .transpose()?;
    // As in libpq, the old name counts if the new one is not set.
    let requires = settings.text("requiressl").is_some_and(|value| value.starts_with('1'));
    let mode = mode.or(requires.then_some(PostgresSslMode::Require));
    let root = settings.get("sslrootcert");
    if root.as_ref().is_some_and(|setting| setting.value == "system") {
        return match (mode, settings.get("sslmode")) {
            (None | Some(PostgresSslMode::VerifyFull), _) => Ok((PostgresSslMode::VerifyFull, Some("system".into()))),
            (Some(_), weak) => Err(weak.or(root).expect("one of them is set").invalid_value(
                "sslmode=verify-full with sslrootcert=system: anyone can get a certificate of a public authority, so the host name has to be checked",
            )),
        };
    }
    let usual = settings.environment.home(".postgresql/root.crt").filter(|path| path.exists());
    Ok((mode.unwrap_or(PostgresSslMode::Prefer), root.map(|setting| setting.value.into()).or(usual)))
}

/// The client's certificate and its key, unless the user disabled them.
pub(super) fn client_certificate(
    settings: &LibpqSettings<'_>,
) -> Result<(Option<PathBuf>, Option<PathBuf>), TargetError> {
    if let Some(setting) = settings.get("sslcertmode") {
        match setting.value.as_str() {
            "allow" => {}
            "disable" => return Ok((None, None)),
            _ => {
                return Err(setting.invalid_value(
                    "allow or disable: Dyno does not know whether a server requested a certificate",
                ));
            }
        }
    }
    let file = |parameter, usual| {
        let usual = || settings.environment.home(usual).filter(|path| path.exists());
        settings.path(parameter).or_else(usual)
    };
    Ok((file("sslcert", ".postgresql/postgresql.crt"), file("sslkey", ".postgresql/postgresql.key")))
}

/// The TLS versions between the lowest and the highest accepted one that Dyno supports (1.2 and 1.3).
pub(super) fn offer(settings: &LibpqSettings<'_>) -> Result<TlsOffer, TargetError> {
    const VERSIONS: [&str; 4] = ["TLSv1", "TLSv1.1", "TLSv1.2", "TLSv1.3"];
    let rank = |value: &str| VERSIONS.iter().position(|version| version.eq_ignore_ascii_case(value));
    let limit = |name, default, allowed: &[usize]| match settings.get(name) {
        None => Ok(default),
        Some(setting) => {
            let rank = rank(&setting.value).filter(|rank| allowed.contains(rank));
            let names: Vec<&str> = allowed.iter().map(|&rank| VERSIONS[rank]).collect();
            rank.ok_or_else(|| setting.invalid_value(&dyno_plan::engine::or(&names)))
        }
    };
    let lowest = limit("ssl_min_protocol_version", 2, &[0, 1, 2, 3])?;
    let highest = limit("ssl_max_protocol_version", 3, if lowest == 3 { &[3] } else { &[2, 3] })?;
    let server_name = match settings.get("sslsni") {
        None => true,
        Some(setting) => match setting.value.as_str() {
            "1" => true,
            "0" => false,
            _ => return Err(setting.invalid_value("0 or 1")),
        },
    };
    Ok(TlsOffer { tls12: lowest <= 2, tls13: highest == 3, server_name })
}
