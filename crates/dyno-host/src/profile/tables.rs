//! Tables of names and sums with a bounded number of entries.

use std::collections::HashMap;

use dyno_record::profile::REST;
use dyno_record::{CpuKind, StackFrame};

/// The most functions and programs that are counted separately.
const FRAMES_MAX: usize = 50_000;
/// Longest name in characters: some C++ function names fill pages.
const NAME_CHARS_MAX: usize = 200;

/// Functions and programs, each once.
#[derive(Debug, Default)]
pub(super) struct Frames {
    all: Vec<StackFrame>,
    places: HashMap<StackFrame, u32>,
}

impl Frames {
    /// The index of a function, or of a program where there is no `module`.
    pub(super) fn place(&mut self, name: &str, module: &str, kind: CpuKind) -> u32 {
        let mut frame = StackFrame { name: cut(name), module: cut(module), kind };
        if self.all.len() >= FRAMES_MAX && !self.places.contains_key(&frame) {
            frame = StackFrame { name: REST.into(), module: String::new(), kind };
        }
        if let Some(place) = self.places.get(&frame) {
            return *place;
        }
        let place = self.all.len() as u32;
        self.all.push(frame.clone());
        self.places.insert(frame, place);
        place
    }

    pub(super) fn get(&self, place: u32) -> &StackFrame {
        &self.all[place as usize]
    }
}

/// A name of bounded length, without characters that do not belong in a name.
fn cut(name: &str) -> String {
    let plain = |c: char| if c.is_control() { '\u{fffd}' } else { c };
    let mut chars = name.chars().map(plain);
    let mut out: String = chars.by_ref().take(NAME_CHARS_MAX).collect();
    if chars.next().is_some() {
        out.push('…');
    }
    out
}

/// Number of samples and their total weight.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct SampleSum {
    pub(super) samples: u64,
    pub(super) weight: u64,
}

impl SampleSum {
    fn add(&mut self, other: Self) {
        self.samples += other.samples;
        self.weight += other.weight;
    }

    /// Its share of a total, %.
    pub(super) fn share_pct(self, whole: u64) -> f64 {
        100.0 * self.weight as f64 / whole.max(1) as f64
    }
}

/// Sums by key; above the limit, new keys share one sum.
#[derive(Debug)]
pub(super) struct SampleSums<K> {
    all: HashMap<K, SampleSum>,
    rest: SampleSum,
}

impl<K> Default for SampleSums<K> {
    fn default() -> Self {
        Self { all: HashMap::new(), rest: SampleSum::default() }
    }
}

impl<K: Copy + Ord + std::hash::Hash> SampleSums<K> {
    pub(super) fn add(&mut self, key: K, weight: u64) {
        let sample = SampleSum { samples: 1, weight };
        match self.all.len() < FRAMES_MAX || self.all.contains_key(&key) {
            true => self.all.entry(key).or_default().add(sample),
            false => self.rest.add(sample),
        }
    }

    /// `most` of the largest sums, and the sum of all others if there are any. Three quarters are reserved for
    /// keys that `is_preferred` accepts, so that other work on a busy host does not displace them.
    pub(super) fn largest(
        &self,
        most: usize,
        is_preferred: impl Fn(&K) -> bool,
    ) -> (Vec<(K, SampleSum)>, Option<SampleSum>) {
        let by_sum = |(key, sum): &(K, SampleSum)| (std::cmp::Reverse((sum.weight, sum.samples)), *key);
        let mut all: Vec<(K, SampleSum)> = self.all.iter().map(|(key, sum)| (*key, *sum)).collect();
        all.sort_by_key(by_sum);
        let (preferred, others): (Vec<_>, Vec<_>) = all.into_iter().partition(|(key, _)| is_preferred(key));
        let reserved = preferred.len().min(most - most / 4);
        let (mut kept, mut left) = (preferred, others);
        left.extend(kept.split_off(reserved));
        left.sort_by_key(by_sum);
        let mut rest = self.rest;
        let free = left.len().min(most - reserved);
        left.split_off(free).into_iter().for_each(|(_, sum)| rest.add(sum));
        kept.extend(left);
        kept.sort_by_key(by_sum);
        (kept, (rest.samples > 0).then_some(rest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_of_others_does_not_displace_that_of_the_run() {
        let mut sums = SampleSums::default();
        (0..20u32).for_each(|key| sums.add(key, 1_000 + u64::from(key)));
        (100..110u32).for_each(|key| sums.add(key, u64::from(key)));
        let keys = |most| {
            let (kept, rest) = sums.largest(most, |key| *key >= 100);
            (kept.into_iter().map(|(key, _)| key).collect::<Vec<_>>(), rest.map_or(0, |rest| rest.samples))
        };
        assert_eq!(keys(8), (vec![19, 18, 109, 108, 107, 106, 105, 104], 22));
        assert_eq!(keys(16).0[..6], [19, 18, 17, 16, 15, 14], "what is not used of the reserve is for all");
        assert_eq!(keys(30), ((0..20).rev().chain((100..110).rev()).collect(), 0));
        let (kept, _) = sums.largest(8, |_| false);
        assert!(kept.iter().all(|(key, _)| *key < 20));
    }
}
