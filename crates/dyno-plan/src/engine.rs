//! What a plan has to know of engines: each engine declares it, and whoever reads a plan hands the list in.

use crate::plan::workload::{Commit, Protocol};

/// What an engine is to plans.
#[derive(Debug, Clone, Copy)]
pub struct EngineSpec {
    /// The name, which is the scheme of its URLs: `postgres`.
    pub name: &'static str,
    /// Other schemes that mean the same: `postgresql`.
    pub aliases: &'static [&'static str],
    /// The product: `PostgreSQL`.
    pub product: &'static str,
    /// What stands behind the scheme.
    pub form: Form,
    /// Its URLs, as errors and help show them: `postgres://USER@HOST:PORT/DATABASE`.
    pub examples: &'static [&'static str],
    /// A URL to be edited, for plans that are written.
    pub template: &'static str,
    /// The parameters of its URLs whose values are words.
    pub words: &'static [Words],
    /// Ways to commit that its sessions can choose, beside waiting.
    pub commits: &'static [Commit],
    /// The way out where a plan asks for another.
    pub other_commits: &'static str,
    /// Ways in which statements can come to it, beside being prepared.
    pub protocols: &'static [Protocol],
    /// Whether it makes AWR or STATSPACK reports.
    pub awr: bool,
    /// Whether sessions can go through a connection pooler.
    pub pooled: bool,
    /// Parameters of its URLs with which storage answers, and no cache in front of it, with their values; none where the
    /// server alone decides.
    pub uncached: &'static [(&'static str, &'static str)],
    /// The same with which data of some hundred megabytes stays in the cache.
    pub cached: &'static [(&'static str, &'static str)],
    /// What its licence says of publishing results, as a note beneath them; empty where it says nothing.
    pub publishing: &'static str,
    /// Where commands give passwords to its clients: a plan must not hold one.
    pub passwords: Passwords,
}

/// What stands behind the scheme of a URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// A server: `//USER@HOST:PORT/DATABASE`.
    Server,
    /// A file of a database that is embedded in this program.
    File {
        /// The way out where no file can be read.
        write: &'static str,
    },
}

/// One parameter of URLs whose value is one of some words.
///
/// The engines read their own parameters; which words there are is declared, so that a plan is refused for a slip before
/// anything is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Words {
    /// The parameter's name.
    pub name: &'static str,
    /// What it may be.
    pub allowed: &'static [&'static str],
    /// Whether capitals and small letters, `-` and `_` are alike.
    pub any_case: bool,
}

/// Where commands give passwords to the clients of an engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Passwords {
    /// Variables of the environment.
    pub variables: &'static [&'static str],
    /// Clients that take a password right behind `-p`.
    pub clients: &'static [&'static str],
}

/// The engines that plans can name.
#[derive(Debug, Clone, Copy, Default)]
pub struct Engines(pub &'static [EngineSpec]);

/// What was measured elsewhere, for plans of imported records.
pub const IMPORTED: Engines =
    Engines(&[EngineSpec::plain("imported", Form::Server, "imported:///elsewhere")]);

impl EngineSpec {
    /// An engine that can do nothing beyond the common, whose URLs have this form.
    pub const fn plain(name: &'static str, form: Form, template: &'static str) -> Self {
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
            pooled: false,
            uncached: &[],
            cached: &[],
            publishing: "",
            passwords: Passwords { variables: &[], clients: &[] },
        }
    }

    /// Whether it is reached over a connection, and not embedded in this program.
    pub fn is_server(&self) -> bool {
        self.form == Form::Server
    }

    /// Whether URLs with this scheme name it.
    pub fn has_scheme(&self, scheme: &str) -> bool {
        self.name == scheme || self.aliases.contains(&scheme)
    }
}

