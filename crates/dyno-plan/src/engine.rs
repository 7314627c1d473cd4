//! Properties of engines that a plan needs: each engine declares them, and the caller passes the list to the reader.

use crate::plan::workload::{Commit, StatementProtocol};

/// The properties of one engine for plans.
#[derive(Debug, Clone, Copy)]
pub struct EngineSpec {
    /// The name, which is also the scheme of its URLs: `postgres`.
    pub name: &'static str,
    /// Other schemes with the same meaning: `postgresql`.
    pub aliases: &'static [&'static str],
    /// The product's name as shown to users: `PostgreSQL`.
    pub product: &'static str,
    /// What follows the scheme in its URLs.
    pub form: UrlForm,
    /// Example URLs for errors and help: `postgres://USER@HOST:PORT/DATABASE`.
    pub examples: &'static [&'static str],
    /// The URL in a generated plan, for the user to edit.
    pub template: &'static str,
    /// URL parameters whose values are fixed words.
    pub words: &'static [UrlParameterWords],
    /// Commit modes that its sessions can choose, besides waiting.
    pub commits: &'static [Commit],
    /// The hint when a plan asks for another commit mode.
    pub other_commits: &'static str,
    /// Protocols by which statements can reach it, besides prepared statements.
    pub protocols: &'static [StatementProtocol],
    /// Whether it makes AWR or STATSPACK reports.
    pub awr: bool,
    /// Whether it can copy schemas inside the database instead of receiving their rows.
    pub copies_schemas: bool,
    /// Whether sessions can go through a connection pooler.
    pub pooled: bool,
    /// URL parameters, with values, that make storage answer reads instead of a cache; empty if only the server decides.
    pub uncached: &'static [(&'static str, &'static str)],
    /// URL parameters, with values, that keep data of some hundred megabytes in the cache.
    pub cached: &'static [(&'static str, &'static str)],
    /// What its license says about publishing results, as a note below them; empty if it says nothing.
    pub publishing: &'static str,
    /// Where commands pass passwords to its clients; a plan must not contain a password.
    pub passwords: Passwords,
}

/// What follows the scheme of a URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UrlForm {
    /// A database server, written `//USER@HOST:PORT/DATABASE`.
    Server,
    /// A file of a database embedded in this program.
    File {
        /// The hint when no file can be read from the URL.
        write: &'static str,
    },
}

/// A URL parameter whose value is one of several words.
///
/// The engines read their own parameters. The words are declared here, so that a typo fails before Dyno connects to
/// anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UrlParameterWords {
    /// The name of the URL parameter.
    pub name: &'static str,
    /// The words that are valid values.
    pub allowed: &'static [&'static str],
    /// Whether upper and lower case, and `-` and `_`, are equivalent.
    pub any_case: bool,
}

/// Where commands pass passwords to the clients of an engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Passwords {
    /// Environment variables that hold a password.
    pub variables: &'static [&'static str],
    /// Clients that take a password directly after `-p`.
    pub clients: &'static [&'static str],
}

