//! The database under test.
//!
//! The traits come first, because they are what the rest of Dyno knows of a database: a [`Target`] is one endpoint, a
//! [`Session`] one connection that does operations, an [`Observer`] reads cumulative counters and a [`Sampler`] looks at
//! what sessions wait for. They are shaped by the method, not by any driver:
//!
//! - a session's [`Session::execute`] is the hot path, so it takes a plain value and gives one back, without allocation;
//! - the window begins and ends between operations, so a session can be asked to make all it has done visible to the
//!   observer ([`Session::edge`]), which lets the audit compare counts to the unit;
//! - whatever can hang can be interrupted from outside ([`Session::interrupter`]).
//!
//! One folder per engine with the same rooms in each; [`open`] is the one place where URL schemes are resolved.

mod chunks;
pub mod clock;
pub mod data;
mod disk;
pub mod error;
mod grants;
pub mod load;
pub mod lock;
pub mod mysql;
mod net;
mod open;
pub mod oracle;
pub mod patience;
mod pool;
pub mod postgres;
pub mod report;
pub mod secret;
pub mod session;
pub mod sqlite;
pub mod target;
pub mod witness;

pub use clock::{Clock, MonotonicClock};
pub use error::{ErrorClass, OpError, TargetError, TargetErrorKind};
pub use grants::grants;
pub use load::{Cancel, DataState, DropItem, LoadOptions, LoadReport, Progress, SchemaFacts, Silent};
pub use lock::{Claim, Holder, Lock, Work};
pub use open::{OpenOptions, open, open_through};
pub use report::{Report, Reporter};
pub use secret::Secret;
pub use session::{Done, Duplex, Extra, Interrupter, Op, Place, Request, Session, SessionSetup, SliceDone};
pub use target::{Capabilities, Counting, Instance, Observer, OtherSession, Sampler, Target, WaitSample};
pub use witness::{RowVersion, ServerLife};
