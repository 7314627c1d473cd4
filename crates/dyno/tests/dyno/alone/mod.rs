//! Tests that load the machine or judge figures by the clock: `make test` runs each of them by itself.

mod busy_host;
mod limits;
mod placement;
