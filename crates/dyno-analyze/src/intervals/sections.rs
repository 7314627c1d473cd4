//! Compares the rows of the sections of two reports, from latches to the cluster interconnect, and
//! lists the largest changes.

use std::collections::{BTreeMap, BTreeSet};

use dyno_record::ReportedSection;

use crate::reading::{PrintedNumber, ReadingChange};

/// Smallest change that is listed, %.
const CHANGE_PCT: f64 = 20.0;

/// Smallest share of the largest figure of its kind: rows below it are not relevant.
const SHARE_MIN: f64 = 0.1;

/// Smallest value of a row that one report lacks, in steps of the last printed digit. The other
/// report may have printed it as 0 with fewer digits.
const ALONE_STEPS_MIN: f64 = 10.0;

/// Most rows that are listed for one figure of a section.
const ROWS_MAX: usize = 3;

/// A figure of one row in both reports.
#[derive(Debug, Clone, PartialEq)]
pub struct SectionLine {
    /// The section by the name of its list: `latches`.
    pub section: String,
    /// The row's name, for example `cache buffers chains`.
    pub row: String,
    /// The figure with its unit: `wait_s`.
    pub figure: String,
    /// Whether it is per second of the interval.
    pub per_s: bool,
    /// The figure in each report.
    pub change: ReadingChange,
}

/// Section, figure, and whether it is per second.
type Name<'r> = (&'r str, &'r str, bool);

/// The rows whose figures changed, by section and figure, the largest changes first. A section that
/// one report lacks has none.
pub(super) fn section_lines(a: &[ReportedSection], b: &[ReportedSection]) -> Vec<SectionLine> {
    let [of_a, of_b] = [a, b].map(by_name);
    let sections = |of: &BTreeMap<Name<'_>, _>| of.keys().map(|name| name.0.to_owned()).collect();
    let (in_a, in_b): (BTreeSet<String>, BTreeSet<String>) = (sections(&of_a), sections(&of_b));
    let names: BTreeSet<&Name<'_>> = of_a.keys().chain(of_b.keys()).collect();
    let common = names.into_iter().filter(|name| in_a.contains(name.0) && in_b.contains(name.0));
    common.flat_map(|name| lines(*name, of_a.get(name), of_b.get(name))).collect()
}

fn by_name(rows: &[ReportedSection]) -> BTreeMap<Name<'_>, BTreeMap<&str, PrintedNumber>> {
    let mut by_name: BTreeMap<Name<'_>, BTreeMap<&str, PrintedNumber>> = BTreeMap::new();
    for row in rows {
        let reading = PrintedNumber { value: row.value, step: row.step };
        let name = (row.section.as_str(), row.figure.as_str(), row.per_s);
        by_name.entry(name).or_default().insert(&row.row, reading);
    }
    by_name
}

fn lines(
    (section, figure, per_s): Name<'_>,
    a: Option<&BTreeMap<&str, PrintedNumber>>,
    b: Option<&BTreeMap<&str, PrintedNumber>>,
) -> Vec<SectionLine> {
    let rows: BTreeSet<&str> = [a, b].into_iter().flatten().flat_map(BTreeMap::keys).copied().collect();
    let side = |of: Option<&BTreeMap<&str, PrintedNumber>>, row: &str| of.and_then(|of| of.get(row)).copied();
    let mut changes: Vec<ReadingChange> = rows
        .iter()
        .map(|row| ReadingChange { name: (*row).to_owned(), a: side(a, row), b: side(b, row) })
        .collect();
    let largest = changes.iter().map(ReadingChange::largest).fold(0.0, f64::max);
    changes.retain(|change| {
        let alone = match (change.a, change.b) {
            (Some(only), None) | (None, Some(only)) => only.value.abs() >= ALONE_STEPS_MIN * only.step,
            _ => false,
        };
        let moved = change.percent().is_some_and(|percent| percent.abs() >= CHANGE_PCT);
        (alone || moved) && change.largest() >= SHARE_MIN * largest
    });
    changes.sort_by(|x, y| y.distance().total_cmp(&x.distance()));
    changes.truncate(ROWS_MAX);
    let line = |change: ReadingChange| SectionLine {
        section: section.to_owned(),
        row: change.name.clone(),
        figure: figure.to_owned(),
        per_s,
        change,
    };
    changes.into_iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(section: &str, row: &str, value: f64) -> ReportedSection {
        ReportedSection {
            section: section.into(),
            row: row.into(),
            figure: "wait_s".into(),
            value,
            step: 0.01,
            per_s: true,
        }
    }

    #[test]
    fn largest_section_changes_come_first_and_small_ones_are_omitted() {
        let a = [row("latches", "lru", 1.0), row("latches", "chains", 2.0), row("latches", "tiny", 0.01)];
        let b = [row("latches", "lru", 1.1), row("latches", "chains", 9.0), row("latches", "tiny", 0.09)];
        let lines = section_lines(&a, &b);
        let shown: Vec<_> = lines.iter().map(|line| (line.row.as_str(), line.change.percent())).collect();
        assert_eq!(shown, [("chains", Some(350.0))]);
    }

    #[test]
    fn row_printed_as_zero_with_fewer_digits_is_no_change() {
        let a = [row("latches", "lru", 0.5)];
        let b = [row("latches", "lru", 0.5), row("latches", "chains", 0.09)];
        assert_eq!(section_lines(&a, &b), []);
    }

    #[test]
    fn sections_in_only_one_report_are_not_compared() {
        let a = [row("latches", "lru", 1.0)];
        let b = [row("enqueues", "TX", 1.0)];
        assert_eq!(section_lines(&a, &b), []);
        let more = [row("latches", "lru", 1.0), row("latches", "chains", 3.0)];
        let lines = section_lines(&a, &more);
        assert_eq!((lines.len(), lines[0].change.a, lines[0].row.as_str()), (1, None, "chains"));
    }
}
