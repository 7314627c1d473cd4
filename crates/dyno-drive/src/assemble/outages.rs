//! Combines the losses of sessions to the outages of a record.

use std::collections::{BTreeMap, BTreeSet};

use dyno_record::{Outage, Series, SeriesPoint, Silence, Throughput};
use dyno_workload::{ClassId, Classes};

use crate::connection_losses::{AnswerTimes, Loss, OPEN_NS};

/// The most intervals over which the throughput before and after an outage is measured.
const INTERVALS: usize = 10;
/// Share of the throughput before the outage from which it counts as recovered.
const RECOVERED_SHARE: f64 = 0.9;
/// Shorter times without an answer are left out if there is a longer one, ns.
const PAUSE_NS_MIN: u64 = 100_000_000;
/// The most times without an answer that an outage lists.
const SILENCES_MAX: usize = 100;

/// The outages of one target, whose sessions had `answers` and whose work is in `series`; the window began at
/// `origin_ns`.
pub(super) fn outages(
    answers: Option<&AnswerTimes>,
    classes: &Classes,
    series: &Series,
    origin_ns: Option<u64>,
) -> Vec<Outage> {
    let (Some(answers), Some(origin_ns)) = (answers, origin_ns) else { return Vec::new() };
    let clusters = clusters(answers.losses.clone());
    clusters.iter().map(|losses| outage(losses, answers, classes, series, origin_ns)).collect()
}

/// Groups losses that overlap in time.
fn clusters(mut losses: Vec<Loss>) -> Vec<Vec<Loss>> {
    losses.sort_by_key(|loss| loss.lost_ns);
    let (mut clusters, mut end_ns): (Vec<Vec<Loss>>, u64) = (Vec::new(), 0);
    for loss in losses {
        match clusters.last_mut() {
            Some(cluster) if loss.lost_ns <= end_ns => {
                end_ns = end_ns.max(loss.back_ns);
                cluster.push(loss);
            }
            _ => {
                end_ns = loss.back_ns;
                clusters.push(vec![loss]);
            }
        }
    }
    clusters
}

fn outage(losses: &[Loss], all: &AnswerTimes, classes: &Classes, series: &Series, origin_ns: u64) -> Outage {
    let seconds = |at_ns: u64| (i128::from(at_ns) - i128::from(origin_ns)) as f64 / 1e9;
    let (mut lost_ns, mut back_ns, mut stopped_ns, mut session_ns_max) = (OPEN_NS, 0, 0, 0);
    let mut outage = Outage { losses: losses.len() as u64, ..Outage::default() };
    let mut sessions = BTreeSet::new();
    let mut failed: BTreeMap<usize, u64> = BTreeMap::new();
    for loss in losses {
        sessions.insert(loss.session);
        lost_ns = lost_ns.min(loss.lost_ns);
        back_ns = back_ns.max(loss.back_ns);
        stopped_ns = stopped_ns.max(loss.stopped_ns).max(loss.lost_ns);
        session_ns_max = session_ns_max.max(loss.ended_ns().saturating_sub(loss.last_ns));
        loss.failed.iter().for_each(|(class, times)| *failed.entry(*class).or_default() += times);
        for (code, times) in &loss.errors {
            *outage.errors.entry(code.clone()).or_default() += times;
        }
        outage.in_doubt += loss.in_doubt;
        outage.refused += loss.refused;
        outage.refusal = loss.refusal.clone().or(outage.refusal.take());
    }
    outage.sessions = sessions.len() as u64;
    outage.lost_s = seconds(lost_ns);
    outage.all_back_s = (back_ns != OPEN_NS).then(|| seconds(back_ns));
    outage.session_s_max = session_ns_max as f64 / 1e9;
    outage.resolution_s = all.pause_ns_min as f64 / 1e9;
    let named = |class: ClassId| Some((classes.name(class).to_owned(), *failed.get(&class.index())?));
    outage.failed = classes.all().filter_map(named).collect();
    let within = |&&(from_ns, to_ns): &&(u64, u64)| from_ns < back_ns && to_ns > lost_ns;
    let length_ns = |&(from_ns, to_ns): &(u64, u64)| to_ns.saturating_sub(from_ns);
    // Short common pauses near a long one are not outages of their own: sessions work slowly while others are
    // still disconnected.
    let has_long = all.pauses.iter().filter(within).any(|pause| length_ns(pause) >= PAUSE_NS_MIN);
    let counts = |pause: &&(u64, u64)| !has_long || length_ns(pause) >= PAUSE_NS_MIN;
    let silence = |&(from_ns, to_ns): &(u64, u64)| Silence {
        last_answer_s: seconds(from_ns),
        first_answer_s: (to_ns != OPEN_NS).then(|| seconds(to_ns)),
        length_s: if to_ns == OPEN_NS { stopped_ns } else { to_ns }.saturating_sub(from_ns) as f64 / 1e9,
    };
    outage.silences = all.pauses.iter().filter(within).filter(counts).map(silence).collect();
    if outage.silences.len() > SILENCES_MAX {
        outage.silences.sort_by(|one, other| other.length_s.total_cmp(&one.length_s));
        outage.silences.truncate(SILENCES_MAX);
        outage.silences.sort_by(|one, other| one.last_answer_s.total_cmp(&other.last_answer_s));
    }
    put_throughput(&mut outage, &series.points);
    outage
}

