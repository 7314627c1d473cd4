//! Which variant comes next.
//!
//! The whole order is fixed by study and seed before the first command, so that it can be shown, and a study that was cut off
//! goes on as if nothing had been. A repeat has every variant once: what drifts meets all of them alike.

use serde::{Deserialize, Serialize};

use super::{Study, StudyOrder};
use crate::mix::mix;

/// A variant applied, measured and reverted, once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Leg {
    /// The variant's place in the study.
    pub variant: usize,
    /// Which time, from 1.
    pub repeat: u32,
}

/// All legs of `study`, in order.
pub fn legs(study: &Study) -> Vec<Leg> {
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
        all.extend(block.into_iter().map(|variant| Leg { variant, repeat }));
    }
    all
}
