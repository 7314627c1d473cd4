//! Maps keys to actions.

use ratatui::crossterm::event::{Event, KeyCode, KeyEventKind, KeyModifiers};

use super::state::ScreenState;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyAction {
    Nothing,
    Stop,
    Pause,
    Skip,
    Zoom,
    All,
    Help,
    /// The terminal was resized, or its content was lost.
    Redraw,
}

/// The action for a terminal event in the current state.
pub(crate) fn key_action(event: &Event, state: &ScreenState) -> KeyAction {
    let key = match event {
        Event::Key(key) if key.kind != KeyEventKind::Release => key,
        Event::Resize(..) => return KeyAction::Redraw,
        _ => return KeyAction::Nothing,
    };
    let control = key.modifiers.contains(KeyModifiers::CONTROL);
    match key.code {
        KeyCode::Char('c') if control => KeyAction::Stop,
        KeyCode::Char('l') if control => KeyAction::Redraw,
        _ if control => KeyAction::Nothing,
        KeyCode::Char('q') => {
            if state.key_requests.stop {
                KeyAction::Nothing
            } else {
                KeyAction::Stop
            }
        }
        KeyCode::Char('p') if state.is_several() => KeyAction::Pause,
        KeyCode::Char('s') if state.progress.skips && state.progress.phase.is_under_way() => KeyAction::Skip,
        KeyCode::Char('z') | KeyCode::Tab => KeyAction::Zoom,
        KeyCode::Esc => KeyAction::All,
        KeyCode::Char('?' | 'h') | KeyCode::F(1) => KeyAction::Help,
        _ => KeyAction::Nothing,
    }
}
