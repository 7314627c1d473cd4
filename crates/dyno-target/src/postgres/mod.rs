//! PostgreSQL 13 and later.
use dyno_plan::TargetUrl;

use crate::error::{TargetError, TargetErrorKind};
use crate::open::OpenOptions;
use crate::target::Target;

/// The target that a `postgres:` URL names.
///
/// # Errors
/// A parameter is unknown or has an impossible value.
pub fn open(_url: &TargetUrl, _options: &OpenOptions) -> Result<Box<dyn Target>, TargetError> {
    Err(TargetError::new(TargetErrorKind::Unsupported, "not built yet"))
}