impl Loss {
    /// Its end, or the time at which the session stopped.
    fn ended_ns(&self) -> u64 {
        if self.back_ns == OPEN_NS { self.stopped_ns.max(self.lost_ns) } else { self.back_ns }
    }
}

/// Enters the throughput before and after the outage.
fn put_throughput(outage: &mut Outage, points: &[SeriesPoint]) {
    let begin_s =
        outage.silences.first().map_or(outage.lost_s, |first| first.last_answer_s.min(outage.lost_s));
    let earlier = points.iter().take_while(|point| point.at_s + point.seconds <= begin_s).count();
    outage.before = throughput(&points[earlier.saturating_sub(INTERVALS)..earlier]);
    let Some(back_s) = outage.all_back_s else { return };
    let first = points.iter().position(|point| point.at_s >= back_s).unwrap_or(points.len());
    outage.after = throughput(&points[first..points.len().min(first + INTERVALS)]);
    let answered_s = outage.silences.last().and_then(|last| last.first_answer_s).unwrap_or(outage.lost_s);
    let Some(before) = &outage.before else { return };
    let is_back = |point: &&SeriesPoint| {
        point.at_s >= answered_s && point.ops as f64 >= RECOVERED_SHARE * before.ops_per_s * point.seconds
    };
    outage.recovered_s = points.iter().find(is_back).map(|point| point.at_s);
}

