//! Formats records for readers: in a terminal, as one HTML file, as pictures, and as Markdown, CSV and JSON.
//!
//! Every function here only turns values into text: it does not print and does not query the terminal. The
//! caller states width and colors in [`Style`], so tests read the same text as users. Numbers come from
//! [`number`], terminal tables from [`table`]. A record's text reaches the terminal only through
//! [`text::clean`], and a page only through that and [`markup::escape`] or the escaping of its templates.

pub mod acceptance;
mod advice;
pub mod answer;
pub mod audit;
pub mod bars;
mod by_instance;
pub mod by_target;
mod calibration;
mod capacity;
pub mod chart;
mod classes;
mod compare_page;
pub mod compare_table;
pub mod conclusion;
pub mod concurrent;
pub mod custom_workload;
pub mod data;
pub mod database_report;
mod driver_hosts;
pub mod embedded;
pub mod export;
mod extra_counts;
pub mod facts;
pub mod figures;
pub mod grid;
mod grid_cell;
mod health;
pub mod html;
pub mod import_table;
mod imported_metrics;
mod intervals;
pub mod learned_costs;
mod list;
pub mod live;
mod load_profile;
mod loaded;
pub mod markup;
mod matrix;
pub mod phases;
pub mod plot;
mod point_table;
mod price;
pub mod profile;
mod ramp_tables;
pub mod report;
pub mod reported;
mod request;
pub mod result;
mod role;
pub mod run_facts;
pub mod run_rows;
pub mod runs;
mod scorecard;
mod service_bands;
pub mod show;
pub mod soak;
pub mod status;
pub mod study;
pub mod study_page;
pub mod style;
mod suite;
pub mod sweep_tables;
pub mod table;
pub mod text;
mod timed_events;
pub mod trend_table;
mod watched;

pub use acceptance::acceptance_page;
pub use advice::advice_table;
pub use answer::{Answered, answer_grid, answer_text};
pub use audit::{audit_full, audit_summary, audit_table, audit_words};
pub use by_target::targets_table;
pub use calibration::{calibration_page, calibration_text};
pub use capacity::{capacity_sections, capacity_text};
pub use chart::terminal::Glyphs;
pub use compare_page::compare_sections;
pub use compare_table::{compare_text, differences, differences_grid, signed_percent};
pub use conclusion::conclusion_text;
pub use data::{DropRow, LoadRow, drop_table, load_table};
pub use dyno_analyze::number;
pub use export::{
    EXPORTERS, ExportError, ReportExporter, ReportRequest, SeriesCsv, WorkbookSheet, sections_csv,
    sections_markdown, workbook,
};
pub use extra_counts::caveats;
pub use figures::text_curves;
pub use health::health_grid;
pub use import_table::import_table;
pub use imported_metrics::imported_metrics_text;
pub use intervals::{
    Differences, LoadProfilePer, change_heads, interval_sections, load_grid, reading_cell, sections_grid,
};
pub use list::{list_table, notes_text};
pub use live::{LiveFigures, live_line};
pub use loaded::loaded_text;
pub use point_table::point_table;
pub use price::{costs_grid, price_grid, price_plot};
pub use ramp_tables::ramp_tables;
pub use report::Report;
pub use result::{ResultRow, host_words, placement_words, result_card, result_table};
pub use runs::{Runs, RunsError, StoredRuns};
pub use scorecard::{scorecard_gaps, scorecard_grid, scorecard_plot, scorecard_sheets};
pub use show::{phases_text, show};
pub use soak::minute_table;
pub use style::Style;
pub use suite::{suite_list, suite_steps};
pub use sweep_tables::{RunningTable, SweepRow, sweep_list};
pub use trend_table::{trend_grid, trend_text};
pub use watched::{WatchLive, watch_lines, watch_text};

#[cfg(test)]
mod tests;
