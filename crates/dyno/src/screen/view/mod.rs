//! Draws the screen and lays out its panels at any size.
//!
//! | file | what it draws |
//! | --- | --- |
//! | `head` | the first two lines: command, phase, remaining time |
//! | `throughput` | throughput and response times over several stretches |
//! | `history` | the course of throughput and p99 over the window |
//! | `latency` | response times of the last complete interval in bands |
//! | `classes` | the classes of operations with the most operations |
//! | `waits` | what sessions waited for |
//! | `machine` | processors, devices and the database's rates |
//! | `audit` | errors, findings so far, and the previous run |
//! | `runs` | the grid of a sweep, or the ended runs |
//! | `load` | progress of a load |
//! | `help` | help on keys |

mod audit;
mod classes;
mod head;
mod help;
mod history;
mod latency;
mod load;
mod machine;
mod runs;
mod style;
mod throughput;
mod waits;

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::Line;
use ratatui::widgets::Paragraph;

pub(crate) use style::ScreenStyle;

use super::state::{Panel, ScreenState};

/// Minimum width and height for panels.
const SIZE_MIN: (u16, u16) = (60, 16);
/// Width from which three panels are side by side.
const WIDE: u16 = 120;

/// Draws everything, `now_s` after the screen began.
pub(crate) fn draw(frame: &mut Frame<'_>, state: &ScreenState, look: &ScreenStyle, now_s: f64) {
    let area = frame.area();
    let [head, body, foot] =
        Layout::vertical([Constraint::Length(2), Constraint::Min(0), Constraint::Length(1)]).areas(area);
    frame.render_widget(Paragraph::new(head::lines(state, look, now_s, area.width)), head);
    frame.render_widget(Paragraph::new(help::foot(state, look, area.width)), foot);
    if area.width < SIZE_MIN.0 || area.height < SIZE_MIN.1 {
        let words = format!("panels need {} columns and {} lines", SIZE_MIN.0, SIZE_MIN.1);
        frame.render_widget(Paragraph::new(Line::styled(words, look.dim())), body);
        return;
    }
    if state.help {
        help::draw(frame, body, state, look);
    } else if let Some(panel) = state.zoom {
        one(frame, body, panel, state, look);
    } else if state.progress.load_phase().is_some() && !state.is_several() {
        load::draw(frame, body, &state.progress, look, now_s);
    } else if area.width >= WIDE {
        draw_wide(frame, body, state, look);
    } else {
        narrow(frame, body, state, look);
    }
}

fn one(frame: &mut Frame<'_>, area: Rect, panel: Panel, state: &ScreenState, look: &ScreenStyle) {
    match panel {
        Panel::Throughput => throughput::draw(frame, area, state, look),
        Panel::History => history::draw(frame, area, state, look),
        Panel::Latency => latency::draw(frame, area, state, look),
        Panel::Classes => classes::draw(frame, area, state, look),
        Panel::Waits => waits::draw(frame, area, state, look),
        Panel::Machine => machine::draw(frame, area, state, look),
        Panel::Audit => audit::draw(frame, area, state, look),
        Panel::Runs => runs::draw(frame, area, state, look),
    }
}

/// Two panels side by side, in three rows.
fn narrow(frame: &mut Frame<'_>, area: Rect, state: &ScreenState, look: &ScreenStyle) {
    // If there is room, the history and the waits are taller.
    let more = area.height.saturating_sub(21);
    let rows = Layout::vertical([
        Constraint::Length(8 + more * 2 / 5),
        Constraint::Length(7 + more * 3 / 10),
        Constraint::Min(4),
    ]);
    let rows = rows.split(area);
    let halves =
        |area| Layout::horizontal([Constraint::Percentage(55), Constraint::Percentage(45)]).split(area);
    let (top, middle, bottom) = (halves(rows[0]), halves(rows[1]), halves(rows[2]));
    throughput::draw(frame, top[0], state, look);
    latency::draw(frame, top[1], state, look);
    waits::draw(frame, middle[0], state, look);
    machine::draw(frame, middle[1], state, look);
    match state.is_several() {
        true => runs::draw(frame, bottom[0], state, look),
        false => classes::draw(frame, bottom[0], state, look),
    }
    audit::draw(frame, bottom[1], state, look);
}

/// Three panels side by side, in three rows; the history is in the middle.
fn draw_wide(frame: &mut Frame<'_>, area: Rect, state: &ScreenState, look: &ScreenStyle) {
    let share = |percent: u16| area.height * percent / 100;
    let rows = Layout::vertical([
        Constraint::Length(share(27).clamp(8, 12)),
        Constraint::Min(4),
        Constraint::Length(share(33).clamp(6, 24)),
    ]);
    let [top, middle, bottom] = rows.areas(area);
    let thirds = |area, first, second| {
        Layout::horizontal([
            Constraint::Percentage(first),
            Constraint::Percentage(second),
            Constraint::Min(0),
        ])
        .areas::<3>(area)
    };
    let [left, center, right] = thirds(top, 38, 31);
    throughput::draw(frame, left, state, look);
    latency::draw(frame, center, state, look);
    waits::draw(frame, right, state, look);
    history::draw(frame, middle, state, look);
    let [left, center, right] = thirds(bottom, 38, 31);
    match state.is_several() {
        true => runs::draw(frame, left, state, look),
        false => classes::draw(frame, left, state, look),
    }
    machine::draw(frame, center, state, look);
    audit::draw(frame, right, state, look);
}
