//! Explains why a connection failed, with a hint what to do.

use crate::grants::OracleGrants;
use oracledb::ErrorKind;

use super::config::{Endpoint, OracleConnectConfig, OracleNetProtocol};
use crate::error::{OracleError, one_line};
use dyno_engine::{Refusal as _, TargetError, TargetErrorKind};

/// The ways to supply a password, for hints.
const WAYS: &str = "give the password by target.password_env, target.password_file or the prompt";

/// No password is set, and the driver supports no other way to log in.
pub(super) fn no_password(config: &OracleConnectConfig) -> TargetError {
    let user = &config.user;
    TargetError::new(TargetErrorKind::PasswordNeeded, format!("user {user} needs a password")).hint(WAYS)
}

/// No reply arrived within the limit.
pub(super) fn too_late(config: &OracleConnectConfig) -> TargetError {
    let (endpoint, seconds) = (config.endpoint_words(), config.connect_timeout.as_secs_f64());
    TargetError::unreachable(format!(
        "{endpoint} did not connect to a database within {seconds} s \
        (target.connect_timeout)"
    ))
    .hint(
        "check that host and port are those of an Oracle listener that is not overloaded, and that \
        protocol (tcp or tcps) matches the port",
    )
}

/// The reply was not Oracle's protocol.
pub(super) fn no_oracle(config: &OracleConnectConfig) -> TargetError {
    let endpoint = config.endpoint_words();
    TargetError::unreachable(format!("the server at {endpoint} does not use Oracle's protocol")).hint(
        "check that host and port are those of an Oracle listener (`lsnrctl status` on its host shows them)",
    )
}

/// Where the pinned version of the driver panics for a server that requires encryption; a test fails if
/// another version changes it.
const ENCRYPTION_PLACE: &str = "connect.rs line 100";

/// The driver panicked on something that it does not support; `panic` contains the source location, which
/// shows what.
pub(super) fn panicked(panic: &str, config: &OracleConnectConfig) -> TargetError {
    let endpoint = config.endpoint_words();
    if panic.contains("auth.rs") {
        let user = &config.user;
        let message = format!(
            "the password of {user} at {endpoint} is stored with a verifier of version 11 or older, which \
            Dyno does not support"
        );
        return TargetError::denied(message).hint(format!(
            "set a new password (ALTER USER {user} IDENTIFIED BY …) where SQLNET.ALLOWED_LOGON_VERSION_SERVER is 12 or more"
        ));
    }
    if panic.contains(ENCRYPTION_PLACE) {
        let message = format!("{endpoint} requires native network encryption, which Dyno does not support");
        return TargetError::unsupported(message).hint(
            "use TLS (protocol=tcps), or set SQLNET.ENCRYPTION_SERVER = ACCEPTED on the database's host",
        );
    }
    no_oracle(config)
}

