//! Records when a session had answers, and when it had lost its connection.
//!
//! A session notes each loss of its connection, and each longer pause between two answers. The pauses of
//! several sessions are intersected: the result is the times in which none of them had an answer.
//! Intersections can be intersected again, so a host sends one for all of its sessions.

use std::collections::BTreeMap;

use dyno_engine::{ErrorClass, OpError};
use dyno_workload::ClassId;
use serde::{Deserialize, Serialize};

/// The end of a time that lasted until the session stopped.
pub(crate) const OPEN_NS: u64 = u64::MAX;

/// Shorter pauses are ignored, ns; where there are too many, only longer ones are kept.
const PAUSE_NS_MIN: u64 = 5_000_000;
/// The most pauses that one session keeps.
const PAUSES_MAX: usize = 512;
/// The most losses that one session keeps, and the most error codes and classes of one loss.
pub(crate) const LOSSES_MAX: usize = 256;
const KINDS_MAX: usize = 64;

/// The answers and losses of one session while it works.
#[derive(Debug, Default)]
pub(crate) struct AnswerLog {
    number: u32,
    /// The time of the last answer; 0 before the first.
    last_ns: u64,
    pause_ns_min: u64,
    pauses: Vec<(u64, u64)>,
    losses: Vec<Loss>,
    /// The loss from which the session has not recovered yet.
    open: Option<Loss>,
    /// Commits in doubt that belong to the next failure.
    in_doubt: u64,
}

/// One loss of a connection.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Loss {
    pub(crate) session: u32,
    /// The time of the last answer before it.
    pub(crate) last_ns: u64,
    /// When the first request failed because of it.
    pub(crate) lost_ns: u64,
    /// The time of the first answer after it, or [`OPEN_NS`].
    pub(crate) back_ns: u64,
    /// When the session stopped, if there was none.
    pub(crate) stopped_ns: u64,
    /// Failed operations by number of their class, and by code.
    pub(crate) failed: BTreeMap<usize, u64>,
    pub(crate) errors: BTreeMap<String, u64>,
    pub(crate) in_doubt: u64,
    pub(crate) refused: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) refusal: Option<String>,
}

/// The answers of one session or of several, as a host sends them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct AnswerTimes {
    pub(crate) losses: Vec<Loss>,
    /// Times in which none of the sessions had an answer, in ascending order.
    pub(crate) pauses: Vec<(u64, u64)>,
    /// Shorter pauses than this are not in `pauses`.
    pub(crate) pause_ns_min: u64,
}

impl AnswerLog {
    /// For the session with this number.
    pub(crate) fn new(number: u32) -> Self {
        Self { number, pause_ns_min: PAUSE_NS_MIN, ..Self::default() }
    }

    /// Notes that an operation ended without an error at `now_ns`, in a session that started at `start_ns`.
    #[inline]
    pub(crate) fn answered(&mut self, now_ns: u64, start_ns: Option<u64>) {
        if now_ns.saturating_sub(self.last_ns) >= self.pause_ns_min || self.open.is_some() {
            self.end_pause(now_ns, start_ns);
        }
        self.last_ns = now_ns;
    }

    #[cold]
    fn end_pause(&mut self, now_ns: u64, start_ns: Option<u64>) {
        let last_ns = self.last(start_ns.unwrap_or(now_ns));
        if let Some(loss) = self.open.take() {
            self.keep(Loss { back_ns: now_ns, ..loss });
        } else if now_ns.saturating_sub(last_ns) >= self.pause_ns_min {
            self.pauses.push((last_ns, now_ns));
        }
        while self.pauses.len() >= PAUSES_MAX {
            self.pause_ns_min *= 2;
            self.pauses.retain(|(from_ns, to_ns)| to_ns - from_ns >= self.pause_ns_min);
        }
    }

    fn last(&self, start_ns: u64) -> u64 {
        if self.last_ns == 0 { start_ns } else { self.last_ns }
    }

    /// Beyond the limit, later losses are merged into one: no answer between them is known.
    fn keep(&mut self, loss: Loss) {
        let is_full = self.losses.len() >= LOSSES_MAX;
        match self.losses.last_mut() {
            Some(last) if is_full => {
                last.back_ns = loss.back_ns;
                last.add(&loss);
            }
            _ => self.losses.push(loss),
        }
    }

    /// Notes that a commit was in progress at the loss that the next call of [`AnswerLog::failed`] reports.
    pub(crate) fn in_doubt(&mut self) {
        self.in_doubt += 1;
    }