fn throughput(points: &[SeriesPoint]) -> Option<Throughput> {
    let (first, last) = (points.first()?, points.last()?);
    let (ops, seconds) =
        points.iter().fold((0, 0.0), |(ops, seconds), point| (ops + point.ops, seconds + point.seconds));
    (seconds > 0.0).then(|| Throughput {
        from_s: first.at_s,
        to_s: last.at_s + last.seconds,
        ops_per_s: ops as f64 / seconds,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::Results;
    use crate::session::SessionResult;

    const S: u64 = 1_000_000_000;

    fn loss(session: u32, (last_ns, lost_ns, back_ns): (u64, u64, u64)) -> Loss {
        let (failed, errors) = (BTreeMap::from([(3, 1)]), BTreeMap::from([("io".to_owned(), 1)]));
        Loss { session, last_ns, lost_ns, back_ns, stopped_ns: 30 * S, failed, errors, ..Loss::default() }
    }

    fn session(answers: AnswerTimes) -> SessionResult {
        SessionResult { answers: Some(Box::new(answers)), ..crate::fold::none_of(0, 4) }
    }

    /// A session with these losses, and these other pauses.
    fn lost(losses: Vec<Loss>, pauses_beside: &[(u64, u64)]) -> SessionResult {
        let of_losses = losses.iter().map(|loss| (loss.last_ns, loss.back_ns));
        let mut pauses: Vec<_> = of_losses.chain(pauses_beside.iter().copied()).collect();
        pauses.sort_unstable();
        session(AnswerTimes { losses, pauses, pause_ns_min: 5_000_000 })
    }

    fn series(ops: &[u64]) -> Series {
        let point = |(at, ops): (usize, &u64)| SeriesPoint {
            at_s: at as f64,
            seconds: 1.0,
            ops: *ops,
            ..SeriesPoint::default()
        };
        Series { interval_s: 1.0, points: ops.iter().enumerate().map(point).collect(), ..Series::default() }
    }

    fn of(sessions: &[SessionResult], ops: &[u64]) -> Vec<Outage> {
        let workload = dyno_plan::WorkloadSettings::default();
        let classes = dyno_workload::blocks::classes(&workload, &crate::testing::spec(1_000));
        let results = Results { sessions: sessions.to_vec(), threads: Vec::new() };
        outages(results.all(4).sessions.answers.as_deref(), &classes, &series(ops), Some(10 * S))
    }

    #[test]
    fn outage_spans_last_answer_of_all_to_first_of_any() {
        let early = lost(vec![loss(0, (12 * S, 13 * S, 17 * S))], &[]);
        let late = lost(vec![loss(1, (12 * S + 5, 13 * S + 1, 18 * S))], &[]);
        let all = of(&[early, late], &[100, 100, 5, 0, 0, 0, 0, 80, 95, 105]);
        let [outage] = all.as_slice() else { panic!("{all:?}") };
        let silence = &outage.silences[0];
        assert_eq!((silence.last_answer_s, silence.first_answer_s), (2.000_000_005, Some(7.0)));
        assert!((silence.length_s - 4.999_999_995).abs() < 1e-9, "{silence:?}");
        assert_eq!(
            (outage.sessions, outage.losses, outage.failed_operations(), outage.errors["io"]),
            (2, 2, 2, 2)
        );
        assert_eq!((outage.lost_s, outage.all_back_s, outage.session_s_max), (3.0, Some(8.0), 5.999_999_995));
        let rate = |throughput: &Option<Throughput>| {
            throughput.as_ref().map(|part| (part.from_s, part.to_s, part.ops_per_s))
        };
        assert_eq!(
            (rate(&outage.before), rate(&outage.after)),
            (Some((0.0, 2.0, 100.0)), Some((8.0, 10.0, 100.0)))
        );
        assert_eq!(outage.recovered_s, Some(8.0));
    }

    #[test]
    fn connected_session_with_answers_ends_the_silence() {
        let out = || lost(vec![loss(0, (12 * S, 13 * S, 17 * S))], &[]);
        let all = of(&[out(), lost(Vec::new(), &[])], &[9; 10]);
        assert!(all[0].silences.is_empty(), "{all:?}");
        assert!(all[0].session_s_max == 5.0, "{all:?}");
        // A lock blocked it only for part of the time.
        let all = of(&[out(), lost(Vec::new(), &[(11 * S, 12 * S + S / 2), (15 * S, 25 * S)])], &[9; 10]);
        let lengths: Vec<_> = all[0].silences.iter().map(|silence| silence.length_s).collect();
        assert_eq!(lengths, [2.0], "what ended before the loss was noticed is no part of it: {all:?}");
    }

    #[test]
    fn short_pauses_during_reconnect_are_not_silences() {
        let ms = |ms: u64| 10 * S + ms * 1_000_000;
        let first =
            lost(vec![loss(0, (ms(100), ms(200), ms(900)))], &[(ms(910), ms(925)), (ms(950), ms(1_100))]);
        let later = lost(vec![loss(1, (ms(100), ms(200), ms(1_200)))], &[]);
        let outages = of(&[first, later], &[9; 10]);
        let lengths: Vec<_> = outages[0].silences.iter().map(|silence| silence.length_s).collect();
        assert_eq!(lengths, [0.8, 0.15], "{outages:?}");
    }

    #[test]
    fn separate_outages_are_distinct_and_last_may_stay_open() {
        let losses = vec![loss(0, (12 * S, 13 * S, 14 * S)), loss(0, (20 * S, 21 * S, OPEN_NS))];
        let all = of(&[lost(losses, &[])], &[7; 10]);
        let [first, last] = all.as_slice() else { panic!("{all:?}") };
        assert_eq!((first.all_back_s, first.silences[0].length_s), (Some(4.0), 2.0));
        assert_eq!(
            (last.all_back_s, last.silences[0].first_answer_s, last.silences[0].length_s),
            (None, None, 10.0)
        );
        assert!(last.after.is_none());
        assert!(last.recovered_s.is_none());
    }

    #[test]
    fn merged_sessions_keep_outages_of_all() {
        let sessions = vec![
            lost(vec![loss(0, (12 * S, 13 * S, 17 * S))], &[]),
            lost(vec![loss(1, (13 * S, 14 * S, 18 * S))], &[(25 * S, 26 * S)]),
        ];
        let mut all = Results { sessions, threads: Vec::new() };
        let before = of(&all.sessions, &[9; 10]);
        all.fold();
        assert_eq!((all.sessions.len(), of(&all.sessions, &[9; 10])), (1, before));
    }
}
