//! Reads distributions of wait times, combined from all tables that a release prints.
//!
//! Each release divides time differently: eight bands from 1 ms to 1 s up to 11.2 and in STATSPACK;
//! eight from 8 µs to 512 µs and five tables of details since 12.2. All bounds are powers of two
//! microseconds: a "millisecond" is 1,024 µs, a "second" 1,024 of those, a "minute" 64 of those. So
//! the bands of all tables for one event are combined, and of overlapping bands the finer one is
//! kept.

use std::collections::BTreeMap;

use super::context::{Context, Sources};
use crate::issue::AwrIssueSeverity;
use crate::number::{PrintedNumber, Suffix, is_absent};
use crate::report::AwrHistogramBand;
use crate::table::{AwrTable, squash};

/// A column of shares: waits from `from` to `below` microseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Bounds {
    column: usize,
    from: u64,
    below: Option<u64>,
}

/// Reads one table of distributions.
pub(crate) fn read(context: &mut Context, table: &AwrTable<'_>) {
    if let Some(bounds) = count_bounds(table) {
        counts(context, table, &bounds);
        return;
    }
    let sources = Sources::new(table);
    let Some(bounds) = bounds(table) else {
        let captions = table.columns.join(" | ");
        let message = format!("its columns are unknown: {captions}");
        context.issue(AwrIssueSeverity::Warning, &table.title, table.line, message);
        return;
    };
    let is_main = matches!(squash(&table.title).as_str(), "waiteventhistogram" | "waiteventhistogramglobal");
    let waits_column = table.find(|caption| caption.contains("waits")).filter(|_| is_main);
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for row in &table.rows {
        *counts.entry(row.cell(0)).or_default() += 1;
    }
    let mut occurrences: BTreeMap<&str, usize> = BTreeMap::new();
    for row in &table.rows {
        let event = row.cell(0);
        let number = *occurrences.entry(event).and_modify(|number| *number += 1).or_default();
        // Details of one of several events with a name: nothing shows which of them it is.
        let existing_count = context.histograms.by_name.get(event).map_or(0, Vec::len);
        let is_unclear =
            !is_main && existing_count > 1 && existing_count != counts.get(event).copied().unwrap_or(0);
        if event.is_empty() || is_unclear {
            continue;
        }
        let waits = waits_column.filter(|&column| !is_cut(row.cell(column)));
        let waits = context.number(&sources, row, waits, Suffix::Decimal);
        let mut bands = Vec::with_capacity(bounds.len());
        for bound in &bounds {
            if let Some(share_pct) = share(context, &sources, row, bound.column) {
                bands.push(AwrHistogramBand { from_us: bound.from, below_us: bound.below, share_pct });
            }
        }
        let source = || sources.source(row, waits_column.unwrap_or(0));
        context.histograms.add(event, number, waits, bands, source);
    }
}

/// The bands of a table of counts, as in STATSPACK 10.1: `0 - 1 ms`, `32+ ms`.
fn count_bounds(table: &AwrTable<'_>) -> Option<Vec<Bounds>> {
    let mut bounds: Vec<Bounds> = Vec::new();
    for (column, caption) in table.columns.iter().enumerate().skip(1) {
        let words: Vec<&str> = caption.split([' ', '-']).filter(|word| !word.is_empty()).collect();
        let ms = |word: &str| Some(word.parse::<u64>().ok()? * MS);
        let (from, below) = match words[..] {
            [from, below, "ms"] => (ms(from)?, Some(ms(below)?)),
            [from, "ms"] => (ms(from.strip_suffix('+')?)?, None),
            _ => return None,
        };
        let joins = bounds.last().map_or(Some(0), |last| last.below) == Some(from);
        if !joins || below.is_some_and(|below| below <= from) {
            return None;
        }
        bounds.push(Bounds { column, from, below });
    }
    (bounds.len() >= 2 && bounds.last()?.below.is_none()).then_some(bounds)
}

/// Distributions from counts of waits. A page may end between an event and its counts.
fn counts(context: &mut Context, table: &AwrTable<'_>, bounds: &[Bounds]) {
    let sources = Sources::new(table);
    let mut event = "";
    let mut row_counts: BTreeMap<&str, usize> = BTreeMap::new();
    for row in &table.rows {
        if !row.cell(0).is_empty() {
            event = row.cell(0);
        }
        let read: Vec<Option<PrintedNumber>> = bounds
            .iter()
            .map(|bound| context.number(&sources, row, Some(bound.column), Suffix::Decimal))
            .collect();
        let Some(counts) = read.into_iter().collect::<Option<Vec<PrintedNumber>>>() else { continue };
        let waits: f64 = counts.iter().map(|count| count.value).sum();
        if event.is_empty() || waits <= 0.0 {
            continue;
        }
        let band = |(bound, count): (&Bounds, &PrintedNumber)| AwrHistogramBand {
            from_us: bound.from,
            below_us: bound.below,
            share_pct: PrintedNumber::exact(100.0 * count.value / waits),
        };
        let bands = bounds.iter().zip(&counts).map(band).collect();
        let number = *row_counts.entry(event).and_modify(|number| *number += 1).or_default();
        context
            .histograms
            .add(event, number, Some(PrintedNumber::exact(waits)), bands, || sources.source(row, 1));
        event = "";
    }
}

/// Whether a count lost its suffix to a narrow column: `521.6` waits are 521.6 thousand or million.
fn is_cut(text: &str) -> bool {
    text.contains('.') && text.ends_with(|c: char| c.is_ascii_digit()) && !text.contains(['e', 'E'])
}

