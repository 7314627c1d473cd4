//! Reads settings of Oracle's own clients from the environment and `sqlnet.ora`, and lists those that have no
//! effect in Dyno.

use std::path::PathBuf;

use dyno_plan::TargetUrl;

use dyno_engine::TargetError;
use dyno_engine::net::Environment;

/// Variables and prefixes of variables that configure sessions of Oracle's clients and that the driver does
/// not read.
const WITHOUT_EFFECT: [&str; 15] = [
    "NLS_LANG",
    "NLS_LANGUAGE",
    "NLS_TERRITORY",
    "NLS_DATE_FORMAT",
    "NLS_DATE_LANGUAGE",
    "NLS_TIMESTAMP_FORMAT",
    "NLS_TIMESTAMP_TZ_FORMAT",
    "NLS_NUMERIC_CHARACTERS",
    "NLS_CURRENCY",
    "NLS_CALENDAR",
    "NLS_SORT",
    "NLS_COMP",
    "NLS_NCHAR",
    "NLS_LENGTH_SEMANTICS",
    "ORA_EDITION",
];

/// Parameters of `sqlnet.ora` that change connections and that the driver does not read.
const OF_SQLNET: [&str; 14] = [
    "NAMES.DEFAULT_DOMAIN",
    "SQLNET.ENCRYPTION_CLIENT",
    "SQLNET.ENCRYPTION_TYPES_CLIENT",
    "SQLNET.CRYPTO_CHECKSUM_CLIENT",
    "SQLNET.AUTHENTICATION_SERVICES",
    "SQLNET.WALLET_OVERRIDE",
    "SQLNET.EXPIRE_TIME",
    "SQLNET.OUTBOUND_CONNECT_TIMEOUT",
    "SQLNET.RECV_TIMEOUT",
    "SSL_SERVER_DN_MATCH",
    "SSL_VERSION",
    "WALLET_LOCATION",
    "DEFAULT_SDU_SIZE",
    "TCP.NODELAY",
];

/// `url`, completed with the database from `TWO_TASK` if it names none.
///
/// # Errors
/// `Unsupported`: `TWO_TASK` is a descriptor, or only `ORACLE_SID` names a database.
pub(super) fn located(url: &TargetUrl, environment: Environment) -> Result<TargetUrl, TargetError> {
    if url.host.is_some() || !url.path.is_empty() || url.param("sid").is_some() {
        return Ok(url.clone());
    }
    let Some(place) = environment.var("TWO_TASK") else {
        return match environment.var("ORACLE_SID") {
            None => Ok(url.clone()),
            Some(sid) => Err(TargetError::unsupported(format!(
                "the URL names no database, and ORACLE_SID={sid} needs a connection without a listener, \
                which Dyno does not support"
            ))
            .hint("write oracle://USER@HOST:PORT/SERVICE, or oracle://USER@HOST/?sid=SID")),
        };
    };
    let mut located = url.clone();
    let easy = place.strip_prefix("//").unwrap_or(&place);
    let Some((address, service)) = easy.split_once('/') else {
        located.path = place;
        return Ok(located);
    };
    let (host, port) = match address.rsplit_once(':') {
        Some((host, port)) => (host, Some(port.parse().ok())),
        None => (address, None),
    };
    if place.contains(['(', '?', ','])
        || host.is_empty()
        || service.contains(['/', ':'])
        || port == Some(None)
    {
        return Err(TargetError::unsupported("TWO_TASK is neither an alias nor HOST:PORT/SERVICE")
            .hint("name an alias of tnsnames.ora, or write oracle://USER@HOST:PORT/SERVICE"));
    }
    located.host = Some(host.trim_matches(['[', ']']).to_owned());
    located.port = port.flatten();
    service.clone_into(&mut located.path);
    Ok(located)
}

