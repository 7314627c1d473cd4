//! Tests failing connections to Oracle, with listeners on loopback that follow a script.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::time::Duration;

use dyno_engine::{OpenOptions, Secret, Target, TargetError, TargetErrorKind};
use dyno_testbed::{ScriptedGreeting, ScriptedOptions};

use crate::answers::{each_release, server, target};

const PASSWORD: &str = "hunter2-in-the-clear";

/// How the listener handles a connection.
#[derive(Clone, Copy)]
enum Script {
    /// Accepts it and never sends anything.
    Silent,
    /// Closes it immediately.
    Close,
    /// Rejects it with this error of the listener.
    Refuse(u32),
    /// Rejects it without a reason.
    RefuseWithoutReason,
    /// Replies with another protocol.
    Garbage(&'static [u8]),
}

/// A packet of Oracle's network protocol: length, checksum, type, flags, checksum, body.
fn packet(kind: u8, body: &[u8]) -> Vec<u8> {
    let length = u16::try_from(8 + body.len()).unwrap().to_be_bytes();
    [&[length[0], length[1], 0, 0, kind, 0, 0, 0], body].concat()
}

/// A REFUSE packet: two reasons, then the listener's text.
fn refuse(text: &str) -> Vec<u8> {
    let length = u16::try_from(text.len()).unwrap().to_be_bytes();
    packet(4, &[&[0x22, 0, length[0], length[1]], text.as_bytes()].concat())
}

/// Starts a listener and returns its port. It runs until the test process ends.
fn listener(script: Script) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        let mut open_streams = Vec::new();
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let answer = match script {
                Script::Silent => {
                    open_streams.push(stream);
                    continue;
                }
                Script::Close => continue,
                Script::Refuse(number) => refuse(&format!(
                    "(DESCRIPTION=(TMP=)(VSNNUM=0)(ERR={number})(ERROR_STACK=(ERROR=(CODE={number}))))"
                )),
                Script::RefuseWithoutReason => refuse(""),
                Script::Garbage(bytes) => bytes.to_vec(),
            };
            // The whole CONNECT packet is read; otherwise closing would reset the connection before the
            // client reads the reply.
            let mut head = [0; 8];
            if stream.read_exact(&mut head).is_ok() {
                let mut rest = vec![0; usize::from(u16::from_be_bytes([head[0], head[1]])).saturating_sub(8)];
                let _ = stream.read_exact(&mut rest);
            }
            let _ = stream.write_all(&answer);
        }
    });
    port
}

fn target_at(url: &str, password: Option<&str>, timeout: Duration) -> Box<dyn Target> {
    let options =
        OpenOptions { password: password.map(|p| Secret::new(p.to_owned())), connect_timeout: timeout };
    dyno_oracle::open(&url.parse().unwrap(), &options).unwrap()
}

/// The error of a connection attempt; asserts that it does not contain the password.
fn connect_error(url: &str, timeout: Duration) -> TargetError {
    let target = target_at(url, Some(PASSWORD), timeout);
    let error = target.identify().expect_err("nothing here is a database");
    for text in [error.to_string(), error.hint.clone(), format!("{error:?}"), target.url()] {
        assert!(!text.contains(PASSWORD), "{text}");
    }
    assert!(!error.message.contains('\n'), "{}", error.message);
    error
}

fn error_from_listener(script: Script) -> TargetError {
    let port = listener(script);
    connect_error(&format!("oracle://me@127.0.0.1:{port}/bench"), Duration::from_secs(20))
}

#[test]
fn connection_to_closed_port_is_refused_with_a_hint() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let error = connect_error(&format!("oracle://me@127.0.0.1:{port}/bench"), Duration::from_secs(20));
    assert_eq!(error.kind, TargetErrorKind::Unreachable);
    assert!(error.message.contains(&format!("127.0.0.1:{port}")), "{error}");
    assert!(error.message.to_lowercase().contains("refused"), "{error}");
    assert!(error.hint.contains("listener runs"), "{}", error.hint);
}

