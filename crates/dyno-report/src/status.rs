//! Colors of a run's state, in terminals and on pages.

use dyno_record::{RunState, Status};

use crate::style::Paint;

/// Terminal color of a state.
pub fn paint(state: impl Into<RunState>) -> Paint {
    match state.into() {
        RunState::Valid | RunState::Running => Paint::Good,
        RunState::Imported => Paint::Foreign,
        RunState::Interrupted | RunState::Unknown => Paint::Warn,
        RunState::Invalid | RunState::Failed => Paint::Bad,
    }
}

/// CSS class of a state.
pub(crate) fn tone(status: Status) -> &'static str {
    match paint(status) {
        Paint::Good => "good",
        Paint::Foreign => "foreign",
        Paint::Warn => "warn",
        _ => "bad",
    }
}

/// Sentence shown with every imported result.
pub const IMPORTED: &str = "imported, not audited: Dyno did not measure these figures";
