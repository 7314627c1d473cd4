//! Explains why a connection failed: OpenSSH's message and a hint.

use crate::remote::{SourceError, SourceErrorKind as Kind};

/// The most characters of a foreign message that an error repeats.
const WORDS_MAX: usize = 300;

/// Messages of OpenSSH's client (from its sources `sshconnect.c`, `sshconnect2.c`, `readconf.c`), their kinds
/// and hints.
const KNOWN: [(&str, Kind, &str); 12] = [
    ("REMOTE HOST IDENTIFICATION HAS CHANGED", Kind::Unproven, CHANGED),
    ("Host key verification failed", Kind::Unproven, UNKNOWN),
    ("host key is known for", Kind::Unproven, UNKNOWN),
    ("Permission denied", Kind::Denied, KEY),
    ("Too many authentication failures", Kind::Denied, KEY),
    (
        "Could not resolve hostname",
        Kind::Unreachable,
        "check its name, or add a Host for it to your ssh configuration",
    ),
    ("Connection refused", Kind::Unreachable, "check that sshd runs there, and on which port"),
    ("timed out", Kind::Unreachable, NETWORK),
    ("No route to host", Kind::Unreachable, NETWORK),
    ("Network is unreachable", Kind::Unreachable, NETWORK),
    ("Bad configuration option", Kind::Unsupported, "correct your ssh configuration"),
    ("Bad owner or permissions", Kind::Unsupported, "correct your ssh configuration"),
];

const KEY: &str = "Dyno does not prompt for a password: give the host your key (ssh-copy-id), load it into \
                   ssh-agent, or name it as IdentityFile in your ssh configuration, until `ssh -o \
                   BatchMode=yes HOST true` prints nothing";
const UNKNOWN: &str = "log in by hand once, and accept its key if its fingerprint is correct";
const CHANGED: &str = "find out why its key changed; then remove the old key with `ssh-keygen -R HOST`";
const NETWORK: &str = "check its address, the route and the firewall";

/// Bytes as text, without characters that could affect a terminal.
pub(super) fn plain(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let shown =
        |c: char| if dyno_plan::terminal::acts(c) && !matches!(c, '\n' | '\t') { '\u{fffd}' } else { c };
    text.chars().map(shown).collect()
}

/// The last non-empty line of a foreign message, shortened.
fn line(text: &str) -> String {
    let line = text.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or_default();
    line.chars().take(WORDS_MAX).collect()
}

pub(super) fn not_started(name: &str, error: &std::io::Error) -> SourceError {
    let words = format!("{name}: the program ssh cannot be started: {error}");
    SourceError::new(Kind::Unsupported, words)
        .hint("install OpenSSH's client (Debian: openssh-client), or set PATH")
}

pub(super) fn late(name: &str, answered_once: bool) -> SourceError {
    let words = match answered_once {
        true => "it did not answer in time",
        false => "the login did not complete in time",
    };
    let hint = if answered_once { "" } else { NETWORK };
    SourceError::new(Kind::Late, format!("{name}: {words}")).hint(hint)
}

/// The error of a closed connection: the client reports why in `message`, or the remote side `printed` something instead of
/// an answer.
pub(super) fn connection_closed(
    name: &str,
    message: &str,
    printed: &str,
    answered_once: bool,
) -> SourceError {
    let known_cause = KNOWN.iter().find(|(words, ..)| message.contains(words));
    if let (Some((words, kind, hint)), false) = (known_cause, answered_once) {
        let its = message.lines().map(str::trim).find(|line| line.contains(words)).unwrap_or_default();
        let its: String = its.trim_matches(['@', ' ']).chars().take(WORDS_MAX).collect();
        return SourceError::new(*kind, format!("{name}: {its}")).hint(*hint);
    }
    let words = [line(message), line(printed)].into_iter().find(|words| !words.is_empty());
    let words = words.map_or_else(|| "no output".to_owned(), |words| format!("output: {words}"));
    match answered_once {
        true => SourceError::new(Kind::Lost, format!("{name}: the connection was lost ({words})"))
            .hint("read sshd's log there, and check the network"),
        false => {
            SourceError::new(Kind::Denied, format!("{name}: the login ended before it answered ({words})"))
                .hint(
                    "`ssh HOST sh -c true` has to work: the user needs a login shell, and the key must not \
                     have a forced command",
                )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ssh_errors_have_a_hint() {
        for (said, kind) in [
            ("dba@db1: Permission denied (publickey,password).\r\n", Kind::Denied),
            (
                "No ED25519 host key is known for db1 and you have requested strict checking.\nHost key verification failed.\n",
                Kind::Unproven,
            ),
            (
                "@@@\n@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @\n@@@\nHost key verification failed.",
                Kind::Unproven,
            ),
            ("ssh: Could not resolve hostname db1: Name or service not known", Kind::Unreachable),
            ("ssh: connect to host db1 port 22: Connection refused", Kind::Unreachable),
            ("ssh: connect to host db1 port 22: Connection timed out", Kind::Unreachable),
            ("This account is currently not available.", Kind::Denied),
        ] {
            let error = connection_closed("ssh://db1", said, "", false);
            assert_eq!(error.kind, kind, "{said}");
            assert!(!error.hint.is_empty(), "{error:?}");
            assert!(error.message.starts_with("ssh://db1: "), "{error:?}");
        }
        let changed = connection_closed(
            "ssh://db1",
            "@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @\nHost key verification failed.",
            "",
            false,
        );
        assert!(changed.hint.contains("ssh-keygen -R"), "{changed:?}");
        assert!(!changed.message.contains('@'), "{changed:?}");
        let lost = connection_closed("ssh://db1", "Connection to db1 closed by remote host.", "", true);
        assert!(lost.kind == Kind::Lost, "{lost}");
        assert!(lost.message.contains("closed by remote host"), "{lost}");
    }

    #[test]
    fn ssh_error_text_contains_no_control_characters() {
        let error = connection_closed("ssh://db1", &plain(b"\x1b[2J\x07gone\xff"), "", true);
        assert!(!error.message.chars().any(char::is_control), "{error:?}");
    }
}