/// The engines that plans can use.
#[derive(Debug, Clone, Copy, Default)]
pub struct Engines(pub &'static [EngineSpec]);

/// The engine of imported records, which were measured by other programs.
pub const IMPORTED: Engines =
    Engines(&[EngineSpec::plain("imported", UrlForm::Server, "imported:///elsewhere")]);

impl EngineSpec {
    /// An engine without optional features, whose URLs have this form.
    pub const fn plain(name: &'static str, form: UrlForm, template: &'static str) -> Self {
        Self {
            name,
            aliases: &[],
            product: name,
            form,
            examples: &[],
            template,
            words: &[],
            commits: &[],
            other_commits: "leave it out",
            protocols: &[],
            awr: false,
            copies_schemas: false,
            pooled: false,
            uncached: &[],
            cached: &[],
            publishing: "",
            passwords: Passwords { variables: &[], clients: &[] },
        }
    }

    /// Whether Dyno connects to a server; an embedded engine runs inside this program.
    pub fn is_server(&self) -> bool {
        self.form == UrlForm::Server
    }

    /// Whether URLs with this scheme belong to the engine.
    pub fn has_scheme(&self, scheme: &str) -> bool {
        self.name == scheme || self.aliases.contains(&scheme)
    }
}

impl UrlParameterWords {
    /// A parameter whose words must match exactly.
    pub const fn exact(name: &'static str, allowed: &'static [&'static str]) -> Self {
        Self { name, allowed, any_case: false }
    }

    /// A parameter whose words match in upper or lower case.
    pub const fn any_case(name: &'static str, allowed: &'static [&'static str]) -> Self {
        Self { name, allowed, any_case: true }
    }

    pub(crate) fn allows(&self, value: &str) -> bool {
        // An empty value counts as not set, or the engine refuses it.
        value.is_empty()
            || self.allowed.iter().any(|word| match self.any_case {
                true => {
                    word.eq_ignore_ascii_case(&value.replace('-', "_")) || word.eq_ignore_ascii_case(value)
                }
                false => *word == value,
            })
    }
}

impl Engines {
    /// The engine with this name or alias.
    pub fn named(self, scheme: &str) -> Option<&'static EngineSpec> {
        self.0.iter().find(|engine| engine.has_scheme(scheme))
    }

    /// Example URLs of all engines, as errors show them.
    pub fn examples(self) -> impl Iterator<Item = &'static str> {
        self.0.iter().flat_map(|engine| engine.examples).copied()
    }
}

/// Joins items for a sentence: `a, b or c`.
pub fn or(items: &[impl AsRef<str>]) -> String {
    let items: Vec<&str> = items.iter().map(AsRef::as_ref).collect();
    match items.as_slice() {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [rest @ .., last] => format!("{} or {last}", rest.join(", ")),
    }
}

/// Engines for the tests of this crate, modeled on the real ones.
#[cfg(test)]
pub(crate) mod fixture {
    use super::{EngineSpec, Engines, Passwords, UrlForm, UrlParameterWords};
    use crate::plan::{Commit, StatementProtocol};
    use crate::read::PlanSource;

    const FILE: UrlForm = UrlForm::File { write: "write sqlite:PATH or sqlite::memory:" };

    pub(crate) const ENGINES: Engines = Engines(&[
        EngineSpec {
            examples: &["sqlite:PATH", "sqlite::memory:"],
            words: &[
                UrlParameterWords::exact("journal", &["wal", "delete"]),
                UrlParameterWords::exact("sync", &["off", "normal", "full"]),
            ],
            other_commits: "leave it out; sync=off in the URL decides",
            ..EngineSpec::plain("sqlite", FILE, "sqlite:dyno.db")
        },
        EngineSpec {
            aliases: &["postgresql"],
            product: "PostgreSQL",
            examples: &["postgres://USER@HOST:PORT/DATABASE"],
            words: &[
                UrlParameterWords::exact(
                    "sslmode",
                    &["disable", "allow", "prefer", "require", "verify-full"],
                ),
                UrlParameterWords::exact("channel_binding", &["disable", "prefer", "require"]),
                UrlParameterWords::any_case("client_encoding", &["UTF8", "auto"]),
            ],
            commits: &[Commit::Nowait],
            other_commits: "commit = \"nowait\" (synchronous_commit = off), or leave it out",
            protocols: &[StatementProtocol::Extended, StatementProtocol::Simple],
            pooled: true,
            passwords: Passwords { variables: &["PGPASS"], clients: &[] },
            ..EngineSpec::plain("postgres", UrlForm::Server, "postgres://dyno@localhost:5432/bench")
        },
        EngineSpec {
            aliases: &["mariadb"],
            examples: &["mysql://USER@HOST:PORT/DATABASE"],
            words: &[UrlParameterWords::any_case("ssl-mode", &["DISABLED", "PREFERRED", "VERIFY_CA"])],
            other_commits: "leave it out; SET GLOBAL innodb_flush_log_at_trx_commit = 2",
            passwords: Passwords {
                variables: &["MYSQL_PWD"],
                clients: &["mysql", "mariadb", "mysqladmin", "mysqldump"],
            },
            ..EngineSpec::plain("mysql", UrlForm::Server, "mysql://dyno@localhost:3306/bench")
        },
        EngineSpec {
            examples: &["oracle://USER@HOST:PORT/SERVICE"],
            words: &[UrlParameterWords::exact("protocol", &["tcp", "tcps"])],
            commits: &[Commit::Nowait, Commit::Plsql],
            awr: true,
            copies_schemas: true,
            ..EngineSpec::plain("oracle", UrlForm::Server, "oracle://dyno@localhost:1521/FREEPDB1")
        },
    ]);

    /// An empty source for a plan that may use any of them.
    pub(crate) fn nothing() -> PlanSource {
        PlanSource::of(ENGINES)
    }
}
