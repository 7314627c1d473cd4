//! The interfaces of a database engine, and the code that engines share.
//!
//! The traits are all that the rest of Dyno knows about a database. A [`Target`] is one endpoint. Beyond SQL it
//! may have roles: holding the block workload's test data ([`BlockData`]), filling tables by a bulk path
//! ([`BulkLoad`]) and proving that it lost no commit ([`DurabilityProof`]). A [`Session`] is one connection
//! that executes operations. An [`Observer`] reads cumulative counters, and a [`Sampler`] reads what sessions
//! wait for. The method determines their shape, not any driver:
//!
//! - [`Session::ask`] is the hot path: any [`Statement`], prepared when the session was opened, with bound
//!   values, alone or in a transaction, without allocation;
//! - the window begins and ends between operations. A session can therefore make its work visible to the
//!   observer ([`SessionRequest::Edge`]), and the audit compares exact counts;
//! - every call that can hang can be interrupted from outside ([`Session::interrupter`]).
//!
//! Each engine is a crate with the same modules and provides an [`Engine`] to the program's
//! [`EngineRegistry`], which resolves URL schemes. Shared code is here too: generating test data and dividing
//! it into chunks ([`data`], [`chunks`], [`pool`]), sockets ([`net`]), locks, secrets and errors.

#![warn(missing_docs)]

pub mod advice;
mod block_data;
pub mod blocks;
pub mod bounded_query;
pub mod chunks;
pub mod clock;
pub mod column_statistics;
pub mod compatibility;
mod connections;
pub mod data;
pub mod database_report;
mod dialect;
pub mod disk;
pub mod error;
pub mod executed_statements;
pub mod explain;
pub mod grants;
mod last_row;
pub mod layout;
pub mod load;
pub mod lock;
pub mod lock_waits;
pub mod needs;
pub mod net;
pub mod observer;
mod options;
pub mod panics;
pub mod pool;
mod registry;
mod retry;
pub mod roles;
pub mod row;
pub mod secret;
mod server_target;
pub mod session;
mod setting_control;
pub mod settings;
pub mod slices;
mod sql_only;
pub mod sql_tokens;
pub mod statement;
pub mod statement_counts;
pub mod statement_key;
mod statement_limit;
pub mod table_counts;
pub mod tables;
pub mod target;
mod time_limits;
pub mod watched_names;
pub mod witness;

pub use block_data::BlockData;
pub use blocks::{
    BlockOp, BlockOpSchema, BlockSessionConfig, BlockStatementKind, BlocksSql, BlocksStatement, Extra,
    SliceDone, Slices, Slot,
};
pub use clock::{Clock, MonotonicClock};
pub use connections::{ConnectionPurpose, ServerConnections, TextConnection};
pub use database_report::{OwnReport, Reporter};
pub use dialect::Dialect;
pub use dyno_plan::Engines;
pub use error::{ErrorClass, OpError, Refusal, TargetError, TargetErrorKind};
pub use last_row::LastRow;
pub use load::{Cancel, DataState, DropItem, LoadOptions, LoadProgressSink, LoadReport, SchemaFacts, Silent};
pub use lock::{Claim, Holder, Lock, LockPurpose};
pub use needs::{CustomNeeds, WorkloadNeeds};
pub use observer::{Counting, Observer, OtherSession, PassiveObserver, Sampler, WaitSample};
pub use options::OpenOptions;
pub use registry::{Engine, EngineRegistry, OpenTarget, OpenThrough};
pub use retry::{RETRIES, retry, retry_read};
pub use roles::{BulkLoad, DurabilityProof};
pub use row::TextRow;
pub use secret::Secret;
pub use server_target::{CompatibleTarget, ServerTarget};
pub use session::{Duplex, Interrupter, RequestCompletion, Session, SessionSetup};
pub use setting_control::{
    ServerSetting, SettingActivation, SettingControl, is_setting_name, unknown_setting,
};
pub use statement::{Commits, Isolation, ResultKind, SessionRequest, Statement, StatementId, Type, Value};
pub use statement_counts::{CumulativeStatement, StatementDescription, StatementSnapshot};
pub use statement_limit::{StatementLimit, StatementScope};
pub use tables::{
    Bulk, ColumnDefinition, ColumnType, Fill, NewTable, ObjectKind, RequiredKey, RowBatch, Rows, TableWords,
};
pub use target::{Capabilities, CounterScope, RowCallback, Target};
pub use time_limits::{TimeLimit, TimeLimitScope, time_limits};
pub use witness::{RowVersion, ServerLife};
