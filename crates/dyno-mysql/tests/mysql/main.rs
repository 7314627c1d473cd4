//! Tests the MySQL engine on real MySQL and MariaDB servers: connecting, loading, running, counting and
//! checking.
#![allow(clippy::unwrap_used, unreachable_pub, reason = "a test fails by panicking, and its helpers do too")]

mod conformance;
mod connect;
mod counters;
mod load;
mod ops;
mod preflight;
mod settings;
mod statements;
mod tables;
mod top_statements;

use std::sync::Arc;
use std::time::Duration;

use dyno_engine::{
    BlockSessionConfig, Cancel, LoadOptions, MonotonicClock, OpenOptions, Secret, Silent, Target, TargetError,
};
use dyno_plan::{Commit, DataSpec, DriveMode, Redo};
use dyno_testbed::MySql;
use dyno_workload::blocks::Operated;

/// Starts a server of each product with `settings` and passes it to `test`.
fn on_each_server_with(settings: &[(&str, &str)], test: impl Fn(&mut MySql)) {
    for version in MySql::available() {
        test(&mut MySql::start(&version, settings));
    }
}

/// Like [`on_each_with`], with the server's default settings.
fn on_each_server(test: impl Fn(&mut MySql)) {
    on_each_server_with(&[], test);
}

/// The target at a URL, with or without a password.
fn try_target(url: &str, password: Option<&str>) -> Result<Box<dyn Target>, TargetError> {
    let password = password.map(|text| Secret::new(text.to_owned()));
    dyno_mysql::open(
        &url.parse().unwrap(),
        &OpenOptions { password, connect_timeout: Duration::from_secs(20) },
    )
}

fn target_at(url: &str) -> Box<dyn Target> {
    try_target(url, None).unwrap()
}

/// A spec with the server's default page size.
fn spec(schemas: u32, rows: u64, scan_rows: u64) -> DataSpec {
    DataSpec {
        schemas,
        rows,
        scan_rows,
        block_size: 16_384,
        compressible: 0,
        seed: 42,
        secondary: false,
        copied: false,
    }
}

/// A load over `parallel` connections that replaces nothing.
fn options(parallel: u32) -> LoadOptions {
    LoadOptions { parallel, replace: false, dyno_version: "test".to_owned() }
}

/// Loads the data of `spec` and returns the target.
fn load_target(server: &MySql, spec: &DataSpec) -> Box<dyn Target> {
    let target = target_at(&server.url());
    target.block_data().unwrap().load(spec, &options(1), &Silent, &Cancel::default()).unwrap();
    target
}

/// What session `number` does on schema 1 of `spec`, ten rows per operation.
fn blocks(spec: &DataSpec, number: u32, redo: Redo) -> BlockSessionConfig {
    BlockSessionConfig {
        schema: 1,
        spec: spec.clone(),
        work_unit: 10,
        redo,
        extra: Default::default(),
        seed: 7,
        run_stamp: 0xbeef,
        session: number,
    }
}

/// Opens a session of the block workload, or returns the error.
fn try_open(
    target: &dyn Target,
    spec: &DataSpec,
    number: u32,
    drive: DriveMode,
    redo: Redo,
) -> Result<Operated, TargetError> {
    let clock = Arc::new(MonotonicClock::default());
    Operated::open(target, &blocks(spec, number, redo), drive, Commit::Wait, clock)
}

fn open_session(target: &dyn Target, spec: &DataSpec, number: u32, drive: DriveMode, redo: Redo) -> Operated {
    try_open(target, spec, number, drive, redo).unwrap()
}
