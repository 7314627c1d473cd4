//! SQLite: the embedded default.
use dyno_plan::TargetUrl;

use crate::error::{TargetError, TargetErrorKind};
use crate::target::Target;

/// The target that a `sqlite:` URL names.
///
/// # Errors
/// A parameter is unknown or has an impossible value.
pub fn open(_url: &TargetUrl) -> Result<Box<dyn Target>, TargetError> {
    Err(TargetError::new(TargetErrorKind::Unsupported, "not built yet"))
}
