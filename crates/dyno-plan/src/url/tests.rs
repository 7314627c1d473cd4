//! Tests of the meaning of URLs, and that a URL with a password is refused.

use super::*;
use crate::engine::fixture::ENGINES;
use proptest::prelude::*;

fn read(text: &str) -> TargetUrl {
    TargetUrl::read(text, ENGINES).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn server(user: Option<&str>, host: Option<&str>, port: Option<u16>, path: &str) -> TargetUrl {
    let to_owned_text = |text: Option<&str>| text.map(str::to_owned);
    TargetUrl {
        scheme: "postgres".into(),
        user: to_owned_text(user),
        host: to_owned_text(host),
        port,
        is_file: false,
        path: path.into(),
        params: Vec::new(),
    }
}

#[test]
fn sqlite_url_path_is_all_text_after_scheme() {
    for (text, path) in [
        ("sqlite:dyno.db", "dyno.db"),
        ("sqlite::memory:", ":memory:"),
        ("sqlite:/abs/path", "/abs/path"),
        ("sqlite:///abs/path", "/abs/path"),
        ("sqlite:./a b#c.db", "./a b#c.db"),
        ("sqlite:C:%23odd", "C:#odd"),
        ("sqlite:C:%23odd?x", "C:#odd"),
        ("sqlite:C:\\data\\x.db", "C:\\data\\x.db"),
        ("sqlite:what%3F.db", "what?.db"),
        ("sqlite:a@b:c", "a@b:c"),
        ("SQLite:größe.db", "größe.db"),
        ("sqlite:////net/x", "//net/x"),
    ] {
        let url = read(text);
        assert_eq!((url.scheme.as_str(), url.path.as_str()), ("sqlite", path), "{text}");
        assert_eq!(read(&url.to_string()), url, "{text}");
        assert_eq!(url.to_string().parse(), Ok(url), "{text}: records are read without engines");
    }
    assert_eq!(read("sqlite:C:%23odd?x").params, [("x".to_owned(), String::new())]);
    assert_eq!(read("sqlite:///abs/path").to_string(), "sqlite:/abs/path");
}

#[test]
fn server_url_has_user_host_port_and_database() {
    for (text, url) in [
        ("postgres://dyno@db1:5433/bench", server(Some("dyno"), Some("db1"), Some(5433), "bench")),
        ("postgresql://db1/bench", server(None, Some("db1"), None, "bench")),
        ("PostgreSQL://db1:", server(None, Some("db1"), None, "")),
        ("postgres://", server(None, None, None, "")),
        ("postgres:///bench", server(None, None, None, "bench")),
        ("postgres://u@[::1]:5432/b", server(Some("u"), Some("::1"), Some(5432), "b")),
        ("postgres://[fe80::1%25eth0]/b", server(None, Some("fe80::1%eth0"), None, "b")),
        ("postgres://%2Frun%2Fpostgresql/b", server(None, Some("/run/postgresql"), None, "b")),
        ("postgres://J%C3%B6rg%40corp%3A1@h/b%2Fc", server(Some("Jörg@corp:1"), Some("h"), None, "b/c")),
        ("postgres://jörg@h/größe", server(Some("jörg"), Some("h"), None, "größe")),
        ("postgres://me@tenant@h/b", server(Some("me@tenant"), Some("h"), None, "b")),
    ] {
        assert_eq!(read(text), url, "{text}");
        assert_eq!(read(&url.to_string()), url, "{text}");
    }
}

#[test]
fn url_of_unknown_scheme_is_read_without_engine_rules() {
    assert_eq!(read("Script:a/b?x=1").path, "a/b");
    assert_eq!(read(&read("script:a/b?x=1").to_string()), read("script:a/b?x=1"));
    assert_eq!(read("mysql://u@h:3306/db").port, Some(3306));
}

#[test]
fn url_parameters_keep_their_order() {
    let url = read("postgres:///db?host=/run/postgresql&&b=1&a=%26%3D2&empty");
    assert_eq!(url.param("host"), Some("/run/postgresql"));
    assert_eq!((url.param("a"), url.param("empty"), url.param("none")), (Some("&=2"), Some(""), None));
    assert_eq!(url.to_string(), "postgres:///db?host=/run/postgresql&b=1&a=%26%3D2&empty=");
    assert_eq!(read(&url.to_string()), url);
}

#[test]
fn invalid_url_error_names_the_faulty_part() {
    for (text, word) in [
        ("dyno.db", "has no engine"),
        ("", "has no engine"),
        (":memory:", "has no engine"),
        ("//h/db", "has no engine"),
        ("sqlite:", "the URL names no file"),
        ("sqlite:?journal=wal", "the URL names no file"),
        ("sqlite://host/x.db", "the URL names no file"),
        ("sqlite:a%0", "the file"),
        ("sqlite:a%+f", "the file"),
        ("sqlite:a%00b", "the file"),
        ("sqlite:a%FF", "the file"),
        ("postgres:db", "the server"),
        ("postgres:/db", "the server"),
        ("postgres://u@h/a@b", "the server"),
        ("postgres://h/b?x=a@b", "the server"),
        ("postgres://h:0/b", "the port"),
        ("postgres://h:65536/b", "the port"),
        ("postgres://h:+5432/b", "the port"),
        ("postgres://h:x/b", "the port"),
        ("postgres://::1/b", "the host"),
        ("postgres://[::1/b", "the host"),
        ("postgres://[::1]x/b", "the host"),
        ("postgres://[[::1]]/b", "the host"),
        ("postgres://[]/b", "the host"),
        ("postgres://a,b/db", "the host"),
        ("postgres://h/b%zz", "the database"),
        ("postgres://u%@h/b", "the user"),
        ("postgres://h/b?%=1", "a parameter"),
    ] {
        let error = TargetUrl::read(text, ENGINES).expect_err(text).to_string();
        assert!(error.contains(word), "{text}: {error}");
    }
}

#[test]
fn password_in_url_is_refused_at_any_position() {
    for text in [
        "postgres://u:hunter2@h/db",
        "postgres://u:@h/db",
        "postgres://:hunter2@h/db",
        "postgres:u:hunter2@h/db",
        "postgres:/u:hunter2@h/db",
        "postgres://u:hunt/er2@h/db",
        "postgres://u:hunt?er2@h/db",
        "postgres://u:1234/hunter2@h/db",
        "postgres://u@corp:hunter2@h/db",
        "postgres://u:hunter@2@h/db",
        "postgres://u:hunt#er2@h/db",
        "mysql:u:hunter2@h",
        "postgres://h/db?password=hunter2",
        "postgres://h/db?PassWord=hunter2",
        "postgres://h/db?pass%77ord=hunter2",
        "postgres://h/db?sslpassword=hunter2",
        "postgres://h/db?user=u&pwd=hunter2",
        "sqlite:x.db?password=hunter2",
    ] {
        assert_eq!(TargetUrl::read(text, ENGINES), Err(UrlError::Password), "{text}");
        assert_eq!(text.parse::<TargetUrl>(), Err(UrlError::Password), "{text}");
    }
}

proptest! {
    #[test]
    fn displayed_url_parses_back_to_the_same_url(text in "(sqlite:|postgres://|postgresql://|x:|)([a-z%:/@?&=#\\[\\], é]|%2[05F]){0,30}") {
        for engines in [ENGINES, Engines::default()] {
            if let Ok(url) = TargetUrl::read(&text, engines) {
                prop_assert_eq!(url.to_string().parse(), Ok(url.clone()));
                prop_assert_eq!(TargetUrl::read(&url.to_string(), engines), Ok(url));
            }
        }
    }

    #[test]
    fn url_parts_with_any_text_round_trip(
        user in "[^\\x00]{1,12}",
        host in "[^\\x00,\\[\\]]{1,12}",
        port in 1u16..,
        path in "[^\\x00]{0,12}",
        value in "[^\\x00]{0,12}",
    ) {
        let mut url = server(Some(&user), Some(&host), Some(port), &path);
        url.params.push(("name".into(), value));
        prop_assert_eq!(url.to_string().parse(), Ok(url));
        let mut file = server(None, None, None, &format!("x{path}"));
        (file.scheme, file.is_file) = ("sqlite".into(), true);
        prop_assert_eq!(file.to_string().parse(), Ok(file));
    }

    #[test]
    fn url_parser_never_panics_or_repeats_secret_in_error(text in ".*", secret in "[a-z0-9/?#%:]{0,6}Qz7[a-z0-9/?#%:@]{0,6}") {
        let _ = (text.parse::<TargetUrl>(), TargetUrl::read(&text, ENGINES));
        for url in [
            format!("postgres://u:{secret}@h/db"),
            format!("postgres:u:{secret}@h/db"),
            format!("u:{secret}@h/db"),
            format!("postgres://u:{secret}"),
            format!("postgres://h/db?password={secret}"),
        ] {
            if let Err(error) = url.parse::<TargetUrl>() {
                prop_assert!(!format!("{error} {error:?}").contains("Qz7"), "{}: {}", url, error);
            }
        }
        let url = format!("postgres://u:{secret}@h/db");
        prop_assert!(url.parse::<TargetUrl>().is_err());
    }
}

#[test]
fn duplicate_url_parameter_is_refused() {
    for url in [
        "postgres://u@h/d?sslmode=require&sslmode=disable",
        "postgres://u@h/d?sslmode=disable&x=1&ssl%6dode=disable",
        "sqlite:a.db?sync=off&sync=full",
    ] {
        let error = url.parse::<TargetUrl>().unwrap_err().to_string();
        assert!(error.contains("twice: remove one of them"), "{url}: {error}");
    }
    let error = "mysql://u@h/d?\u{1b}x=1&\u{1b}x=2".parse::<TargetUrl>().unwrap_err().to_string();
    assert!(!error.contains('\u{1b}'), "{error:?}");
}
