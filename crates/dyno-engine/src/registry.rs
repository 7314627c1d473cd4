//! From URL scheme to engine: each engine says what it is, and the program lists those it was built with.

use dyno_plan::TargetUrl;

use crate::error::{TargetError, TargetErrorKind};
use crate::options::OpenOptions;
use crate::target::Target;

/// Opens a target; does not connect.
pub type Open = fn(&TargetUrl, &OpenOptions) -> Result<Box<dyn Target>, TargetError>;
/// As [`Open`], for a URL that leads through a connection pooler to the server at the second URL.
pub type OpenThrough = fn(&TargetUrl, &TargetUrl, &OpenOptions) -> Result<Box<dyn Target>, TargetError>;

/// What an engine is to a program that has not opened a target of it yet.
#[derive(Debug, Clone, Copy)]
pub struct Engine {
    /// The schemes of its URLs; the first one is its name.
    pub schemes: &'static [&'static str],
    /// A URL of it, as help shows it.
    pub example: &'static str,
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
pub struct Registry(pub &'static [Engine]);

impl Registry {
    /// The engine of `url`.
    ///
    /// # Errors
    /// No engine has this scheme.
    pub fn of(self, url: &TargetUrl) -> Result<&'static Engine, TargetError> {
        let found = self.0.iter().find(|engine| engine.schemes.contains(&url.scheme.as_str()));
        found.ok_or_else(|| {
            let examples: Vec<&str> = self.0.iter().map(|engine| engine.example).collect();
            TargetError::new(
                TargetErrorKind::Unsupported,
                format!("there is no engine for {:?} URLs", url.scheme),
            )
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
            Some(open) if engine.schemes.contains(&observe.scheme.as_str()) => open(url, observe, options),
            _ => Err(TargetError::new(
                TargetErrorKind::Unsupported,
                format!("{} databases are not driven through a pooler", url.scheme),
            )
            .hint("leave target.observe_url out")),
        }
    }
}
