//! From records to findings.
//!
//! Everything here is a pure function of a [`RunRecord`](dyno_record::RunRecord): whoever made the record, on whatever
//! host, gets the same findings. [`audit()`] asks whether a run's numbers agree with each other; [`judge`] turns its
//! answer into the run's status. [`points()`] puts runs together by what they were asked to do; every curve, fit and
//! comparison begins with its [`Points`]. [`compare()`] holds two sets of runs against each other, [`differ()`] says what else
//! differs between them, [`trend()`](trend::trend) where a history of runs changed. [`series`] is about any figure in the order
//! of time: its levels, what is odd within them, and what moves with what.

pub mod answer;
pub mod audit;
pub mod bands;
pub mod bracket;
pub mod capacity;
pub mod compare;
pub mod conclusion;
pub mod differ;
pub mod doubts;
#[cfg(any(test, feature = "fixture"))]
pub mod fixture;
pub mod health;
pub mod intervals;
pub mod knee;
pub mod limit;
pub mod limited;
pub mod load;
pub mod minutes;
pub mod number;
mod overdue;
pub mod petal;
pub mod points;
pub mod price;
pub mod profile;
mod random;
pub mod reading;
pub mod reconcile;
pub mod reference;
mod rejudge;
pub mod scalability;
pub mod scorecard;
pub mod series;
pub mod stall;
pub mod steady;
pub mod totals;
pub mod trend;
pub mod varied;
pub mod whose;
pub mod yardstick;

pub use answer::{Answer, Answers, Tone, answer};
pub use audit::{audit, changed_words, check_names, driver_bound_by, judge};
pub use compare::{Comparison, Gate, Rules, Side, Verdict, compare};
pub use conclusion::Conclusion;
pub use differ::{Difference, differ};
pub use limit::{Limit, LimitError, keeps};
pub use limited::{Limited, limited};
pub use load::Load;
pub use points::{Point, Points, points};
pub use rejudge::rejudged;
pub use varied::Varied;
