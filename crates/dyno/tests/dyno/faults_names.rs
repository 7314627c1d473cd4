//! Names and passwords that break unquoted text, on real servers.

use crate::common::{TestEnv, low_load_args};
use dyno_testbed::Postgres;

const DATA: [&str; 4] = ["--set", "data.scale=100 blocks", "--set", "data.scan_scale=10 blocks"];

/// Percent-encodes every byte that is not a letter or digit.
fn encoded(text: &str) -> String {
    let byte = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(byte).collect()
}

fn ident(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

fn literal(text: &str) -> String {
    format!("E'{}'", text.replace('\\', "\\\\").replace('\'', "''"))
}

const HOSTILE: [(&str, &str, &str); 4] = [
    ("us\"er'; --", "da\"ta'base; DROP", "p@ss:w/rd?#&%41 \"'\\"),
    ("Größe 測試", "Ünïcödé 数据", "пароль-密码-ñ-\u{1f511}"),
    ("select", "TABLE", "  leading and trailing  "),
    ("a.b/c?d=e&f#g@h:1", "postgres://x@y/z%20", "%2F%00=;\t$(id)`id`"),
];

#[test]
fn hostile_names_and_passwords_load_run_and_drop() {
    let Some(version) = Postgres::available().pop() else { return };
    let server = Postgres::start(&version, &[("fsync", "off")]);
    server.psql("SET password_encryption = 'scram-sha-256'");
    for (user, database, password) in HOSTILE {
        server.psql(&format!("CREATE ROLE {} LOGIN PASSWORD {}", ident(user), literal(password)));
        server.psql(&format!("CREATE DATABASE {} OWNER {}", ident(database), ident(user)));
    }
    server.set_hba("local all postgres trust\nhost all all all scram-sha-256\n");
    for (user, database, password) in HOSTILE {
        let desk = TestEnv::new();
        let url = format!("postgres://{}@127.0.0.1:{}/{}", encoded(user), server.port(), encoded(database));
        let env = ["--target", &url, "--set", "target.password_env=DYNO_PW"];
        let dyno = |args: &[&str]| {
            let output = desk.dyno_with(("DYNO_PW", password), &[args, &DATA, &env].concat());
            assert_eq!(output.code, 0, "{user} {database}: {output:#?}");
            let all = format!("{}{}", output.out, output.err);
            assert!(!all.contains(password.trim()), "the password is shown: {all}");
        };
        dyno(&["check"]);
        dyno(&["load"]);
        dyno(&low_load_args(&["run", "--set", "workload.update_pct=50"]));
        dyno(&["drop", "--yes"]);
        let bytes = std::fs::read(desk.file("runs.sqlite3")).unwrap();
        let secret = password.trim().as_bytes();
        assert!(!bytes.windows(secret.len()).any(|window| window == secret), "the password is stored");
        let wrong = desk.dyno_with(("DYNO_PW", "wrong"), &[&["check"][..], &env].concat());
        assert!(wrong.code == 3, "{wrong:#?}");
        assert!(wrong.err.contains("password"), "{wrong:#?}");
    }
}

#[test]
fn hostile_file_names_load_run_and_drop() {
    for name in ["a b'c\"d;e.db", "größe 測試.db", "%41?#&=.db", "-wal", "$(id)`id`.db"] {
        let desk = TestEnv::new();
        let path = format!("{}/{name}", desk.path().display());
        let url = format!("sqlite:{}", path.replace('%', "%25").replace('?', "%3F").replace('#', "%23"));
        for args in
            [&["load"][..], &low_load_args(&["run", "--set", "workload.update_pct=50"]), &["drop", "--yes"]]
        {
            let output = desk.dyno(&[args, &DATA, &["--target", &url]].concat());
            assert_eq!(output.code, 0, "{name}: {output:#?}");
            let exists = std::path::Path::new(&path).exists();
            assert_eq!(exists, args[0] != "drop", "{name} after {args:?}");
        }
    }
}