/// The share in a cell. A blank one is exactly 0; cluster reports add the count where the share
/// rounds to 0: `0.0(2)`.
fn share(
    context: &mut Context,
    sources: &Sources<'_, '_>,
    row: &crate::table::AwrTableRow<'_>,
    column: usize,
) -> Option<PrintedNumber> {
    let text = row.cell(column);
    if is_absent(text) {
        return Some(PrintedNumber::exact(0.0));
    }
    let bare = text.split('(').next().unwrap_or(text);
    context.number_of(sources, row, column, bare, Suffix::Decimal)
}

/// The bands in a table's captions.
fn bounds(table: &AwrTable<'_>) -> Option<Vec<Bounds>> {
    let limits: Vec<(usize, Limit)> =
        table.columns.iter().enumerate().filter_map(|(i, caption)| Some((i, Limit::of(caption)?))).collect();
    let mut bounds = Vec::with_capacity(limits.len());
    let mut from = 0;
    for (i, &(column, limit)) in limits.iter().enumerate() {
        let below = match limit {
            Limit::AndLonger => None,
            Limit::Below(us) => Some(us),
            // `<512` under the next caption `<1ms` lost its unit.
            Limit::Unitless(number) => match limits.get(i + 1) {
                Some((_, Limit::Below(next))) if next / 2 == number || next / 2 == number * MS => {
                    Some(next / 2)
                }
                _ => return None,
            },
        };
        if below.is_some_and(|below| below <= from) {
            return None;
        }
        bounds.push(Bounds { column, from, below });
        from = below?.max(from);
        if i + 2 == limits.len() {
            // The last band begins where the one before ends, whatever remains of its caption.
            bounds.push(Bounds { column: limits[i + 1].0, from, below: None });
            break;
        }
    }
    (bounds.len() >= 2).then_some(bounds)
}

const MS: u64 = 1_024;
const S: u64 = 1_024 * MS;
const MIN: u64 = 64 * S;
const HOUR: u64 = 64 * MIN;

/// The limit in one caption.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Limit {
    /// An upper bound: `<8us`, `<=1s`.
    Below(u64),
    /// An upper bound that lost its unit: `<512`.
    Unitless(u64),
    /// `>=512us`, `>1s`, or what narrow columns leave of it.
    AndLonger,
}

impl Limit {
    fn of(caption: &str) -> Option<Self> {
        let sign = caption.rfind(['<', '>'])?;
        if caption[sign..].starts_with('>') {
            return Some(Self::AndLonger);
        }
        let text = caption[sign + 1..].trim_start_matches('=').trim();
        let unit_at = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
        let (number, unit) = text.split_at(unit_at);
        let unit = match unit.trim() {
            "u" | "us" => 1,
            "ms" => MS,
            "s" => S,
            "m" | "min" => MIN,
            "h" | "hr" => HOUR,
            "" => return number.trim().parse().ok().map(Self::Unitless),
            _ => return None,
        };
        let us = match number.trim().split_once('/') {
            Some((one, of)) => {
                one.parse::<u64>().ok()? * unit / of.parse::<u64>().ok().filter(|of| *of > 0)?
            }
            None => number.trim().parse::<u64>().ok()?.checked_mul(unit)?,
        };
        Some(Self::Below(us))
    }
}

#[cfg(test)]
mod tests {
    use super::super::distributions::finest;
    use super::*;

    #[test]
    fn histogram_captions_define_bounds() {
        assert_eq!(Limit::of("% of Waits <8ms"), Some(Limit::Below(8 * MS)));
        assert_eq!(Limit::of("<=1s"), Some(Limit::Below(S)));
        assert_eq!(Limit::of("<1/8s"), Some(Limit::Below(S / 8)));
        assert_eq!(Limit::of("< 1m"), Some(Limit::Below(MIN)));
        assert_eq!(Limit::of("<512"), Some(Limit::Unitless(512)));
        assert_eq!(Limit::of(">=512"), Some(Limit::AndLonger));
        assert_eq!(Limit::of("Event"), None);
    }

    #[test]
    fn histogram_bands_of_all_layouts_are_read() {
        let table = |captions: &str| AwrTable {
            columns: captions.split('|').map(str::to_owned).collect(),
            ..AwrTable::default()
        };
        let read = |captions: &str| {
            let bounds = bounds(&table(captions)).unwrap();
            bounds.iter().map(|b| (b.from, b.below)).collect::<Vec<_>>()
        };
        let old = read("Event|Total Waits|<1ms|<2ms|<=1s|>1s");
        assert_eq!(old, [(0, Some(MS)), (MS, Some(2 * MS)), (2 * MS, Some(S)), (S, None)]);
        let cut = read("Event|Waits|<512|<1ms|<2ms|>=2m");
        assert_eq!(cut, [(0, Some(512)), (512, Some(MS)), (MS, Some(2 * MS)), (2 * MS, None)]);
        assert!(bounds(&table("Event|Waits|<8us|<4us|>8us")).is_none());
        assert!(bounds(&table("Event|Waits")).is_none());
    }

    #[test]
    fn finer_histogram_bands_replace_coarser_ones() {
        let band =
            |from_us, below_us| AwrHistogramBand { from_us, below_us, share_pct: PrintedNumber::exact(1.0) };
        let all = vec![
            band(0, Some(8)),
            band(8, Some(16)),
            band(16, None),
            band(0, Some(16)),
            band(16, Some(32)),
            band(32, None),
        ];
        let read: Vec<_> = finest(all).iter().map(|band| (band.from_us, band.below_us)).collect();
        assert_eq!(read, [(0, Some(8)), (8, Some(16)), (16, Some(32)), (32, None)]);
    }
}
