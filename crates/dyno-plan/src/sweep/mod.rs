//! Turns the axes of a sweep into points and decides the order of their runs.
//!
//! | file | job |
//! | --- | --- |
//! | `grid` | every combination of values, as a point with its own plan |
//! | `order` | which point runs next, given the results so far |
//! | `saturation` | when a ramp of sessions can stop |

mod axis;
mod grid;
mod order;
mod saturation;

pub use axis::SESSIONS;
pub(crate) use axis::is_sessions;
pub use grid::{PointError, RUNS_MAX, SweepGridPoint, points, set};
pub use order::{SweepSchedule, SweepStep, SweepStepResults};
pub use saturation::{RISE_MIN, STEPS_BEYOND, saturated_at};

#[cfg(test)]
mod tests;