#[test]
fn unresolvable_host_name_is_reported() {
    let error = connect_error("oracle://me@no-such-host.invalid/bench", Duration::from_secs(30));
    assert_eq!(error.kind, TargetErrorKind::Unreachable);
    assert!(error.message.contains("no-such-host.invalid"), "{error}");
}

#[test]
fn unresponsive_listener_is_abandoned_at_timeout() {
    let port = listener(Script::Silent);
    // The listener never answers: without the limit, this call would not return.
    let error = connect_error(&format!("oracle://me@127.0.0.1:{port}/bench"), Duration::from_millis(300));
    assert_eq!(error.kind, TargetErrorKind::Unreachable);
    assert!(error.message.contains("within 0.3 s"), "{error}");
}

#[test]
fn service_unknown_to_listener_is_reported() {
    let error = error_from_listener(Script::Refuse(12_514));
    assert_eq!(error.kind, TargetErrorKind::Unreachable);
    assert!(error.message.contains("no service \"bench\""), "{error}");
    assert!(error.message.contains("ORA-12514"), "{error}");
    assert!(error.hint.contains("lsnrctl"), "{}", error.hint);
}

#[test]
fn sid_unknown_to_listener_is_reported() {
    let port = listener(Script::Refuse(12_505));
    let error = connect_error(&format!("oracle://me@127.0.0.1:{port}/?sid=OLD"), Duration::from_secs(20));
    assert!(error.message.contains("no SID \"OLD\""), "{error}");
    assert!(error.hint.contains("SERVICE"), "{error}");
}

#[test]
fn listener_refusal_message_includes_ora_number() {
    let full = error_from_listener(Script::Refuse(12_519));
    assert!(full.message.contains("ORA-12519"), "{full} {}", full.hint);
    assert!(full.hint.contains("processes"), "{full} {}", full.hint);
    let restricted = error_from_listener(Script::Refuse(12_526));
    assert!(restricted.message.contains("ORA-12526"), "{restricted}");
    assert!(restricted.hint.contains("restricted"), "{restricted}");
    let mute = error_from_listener(Script::RefuseWithoutReason);
    assert!(mute.message.contains("without a reason"), "{mute}");
}

#[test]
fn servers_that_are_no_oracle_listener_are_unreachable() {
    for script in [
        Script::Close,
        Script::Garbage(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n"),
        Script::Garbage(b"SSH-2.0-OpenSSH_9.2\r\n"),
        Script::Garbage(&[0, 8, 0, 0, 99, 0, 0, 0]),
        Script::Garbage(&[0, 12, 0, 0, 4, 0, 0, 0, 0x22, 0, 0xff, 0xff]),
        Script::Garbage(&[0; 64]),
    ] {
        let error = error_from_listener(script);
        assert_eq!(error.kind, TargetErrorKind::Unreachable, "{error}");
        assert!(error.message.contains("127.0.0.1:"), "{error}");
    }
}

#[test]
fn tcps_connection_to_listener_without_tls_fails() {
    let port = listener(Script::Close);
    let error =
        connect_error(&format!("oracle://me@127.0.0.1:{port}/bench?protocol=tcps"), Duration::from_secs(20));
    assert!(matches!(error.kind, TargetErrorKind::Unreachable | TargetErrorKind::Denied), "{error}");
}

#[test]
fn missing_password_is_requested_before_connecting() {
    let target = target_at("oracle://me@127.0.0.1:1/bench", None, Duration::from_secs(20));
    assert_eq!(target.identify().unwrap_err().kind, TargetErrorKind::PasswordNeeded);
}

#[test]
fn missing_wallet_and_unknown_alias_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().display();
    let port = listener(Script::Silent);
    let wallet = connect_error(
        &format!("oracle://me@127.0.0.1:{port}/bench?protocol=tcps&wallet={path}"),
        Duration::from_secs(20),
    );
    assert_eq!(wallet.kind, TargetErrorKind::Denied);
    assert!(wallet.message.contains("ewallet.pem"), "{wallet}");
    assert!(wallet.hint.contains("DYNO_WALLET_PASSWORD"), "{wallet}");
    std::fs::write(
        folder.path().join("tnsnames.ora"),
        format!(
            "PROD =\n (DESCRIPTION=(ADDRESS=(PROTOCOL=tcp)(HOST=127.0.0.1)(PORT={}))(CONNECT_DATA=(SERVICE_NAME=s)))\n",
            listener(Script::Refuse(12_514))
        ),
    )
    .unwrap();
    let alias = |name: &str| format!("oracle://me@/{name}?tns-admin={path}");
    let unknown = connect_error(&alias("TEST"), Duration::from_secs(20));
    assert!(unknown.message.contains("no alias \"TEST\""), "{unknown}");
    let service_error = connect_error(&alias("PROD"), Duration::from_secs(20));
    assert!(service_error.message.contains("no service \"s\""), "{service_error}");
}