/// The listener or the database rejected the connection, or the network failed.
pub(super) fn refused(error: &oracledb::Error, config: &OracleConnectConfig) -> TargetError {
    if let Some(server) = OracleError::from_driver(error) {
        return by_database(server, config);
    }
    let endpoint = config.endpoint_words();
    let unreachable = |message: String, hint: &str| TargetError::unreachable(message).hint(hint.to_owned());
    let unsupported = |message: String, hint: &str| TargetError::unsupported(message).hint(hint.to_owned());
    match error.kind() {
        ErrorKind::InvalidServiceName(_, service, host, port) => unreachable(
            format!("the listener at {host}:{port} knows no service {service:?} (ORA-12514)"),
            "name a service that `lsnrctl status` lists on the listener's host; a closed PDB has none",
        ),
        ErrorKind::InvalidSid(_, sid, host, port) => unreachable(
            format!("the listener at {host}:{port} knows no SID {sid:?} (ORA-12505)"),
            "name a service instead: oracle://USER@HOST:PORT/SERVICE; a PDB has no SID",
        ),
        ErrorKind::ListenerRefusedConnection(_, host, port, number) => unreachable(
            format!("the listener at {host}:{port} refused the connection (ORA-{number:05})"),
            match number {
                12_516 | 12_518..=12_520 => {
                    "the instance accepts no more sessions: plan fewer, or raise its setting processes"
                }
                12_170 | 12_535 | 12_547 | 12_608 => {
                    "the listener timed out while it waited for the client: check for packet loss, or \
                    raise SQLNET.INBOUND_CONNECT_TIMEOUT"
                }
                12_526..=12_529 => "the instance is restricted, or its service is blocked: open it",
                12_521 => {
                    "the listener knows the service but not the instance: remove ?instance= from the \
                    URL"
                }
                _ => "check the listener's log on its host (listener.log, or log.xml)",
            },
        ),
        ErrorKind::UnexpectedRefuse(_) => unreachable(
            format!("the listener at {endpoint} refused the connection without a reason"),
            "check the listener's log on its host, and its valid_node_checking",
        ),
        ErrorKind::CallTimeoutExceeded => too_late(config),
        ErrorKind::DeadConnection | ErrorKind::StreamOperation | ErrorKind::UnexpectedError => {
            let tcps = matches!(config.endpoint, Endpoint::Listener { protocol: OracleNetProtocol::Tcp, .. });
            let tls = if tcps { "; a TLS port requires protocol=tcps" } else { "" };
            unreachable(
                format!("no Oracle listener can be reached at {endpoint}: {}", one_line(error)),
                &format!(
                    "check host and port (target.url of the plan, or --target), that the listener runs, and that \
                    no firewall blocks the connection{tls}"
                ),
            )
        }
        ErrorKind::TlsOperation => TargetError::denied(format!(
            "cannot establish a TLS connection to \
            {endpoint}: {}",
            one_line(error)
        ))
        .hint(
            "name the authority's certificate with wallet=FOLDER, a folder with ewallet.pem, and connect \
            to a name in the server's certificate",
        ),
        ErrorKind::WalletUnreadable(_)
        | ErrorKind::WalletPasswordMissingOrInvalid(..)
        | ErrorKind::WalletPrivateKeyInvalid(_)
        | ErrorKind::PemFileOperation => {
            TargetError::denied(format!("the wallet cannot be used: {}", one_line(error))).hint(
                "wallet=FOLDER names the folder of ewallet.pem; DYNO_WALLET_PASSWORD holds the password of \
            an encrypted key",
            )
        }
        ErrorKind::NoConfigDir => unsupported(
            format!("{endpoint} cannot be resolved: the folder of tnsnames.ora is unknown"),
            "set TNS_ADMIN, or write tns-admin=FOLDER into the URL",
        ),
        ErrorKind::TnsAliasNotFound(file, alias) => unsupported(
            format!("{file} has no alias {alias:?}"),
            "check the alias, or write oracle://USER@HOST:PORT/SERVICE",
        ),
        ErrorKind::ServerVersionNotSupported => unsupported(
            format!("the database at {endpoint} is too old"),
            "Dyno supports Oracle Database 12.2 and later",
        ),
        _ => unreachable(format!("cannot connect to {endpoint}: {}", one_line(error)), ""),
    }
}

/// The database rejected the login.
fn by_database(server: OracleError, config: &OracleConnectConfig) -> TargetError {
    let user = &config.user;
    let hint = match server.number {
        1017 | 1005 => format!("check user and password ({user:?} is the user); {WAYS}"),
        1045 => format!("by a DBA: {}", OracleGrants::new(user).load()),
        28_000 => format!("ALTER USER {user} ACCOUNT UNLOCK, by a DBA"),
        28_001 => format!("ALTER USER {user} IDENTIFIED BY a new password"),
        18 | 20 => "plan fewer sessions, or raise the instance's settings sessions and processes".to_owned(),
        2391 => format!("plan fewer sessions, or raise SESSIONS_PER_USER of the profile of {user}"),
        1033 | 1034 | 1109 => "open the database, and the PDB: ALTER PLUGGABLE DATABASE … OPEN".to_owned(),
        1035 => "the database is in restricted mode: ALTER SYSTEM DISABLE RESTRICTED SESSION".to_owned(),
        12_660 | 12_650 | 12_686 => {
            "the server requires native network encryption, which Dyno does not support: use protocol=tcps"
                .to_owned()
        }
        _ => server.way_out().to_owned(),
    };
    let kind = server.kind();
    TargetError::new(kind, format!("the database refused the connection: {server}")).hint(hint).cause(server)
}
