//! Finds the engine for a URL scheme among the engines that the program was built with.

use dyno_plan::{EngineSpec, Engines, TargetUrl};

use crate::error::TargetError;
use crate::options::OpenOptions;
use crate::target::Target;

/// Opens a target without connecting to it.
pub type OpenTarget = fn(&TargetUrl, &OpenOptions) -> Result<Box<dyn Target>, TargetError>;
/// As [`OpenTarget`], for a URL that leads through a connection pooler to the server at the second URL.
pub type OpenThrough = fn(&TargetUrl, &TargetUrl, &OpenOptions) -> Result<Box<dyn Target>, TargetError>;

/// An engine, described for a program that has not opened a target of it yet.
#[derive(Debug, Clone, Copy)]
pub struct Engine {
    /// What plans need to know about the engine.
    pub spec: EngineSpec,
    /// Opens a target of this engine.
    pub open: OpenTarget,
    /// Opens a target behind a pooler; absent if the engine does not support poolers.
    pub open_through: Option<OpenThrough>,
    /// The SQL that an administrator runs to grant a Dyno user the least privileges, with the names of the
    /// URL. Lines that begin with `--` are optional.
    pub grants: fn(&TargetUrl) -> String,
}

/// The engines of a program.
#[derive(Debug, Clone, Copy)]
pub struct EngineRegistry {
    /// All engines, in the order of listings.
    pub engines: &'static [Engine],
    /// What plans need to know about each engine.
    pub specs: Engines,
}

/// The [`EngineRegistry`] of some engines, one line each.
#[macro_export]
macro_rules! registry {
    ($($(#[$built:meta])* $engine:path),* $(,)?) => {
        $crate::EngineRegistry {
            engines: &[$($(#[$built])* $engine),*],
            specs: $crate::Engines(&[$($(#[$built])* $engine.spec),*]),
        }
    };
}

impl EngineRegistry {
    /// The engine for the scheme of `url`.
    ///
    /// # Errors
    /// No engine has this scheme.
    pub fn of(self, url: &TargetUrl) -> Result<&'static Engine, TargetError> {
        let matching_engine = self.engines.iter().find(|engine| engine.spec.has_scheme(&url.scheme));
        matching_engine.ok_or_else(|| {
            let examples: Vec<&str> = self.specs.examples().collect();
            TargetError::unsupported(format!("no engine supports {:?} URLs", url.scheme))
                .hint(format!("this build supports: {}", examples.join(", ")))
        })
    }

    /// The target of `url`. Does not connect.
    ///
    /// # Errors
    /// No engine has this scheme, or the URL lacks what the engine needs.
    pub fn open(self, url: &TargetUrl, options: &OpenOptions) -> Result<Box<dyn Target>, TargetError> {
        (self.of(url)?.open)(url, options)
    }

    /// As [`EngineRegistry::open`], for a `url` that leads through a connection pooler to the server at
    /// `observe`. Sessions go through the pooler, everything else goes to the server.
    ///
    /// # Errors
    /// As [`EngineRegistry::open`]; or the engine does not support poolers.
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
                "{} databases cannot be tested through a pooler",
                url.scheme
            ))
            .hint("leave target.observe_url out")),
        }
    }
}
