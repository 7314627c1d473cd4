//! A long run by minute.

use dyno_analyze::minutes::Minute;
use dyno_analyze::number::{ABSENT, compact, count, fixed, span_s, time_coarse_us};

use crate::bars::bar;
use crate::style::{Paint, Style};
use crate::table::{TextCell, TextColumn, TextTable};

const BAR: usize = 20;

/// One line per minute, each with a bar of its throughput.
pub fn minute_table(minutes: &[Minute], style: &Style) -> String {
    let mut table = TextTable::new(vec![
        TextColumn::figures("from", ""),
        TextColumn::figures("ops", "/s"),
        TextColumn::text("").at_least(BAR),
        TextColumn::figures("p99", "median"),
        TextColumn::figures("p99", "worst"),
        TextColumn::figures("longest", ""),
        TextColumn::figures("redo", "MB/s").droppable(),
        TextColumn::figures("errors", ""),
        TextColumn::figures("stalls", ""),
        TextColumn::figures("check-", "points"),
    ]);
    let most = minutes.iter().map(|minute| minute.ops_per_s).fold(0.0, f64::max);
    let absent = || ABSENT.to_owned();
    for minute in minutes {
        let share = if most > 0.0 { minute.ops_per_s / most } else { 0.0 };
        let marked = |times: u32| match times {
            0 => TextCell::from("0"),
            times => TextCell::painted(&times.to_string(), Paint::Warn),
        };
        table.row([
            span_s(minute.at_s).into(),
            compact(minute.ops_per_s).into(),
            bar(share, BAR).into(),
            minute.p99_us.map_or_else(absent, |(median, _)| time_coarse_us(median)).into(),
            minute.p99_us.map_or_else(absent, |(_, worst)| time_coarse_us(worst)).into(),
            minute.max_us.map_or_else(absent, time_coarse_us).into(),
            minute.redo_mb_per_s.map_or_else(absent, |redo| fixed(redo, 1)).into(),
            count(minute.errors).into(),
            marked(minute.stalls),
            marked(minute.checkpoints),
        ]);
    }
    table.render(style)
}
