//! A panic while a session, an observer or a sampler works: told as an error of theirs, so that the run ends as failed with
//! what was measured, and nobody waits for a thread that is gone.
//!
//! Nobody is to panic, but a driver that is not ours may, on data that it does not expect. What it worked on is not used
//! any more afterwards, but for what was counted before.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use dyno_engine::{ErrorClass, OpError};

/// What `body` gives, or what its panic said.
pub(crate) fn caught<T>(body: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(body)).map_err(|payload| {
        let said = words(payload.as_ref());
        format!("the engine or its driver panicked, which is a fault in it: {said}")
    })
}

/// The panic's own words on one line.
fn words(payload: &(dyn Any + Send)) -> String {
    let text = payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("it gave no reason");
    text.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(", ")
}

/// The same as the error of an operation.
pub(crate) fn as_error(reason: &str) -> OpError {
    OpError { class: ErrorClass::Fatal, code: "panic".to_owned(), message: reason.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_told_in_its_own_words() {
        assert_eq!(caught(|| 7), Ok(7));
        let number = 3;
        for (reason, words) in [
            (caught(|| panic!("plain")), "a fault in it: plain"),
            (caught(|| panic!("with {number}\n and more\n")), "a fault in it: with 3, and more"),
            (caught(|| std::panic::panic_any(7)), "a fault in it: it gave no reason"),
        ] {
            let reason: String = reason.map(|(): ()| ()).unwrap_err();
            assert!(reason.ends_with(words), "{reason}");
        }
    }
}
