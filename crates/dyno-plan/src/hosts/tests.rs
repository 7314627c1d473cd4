//! Tests of how hosts are written in plans.

use proptest::prelude::*;

use super::*;

fn url(text: &str) -> Result<HostUrl, HostError> {
    text.parse()
}

#[test]
fn host_urls_give_scheme_and_host() {
    let ssh = url("ssh://dba@db1.example:2222").unwrap();
    assert_eq!((ssh.scheme, ssh.user.as_deref(), ssh.port), (HostScheme::Ssh, Some("dba"), Some(2_222)));
    assert_eq!(url("ssh://db_1/").unwrap().host, "db_1");
    let address = url("node-exporter://[fe80::1%25eth0]:9100").unwrap();
    assert_eq!((address.host.as_str(), address.port), ("fe80::1%eth0", Some(9_100)));
    let only = url("agent").unwrap();
    assert_eq!((only.scheme, only.host.as_str()), (HostScheme::Agent, ""));
    assert_eq!(url("agent://db-1.site").unwrap(), HostUrl::of_agent("db-1.site").unwrap());
    assert_eq!(HostUrl::of_agent("db 1"), None);
    let tls = url("node-exporter+https://prom@db1:9100").unwrap();
    assert_eq!((tls.scheme, tls.user.as_deref()), (HostScheme::NodeExporterTls, Some("prom")));
}

#[test]
fn invalid_host_url_is_refused_and_not_repeated() {
    for wrong in [
        "db1",
        "http://db1",
        "ssh://",
        "ssh://-oProxyCommand=x",
        "ssh://-x@db1",
        "ssh://db1:0",
        "ssh://db1:x",
        "ssh://db1/x",
        "ssh://a b",
        "ssh://::1",
        "ssh://[::1]22",
        "agent://",
        "agent:db1",
        "agent://me@db1",
        "agent://db1:4222",
        "agent://db1/x",
    ] {
        let error = url(wrong).unwrap_err();
        assert!(!error.to_string().contains("db1"), "{wrong}: {error}");
        assert!(!error.hint.is_empty(), "{wrong}: {error}");
    }
    let secret = url("ssh://me:geheim@db1").unwrap_err();
    assert!(secret.is_secret);
    assert!(!secret.to_string().contains("geheim"));
}

#[test]
fn host_spec_is_parsed_and_invalid_one_refused() {
    let spec: HostSpec = "database ssh://db1 target=2 data=/srv/my%20data".parse().unwrap();
    assert_eq!((spec.target, spec.data.as_deref()), (Some(2), Some("/srv/my data")));
    assert!(spec.is_of(1));
    assert!(!spec.is_of(0));
    assert!("ssh://db1".parse::<HostSpec>().unwrap().is_of(7));
    for wrong in [
        "database",
        "driver ssh://db1",
        "ssh://a ssh://b",
        "ssh://a target=0",
        "ssh://a data=x",
        "ssh://a x=y",
        "ssh://me@a password_env=P",
        "node-exporter://me@db1",
        "node-exporter://db1 password_env=P",
        "node-exporter://me@db1 password_env=P password_file=/f",
        "node-exporter://me@db1 password_env=two%20words",
        "node-exporter://db1 ca=/ca.pem",
    ] {
        assert!(wrong.parse::<HostSpec>().is_err(), "{wrong}");
    }
}

#[test]
fn node_exporter_spec_accepts_user_password_source_and_ca() {
    let text = "database node-exporter+https://prom@db1 password_file=/run/a%20secret ca=ca.pem";
    let spec: HostSpec = text.parse().unwrap();
    assert_eq!((spec.password_file.as_deref(), spec.ca.as_deref()), (Some("/run/a secret"), Some("ca.pem")));
    assert_eq!(spec.to_string(), text);
    assert!("node-exporter://prom@db1 password_env=PROM".parse::<HostSpec>().is_ok());
}

proptest! {
    #[test]
    fn displayed_host_spec_parses_back(
        user in proptest::option::of("[a-z_][a-z0-9._-]{0,9}"),
        host in "[a-z0-9][a-z0-9._-]{0,12}|[0-9a-f]{1,4}::[0-9a-f]{1,4}",
        port in proptest::option::of(1u16..),
        target in proptest::option::of(1u32..=100),
        data in proptest::option::of("/[^\\x00\\r\\n]{0,20}"),
    ) {
        let url = HostUrl { scheme: HostScheme::Ssh, user, host, port };
        let spec = HostSpec { target, data, ..HostSpec::database(url) };
        prop_assert_eq!(spec.to_string().parse::<HostSpec>(), Ok(spec));
    }

    #[test]
    fn host_spec_parser_survives_any_text(text in "\\PC{0,60}") {
        let _ = text.parse::<HostSpec>();
    }
}
