//! How a run's state looks: one colour for each, in terminals and on pages.

use dyno_record::{RunState, Status};

use crate::style::Paint;

/// The colour of a state.
pub fn paint(state: impl Into<RunState>) -> Paint {
    match state.into() {
        RunState::Valid | RunState::Running => Paint::Good,
        RunState::Imported => Paint::Foreign,
        RunState::Interrupted | RunState::Unknown => Paint::Warn,
        RunState::Invalid | RunState::Failed => Paint::Bad,
    }
}

/// The class of a state on pages.
pub(crate) fn tone(status: Status) -> &'static str {
    match paint(status) {
        Paint::Good => "good",
        Paint::Foreign => "foreign",
        Paint::Warn => "warn",
        _ => "bad",
    }
}

/// What is said of imported figures wherever they are a result.
pub const IMPORTED: &str = "imported, not audited: nobody here measured these figures";