/// Settings of Oracle's own clients that have no effect in Dyno: variables, and parameters in `sqlnet.ora`.
/// The file is in `tns_admin` or in the folder that the environment names.
pub(super) fn without_effect(tns_admin: Option<&PathBuf>, environment: Environment) -> Vec<String> {
    let variables = WITHOUT_EFFECT.iter().filter(|name| environment.var(name).is_some());
    let mut names: Vec<String> = variables.map(|name| (*name).to_owned()).collect();
    let home = || environment.var("ORACLE_HOME").map(|home| PathBuf::from(home).join("network/admin"));
    let folder = tns_admin.cloned().or_else(|| environment.var("TNS_ADMIN").map(PathBuf::from)).or_else(home);
    let file = folder.map(|folder| folder.join("sqlnet.ora"));
    let text = file.as_ref().and_then(|file| std::fs::read_to_string(file).ok()).unwrap_or_default();
    let of_file = sqlnet_parameters(&text);
    names.extend(of_file.into_iter().map(|name| format!("{name} of sqlnet.ora")));
    names
}

/// The parameters of [`OF_SQLNET`] that the text sets.
fn sqlnet_parameters(text: &str) -> Vec<&'static str> {
    let sets = |name: &str| {
        text.lines()
            .any(|line| line.split_once('=').is_some_and(|(key, _)| key.trim().eq_ignore_ascii_case(name)))
    };
    OF_SQLNET.into_iter().filter(|name| sets(name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(url: &str, variables: fn(&str) -> Option<String>) -> Result<String, TargetError> {
        located(&url.parse().unwrap(), Environment(variables)).map(|url| url.to_string())
    }

    #[test]
    fn two_task_supplies_the_database_missing_from_the_url() {
        for (two_task, located) in [
            ("PROD.WORLD", "oracle://me@/PROD.WORLD"),
            ("db1:1600/bench", "oracle://me@db1:1600/bench"),
            ("//db1/bench.example", "oracle://me@db1/bench.example"),
            ("[fe80::1]:1521/bench", "oracle://me@[fe80::1]:1521/bench"),
        ] {
            static PLACE: parking_lot::Mutex<String> = parking_lot::Mutex::new(String::new());
            two_task.clone_into(&mut PLACE.lock());
            let variables = |name: &str| (name == "TWO_TASK").then(|| PLACE.lock().clone());
            assert_eq!(place("oracle://me@/", variables).unwrap(), located);
            assert_eq!(place("oracle://me@db2/own", variables).unwrap(), "oracle://me@db2/own");
        }
        let descriptor =
            |name: &str| (name == "TWO_TASK").then(|| "(DESCRIPTION=(ADDRESS=(HOST=a/b))".to_owned());
        assert!(place("oracle://me@/", descriptor).expect_err("a descriptor").hint.contains("tnsnames.ora"));
        let sid = |name: &str| (name == "ORACLE_SID").then(|| "ORCL".to_owned());
        let error = place("oracle://me@/", sid).expect_err("a local instance");
        assert!(error.message.contains("ORACLE_SID=ORCL"), "{error}");
        assert!(error.hint.contains("?sid=SID"), "{error}");
        assert_eq!(place("oracle://me@db1/?sid=X", sid).unwrap(), "oracle://me@db1/?sid=X");
    }

    #[test]
    fn ignored_oracle_client_settings_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let text =
            "# SSL_VERSION = 1.2\nsqlnet.encryption_client = REQUIRED\nNAMES.DIRECTORY_PATH=(TNSNAMES)\n";
        std::fs::write(folder.path().join("sqlnet.ora"), text).unwrap();
        let variables = |name: &str| (name == "NLS_DATE_FORMAT").then(|| "DD.MM.YYYY".to_owned());
        assert_eq!(
            without_effect(Some(&folder.path().to_owned()), Environment(variables)),
            ["NLS_DATE_FORMAT", "SQLNET.ENCRYPTION_CLIENT of sqlnet.ora"]
        );
        assert!(without_effect(None, Environment(|_| None)).is_empty());
    }
}
