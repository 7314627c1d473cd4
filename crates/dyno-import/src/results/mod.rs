//! Results of other tools as run records: tables whose columns the user maps, and the logs of known tools.
//!
//! | file | job |
//! | --- | --- |
//! | `map` | the meaning of a column, as `--map` states it |
//! | `dialect` | separator, decimal mark and dates of a table, detected from all of it |
//! | `context`, `record`, `plans` | a line, or a result in a log, as records |
//! | `logs` | sysbench, pgbench, HammerDB, go-tpc, BenchBase |

mod context;
mod dialect;
mod logs;
mod map;
mod plans;
mod record;

pub use context::{ImportContext, ImportMarks};
pub use dialect::{CsvDialect, detect_dialect};
pub use logs::{LogRun, read_log};
pub use map::ColumnMapping;
pub use record::{ImportLines, log_records};
