//! Tests of a suite: what each runs, what it stresses, and its key figure.
//!
//! A folder of tests has a file `tests.toml` with a page for each test, and usually a workload that they run.
//! To add a test, add a folder, or a page to an existing one.

mod page;
mod read;

pub use page::{Cache, LimitPlace, ScaleLimit, SuiteTestSessions, Test, TestScale};
pub use read::{catalogue, in_folder};
