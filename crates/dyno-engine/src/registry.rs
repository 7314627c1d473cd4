//! From URL scheme to engine: each engine says what it is, and the program lists those it was built with.

use dyno_plan::{EngineSpec, Engines, TargetUrl};

use crate::error::TargetError;
use crate::options::OpenOptions;
use crate::target::Target;

/// Opens a target; does not connect.
pub type Open = fn(&TargetUrl, &OpenOptions) -> Result<Box<dyn Target>, TargetError>;
/// As [`Open`], for a URL that leads through a connection pooler to the server at the second URL.
pub type OpenThrough = fn(&TargetUrl, &TargetUrl, &OpenOptions) -> Result<Box<dyn Target>, TargetError>;

/// What an engine is to a program that has not opened a target of it yet.
#[derive(Debug, Clone, Copy)]
pub struct Engine {
    /// What plans have to know of it.
    pub spec: EngineSpec,
    /// Opens a target.
    pub open: Open,
    /// Opens a target behind a pooler, if the engine is driven through poolers.
    pub open_through: Option<OpenThrough>,
    /// What an administrator runs so that a user of Dyno can do its work: the least, with the names of the URL; lines that
    /// begin with `--` are optional.
    pub grants: fn(&TargetUrl) -> String,
}

/// The engines of a program.
#[derive(Debug, Clone, Copy)]
pub struct Registry {
    /// All of them.
    pub engines: &'static [Engine],
    /// What plans have to know of each.
    pub specs: Engines,
}

/// The [`Registry`] of some engines, one line each.
#[macro_export]
macro_rules! registry {
    ($($(#[$built:meta])* $engine:path),* $(,)?) => {
        $crate::Registry {
            engines: &[$($(#[$built])* $engine),*],
            specs: $crate::Engines(&[$($(#[$built])* $engine.spec),*]),
        }
    };
}

impl Registry {
    /// The engine of `url`.
    ///
    /// # Errors
    /// No engine has this scheme.
    pub fn of(self, url: &TargetUrl) -> Result<&'static Engine, TargetError> {
        let found = self.engines.iter().find(|engine| engine.spec.has_scheme(&url.scheme));
        found.ok_or_else(|| {
            let examples: Vec<&str> = self.specs.examples().collect();
            TargetError::unsupported(format!("there is no engine for {:?} URLs", url.scheme))
                .hint(format!("this program was built with: {}", examples.join(", ")))
        })
    }

    /// The target that `url` names. Does not connect.
    ///
    /// # Errors
    /// There is no such engine, or the URL lacks what the engine needs.
    pub fn open(self, url: &TargetUrl, options: &OpenOptions) -> Result<Box<dyn Target>, TargetError> {
        (self.of(url)?.open)(url, options)
    }

    /// As [`Registry::open`], for a `url` that leads through a connection pooler to the server at `observe`: sessions go
    /// through it, all else goes to the server.
    ///
    /// # Errors
    /// As [`Registry::open`]; the engine is not driven through poolers.
    pub fn open_through(
        self,
        url: &TargetUrl,
        observe: &TargetUrl,
        options: &OpenOptions,
    ) -> Result<Box<dyn Target>, TargetError> {
        let engine = self.of(url)?;
        match engine.open_through {
            Some(open) if engine.spec.has_scheme(&observe.scheme) => open(url, observe, options),
            _ => Err(TargetError::unsupported(format!(
                "{} databases are not driven through a pooler",
                url.scheme
            ))
            .hint("leave target.observe_url out")),
        }
    }
}