    /// Notes that a request failed at `now_ns`; it counts for `class`.
    #[cold]
    pub(crate) fn failed(&mut self, class: ClassId, error: &OpError, now_ns: u64, start_ns: Option<u64>) {
        let last_ns = self.last(start_ns.unwrap_or(now_ns));
        let in_doubt = std::mem::take(&mut self.in_doubt);
        if error.class == ErrorClass::Connection && self.open.is_none() {
            let session = self.number;
            self.open = Some(Loss { session, last_ns, lost_ns: now_ns, back_ns: OPEN_NS, ..Loss::default() });
        }
        let Some(loss) = &mut self.open else { return };
        loss.in_doubt += in_doubt;
        *loss.failed.entry(class.index()).or_default() += 1;
        count(&mut loss.errors, &error.code, 1);
    }

    /// Notes that an attempt to reconnect was refused.
    #[cold]
    pub(crate) fn refused(&mut self, why: &dyn std::fmt::Display) {
        let Some(loss) = &mut self.open else { return };
        loss.refused += 1;
        loss.refusal = Some(why.to_string());
    }

    /// Whether the session lost its connection and has had no answer since.
    pub(crate) fn is_out(&self) -> bool {
        self.open.is_some()
    }

    /// Notes that the session stops at `now_ns`.
    pub(crate) fn stop(&mut self, now_ns: u64) {
        if let Some(loss) = &mut self.open {
            loss.stopped_ns = now_ns;
        }
    }

    /// The answers in the form that a host sends.
    pub(crate) fn into_answers(mut self) -> AnswerTimes {
        if let Some(loss) = self.open.take() {
            self.keep(loss);
        }
        let mut pauses = self.pauses;
        pauses.extend(self.losses.iter().map(|loss| (loss.last_ns, loss.back_ns)));
        pauses.sort_unstable();
        AnswerTimes { losses: self.losses, pauses, pause_ns_min: self.pause_ns_min }
    }
}

impl Loss {
    fn add(&mut self, other: &Self) {
        self.stopped_ns = self.stopped_ns.max(other.stopped_ns);
        other.failed.iter().for_each(|(class, failed)| *self.failed.entry(*class).or_default() += failed);
        other.errors.iter().for_each(|(code, times)| count(&mut self.errors, code, *times));
        self.in_doubt += other.in_doubt;
        self.refused += other.refused;
        self.refusal = other.refusal.clone().or(self.refusal.take());
    }

    /// All times in it, for conversion to another clock.
    fn moments_mut(&mut self) -> impl Iterator<Item = &mut u64> {
        [&mut self.last_ns, &mut self.lost_ns, &mut self.back_ns, &mut self.stopped_ns].into_iter()
    }

    /// Whether a loss received from another host is plausible for a run with `classes` classes.
    fn is_sound(&self, classes: usize) -> bool {
        let counts = self.failed.values().chain(self.errors.values()).chain([&self.in_doubt, &self.refused]);
        self.failed.keys().all(|class| *class < classes)
            && self.errors.len() <= KINDS_MAX
            && counts.into_iter().all(|count| *count <= crate::count_max::COUNT_MAX)
    }
}

/// Counts an error code; beyond the limit, all other codes share one count.
fn count(errors: &mut BTreeMap<String, u64>, code: &str, times: u64) {
    let code = if errors.len() < KINDS_MAX - 1 || errors.contains_key(code) { code } else { "other" };
    *errors.entry(code.to_owned()).or_default() += times;
}

impl AnswerTimes {
    /// Adds the answers of other sessions.
    pub(crate) fn add(&mut self, other: &Self) {
        self.losses.extend(other.losses.iter().cloned());
        self.pauses = intersection(&self.pauses, &other.pauses);
        self.pause_ns_min = self.pause_ns_min.max(other.pause_ns_min);
    }

    /// Converts all times to another clock.
    pub(crate) fn on_clock(&mut self, map: &dyn Fn(u64) -> u64) {
        let pauses = self.pauses.iter_mut().flat_map(|(from_ns, to_ns)| [from_ns, to_ns]);
        for at_ns in self.losses.iter_mut().flat_map(Loss::moments_mut).chain(pauses) {
            // 0 and [`OPEN_NS`] are not times.
            if *at_ns != OPEN_NS && *at_ns != 0 {
                *at_ns = map(*at_ns);
            }
        }
    }

    /// Whether it is plausible for this many sessions in a run with this many classes.
    pub(crate) fn is_sound(&self, sessions: usize, classes: usize) -> bool {
        self.losses.len() <= sessions.saturating_mul(LOSSES_MAX)
            && self.pauses.len() <= sessions.saturating_mul(PAUSES_MAX + LOSSES_MAX)
            && self.losses.iter().all(|loss| loss.is_sound(classes))
    }
}

