//! A suite of tests: a table and small charts of each group, and the steps of each test.

mod charts;
mod list;
mod overview;
mod scale_out;
mod steps;
#[cfg(test)]
pub(crate) mod tests;
mod tiles;

pub(crate) use charts::{all as all_charts, small, test_chart};
pub use list::suite_list;
pub(crate) use overview::{group_grid, groups, overview, text};
pub(crate) use scale_out::scale_out;
pub use steps::suite_steps;
pub(crate) use steps::{costs, events, steps};
pub(crate) use tiles::suite_tiles;
