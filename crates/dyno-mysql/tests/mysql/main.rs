//! The MySQL engine on real servers, MySQL and MariaDB: reached, loaded, driven, counted and checked.
#![allow(clippy::unwrap_used, unreachable_pub, reason = "a test fails by panicking, and its helpers do too")]

mod conformance;
mod connect;
mod counters;
mod load;
mod ops;
mod preflight;
mod statements;

use std::sync::Arc;
use std::time::Duration;

use dyno_engine::{
    Blocks, Cancel, LoadOptions, MonotonicClock, OpenOptions, Secret, Silent, Target, TargetError,
};
use dyno_plan::{Commit, DataSpec, Drive, Redo};
use dyno_testbed::MySql;
use dyno_workload::blocks::Operated;

/// Starts a server of each product with `settings` and hands it to `test`.
fn on_each_with(settings: &[(&str, &str)], test: impl Fn(&mut MySql)) {
    for version in MySql::available() {
        test(&mut MySql::start(&version, settings));
    }
}

/// As [`on_each_with`], with the server's own settings.
fn on_each(test: impl Fn(&mut MySql)) {
    on_each_with(&[], test);
}

/// The target at a URL, with a password or none.
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

/// Data of a server's usual page size.
fn spec(schemas: u32, rows: u64, scan_rows: u64) -> DataSpec {
    DataSpec { schemas, rows, scan_rows, block_size: 16_384, compressible: 0, seed: 42, secondary: false }
}

/// A load over `parallel` connections that replaces nothing.
fn options(parallel: u32) -> LoadOptions {
    LoadOptions { parallel, replace: false, dyno_version: "test".to_owned() }
}

/// The server with the data of `spec`.
fn loaded(server: &MySql, spec: &DataSpec) -> Box<dyn Target> {
    let target = target_at(&server.url());
    target.load(spec, &options(1), &Silent, &Cancel::default()).unwrap();
    target
}

/// What session `number` does on schema 1 of `spec`, ten rows per operation.
fn blocks(spec: &DataSpec, number: u32, redo: Redo) -> Blocks {
    Blocks {
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

/// That session, where it can be opened.
fn try_open(
    target: &dyn Target,
    spec: &DataSpec,
    number: u32,
    drive: Drive,
    redo: Redo,
) -> Result<Operated, TargetError> {
    let clock = Arc::new(MonotonicClock::default());
    Operated::open(target, &blocks(spec, number, redo), drive, Commit::Wait, clock)
}

/// That session.
fn opened(target: &dyn Target, spec: &DataSpec, number: u32, drive: Drive, redo: Redo) -> Operated {
    try_open(target, spec, number, drive, redo).unwrap()
}
