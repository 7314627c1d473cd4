//! Shows a watch: the activity of a database while Dyno only observed it.
//!
//! | file | job |
//! | --- | --- |
//! | `live` | progress lines during the watch |
//! | `locks` | sessions that blocked others, and long transactions |
//! | `summary` | peak, 95th percentile and mean of each figure, gaps, and what could not be read |
//!
//! Its charts over time are in `figures::watch`.

mod live;
pub(crate) mod locks;
pub(crate) mod summary;

pub use live::{WatchLive, watch_lines};
pub use summary::{answer as watch_answer, watch_text};
