//! What a database did by itself while it was looked at.
//!
//! | file | job |
//! | --- | --- |
//! | `live` | the few lines that move while it is looked at |
//! | `spread` | peak, 95th percentile and mean of each figure, gaps, and what could not be read |
//! | `figures` | the same as charts over time |

pub(crate) mod figures;
mod live;
pub(crate) mod spread;

pub use live::{WatchLive, watch_lines};
pub use spread::watch_text;
