//! Tests of a suite: what is run, what it stresses, and which figure of it is the one that counts.
//!
//! A folder of tests has a file `tests.toml` with a page for each, and a workload beside it that they run, if they run one of
//! their own: adding a test is adding a folder, or a page to one.

mod page;
mod read;

pub use page::{Cache, LimitPlace, Load, ScaleLimit, Test, TestScale};
pub use read::{catalogue, in_folder};
