//! Derives findings from records.
//!
//! Everything here is a pure function of a [`RunRecord`](dyno_record::RunRecord): the same record
//! gives the same findings on every host. [`audit()`] checks whether a run's figures agree with
//! each other; [`judge`] derives the run's status from that. [`points()`] groups runs by their
//! settings; every curve, fit and comparison starts from its [`Points`]. [`compare()`] compares two
//! sets of runs, and [`differ()`] lists what else differs between them. [`trend()`](trend::trend)
//! finds where a history of runs changed. [`series`] analyzes any figure over time: its levels,
//! outliers within them, and figures that change together.

pub mod answer;
pub mod attribution;
pub mod audit;
pub mod audit_warnings;
pub mod bands;
pub mod bracket;
pub mod capacity;
pub mod compare;
pub mod conclusion;
pub mod database_report;
pub mod differences;
#[cfg(any(test, feature = "fixture"))]
pub mod fixture;
pub mod health;
mod host_cpu;
pub mod intervals;
pub mod knee;
pub mod limit;
pub mod limited;
pub mod load;
pub mod load_profile;
pub mod minutes;
pub mod next;
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
pub mod reference_figure;
mod rejudge;
pub mod scalability;
pub mod scorecard;
pub mod sequential;
pub mod series;
pub mod side_by_side;
pub mod stall;
pub mod steady;
pub mod timed_events;
pub mod totals;
pub mod trend;
pub mod varied;

pub use answer::{CurveSummaries, CurveSummary, Tone, answer};
pub use audit::{audit, changed_words, check_label, check_names, driver_bound_by, judge};
pub use compare::{
    ComparisonGate, ComparisonRules, ComparisonSide, ComparisonVerdict, RunComparison, compare,
};
pub use conclusion::Conclusion;
pub use differences::{ConfigDifference, differ};
pub use limit::{Limit, LimitError, keeps};
pub use limited::{Bottleneck, limited};
pub use load::LoadPoint;
pub use next::{NextStep, SuiteRerun, after_watch, next_lines};
pub use points::{MeasuredPoint, Points, points};
pub use rejudge::rejudged;
pub use varied::RepeatVariation;
