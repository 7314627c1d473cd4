//! Formats records for readers: in a terminal, as one HTML file, as pictures, and as Markdown, CSV and JSON.
//!
//! Every function here only turns values into text: it does not print and does not query the terminal. The
//! caller states width and colors in [`Style`], so tests read the same text as users. Numbers come from
//! [`number`]. A record's text reaches the terminal only through
//! [`text::clean`], and a page only through that and [`markup::escape`] or the escaping of its templates.
//!
//! | folder | what is in it |
//! | --- | --- |
//! | `model` | documents, sections, and tables of typed cells |
//! | `chart` | the model of a chart, and how it is drawn |
//! | `figures` | charts of runs |
//! | `content` | sentences and tables, a file per topic |
//! | `render` | a file per format |

pub mod chart;
mod content;
pub mod figures;
pub mod markup;
pub mod model;
mod render;
pub mod style;
pub mod text;

pub use chart::terminal::Glyphs;
pub use content::acceptance::acceptance_page;
pub use content::advice::advice_table;
pub use content::answer::{Answered, answer_grid, answer_text};
pub use content::audit::{audit_full, audit_summary, audit_table, audit_words};
pub use content::by_target::targets_table;
pub use content::calibration::calibration_text;
pub use content::capacity::{capacity_sections, capacity_text};
pub use content::compare::{compare_text, differences, differences_grid, signed_percent};
pub use content::compare_document::compare_sections;
pub use content::conclusion::conclusion_text;
pub use content::data::{DropRow, LoadRow, drop_table, load_table};
pub use content::difference_csv::differences_csv_grid;
pub use content::difference_report::{DifferenceReport, difference_sections};
pub use content::difference_rows::RowFilter;
pub use content::extra_counts::caveats;
pub use content::health::health_grid;
pub use content::imported_metrics::imported_metrics_text;
pub use content::imports::import_table;
pub use content::intervals::{
    Differences, LoadProfilePer, change_heads, interval_sections, load_grid, reading_cell, sections_grid,
};
pub use content::live::{LiveFigures, live_line};
pub use content::loaded::loaded_text;
pub use content::next_text::next_text;
pub use content::points::point_table;
pub use content::price::{costs_grid, price_grid, price_plot};
pub use content::profile::gains_text as profile_changes_text;
pub use content::ramps::ramp_tables;
pub use content::report::Report;
pub use content::result::{ResultRow, host_words, placement_words};
pub use content::result_table::{result_card, result_table};
pub use content::run_list::{list_table, notes_text};
pub use content::runs::{Runs, RunsError, StoredRuns};
pub use content::scorecard::{scorecard_gaps, scorecard_grid, scorecard_plot, scorecard_sheets};
pub use content::show::{phases_text, show};
pub use content::soak::minute_table;
pub use content::study_document::study_document;
pub use content::suite::{suite_list, suite_steps};
pub use content::sweeps::{RunningTable, SweepRow, sweep_list};
pub use content::trend::{trend_grid, trend_text};
pub use content::watched::{WatchLive, watch_answer, watch_lines, watch_text};
pub use content::{concurrent, custom_workload, study};
pub use dyno_analyze::number;
pub use figures::text_curves;
pub use model::ReportRequest;
pub use render::{
    EXPORTERS, ExportError, ReportExporter, SeriesCsv, WorkbookSheet, document_markdown, embedded, html,
    sections_csv, sections_markdown, sections_text, study_csv, workbook,
};
pub use style::Style;

#[cfg(test)]
mod tests;
