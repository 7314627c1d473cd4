//! Tests that a run's sessions wait an hour for a reply unless the URL says otherwise, and other connections
//! wait for ever.

use std::sync::Arc;
use std::time::Duration;

use dyno_engine::net::Breaker;
use dyno_engine::{MonotonicClock, OpenOptions, Secret, SessionSetup};
use dyno_plan::{Commit, Connect, StatementProtocol};
use dyno_testbed::{ScriptedAnswer, ScriptedOptions, ScriptedOracle};

use super::OracleSession;
use crate::connect::OracleConnectConfig;
use crate::connection::OracleConnection;

fn setup() -> SessionSetup {
    SessionSetup {
        number: 0,
        statements: Vec::new().into(),
        rehearsal: None,
        commit: Commit::Plsql,
        protocol: StatementProtocol::Prepared,
        connect: Connect::Session,
        blocks: None,
        bulk: None,
        slices: false,
        read_only: false,
        clock: Arc::new(MonotonicClock::default()),
    }
}

#[test]
fn call_limit_is_one_hour_for_sessions_and_absent_for_loads() {
    let server = ScriptedOracle::start(ScriptedOptions::default(), |_| ScriptedAnswer::Done);
    let options = OpenOptions {
        password: Some(Secret::new("secret".to_owned())),
        connect_timeout: Duration::from_secs(10),
    };
    for (parameters, session_limit, load_limit) in
        [("", Some(3_600), None), ("?call-timeout=9", Some(9), Some(9)), ("?call-timeout=0", None, None)]
    {
        let url = format!("{}{parameters}", server.url()).parse().unwrap();
        let config = OracleConnectConfig::from_url(&url, &options).unwrap();
        let session = OracleSession::open(&config, &setup()).unwrap();
        let load = OracleConnection::open_guarded(&config, "load", &Arc::new(Breaker::default())).unwrap();
        let limit = |connection: &OracleConnection| connection.driver().call_timeout().unwrap();
        assert_eq!(limit(&session.connection), session_limit.map(Duration::from_secs), "{parameters}");
        assert_eq!(limit(&load), load_limit.map(Duration::from_secs), "{parameters}");
    }
}
