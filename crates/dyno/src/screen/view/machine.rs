//! Panel of processors, devices and database rates in the last complete interval.

use std::collections::BTreeMap;

use dyno_report::number::{ABSENT, compact, fixed, percent, time_coarse_us};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::style::{ScreenStyle, interval, pad_right};
use crate::screen::figures::ShownFigures;
use crate::screen::state::ScreenState;

/// Share from which a processor or device is drawn as busy.
const BUSY_PCT: f64 = 90.0;

type Metrics = BTreeMap<String, f64>;

pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, state: &ScreenState, look: &ScreenStyle) {
    let figures = state.figures();
    let block = look.frame(&format!("machine · {}", interval(figures.as_ref())), area);
    let Some(ShownFigures { complete, .. }) = figures else {
        frame.render_widget(block, area);
        return;
    };
    let width = usize::from(block.inner(area).width);
    let metrics = &complete.point.metrics;
    let share = |name: &str| metrics.get(name).map_or_else(|| ABSENT.to_owned(), |share| percent(*share));
    let whole = |name: &str| metrics.get(name).map_or_else(|| ABSENT.to_owned(), |share| fixed(*share, 0));
    let rate = |name: &str| metrics.get(name).map_or_else(|| ABSENT.to_owned(), |rate| compact(*rate));
    let time = |name: &str| metrics.get(name).map_or_else(|| ABSENT.to_owned(), |us| time_coarse_us(*us));
    let rows = [
        (
            "CPU busy",
            format!("{} %, steal {}", share("cpu_busy_pct"), whole("cpu_steal_pct")),
            busy(metrics, "cpu_busy_pct", look),
        ),
        (
            "CPU parts",
            format!(
                "user {} sys {} wait {}",
                whole("cpu_user_pct"),
                whole("cpu_sys_pct"),
                whole("cpu_iowait_pct")
            ),
            Style::new(),
        ),
        ("device", format!("{} % used", share("device_util_pct")), busy(metrics, "device_util_pct", look)),
        (
            "reads",
            format!("{}/s, {} each", rate("device_reads_per_s"), time("device_read_latency_us")),
            Style::new(),
        ),
        (
            "writes",
            format!("{}/s, {} each", rate("device_writes_per_s"), time("device_write_latency_us")),
            Style::new(),
        ),
        ("commits", format!("{}/s", rate("commits_per_s")), Style::new()),
        ("logical", format!("{} blocks/s", rate("logical_reads_per_s")), Style::new()),
        ("physical", format!("{} blocks/s", rate("physical_reads_per_s")), Style::new()),
        ("redo", format!("{} MB/s", rate("redo_mb_per_s")), Style::new()),
        ("switches", format!("{}/s", rate("context_switches_per_s")), Style::new()),
    ];
    let line = |(name, value, style): (&str, String, Style)| {
        Line::from(vec![
            Span::styled(format!(" {}", pad_right(name, 10)), look.dim()),
            Span::styled(pad_right(&value, width.saturating_sub(12)), style),
        ])
    };
    frame.render_widget(Paragraph::new(rows.map(line).to_vec()).block(block), area);
}

fn busy(metrics: &Metrics, name: &str, look: &ScreenStyle) -> Style {
    match metrics.get(name) {
        Some(share) if *share >= BUSY_PCT => look.warn(),
        _ => Style::new(),
    }
}
