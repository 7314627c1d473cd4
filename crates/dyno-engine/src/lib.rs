//! The seams of a database engine, and what engines share.
//!
//! The traits come first, because they are what the rest of Dyno knows of a database: a [`Target`] is one endpoint, which
//! holds data ([`Dataset`]) and lets itself be proved ([`Proof`]), a [`Session`] one connection that does operations, an [`Observer`] reads cumulative counters and a [`Sampler`] looks at
//! what sessions wait for. They are shaped by the method, not by any driver:
//!
//! - a session's [`Session::ask`] is the hot path: any [`Statement`], prepared when the session was opened, with bound values,
//!   alone or as a step of a transaction, without allocation;
//! - the window begins and ends between operations, so a session can be asked to make all it has done visible to the
//!   observer ([`Request::Edge`]), which lets the audit compare counts to the unit;
//! - whatever can hang can be interrupted from outside ([`Session::interrupter`]).
//!
//! Each engine is a crate of its own with the same rooms in each, and gives an [`Engine`] to the program's [`Registry`], the
//! one place where URL schemes are resolved. What engines share is here too: how test data is made and cut into chunks
//! ([`data`], [`chunks`], [`pool`]), sockets ([`net`]), locks, secrets and errors.

pub mod advice;
pub mod blocks;
pub mod chunks;
pub mod clock;
pub mod data;
mod dataset;
mod dialect;
pub mod disk;
pub mod error;
pub mod explain;
pub mod grants;
mod last_row;
pub mod layout;
pub mod load;
pub mod lock;
pub mod needs;
pub mod net;
pub mod observer;
mod options;
pub mod own_report;
pub mod patience;
pub mod pool;
pub mod proof;
mod registry;
pub mod row;
pub mod secret;
pub mod seen;
pub mod session;
pub mod settings;
pub mod slices;
pub mod statement;
mod statement_limit;
pub mod tables;
pub mod target;
mod time_limits;
pub mod watched_names;
pub mod witness;

pub use blocks::{Blocks, BlocksSql, BlocksStatement, Extra, Kind, Op, Place, SliceDone, Slices, Slot};
pub use clock::{Clock, MonotonicClock};
pub use dataset::{Dataset, Told};
pub use dialect::Dialect;
pub use dyno_plan::Engines;
pub use error::{ErrorClass, OpError, Refusal, TargetError, TargetErrorKind};
pub use last_row::LastRow;
pub use load::{Cancel, DataState, DropItem, LoadOptions, LoadReport, Progress, SchemaFacts, Silent};
pub use lock::{Claim, Holder, Lock, Work};
pub use needs::{CustomNeeds, WorkloadNeeds};
pub use observer::{Counting, Observer, Onlooker, OtherSession, Sampler, WaitSample};
pub use options::OpenOptions;
pub use own_report::{OwnReport, Reporter};
pub use proof::Proof;
pub use registry::{Engine, Open, OpenThrough, Registry};
pub use row::Row;
pub use secret::Secret;
pub use session::{Done, Duplex, Interrupter, Session, SessionSetup};
pub use statement::{Answer, Commits, Isolation, Request, Statement, StatementId, Type, Value};
pub use statement_limit::{StatementLimit, StatementScope};
pub use tables::{Bulk, Column, ColumnType, Fill, NewTable, ObjectKind, Part, RequiredKey, Rows, TableWords};
pub use target::{Capabilities, Instance, Target};
pub use time_limits::{TimeLimit, TimeLimitScope, time_limits};
pub use witness::{RowVersion, ServerLife};
