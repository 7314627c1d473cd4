//! Converts pgio's arguments of `psql` into the URL of a target.

use super::options::KitImportOptions;
use super::service::PASSWORD_ENV;
use super::settings::{KitParameter, KitParameterReader};
use super::sheet::{KitPlanWriter, ParameterMapping, ParameterNote};
use dyno_plan::error::PlanErrorKind;
use dyno_plan::url::TargetUrl;

/// The parts of a connection.
#[derive(Debug, Default, PartialEq, Eq)]
struct PsqlAddress {
    user: Option<String>,
    host: Option<String>,
    port: Option<u16>,
    database: Option<String>,
    params: Vec<(String, String)>,
    /// Whether the arguments contained a password; the import drops it.
    password: bool,
}

/// Converts the parameters of the connection into `[target]`.
pub(super) fn map(read: &mut KitParameterReader<'_>, sheet: &mut KitPlanWriter, options: &KitImportOptions) {
    let name = read.text("DBNAME");
    let connect = read.text("CONNECT_STRING");
    // The value may hold a password, so neither comments nor errors show it.
    let connect = KitParameter { written: "…".into(), ..connect };
    let parts = match connect.value.as_deref().map(parts) {
        Some(Some(parts)) => parts,
        Some(None) => {
            let hidden = KitParameter { value: (), name: connect.name, line: None, written: String::new() };
            let hint = "write a database, NAME=VALUE pairs, -h -p -U -d options or a postgresql:// URL, or give --target";
            read.refuse(&hidden, PlanErrorKind::Range, "not a connection that psql takes", hint);
            PsqlAddress::default()
        }
        None => PsqlAddress::default(),
    };
    let database = parts.database.clone().or_else(|| name.value.clone()).unwrap_or_else(|| "pg10".into());
    if name.value.as_deref().is_some_and(|name| name.chars().any(char::is_control)) {
        read.refuse(&name, PlanErrorKind::Range, "not the name of a database", "write one name");
    }
    let password = parts.password;
    let url = TargetUrl {
        scheme: "postgres".into(),
        // Without a host `psql` uses the local socket; a plan needs a host.
        host: Some(parts.host.unwrap_or_else(|| "localhost".into())),
        user: parts.user,
        port: parts.port,
        is_file: false,
        path: database,
        params: parts.params,
    };
    let url = options.target.clone().unwrap_or_else(|| url.to_string());
    let words = match &options.target {
        Some(_) => "`--target` says where the database is.",
        None => {
            "Where psql finds nothing, it takes the local socket and the system's user; a plan takes localhost."
        }
    };
    let fate = if options.target.is_some() { ParameterMapping::Maps } else { ParameterMapping::Differs };
    sheet.put("target.url", url, ParameterNote::of(&connect, fate, words));
    if name.is_given() {
        sheet.note(
            "target.url",
            ParameterNote::of(
                &name,
                ParameterMapping::Maps,
                "The database, where CONNECT_STRING names none.",
            ),
        );
    }
    if password {
        sheet.put_bare("target.password_env", PASSWORD_ENV);
        let words = "The password is not copied: this environment variable gives it.";
        sheet.note("target.password_env", ParameterNote::of(&connect, ParameterMapping::Differs, words));
    }
}

/// The connection that `psql` would read from `text`, split at blanks as a shell does; `None` if `psql` would refuse it.
fn parts(text: &str) -> Option<PsqlAddress> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut parts = PsqlAddress::default();
    let mut words = words.into_iter();
    let mut plain = Vec::new();
    while let Some(word) = words.next() {
        let option = |long: &str, short: &str| -> Option<Option<String>> {
            if let Some(value) = word.strip_prefix(long) {
                return match value.strip_prefix('=') {
                    Some(value) => Some(Some(value.to_owned())),
                    None => value.is_empty().then_some(None),
                };
            }
            if word.starts_with("--") {
                return None;
            }
            let value = word.strip_prefix(short)?;
            Some((!value.is_empty()).then(|| value.to_owned()))
        };
        let matched_option = [("--host", "-h"), ("--port", "-p"), ("--username", "-U"), ("--dbname", "-d")]
            .iter()
            .find_map(|(long, short)| option(long, short).map(|value| (*short, value)));
        match matched_option {
            Some((short, value)) => {
                let value = value.or_else(|| words.next().map(str::to_owned))?;
                match short {
                    "-h" => parts.host = Some(value),
                    "-p" => parts.port = Some(port(&value)?),
                    "-U" => parts.user = Some(value),
                    _ => plain.push(value),
                }
            }
            None if word.starts_with('-') => return None,
            None => plain.push(word.to_owned()),
        }
    }
    if plain.len() > 1 && plain.iter().all(|word| word.contains('=')) {
        return pairs(parts, &plain);
    }
    match plain.as_slice() {
        [] => Some(parts),
        [one] if one.contains("://") => uri(parts, one),
        [one] if one.contains('=') => pairs(parts, &plain),
        // `psql DATABASE USER`.
        [database] => Some(PsqlAddress { database: Some(database.clone()), ..parts }),
        [database, user] if parts.user.is_none() && !database.contains('=') => {
            Some(PsqlAddress { database: Some(database.clone()), user: Some(user.clone()), ..parts })
        }
        _ => None,
    }
}

fn port(text: &str) -> Option<u16> {
    text.parse().ok().filter(|port| *port > 0)
}

/// Reads a libpq connection string: `host=db1 dbname=bench`.
fn pairs(mut parts: PsqlAddress, pairs: &[String]) -> Option<PsqlAddress> {
    for pair in pairs {
        let (name, value) = pair.split_once('=')?;
        let value = value.trim_matches('\'').to_owned();
        parameter(&mut parts, name, value)?;
    }
    Some(parts)
}

/// Reads one connection parameter of libpq. A parameter that Dyno's URLs do not have is ignored, not an error.
fn parameter(parts: &mut PsqlAddress, name: &str, value: String) -> Option<()> {
    match name {
        "host" | "hostaddr" => parts.host = Some(value),
        "port" => parts.port = Some(port(&value)?),
        "user" => parts.user = Some(value),
        "dbname" => parts.database = Some(value),
        "password" => parts.password = true,
        "sslmode" | "sslrootcert" | "passfile" => parts.params.push((name.to_owned(), value)),
        _ if name.contains("pass") || !name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_') => {
            return None;
        }
        _ => {}
    }
    Some(())
}

/// Reads `postgresql://user:password@host/database` and drops its password.
fn uri(parts: PsqlAddress, text: &str) -> Option<PsqlAddress> {
    let (scheme, rest) = text.split_once("://")?;
    if !matches!(scheme, "postgres" | "postgresql") {
        return None;
    }
    let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (authority, database) = place.split_once('/').unwrap_or((place, ""));
    let (login, address) = authority.rsplit_once('@').unwrap_or(("", authority));
    let (user, password) = login.split_once(':').unwrap_or((login, ""));
    let at = if user.is_empty() { String::new() } else { format!("{user}@") };
    // The rest contains no password and is read like any other URL.
    let url: TargetUrl = format!("postgres://{at}{address}/{database}").parse().ok()?;
    let mut parts = PsqlAddress {
        user: url.user.or(parts.user),
        host: url.host.or(parts.host),
        port: url.port.or(parts.port),
        database: Some(url.path).filter(|path| !path.is_empty()).or(parts.database),
        password: !password.is_empty(),
        params: parts.params,
    };
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=')?;
        parameter(&mut parts, name, dyno_plan::url::decode(value)?)?;
    }
    Some(parts)
}
