//! The first two lines: command, position and remaining time.

use dyno_report::number::{count, span_s};
use ratatui::text::{Line, Span};

use super::style::{ScreenStyle, pad_right, truncate_clean};
use crate::screen::state::{ScreenPhase, ScreenState};

/// Columns of a phase's progress bar.
const BAR: usize = 20;

pub(super) fn lines(state: &ScreenState, look: &ScreenStyle, now_s: f64, width: u16) -> Vec<Line<'static>> {
    vec![title(state, look, usize::from(width)), phase(state, look, now_s, usize::from(width))]
}

fn title(state: &ScreenState, look: &ScreenStyle, width: usize) -> Line<'static> {
    let name = format!(" dyno {} ", state.command);
    let mut parts = Vec::new();
    if let Some(campaign) = &state.campaign {
        parts.push(campaign.id.clone());
        if campaign.number > 0 && state.is_several() {
            let total_text =
                campaign.total_runs.map_or_else(String::new, |of| format!(" of {}", count(of.into())));
            parts.push(format!(
                "run {}{total_text}: {}",
                count(campaign.number.into()),
                campaign.description
            ));
        }
    } else if !state.run.id.is_empty() {
        parts.push(state.run.id.clone());
    }
    if !state.run.targets.is_empty() {
        parts.push(state.run.targets.clone());
    }
    let room = width.saturating_sub(name.chars().count());
    Line::from(vec![
        Span::styled(name, look.bold().patch(look.accent())),
        Span::raw(truncate_clean(&parts.join(" · "), room)),
    ])
}

fn phase(state: &ScreenState, look: &ScreenStyle, now_s: f64, width: usize) -> Line<'static> {
    let since_s = (now_s - state.run.since_s).max(0.0);
    if state.paused {
        let words = format!(" paused for {}: p continues", span_s(since_s.floor()));
        return Line::styled(pad_right(&words, width), look.warn());
    }
    let (name, done, told) = match &state.run.phase {
        ScreenPhase::None => (String::new(), None, String::new()),
        ScreenPhase::Activity(what) => (what.clone(), None, span_s(since_s.floor())),
        ScreenPhase::Connecting(ready, of) => {
            let share = f64::from(*ready) / f64::from((*of).max(1));
            ("connecting".to_owned(), Some(share), format!("{ready} of {of} sessions"))
        }
        ScreenPhase::Warmup(seconds) => {
            let left_s = (seconds - since_s).max(0.0);
            let share = if *seconds > 0.0 { since_s / seconds } else { 1.0 };
            ("warm-up".to_owned(), Some(share), format!("{} left", span_s(left_s.ceil())))
        }
        ScreenPhase::Window => {
            ("window".to_owned(), Some(state.window_share(now_s).unwrap_or(0.0)), window(state, now_s))
        }
        ScreenPhase::Draining => ("draining".to_owned(), None, span_s(since_s.floor())),
    };
    let bar = done.map_or_else(String::new, |done| format!("  {}", pad_right(&look.bar(done, BAR), BAR)));
    let percent = done.map_or_else(String::new, |done| format!(" {:>3.0} %", 100.0 * done.clamp(0.0, 1.0)));
    let style = if matches!(state.run.phase, ScreenPhase::Window) { look.good() } else { look.accent() };
    let name = format!(" {name}");
    let used = [&name, &bar, &percent].iter().map(|part| part.chars().count()).sum::<usize>();
    let details = truncate_clean(&told, width.saturating_sub(used + 2));
    Line::from(vec![
        Span::styled(name, look.bold()),
        Span::styled(bar, style),
        Span::raw(percent),
        Span::raw(format!("  {details}")),
    ])
}

/// Text such as `31 s of 60 s, ends in 29 s, all in 12 min 20 s`.
fn window(state: &ScreenState, now_s: f64) -> String {
    let Some((live, told_s)) = &state.run.live else { return "no complete interval yet".to_owned() };
    let elapsed_s = live.elapsed_s + (now_s - told_s).max(0.0);
    let mut parts = vec![match live.total_s {
        Some(total_s) => format!("{} of {}", span_s(elapsed_s.min(total_s).floor()), span_s(total_s)),
        None => format!("{} so far", span_s(elapsed_s.floor())),
    }];
    let left_s = state.window_left_s(now_s);
    if let Some(left_s) = left_s {
        let about = if live.total_s.is_none() { "about " } else { "" };
        parts.push(format!("ends in {about}{}", span_s(left_s.ceil())));
    }
    let rest_s = state.campaign.as_ref().and_then(|campaign| campaign.rest_s);
    if let (Some(left_s), Some(rest_s)) = (left_s, rest_s.filter(|rest_s| *rest_s > 0.0)) {
        parts.push(format!("all in about {}", span_s((left_s + rest_s).ceil())));
    }
    parts.join(", ")
}
