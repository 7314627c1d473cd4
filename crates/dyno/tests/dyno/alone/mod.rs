//! Tests that load the machine or depend on exact times: `make test` runs each of them alone, except those in
//! `together`.

mod busy_host;
mod limits;
mod one_processor;
mod page_cache;
mod placement;
mod server;
mod sweeps;
mod together;
