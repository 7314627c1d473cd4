//! Masks an acceptance report so that it can be published. Versions, editions, counts and error numbers
//! remain. Names of hosts, users, databases, services and files, and addresses, are replaced.

use std::borrow::Cow;

use dyno_plan::TargetUrl;
use dyno_record::{Acceptance, Identity};

/// The text that replaces a masked value.
const MASKED: &str = "<masked>";

/// Longest value of a setting that is kept, bytes; enough for numbers, sizes and keywords.
const SETTING_BYTES_MAX: usize = 40;

/// Parts of the names of settings whose values may identify the user's systems.
const NAMING: [&str; 8] = ["name", "path", "dir", "file", "host", "user", "service", "address"];

/// Common words that are never masked: values of parameters and settings, and the user name that the
/// documentation uses.
const PLAIN_WORDS: [&str; 7] = ["on", "off", "true", "false", "yes", "no", "dyno"];

/// Masks the names that belong to one target.
pub(crate) struct AcceptanceMask {
    /// Names and their replacements, longest names first.
    names: Vec<(String, &'static str)>,
}

impl AcceptanceMask {
    /// Creates a mask for a target with these URLs and this identity.
    pub(crate) fn new<'a>(urls: impl Iterator<Item = &'a TargetUrl>, identity: &Identity) -> Self {
        let mut names: Vec<(String, &'static str)> = Vec::new();
        for url in urls {
            names.extend(url.host.iter().map(|host| (host.clone(), "<host>")));
            let first_label = url.host.iter().filter_map(|host| host.split('.').next());
            names.extend(first_label.map(|label| (label.to_owned(), "<host>")));
            names.extend(url.user.iter().map(|user| (user.clone(), "<user>")));
            let kind = if url.is_file { "<file>" } else { "<database>" };
            names.push((url.path.clone(), kind));
            names.extend(url.params.iter().map(|(_, value)| (value.clone(), MASKED)));
        }
        let this_host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        names.push((this_host.trim().to_owned(), "<host>"));
        let of_settings =
            identity.settings.iter().filter(|(name, _)| name.to_ascii_lowercase().ends_with("name"));
        names.extend(of_settings.map(|(_, value)| (value.clone(), MASKED)));
        let paths = [&identity.data_path, &identity.redo_path];
        names.extend(paths.into_iter().flatten().map(|path| (path.clone(), "<path>")));
        names.retain(|(name, _)| {
            // Numbers are measured values, not names.
            name.chars().any(char::is_alphabetic) && !is_plain_word(name)
        });
        names.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
        names.dedup();
        Self { names }
    }

    /// Returns the report without names and grants.
    pub(crate) fn apply(&self, acceptance: &Acceptance) -> Acceptance {
        let mut masked = acceptance.clone();
        masked.grants = String::new();
        for finding in masked.steps.iter_mut().flat_map(|step| &mut step.findings) {
            finding.observed = self.text(&finding.observed);
            finding.way_out = self.text(&finding.way_out);
        }
        for (name, value) in &mut masked.settings {
            *value = self.setting(name, value);
        }
        masked
    }

    fn setting(&self, name: &str, value: &str) -> String {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || " _.,+%-".contains(c);
        if value.len() > SETTING_BYTES_MAX || !value.chars().all(is_plain) {
            return MASKED.to_owned();
        }
        match is_naming(name) && !is_number(value) && !is_plain_word(value) {
            true => MASKED.to_owned(),
            false => self.text(value),
        }
    }

    /// Returns the text without names, addresses and paths.
    fn text(&self, text: &str) -> String {
        let named = self.without_names(text);
        let mut out = String::with_capacity(named.len());
        let mut rest = named.as_ref();
        while let Some(start) = rest.find(is_of_token) {
            out.push_str(&rest[..start]);
            let token = &rest[start..];
            let end = token.find(|c| !is_of_token(c)).unwrap_or(token.len());
            out.push_str(&without_places(&token[..end]));
            rest = &token[end..];
            // An account as MySQL writes it: 'user'@'host'.
            if token[..end].ends_with('@')
                && let Some(quoted) = rest.strip_prefix('\'')
            {
                let close = quoted.find('\'').map_or(quoted.len(), |at| at + 1);
                out.pop();
                if let Some(open) = out.strip_suffix('\'').and_then(|user| user.rfind('\'')) {
                    out.truncate(open);
                }
                out.push_str("'<user>'@'<host>'");
                rest = &quoted[close..];
            }
        }
        out.push_str(rest);
        out
    }

    fn without_names<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut text = Cow::Borrowed(text);
        for (name, place) in &self.names {
            if let Some(replaced) = replaced(&text, name, place) {
                text = Cow::Owned(replaced);
            }
        }
        text
    }
}

fn is_plain_word(text: &str) -> bool {
    PLAIN_WORDS.iter().any(|word| text.eq_ignore_ascii_case(word))
}

