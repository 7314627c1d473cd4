//! Implements `require_auth`: the authentication methods that the user accepts.

/// The methods that libpq knows.
const METHODS: [&str; 7] = ["password", "md5", "gss", "sspi", "scram-sha-256", "oauth", "none"];

/// The methods that are accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequireAuth {
    methods: Vec<&'static str>,
    /// The text that the user wrote.
    text: String,
}

impl RequireAuth {
    /// Parses a comma-separated list of accepted methods, or of excluded methods with `!` before each. `None`
    /// if the text is neither.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let words: Vec<&str> = text.split(',').map(str::trim).collect();
        let method = |word: &str| METHODS.iter().find(|method| **method == word).copied();
        let methods = if words.iter().all(|word| word.starts_with('!')) {
            let refused: Vec<&str> = words.iter().map(|word| method(&word[1..])).collect::<Option<_>>()?;
            METHODS.into_iter().filter(|method| !refused.contains(method)).collect()
        } else {
            words.iter().map(|word| method(word)).collect::<Option<_>>()?
        };
        Some(Self { methods, text: text.to_owned() })
    }

    /// Whether a server may request `method`.
    pub(super) fn accepts(&self, method: &str) -> bool {
        self.methods.contains(&method)
    }

    /// The text that the user wrote.
    pub(super) fn text(&self) -> &str {
        &self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn require_auth_lists_allow_or_deny_but_not_both() {
        let accepts = |text: &str, method| RequireAuth::parse(text).map(|list| list.accepts(method));
        assert_eq!(accepts("scram-sha-256,md5", "md5"), Some(true));
        assert_eq!(accepts("scram-sha-256, md5", "password"), Some(false));
        assert_eq!(accepts("!password,!none", "password"), Some(false));
        assert_eq!(accepts("!password,!none", "scram-sha-256"), Some(true));
        for text in ["", "md5,!password", "md6", "!", "md5,,none"] {
            assert_eq!(RequireAuth::parse(text), None, "{text}");
        }
    }
}