#[test]
fn resend_request_is_answered_with_same_packet() {
    each_release(|options| {
        let greeting = ScriptedGreeting::Resend(2);
        let server = server(ScriptedOptions { greeting, ..options }, |_| None);
        target(&server, "").identify().unwrap();
        assert!(server.counts().parses > 0);
    });
}

#[test]
fn listener_redirect_connects_to_the_other_server() {
    each_release(|options| {
        let instance = server(options, |_| None);
        let greeting = ScriptedGreeting::Redirect(instance.port());
        let listener = server(ScriptedOptions { greeting, ..options }, |_| None);
        target(&listener, "").identify().unwrap();
        assert_eq!(listener.counts().round_trips, 0);
        assert!(instance.counts().parses > 0);
    });
}

#[test]
fn logon_without_answer_times_out() {
    each_release(|options| {
        let greeting = ScriptedGreeting::AcceptAndHang;
        let server = server(ScriptedOptions { greeting, ..options }, |_| None);
        let error = target(&server, "?connect-timeout=1").identify().unwrap_err();
        assert_eq!(error.kind, TargetErrorKind::Unreachable, "{error:?}");
        assert!(error.message.contains("did not connect to a database within 1 s"), "{error:?}");
        assert!(error.hint.contains("overloaded"), "{error:?}");
    });
}

#[test]
fn oracle_requests_in_many_packets_are_read_whole() {
    each_release(|options| {
        let server = server(ScriptedOptions { sdu: 512, ..options }, |_| None);
        let target = target(&server, "?sdu=512");
        target.identify().unwrap();
        let long = format!("ALTER SESSION SET CURRENT_SCHEMA = {}", "X".repeat(100_000));
        target.script(&[long.as_str()], &mut |_| Ok(())).unwrap();
        assert_eq!(server.counts().oversized_packets, 0);
    });
}

#[test]
fn listener_redirect_to_closed_port_is_unreachable() {
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let greeting = ScriptedGreeting::Redirect(closed);
    let error = refusal(ScriptedOptions { greeting, ..ScriptedOptions::default() });
    assert_eq!(error.kind, TargetErrorKind::Unreachable, "{error:?}");
    assert!(error.message.to_lowercase().contains("refused"), "{error:?}");
}

/// The error when identifying the server with these options.
fn refusal(options: ScriptedOptions) -> TargetError {
    target(&server(options, |_| None), "").identify().unwrap_err()
}

#[test]
fn server_requiring_native_encryption_is_reported() {
    let error = refusal(ScriptedOptions { requires_encryption: true, ..Default::default() });
    assert_eq!(error.kind, TargetErrorKind::Unsupported, "{error:?}");
    assert!(error.message.contains("requires native network encryption"), "{error:?}");
    assert!(error.hint.contains("protocol=tcps"), "{error:?}");
}

#[test]
fn old_password_verifier_is_named_in_login_error() {
    let error = refusal(ScriptedOptions { has_old_verifier: true, ..Default::default() });
    assert_eq!(error.kind, TargetErrorKind::Denied, "{error:?}");
    assert!(error.message.contains("verifier of version 11 or older"), "{error:?}");
    assert!(error.hint.contains("ALTER USER dyno"), "{error:?}");
}