/// Whether a value is a number, with or without a unit.
fn is_number(value: &str) -> bool {
    let unit = value.trim_start_matches('-').trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    let is_unit = unit.len() <= 4 && unit.chars().all(|c| c.is_ascii_alphabetic() || c == ' ');
    unit.len() < value.len() && value.matches('.').count() < 2 && is_unit
}

fn is_naming(setting: &str) -> bool {
    let setting = setting.to_ascii_lowercase();
    NAMING.iter().any(|part| setting.contains(part))
}

/// Replaces each whole word `name` in `text`, ignoring case; `None` if there is none.
fn replaced(text: &str, name: &str, place: &str) -> Option<String> {
    // ASCII case conversion keeps the byte positions of both texts.
    let (lower, name) = (text.to_ascii_lowercase(), name.to_ascii_lowercase());
    let is_of_word = |c: char| c.is_alphanumeric() || c == '_';
    let (mut out, mut done, mut at) = (String::new(), 0, 0);
    while let Some(found) = lower[at..].find(&name) {
        let (start, end) = (at + found, at + found + name.len());
        let before = text[..start].chars().next_back().is_some_and(is_of_word);
        let after = text[end..].chars().next().is_some_and(is_of_word);
        if !before && !after {
            out.push_str(&text[done..start]);
            out.push_str(place);
            done = end;
        }
        at = end;
    }
    if done == 0 {
        return None;
    }
    out.push_str(&text[done..]);
    Some(out)
}

/// Whether a character can be part of an address or a path.
fn is_of_token(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_.-:/@%".contains(c)
}

/// Returns the token, or its replacement if it is an address, an account or a path.
fn without_places(token: &str) -> Cow<'_, str> {
    let body = token.trim_end_matches(['.', ':']);
    let tail = &token[body.len()..];
    let is_path = body.len() > 1 && body.starts_with('/');
    let place = match body {
        _ if is_path => "<path>",
        _ if body.contains("://") => "<url>",
        _ if body.contains('@') && body.len() > 1 => "<account>",
        _ if is_address(body) => "<address>",
        _ => return Cow::Borrowed(token),
    };
    Cow::Owned(format!("{place}{tail}"))
}

fn is_address(token: &str) -> bool {
    let without_port = token.split_once(':').map_or(token, |(host, _)| host);
    if without_port.parse::<std::net::Ipv4Addr>().is_ok() {
        return true;
    }
    // A time of day has two colons.
    token.matches(':').count() > 2 && token.parse::<std::net::Ipv6Addr>().is_ok() || token == "::1"
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn mask() -> AcceptanceMask {
        let url = "postgres://joe@db1.example.com:5433/shop".parse::<TargetUrl>().unwrap();
        let settings = BTreeMap::from([
            ("db_unique_name".to_owned(), "PRODSHOP".to_owned()),
            ("resolve_name".to_owned(), "ON".to_owned()),
        ]);
        AcceptanceMask::new(std::iter::once(&url), &Identity { settings, ..identity() })
    }

    fn identity() -> Identity {
        serde_json::from_value(serde_json::json!({
            "product": "P", "version": "1", "block_size": 8192, "settings": {}, "non_default": [], "same_host": false,
        }))
        .unwrap()
    }

    #[test]
    fn mask_removes_names_addresses_and_paths_from_text() {
        let mask = mask();
        for (text, expected) in [
            ("user joe of db1.example.com:5433 may not", "user <user> of <host>:5433 may not"),
            ("JOE and db1, not joel or db11", "<user> and <host>, not joel or db11"),
            ("database \"shop\", table dyno.shop_x", "database \"<database>\", table dyno.shop_x"),
            ("from 10.1.2.3:77 and fe80::1:2:3.", "from <address> and <address>."),
            ("Access denied for 'x'@'client7'!", "Access denied for '<user>'@'<host>'!"),
            ("at 23:59:58 in /var/lib/pg/16: full", "at 23:59:58 in <path>: full"),
            ("postgres://a@b/c and me@there", "<url> and <account>"),
            ("instance prodshop, ORA-00060 (40P01)", "instance <masked>, ORA-00060 (40P01)"),
            ("a session logs on", "a session logs on"),
            ("PostgreSQL 16.4, 140 = 140, 3/s", "PostgreSQL 16.4, 140 = 140, 3/s"),
        ] {
            assert_eq!(mask.text(text), expected);
        }
    }

    #[test]
    fn mask_keeps_numbers_and_known_words_in_settings() {
        let mask = mask();
        for (name, value, expected) in [
            ("shared_buffers", "128MB", "128MB"),
            ("wal_sync_method", "fdatasync", "fdatasync"),
            ("db_unique_name", "PRODSHOP", MASKED),
            ("data_directory", "shopfiles", MASKED),
            ("bind_address", "127.0.0.1", MASKED),
            ("listen", "127.0.0.1", "<address>"),
            ("log_file_size", "100663296", "100663296"),
            ("innodb_file_per_table", "ON", "ON"),
            ("mask", "10.0.0.1/8", MASKED),
            ("search", "joe", "<user>"),
        ] {
            assert_eq!(mask.setting(name, value), expected, "{name}");
        }
    }
}
