//! Turns a panic of a session, an observer or a sampler into an error. The run then ends as failed with its
//! measurements, and no code waits for a thread that has ended.
//!
//! Nothing should panic, but a third-party driver may, on data that it does not expect. The object in use is
//! then dropped; only earlier counts are kept.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::{ErrorClass, OpError, TargetError, TargetErrorKind};

/// The result of `body`, or its panic message.
pub fn caught<T>(body: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(body)).map_err(|payload| {
        let message = words(payload.as_ref());
        format!("the engine or its driver panicked, which is a bug: {message}")
    })
}

/// The panic's message on one line.
fn words(payload: &(dyn Any + Send)) -> String {
    let text = payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no reason given");
    text.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(", ")
}

/// The panic as the error of an observer or a sampler.
pub fn panicked(reason: String) -> TargetError {
    TargetError::new(TargetErrorKind::Database, reason)
}

/// The panic as the error of an operation.
pub fn as_error(reason: &str) -> OpError {
    OpError { class: ErrorClass::Fatal, code: "panic".to_owned(), message: reason.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panic_message_is_reported_as_the_reason() {
        assert_eq!(caught(|| 7), Ok(7));
        let number = 3;
        for (reason, words) in [
            (caught(|| panic!("plain")), "a bug: plain"),
            (caught(|| panic!("with {number}\n and more\n")), "a bug: with 3, and more"),
            (caught(|| std::panic::panic_any(7)), "a bug: no reason given"),
        ] {
            let reason: String = reason.map(|(): ()| ()).unwrap_err();
            assert!(reason.ends_with(words), "{reason}");
        }
    }
}
