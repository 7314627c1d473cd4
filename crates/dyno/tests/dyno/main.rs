//! Tests of the program as a user runs it, on real servers. They are one binary, because linking each
//! separately would take too long.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
#![allow(unreachable_pub, reason = "what tests share is public to them")]
#![allow(
    clippy::print_stderr,
    reason = "a pass of minutes says how far it is, and a test that is skipped says why"
)]

mod ab_settings;
mod accept;
mod alone;
mod asked;
mod attacks;
mod awr;
mod bulkload;
mod calibrate;
mod capacity;
mod check_deep;
mod check_limits;
mod ci_templates;
mod client_settings;
mod common;
mod company_changes;
mod company_mysql;
mod company_postgres;
mod compare;
mod compatible;
mod described;
mod faults_clock;
mod faults_data;
mod faults_descriptors;
mod faults_disk;
mod faults_load;
mod faults_lock;
mod faults_names;
mod faults_network;
mod faults_postgres;
mod faults_signals;
mod faults_terminal;
#[cfg(feature = "fleet")]
mod first_minute;
mod fleet;
#[cfg(feature = "fleet")]
mod fleet_mysql;
#[cfg(feature = "fleet")]
mod fleet_secure;
#[cfg(feature = "fleet")]
mod fleet_sent;
#[cfg(feature = "fleet")]
mod fleet_site;
#[cfg(feature = "fleet")]
mod fleet_waits;
#[cfg(feature = "fleet")]
mod fleet_ways;
mod grants;
mod hosts;
mod import_draws;
mod import_metrics;
mod import_pgbench;
mod import_slob;
mod import_statements;
mod interrupt;
mod kept;
mod kills;
mod long_series;
mod method;
mod mysql;
#[cfg(feature = "fleet")]
mod observer;
mod oracle_awr;
mod oracle_copy;
mod oracle_double;
mod oracle_statements;
mod oracle_workloads;
mod orders;
mod outages;
mod own_beside;
mod own_calls;
mod own_commits;
mod own_company;
mod own_connect;
mod own_pipeline;
mod own_polls;
mod own_rates;
mod own_sql;
mod phases;
mod pooler;
mod postgres;
mod profile;
mod prove;
mod ready_plans;
mod ready_workloads;
mod report;
mod screen;
#[cfg(feature = "serve")]
mod serve;
#[cfg(feature = "serve")]
mod serve_access;
#[cfg(feature = "serve")]
mod serve_awr;
#[cfg(feature = "serve")]
mod serve_browser;
#[cfg(feature = "serve")]
mod serve_platform;
#[cfg(feature = "serve")]
mod serve_tls;
mod sqlite;
mod studies;
mod suite;
mod sweep;
mod targets;
mod usage;
mod verdicts;
mod watch;
mod watched_elsewhere;
mod workload;
mod workload_needs;
