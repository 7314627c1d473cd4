//! Converts panics of the driver into errors.
//!
//! The driver is a beta and panics on some data that it does not expect. The panic occurs under the lock of
//! its connection and poisons the lock. When the current statement is dropped, it returns to the connection
//! and unwraps that lock during unwinding. This second panic would abort the process, with every session and
//! all measurements.
//!
//! A lock that is taken by a thread that is already unwinding is never poisoned. Dyno therefore calls the
//! driver inside a drop that runs during an artificial unwinding. That costs 2.5 µs of processor time. A
//! session's thread does it once for its lifetime ([`shelter`]); elsewhere each call does it for itself
//! ([`caught`]).

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;
use std::sync::Once;

thread_local! {
    /// Whether this thread is in a call of the driver, whose panics become errors and are not printed.
    static IN_CALL: Cell<bool> = const { Cell::new(false) };
    /// The source location of the driver's panic.
    static PLACE: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Runs `body` while the thread unwinds, so that [`caught`] costs nothing inside. A panic that `body` does
/// not catch is lost.
pub(super) fn run_while_unwinding(body: &mut dyn FnMut()) {
    install_panic_hook();
    let run = OnDrop(|| {
        // No panic may leave a drop that runs during unwinding.
        let _ = catch_unwind(AssertUnwindSafe(&mut *body));
    });
    let _ = catch_unwind(AssertUnwindSafe(move || {
        let _run = run;
        // This starts the unwinding without calling the panic hook.
        resume_unwind(Box::new(()));
    }));
}

/// Returns the result of `call`, which may call the driver, or the message and location of the driver's
/// panic. After a panic its objects must neither be used nor dropped, because a drop would call the driver
/// again.
pub(super) fn catch_driver_panic<T>(call: impl FnOnce() -> T) -> Result<T, String> {
    if std::thread::panicking() {
        return catch_panic(call);
    }
    let (mut call, mut outcome) = (Some(call), None);
    run_while_unwinding(&mut || outcome = call.take().map(catch_panic));
    outcome.expect("the body runs once, and lets no panic through")
}

fn catch_panic<T>(call: impl FnOnce() -> T) -> Result<T, String> {
    let was_in_call = IN_CALL.replace(true);
    let outcome = catch_unwind(AssertUnwindSafe(call));
    IN_CALL.set(was_in_call);
    outcome.map_err(|payload| {
        let place = PLACE.with_borrow_mut(std::mem::take);
        format!(
            "the driver panicked on the database's answer, which is a bug in the driver: {} ({place})",
            panic_message(payload.as_ref())
        )
    })
}

fn panic_message(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<&str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .and_then(|text| text.lines().next())
        .unwrap_or("it gave no reason")
}

/// Installs a hook that records where the driver panics instead of printing it; other panics are printed as
/// before.
fn install_panic_hook() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let previous_hook = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !IN_CALL.get() {
                return previous_hook(info);
            }
            let place = info.location().map_or_else(String::new, |at| {
                let file = Path::new(at.file()).file_name().unwrap_or_default();
                format!("{} line {}", file.to_string_lossy(), at.line())
            });
            PLACE.with_borrow_mut(|slot| *slot = place);
        }));
    });
}

/// Calls the contained function when it is dropped.
struct OnDrop<F: FnMut()>(F);

impl<F: FnMut()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    /// Behaves like the driver's statement: it returns under the connection's lock, which it unwraps.
    struct Statement(Arc<Mutex<u32>>);

    impl Statement {
        fn execute(self, answer: Option<u32>) -> u32 {
            let mut executed = self.0.lock().unwrap();
            *executed += 1;
            answer.expect("an answer that it knows")
        }
    }

    impl Drop for Statement {
        fn drop(&mut self) {
            *self.0.lock().unwrap() += 100;
        }
    }

    #[test]
    fn panic_under_driver_lock_becomes_an_error() {
        let connection = Arc::new(Mutex::new(0));
        let execute = |answer| catch_driver_panic(|| Statement(Arc::clone(&connection)).execute(answer));
        assert_eq!(execute(Some(7)), Ok(7));
        // Without shelter this call would abort the test.
        let panic_text = execute(None).unwrap_err();
        assert!(panic_text.contains("an answer that it knows"), "{panic_text}");
        assert!(panic_text.contains("driver_panics.rs line"), "{panic_text}");
        assert!(!panic_text.contains('/'), "no path of the host that it was built on: {panic_text}");
        assert_eq!(execute(Some(8)), Ok(8));
        assert_eq!(*connection.lock().unwrap(), 303);
        assert!(!std::thread::panicking());
    }

    #[test]
    fn unwinding_thread_survives_caught_driver_panics() {
        let connection = Arc::new(Mutex::new(0));
        let mut outcomes = Vec::new();
        run_while_unwinding(&mut || {
            for answer in [Some(1), None, Some(2), None] {
                outcomes
                    .push(catch_driver_panic(|| Statement(Arc::clone(&connection)).execute(answer)).is_ok());
            }
        });
        assert_eq!(outcomes, [true, false, true, false]);
        assert!(!std::thread::panicking());
        assert!(!connection.is_poisoned());
    }

    #[test]
    fn panic_outside_driver_calls_passes_through() {
        let mut runs = 0;
        run_while_unwinding(&mut || {
            runs += 1;
            resume_unwind(Box::new("let through"));
        });
        assert_eq!((runs, std::thread::panicking()), (1, false));
    }
}
