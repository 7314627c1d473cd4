//! Tests files made to break a reader: no panic, and memory in proportion to the file.
//!
//! This test has a process of its own: no other test may affect the memory that it measures.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::sync::{Mutex, PoisonError};

use dyno_awr::read_report;
use proptest::prelude::*;

/// Locked while memory is measured, and by tests that would add to it.
static MEMORY: Mutex<()> = Mutex::new(());

/// A figure of this process's memory, MiB (Linux: proc(5), `/proc/pid/status`).
fn memory_mib(name: &str) -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with(name)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap() >> 10
}

const TEXT: &str = include_str!("reports/awr_12.2_rac.txt");
const HTML: &str = include_str!("reports/awr_12.2_rac.html");

/// Reads a text of `mib` made of `unit` after the head of a report, and returns the memory used.
fn peak_mib(head: &str, unit: &str, mib: usize) -> usize {
    let _alone = MEMORY.lock().unwrap_or_else(PoisonError::into_inner);
    let mut text = String::with_capacity((mib << 20) + head.len());
    text.push_str(head);
    while text.len() < mib << 20 {
        text.push_str(unit);
    }
    let before = memory_mib("VmRSS");
    // Resets the peak to the current use (proc(5), `/proc/pid/clear_refs`).
    std::fs::write("/proc/self/clear_refs", "5").unwrap();
    let _ = read_report(&text, "hostile", 1);
    memory_mib("VmHWM").saturating_sub(before)
}

#[test]
fn parser_memory_is_bounded_for_hostile_files() {
    let title = "<html><h1>WORKLOAD REPOSITORY report for</h1>";
    let text = "WORKLOAD REPOSITORY report for\n\nLoad Profile    Per Second\n~~~~~~~~~~~~  ----------\n";
    let cases = [
        (title, "<table>"),
        (title, "<table><tr><td>x"),
        (title, "<table><tr><th>a</table>"),
        (title, "<td>"),
        (title, "<tr><td colspan=99999>x"),
        (title, "<!--"),
        (title, "<a href='"),
        (title, "&#1;"),
        (title, "<h3>x</h3><table><tr><th>Event<th>Waits<tr><td>e<td>1</table>"),
        (text, "\n"),
        (text, "a:1\n"),
        (text, "--- ---\n"),
        (text, "x  DB/Inst: a/b  Snaps: 1-2\n"),
        (text, "Redo size:   1.0\n"),
        (text, "~~~ --- ---\na b c\n\n"),
    ];
    for (head, unit) in cases {
        // Unoptimized code reads a few MiB per second; what is bounded is bounded at any size.
        let (mib, more) = if cfg!(debug_assertions) { (2, 24) } else { (64, 32) };
        let peak = peak_mib(head, unit, mib);
        assert!(peak < more + 24 * mib, "{unit:?}: {peak} MiB for {mib} MiB");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { 64 } else { 512 }))]

    /// Reports with pieces removed, duplicated and overwritten.
    #[test]
    fn broken_reports_do_not_panic(
        html: bool,
        cuts in prop::collection::vec((0.0f64..1.0, 0.0f64..0.2, 0u8..3), 1..6),
        noise in "[ -~\\n<>&;é]{0,40}",
    ) {
        let _alone = MEMORY.lock().unwrap_or_else(PoisonError::into_inner);
        let mut text = if html { HTML.to_owned() } else { TEXT.to_owned() };
        for (at, length, what) in cuts {
            let snap = |share: f64| {
                let wanted = (text.len() as f64 * share) as usize;
                (wanted..=text.len()).find(|&at| text.is_char_boundary(at)).unwrap_or(text.len())
            };
            let (from, to) = (snap(at), snap((at + length).min(1.0)));
            match what {
                0 => text.replace_range(from..to, ""),
                1 => { let piece = text[from..to].to_owned(); text.insert_str(from, &piece); }
                _ => text.insert_str(from, &noise),
            }
        }
        if let Ok(report) = read_report(&text, "fuzz", 1) {
            let show = dyno_awr::AwrJsonOptions { sql_text: true, object_names: true };
            serde_json::to_string(&dyno_awr::to_json(&report, show)).unwrap();
            for layout in [dyno_awr::compat::AwrCompatLayout::AwrParser, dyno_awr::compat::AwrCompatLayout::AwrInfo] {
                prop_assert_eq!(layout.values(&report).len(), layout.names().len());
            }
        }
    }

    #[test]
    fn awr_reader_survives_any_text(text in "(WORKLOAD REPOSITORY report for|<html>|STATSPACK report for)?[ -~\\n<>~é]{0,400}") {
        let _alone = MEMORY.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = read_report(&text, "fuzz", 1);
    }
}
