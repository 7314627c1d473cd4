//! The first two lines: what runs, where it is, and how long it takes.

use dyno_report::number::{count, span_s};
use ratatui::text::{Line, Span};

use super::look::{Look, cut, left};
use crate::screen::state::{Phase, State};

/// Columns of the bar of a phase.
const BAR: usize = 20;

pub(super) fn lines(state: &State, look: &Look, now_s: f64, width: u16) -> Vec<Line<'static>> {
    vec![title(state, look, usize::from(width)), phase(state, look, now_s, usize::from(width))]
}

fn title(state: &State, look: &Look, width: usize) -> Line<'static> {
    let name = format!(" dyno {} ", state.command);
    let mut parts = Vec::new();
    if let Some(campaign) = &state.campaign {
        parts.push(campaign.id.clone());
        if campaign.number > 0 && state.is_several() {
            let of = campaign.of.map_or_else(String::new, |of| format!(" of {}", count(of.into())));
            parts.push(format!("run {}{of}: {}", count(campaign.number.into()), campaign.what));
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
        Span::raw(cut(&parts.join(" · "), room)),
    ])
}

fn phase(state: &State, look: &Look, now_s: f64, width: usize) -> Line<'static> {
    let since_s = (now_s - state.run.since_s).max(0.0);
    if state.paused {
        let words = format!(" paused for {}: p goes on", span_s(since_s.floor()));
        return Line::styled(left(&words, width), look.warn());
    }
    let (name, done, told) = match &state.run.phase {
        Phase::None => (String::new(), None, String::new()),
        Phase::Beside(what) => (what.clone(), None, span_s(since_s.floor())),
        Phase::Connecting(ready, of) => {
            let share = f64::from(*ready) / f64::from((*of).max(1));
            ("connecting".to_owned(), Some(share), format!("{ready} of {of} sessions"))
        }
        Phase::Warmup(seconds) => {
            let left_s = (seconds - since_s).max(0.0);
            let share = if *seconds > 0.0 { since_s / seconds } else { 1.0 };
            ("warm-up".to_owned(), Some(share), format!("{} left", span_s(left_s.ceil())))
        }
        Phase::Window => ("window".to_owned(), Some(state.done(now_s).unwrap_or(0.0)), window(state, now_s)),
        Phase::Draining => ("draining".to_owned(), None, span_s(since_s.floor())),
    };
    let bar = done.map_or_else(String::new, |done| format!("  {}", left(&look.bar(done, BAR), BAR)));
    let percent = done.map_or_else(String::new, |done| format!(" {:>3.0} %", 100.0 * done.clamp(0.0, 1.0)));
    let style = if matches!(state.run.phase, Phase::Window) { look.good() } else { look.accent() };
    let name = format!(" {name}");
    let used = [&name, &bar, &percent].iter().map(|part| part.chars().count()).sum::<usize>();
    let told = cut(&told, width.saturating_sub(used + 2));
    Line::from(vec![
        Span::styled(name, look.bold()),
        Span::styled(bar, style),
        Span::raw(percent),
        Span::raw(format!("  {told}")),
    ])
}

/// `31 s of 60 s, ends in 29 s, all in 12 min 20 s`.
fn window(state: &State, now_s: f64) -> String {
    let Some((live, told_s)) = &state.run.live else { return "no interval is over yet".to_owned() };
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
