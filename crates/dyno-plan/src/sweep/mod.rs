//! From the axes of a sweep to its points, and to the order in which they are run.
//!
//! | file | job |
//! | --- | --- |
//! | `grid` | every combination of values as a point with a plan of its own |
//! | `order` | which point is run next, given what was measured so far |
//! | `saturation` | when a ramp of sessions has seen enough |

mod axis;
mod grid;
mod order;
mod saturation;

pub use axis::SESSIONS;
pub(crate) use axis::is_sessions;
pub use grid::{Point, PointError, RUNS_MAX, points, set};
pub use order::{Done, Schedule, Step};
pub use saturation::{RISE_MIN, STEPS_BEYOND, saturated_at};

#[cfg(test)]
mod tests;