impl Words {
    /// A parameter whose words are written as they are.
    pub const fn exact(name: &'static str, allowed: &'static [&'static str]) -> Self {
        Self { name, allowed, any_case: false }
    }

    /// A parameter whose words are written in capitals or small letters.
    pub const fn any_case(name: &'static str, allowed: &'static [&'static str]) -> Self {
        Self { name, allowed, any_case: true }
    }

    pub(crate) fn allows(&self, value: &str) -> bool {
        // What is empty counts as not written, or is refused by the engine.
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
    /// The engine with this name, or with one that means the same.
    pub fn named(self, scheme: &str) -> Option<&'static EngineSpec> {
        self.0.iter().find(|engine| engine.has_scheme(scheme))
    }

    /// URLs of all engines, as errors show them.
    pub fn examples(self) -> impl Iterator<Item = &'static str> {
        self.0.iter().flat_map(|engine| engine.examples).copied()
    }
}

/// Items in a sentence: `a, b or c`.
pub fn or(items: &[impl AsRef<str>]) -> String {
    let items: Vec<&str> = items.iter().map(AsRef::as_ref).collect();
    match items.as_slice() {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [rest @ .., last] => format!("{} or {last}", rest.join(", ")),
    }
}

/// Engines for the tests of this crate, in the image of those that Dyno has.
#[cfg(test)]
pub(crate) mod fixture {
    use super::{EngineSpec, Engines, Form, Passwords, Words};
    use crate::plan::{Commit, Protocol};
    use crate::read::PlanSource;

    const FILE: Form = Form::File { write: "write sqlite:PATH or sqlite::memory:" };

    pub(crate) const ENGINES: Engines = Engines(&[
        EngineSpec {
            examples: &["sqlite:PATH", "sqlite::memory:"],
            words: &[
                Words::exact("journal", &["wal", "delete"]),
                Words::exact("sync", &["off", "normal", "full"]),
            ],
            other_commits: "leave it out; sync=off in the URL decides",
            ..EngineSpec::plain("sqlite", FILE, "sqlite:dyno.db")
        },
        EngineSpec {
            aliases: &["postgresql"],
            product: "PostgreSQL",
            examples: &["postgres://USER@HOST:PORT/DATABASE"],
            words: &[
                Words::exact("sslmode", &["disable", "allow", "prefer", "require", "verify-full"]),
                Words::exact("channel_binding", &["disable", "prefer", "require"]),
                Words::any_case("client_encoding", &["UTF8", "auto"]),
            ],
            commits: &[Commit::Nowait],
            other_commits: "commit = \"nowait\" (synchronous_commit = off), or leave it out",
            protocols: &[Protocol::Extended, Protocol::Simple],
            pooled: true,
            passwords: Passwords { variables: &["PGPASS"], clients: &[] },
            ..EngineSpec::plain("postgres", Form::Server, "postgres://dyno@localhost:5432/bench")
        },
        EngineSpec {
            aliases: &["mariadb"],
            examples: &["mysql://USER@HOST:PORT/DATABASE"],
            words: &[Words::any_case("ssl-mode", &["DISABLED", "PREFERRED", "VERIFY_CA"])],
            other_commits: "leave it out; SET GLOBAL innodb_flush_log_at_trx_commit = 2",
            passwords: Passwords {
                variables: &["MYSQL_PWD"],
                clients: &["mysql", "mariadb", "mysqladmin", "mysqldump"],
            },
            ..EngineSpec::plain("mysql", Form::Server, "mysql://dyno@localhost:3306/bench")
        },
        EngineSpec {
            examples: &["oracle://USER@HOST:PORT/SERVICE"],
            words: &[Words::exact("protocol", &["tcp", "tcps"])],
            commits: &[Commit::Nowait, Commit::Plsql],
            awr: true,
            ..EngineSpec::plain("oracle", Form::Server, "oracle://dyno@localhost:1521/FREEPDB1")
        },
    ]);

    /// Nothing written yet, for a plan that may name any of them.
    pub(crate) fn nothing() -> PlanSource {
        PlanSource::of(ENGINES)
    }
}
