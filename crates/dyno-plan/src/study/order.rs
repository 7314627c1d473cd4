//! Computes the order of a study's legs.
//!
//! The study and its seed fix the whole order before the first command. Dyno can therefore show the order, and an interrupted
//! study resumes without a difference. Each repeat has every variant once, so drift affects all variants equally.

use serde::{Deserialize, Serialize};

use super::{StudyOrder, StudyPlan};
use crate::mix::mix;

/// One leg: a variant applied, measured and reverted once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct StudyLeg {
    /// Index of the variant in the study.
    pub variant: usize,
    /// The repeat, counted from 1.
    pub repeat: u32,
}

/// All legs of `study` in their order.
pub fn legs(study: &StudyPlan) -> Vec<StudyLeg> {
    let mut state = study.seed;
    let mut all = Vec::new();
    for repeat in 1..=study.repeats {
        let mut block: Vec<usize> = (0..study.variants.len()).collect();
        match study.order {
            StudyOrder::Abba if repeat % 2 == 0 => block.reverse(),
            StudyOrder::Abba => {}
            // Durstenfeld's version of the Fisher–Yates shuffle.
            StudyOrder::Random => {
                for at in (1..block.len()).rev() {
                    state = mix(state);
                    block.swap(at, (state % (at as u64 + 1)) as usize);
                }
            }
        }
        all.extend(block.into_iter().map(|variant| StudyLeg { variant, repeat }));
    }
    all
}
