//! Sorts reports by time, and finds what lies between two of them.
//!
//! Time decides, not the snapshot ids: they start again when the repository is recreated or the
//! database was copied. A clock change by an hour is the exception: there, adjacent ids decide the
//! order.

use std::cmp::Ordering;

use jiff::Unit;
use jiff::civil::DateTime;

use super::{AwrTimelinePoint, Flag};

/// Minutes by which two reports may be apart or overlap: snapshots are some seconds late.
const SLACK_MIN: f64 = 3.0;

/// Size of a clock change, with some tolerance, minutes.
const CLOCK_MIN: f64 = 65.0;

/// Most snapshots within the repeated hour.
const CLOCK_SNAPS: u64 = 8;

/// The points in order, each with findings about its position; a second point for the same interval
/// is left out.
pub(super) fn ordered(mut points: Vec<AwrTimelinePoint>) -> Vec<(AwrTimelinePoint, Vec<Flag>)> {
    if points.iter().all(|point| point.begin.is_some()) {
        points.sort_by(|a, b| a.begin.cmp(&b.begin).then_with(|| by_number(a, b)));
        put_back(&mut points);
    } else {
        points.sort_by(|a, b| by_number(a, b).then(a.begin.cmp(&b.begin)));
    }
    let mut ordered: Vec<(AwrTimelinePoint, Vec<Flag>)> = Vec::with_capacity(points.len());
    for point in points {
        let Some((last, flags)) = ordered.last_mut() else {
            ordered.push((point, Vec::new()));
            continue;
        };
        if last.snaps.is_some() && last.snaps == point.snaps && last.begin == point.begin {
            flags.push(Flag::Twice { file: point.file });
            continue;
        }
        let flags = between(last, &point);
        ordered.push((point, flags));
    }
    ordered
}

/// Sorts by snapshot; of two reports of one interval the HTML one is first.
fn by_number(a: &AwrTimelinePoint, b: &AwrTimelinePoint) -> Ordering {
    a.snaps.cmp(&b.snaps).then(b.html.cmp(&a.html)).then_with(|| a.file.cmp(&b.file))
}

/// Sorts reports of the repeated hour by their snapshots.
fn put_back(points: &mut [AwrTimelinePoint]) {
    let is_earlier = |a: &AwrTimelinePoint, b: &AwrTimelinePoint| {
        let (Some((a_begin, _)), Some((b_begin, _))) = (a.snaps, b.snaps) else { return false };
        let near = minutes(b.begin, a.begin).is_some_and(|apart| apart.abs() <= CLOCK_MIN);
        near && a_begin < b_begin && b_begin - a_begin <= CLOCK_SNAPS
    };
    for i in 1..points.len() {
        let mut at = i;
        while at > 0 && is_earlier(&points[at], &points[at - 1]) {
            points.swap(at, at - 1);
            at -= 1;
        }
    }
}

/// Minutes from one moment to another.
fn minutes(from: Option<DateTime>, to: Option<DateTime>) -> Option<f64> {
    Some(to?.since((Unit::Second, from?)).ok()?.total(Unit::Second).ok()? / 60.0)
}

fn between(last: &AwrTimelinePoint, next: &AwrTimelinePoint) -> Vec<Flag> {
    let apart = minutes(last.end, next.begin);
    let numbers = last.snaps.zip(next.snaps).map(|((_, end), (begin, _))| (end, begin));
    let mut flags = match (numbers, apart) {
        (None, None) => Vec::new(),
        (None, Some(apart)) => by_time(apart),
        (Some((end, begin)), None) => numbered(end, begin, None),
        (Some((end, begin)), Some(apart)) => {
            let agree = match begin.cmp(&end) {
                Ordering::Equal => apart.abs() <= CLOCK_MIN,
                // In the repeated hour, times are less reliable than the ids.
                Ordering::Greater => apart > SLACK_MIN || (-CLOCK_MIN..-SLACK_MIN).contains(&apart),
                Ordering::Less => apart < -SLACK_MIN,
            };
            match agree {
                true => numbered(end, begin, Some(apart)),
                false => [vec![Flag::Renumbered], by_time(apart)].concat(),
            }
        }
    };
    if let (Some(last), Some(next)) = (&last.startup, &next.startup)
        && last != next
    {
        flags.push(Flag::Restart);
    }
    flags
}

/// Findings from the snapshot ids.
fn numbered(end: u64, begin: u64, apart: Option<f64>) -> Vec<Flag> {
    match begin.cmp(&end) {
        Ordering::Greater => {
            vec![Flag::Gap { snapshots: Some(begin - end), minutes: apart.filter(|apart| *apart > 0.0) }]
        }
        Ordering::Less => vec![Flag::Overlap {
            snapshots: Some(end - begin),
            minutes: apart.filter(|apart| *apart < 0.0).map(f64::abs),
        }],
        Ordering::Equal => Vec::new(),
    }
}

/// Findings from the times alone.
fn by_time(apart: f64) -> Vec<Flag> {
    match apart {
        apart if apart > SLACK_MIN => vec![Flag::Gap { snapshots: None, minutes: Some(apart) }],
        apart if apart < -SLACK_MIN => vec![Flag::Overlap { snapshots: None, minutes: Some(-apart) }],
        _ => Vec::new(),
    }
}
