//! Names and sums of bounded number.

use std::collections::HashMap;

use dyno_record::profile::REST;
use dyno_record::{CpuKind, Frame};

/// Different functions and programs that are told apart at most.
const FRAMES_MAX: usize = 50_000;
/// Characters of a name at most: C++ has functions whose names fill pages.
const NAME_CHARS_MAX: usize = 200;

/// Functions and programs, each once.
#[derive(Debug, Default)]
pub(super) struct Frames {
    all: Vec<Frame>,
    places: HashMap<Frame, u32>,
}

impl Frames {
    /// The place of a function, or of a program where there is no `module`.
    pub(super) fn place(&mut self, name: &str, module: &str, kind: CpuKind) -> u32 {
        let mut frame = Frame { name: cut(name), module: cut(module), kind };
        if self.all.len() >= FRAMES_MAX && !self.places.contains_key(&frame) {
            frame = Frame { name: REST.into(), module: String::new(), kind };
        }
        if let Some(place) = self.places.get(&frame) {
            return *place;
        }
        let place = self.all.len() as u32;
        self.all.push(frame.clone());
        self.places.insert(frame, place);
        place
    }

    pub(super) fn get(&self, place: u32) -> &Frame {
        &self.all[place as usize]
    }
}

/// A name of bounded length, without what is no character of a name.
fn cut(name: &str) -> String {
    let plain = |c: char| if c.is_control() { '\u{fffd}' } else { c };
    let mut chars = name.chars().map(plain);
    let mut out: String = chars.by_ref().take(NAME_CHARS_MAX).collect();
    if chars.next().is_some() {
        out.push('…');
    }
    out
}

/// Samples, and what they stand for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Sum {
    pub(super) samples: u64,
    pub(super) weight: u64,
}

impl Sum {
    fn add(&mut self, other: Self) {
        self.samples += other.samples;
        self.weight += other.weight;
    }

    /// Its share of a whole, %.
    pub(super) fn share_pct(self, whole: u64) -> f64 {
        100.0 * self.weight as f64 / whole.max(1) as f64
    }
}

/// Sums by key; what comes when there are too many keys is one sum.
#[derive(Debug)]
pub(super) struct Sums<K> {
    all: HashMap<K, Sum>,
    rest: Sum,
}

impl<K> Default for Sums<K> {
    fn default() -> Self {
        Self { all: HashMap::new(), rest: Sum::default() }
    }
}

impl<K: Copy + Ord + std::hash::Hash> Sums<K> {
    /// Adds one sample.
    pub(super) fn add(&mut self, key: K, weight: u64) {
        let one = Sum { samples: 1, weight };
        match self.all.len() < FRAMES_MAX || self.all.contains_key(&key) {
            true => self.all.entry(key).or_default().add(one),
            false => self.rest.add(one),
        }
    }

    /// The `most` largest, and all others together if there are any.
    pub(super) fn largest(&self, most: usize) -> (Vec<(K, Sum)>, Option<Sum>) {
        let mut all: Vec<(K, Sum)> = self.all.iter().map(|(key, sum)| (*key, *sum)).collect();
        all.sort_by_key(|(key, sum)| (std::cmp::Reverse((sum.weight, sum.samples)), *key));
        let mut rest = self.rest;
        all.iter().skip(most).for_each(|(_, sum)| rest.add(*sum));
        all.truncate(most);
        (all, (rest.samples > 0).then_some(rest))
    }
}