/// The times that are in both lists; each list is sorted and has no overlaps.
fn intersection(pauses: &[(u64, u64)], other: &[(u64, u64)]) -> Vec<(u64, u64)> {
    let (mut left, mut right, mut common) = (0, 0, Vec::new());
    while let (Some(&(from, to)), Some(&(other_from, other_to))) = (pauses.get(left), other.get(right)) {
        let (begin, end) = (from.max(other_from), to.min(other_to));
        if begin < end {
            common.push((begin, end));
        }
        if to <= other_to {
            left += 1;
        } else {
            right += 1;
        }
    }
    common
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lost() -> OpError {
        OpError { class: ErrorClass::Connection, code: "io".into(), message: "closed".into() }
    }

    const MS: u64 = 1_000_000;

    #[test]
    fn connection_loss_spans_last_answer_to_next_answer() {
        let mut log = AnswerLog::new(3);
        for at_ms in [1_000, 1_001, 1_002] {
            log.answered(at_ms * MS, Some(999 * MS));
        }
        log.in_doubt();
        log.failed(ClassId::operation(1), &lost(), 1_500 * MS, None);
        log.refused(&"not yet");
        // The first operation after it fails too: the session is still disconnected.
        log.failed(ClassId::operation(0), &OpError { class: ErrorClass::Fatal, ..lost() }, 1_800 * MS, None);
        assert!(log.is_out());
        log.answered(2_000 * MS, None);
        assert!(!log.is_out());
        log.answered(2_300 * MS, None);
        let answers = log.into_answers();
        let loss = &answers.losses[0];
        assert_eq!(
            (loss.session, loss.last_ns, loss.lost_ns, loss.back_ns),
            (3, 1_002 * MS, 1_500 * MS, 2_000 * MS)
        );
        assert_eq!((loss.in_doubt, loss.refused, loss.errors["io"]), (1, 1, 2));
        assert_eq!(loss.failed, BTreeMap::from([(3, 1), (4, 1)]));
        assert_eq!(answers.pauses, [(1_002 * MS, 2_000 * MS), (2_000 * MS, 2_300 * MS)]);
    }

    #[test]
    fn session_that_never_reconnects_has_open_loss_since_its_start() {
        let mut log = AnswerLog::new(0);
        log.failed(ClassId::operation(0), &lost(), 70 * MS, Some(50 * MS));
        log.stop(900 * MS);
        let answers = log.into_answers();
        let loss = &answers.losses[0];
        assert_eq!((loss.last_ns, loss.back_ns, loss.stopped_ns), (50 * MS, OPEN_NS, 900 * MS));
    }

    #[test]
    fn common_silence_is_intersection_of_all_pauses() {
        let answers =
            |pauses: &[(u64, u64)]| AnswerTimes { pauses: pauses.to_vec(), ..AnswerTimes::default() };
        let mut all = answers(&[(10, 20), (30, 90)]);
        all.add(&answers(&[(15, 40), (50, 60), (80, OPEN_NS)]));
        assert_eq!(all.pauses, [(15, 20), (30, 40), (50, 60), (80, 90)]);
        all.add(&answers(&[(0, 35), (85, OPEN_NS)]));
        assert_eq!(all.pauses, [(15, 20), (30, 35), (85, 90)]);
        all.add(&answers(&[]));
        assert!(all.pauses.is_empty(), "one of them had answers all the while");
    }

    #[test]
    fn recorded_pauses_are_limited_and_state_their_resolution() {
        let mut log = AnswerLog::new(0);
        (1..5_000).for_each(|index| log.answered(index * 20 * MS, Some(1)));
        log.answered(400_000 * MS, None);
        let answers = log.into_answers();
        assert!(answers.pauses.len() < PAUSES_MAX);
        assert!(answers.pause_ns_min > 20 * MS);
        assert_eq!(answers.pauses.last(), Some(&(4_999 * 20 * MS, 400_000 * MS)), "the long one is there");
    }

    #[test]
    fn losses_beyond_limit_are_merged_into_one() {
        let mut log = AnswerLog::new(0);
        for index in 1..2_000 {
            log.answered(index * 10 * MS, None);
            log.failed(ClassId::operation(0), &lost(), (index * 10 + 1) * MS, None);
        }
        log.answered(20_000 * MS, None);
        let answers = log.into_answers();
        assert_eq!((answers.losses.len(), answers.losses.last().unwrap().back_ns), (LOSSES_MAX, 20_000 * MS));
        assert_eq!(answers.losses.iter().map(|loss| loss.failed[&3]).sum::<u64>(), 1_999);
    }
}
