//! Tests that load the machine or judge figures by the clock: `make test` runs each of them by itself, but for those of `together`.

mod busy_host;
mod limits;
mod one_processor;
mod page_cache;
mod placement;
mod server;
mod sweeps;
mod together;
