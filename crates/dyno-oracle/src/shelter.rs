//! Panics of the driver, told as errors.
//!
//! The driver is a beta, and some data that it does not expect makes it panic. It does so under the lock of its connection,
//! which is poisoned by that. The statement at hand, which goes back to the connection when it is dropped, unwraps that lock
//! in the midst of unwinding: a second panic, on which the process is aborted, with every session and all that was measured.
//!
//! A lock that is taken by a thread which is already unwinding is not poisoned, whatever happens under it. So the driver is
//! called from within a drop that runs while its thread unwinds, for no other reason. That costs 2.5 µs of processor time;
//! a session's thread does it once for all its life ([`shelter`]), and where that was not done each call does
//! it for itself ([`caught`]).

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;
use std::sync::Once;

thread_local! {
    /// Whether this thread is in a call of the driver, whose panics are told as errors and not printed.
    static IN_CALL: Cell<bool> = const { Cell::new(false) };
    /// Where the driver has panicked.
    static PLACE: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Runs `body` while the thread unwinds, so that [`caught`] costs nothing in it. A panic that `body` lets through is gone.
pub(super) fn shelter(body: &mut dyn FnMut()) {
    install();
    let run = OnDrop(|| {
        // Nothing may come out of a drop that runs while its thread unwinds.
        let _ = catch_unwind(AssertUnwindSafe(&mut *body));
    });
    let _ = catch_unwind(AssertUnwindSafe(move || {
        let _run = run;
        // Runs no hook: nothing is wrong.
        resume_unwind(Box::new(()));
    }));
}

/// What `call`, which may call the driver, gives; or what the driver's panic said, and where. What it worked on is then good
/// for nothing more, nor may it be dropped: that would call the driver again.
pub(super) fn caught<T>(call: impl FnOnce() -> T) -> Result<T, String> {
    if std::thread::panicking() {
        return caught_here(call);
    }
    let (mut call, mut outcome) = (Some(call), None);
    shelter(&mut || outcome = call.take().map(caught_here));
    outcome.expect("the body runs once, and lets no panic through")
}

fn caught_here<T>(call: impl FnOnce() -> T) -> Result<T, String> {
    let was_in_call = IN_CALL.replace(true);
    let outcome = catch_unwind(AssertUnwindSafe(call));
    IN_CALL.set(was_in_call);
    outcome.map_err(|payload| {
        let place = PLACE.with_borrow_mut(std::mem::take);
        format!(
            "the driver panicked on what the database sent, which is a fault in the driver: {} ({place})",
            words(payload.as_ref())
        )
    })
}

fn words(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<&str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .and_then(|text| text.lines().next())
        .unwrap_or("it gave no reason")
}

/// Notes where the driver panics in place of printing it; others' panics are printed as before.
fn install() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let others = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !IN_CALL.get() {
                return others(info);
            }
            let place = info.location().map_or_else(String::new, |at| {
                let file = Path::new(at.file()).file_name().unwrap_or_default();
                format!("{} line {}", file.to_string_lossy(), at.line())
            });
            PLACE.with_borrow_mut(|told| *told = place);
        }));
    });
}

/// Calls what it holds when it is dropped.
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

    /// As the driver's: it goes back under the connection's lock, which it unwraps.
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
    fn a_panic_under_the_drivers_lock_is_an_error() {
        let connection = Arc::new(Mutex::new(0));
        let execute = |answer| caught(|| Statement(Arc::clone(&connection)).execute(answer));
        assert_eq!(execute(Some(7)), Ok(7));
        // Called without shelter this aborts the test.
        let told = execute(None).unwrap_err();
        assert!(told.contains("an answer that it knows") && told.contains("shelter.rs line"), "{told}");
        assert!(!told.contains('/'), "no path of the host that it was built on: {told}");
        assert_eq!(execute(Some(8)), Ok(8));
        assert_eq!(*connection.lock().unwrap(), 303);
        assert!(!std::thread::panicking());
    }

    #[test]
    fn a_sheltered_thread_lives_on() {
        let connection = Arc::new(Mutex::new(0));
        let mut told = Vec::new();
        shelter(&mut || {
            for answer in [Some(1), None, Some(2), None] {
                told.push(caught(|| Statement(Arc::clone(&connection)).execute(answer)).is_ok());
            }
        });
        assert_eq!(told, [true, false, true, false]);
        assert!(!std::thread::panicking() && !connection.is_poisoned());
    }

    #[test]
    fn what_is_no_call_of_the_driver_passes() {
        let mut runs = 0;
        shelter(&mut || {
            runs += 1;
            resume_unwind(Box::new("let through"));
        });
        assert_eq!((runs, std::thread::panicking()), (1, false));
    }
}
