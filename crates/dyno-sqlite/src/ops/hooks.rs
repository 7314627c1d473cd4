//! Commits and rollbacks, by SQLite's own word.
//!
//! SQLite keeps no counter of transactions, but it calls back. In WAL mode the call comes after a commit has been
//! written, so it counts as it is. In the other modes it comes before, and a commit can still fail then (another
//! connection does not let go of the file): it counts once no rollback has followed it. There the call comes for commits that
//! changed nothing, too, which count in no mode: a statement that finds no row to change has written nothing. One that gives rows
//! the values that they have is a change of rows to SQLite, and yet writes nothing to a WAL (`btreeOverwriteContent`): the call
//! does not come, and what the client takes for a commit is none.

// Hooks are C function pointers with a context.
#![allow(unsafe_code)]

use std::cell::Cell;
use std::ffi::{c_char, c_int, c_void};

use rusqlite::{Connection, ffi};

use crate::counters::Committed;
use crate::raw;

/// What the hooks of one session have counted.
#[derive(Debug)]
pub(super) struct Hooks {
    commits: Cell<u64>,
    committed: Committed,
    rollbacks: Cell<u64>,
    /// A commit that was announced and not followed by a rollback yet.
    announced: Cell<bool>,
    /// Rows changed on the connection when a transaction last ended; absent where one was rolled back since.
    changed: Cell<Option<u64>>,
    /// Whether commits are told of when they have been written to a WAL, and whether one was since a transaction last ended.
    wal: Cell<bool>,
    written: Cell<bool>,
    /// Transactions that changed rows and of which nothing was written.
    unwritten: Cell<u64>,
    checkpoint_pages: c_int,
}

impl Hooks {
    /// Hooks that checkpoint when the WAL has `checkpoint_pages`; 0 is never. SQLite's automatic checkpoint is a WAL
    /// hook too, and there is room for one only. Everybody sees commits in `committed`.
    pub(super) fn new(checkpoint_pages: u32, committed: Committed) -> Box<Self> {
        Box::new(Self {
            commits: Cell::new(0),
            committed,
            rollbacks: Cell::new(0),
            announced: Cell::new(false),
            changed: Cell::new(Some(0)),
            wal: Cell::new(false),
            written: Cell::new(false),
            unwritten: Cell::new(0),
            checkpoint_pages: c_int::try_from(checkpoint_pages).unwrap_or(c_int::MAX),
        })
    }

    /// Lets SQLite call on `conn`. The hooks must outlive the connection.
    pub(super) fn install(&self, conn: &Connection, wal: bool) {
        self.changed.set(Some(raw::total_changes(conn)));
        self.wal.set(wal);
        let context: *mut c_void = std::ptr::from_ref(self).cast_mut().cast();
        // SAFETY: the connection is open, and its session keeps these hooks until after it is closed.
        unsafe {
            let db = conn.handle();
            ffi::sqlite3_rollback_hook(db, Some(on_rollback), context);
            if wal {
                ffi::sqlite3_wal_hook(db, Some(on_wal), context);
            } else {
                ffi::sqlite3_commit_hook(db, Some(on_commit), context);
            }
        }
    }

    /// Ends what ended well: what it committed counts.
    #[inline]
    pub(super) fn settle(&self, conn: &Connection) {
        if self.wal.get() { self.settle_written(conn) } else { self.settle_announced(conn) }
    }

    /// Notes a transaction that changed rows and of which nothing was written.
    #[inline]
    fn settle_written(&self, conn: &Connection) {
        if !conn.is_autocommit() {
            return;
        }
        let total = raw::total_changes(conn);
        let changed = self.changed.replace(Some(total)).is_some_and(|before| before < total);
        if !self.written.replace(false) && changed {
            self.unwritten.set(self.unwritten.get() + 1);
        }
    }

    /// Transactions so far that changed rows and of which nothing was written: no commits to SQLite.
    pub(super) fn unwritten(&self) -> u64 {
        self.unwritten.get()
    }

    /// Counts a commit that was announced: what it belongs to has ended well, and nothing has taken it back. A rollback that
    /// follows later is another transaction's.
    #[inline]
    fn settle_announced(&self, conn: &Connection) {
        if self.announced.replace(false) {
            let total = raw::total_changes(conn);
            if self.changed.replace(Some(total)).is_none_or(|before| before < total) {
                self.count();
            }
        } else {
            self.look(conn);
        }
    }

    /// Looks, after a rollback, how many rows were changed by then.
    #[inline]
    pub(super) fn look(&self, conn: &Connection) {
        if self.changed.get().is_none() {
            self.changed.set(Some(raw::total_changes(conn)));
        }
    }

    fn count(&self) {
        self.commits.set(self.commits.get() + 1);
        self.committed.add_one();
    }

    /// Commits and rollbacks since this was last asked; asked between transactions.
    pub(super) fn take(&self, conn: &Connection) -> (u64, u64) {
        self.settle(conn);
        (self.commits.take(), self.rollbacks.take())
    }
}

/// The hooks behind a context.
///
/// # Safety
/// `context` was given to SQLite by [`Hooks::install`].
unsafe fn hooks<'a>(context: *mut c_void) -> &'a Hooks {
    // SAFETY: as the caller promises; hooks are called on the thread that uses the session.
    unsafe { &*context.cast::<Hooks>() }
}

/// # Safety
/// SQLite calls it, with the context that [`Hooks::install`] gave, on the thread of the connection.
unsafe extern "C" fn on_commit(context: *mut c_void) -> c_int {
    // SAFETY: see `install`.
    let hooks = unsafe { hooks(context) };
    hooks.announced.set(true);
    0
}

/// # Safety
/// SQLite calls it, with the context that [`Hooks::install`] gave, on the thread of the connection.
unsafe extern "C" fn on_rollback(context: *mut c_void) {
    // SAFETY: see `install`.
    let hooks = unsafe { hooks(context) };
    hooks.announced.set(false);
    hooks.changed.set(None);
    hooks.rollbacks.set(hooks.rollbacks.get() + 1);
}

/// # Safety
/// SQLite calls it, with the context that [`Hooks::install`] gave, on the thread of the connection.
unsafe extern "C" fn on_wal(
    context: *mut c_void,
    db: *mut ffi::sqlite3,
    name: *const c_char,
    pages: c_int,
) -> c_int {
    // SAFETY: see `install`.
    let hooks = unsafe { hooks(context) };
    hooks.count();
    hooks.written.set(true);
    if hooks.checkpoint_pages > 0 && pages >= hooks.checkpoint_pages {
        let (passive, none) = (ffi::SQLITE_CHECKPOINT_PASSIVE, std::ptr::null_mut());
        // SAFETY: SQLite gives its own connection and database name. As with SQLite's automatic checkpoint a failure
        // is not one of the commit, which is durable already: the next commit tries again.
        unsafe { ffi::sqlite3_wal_checkpoint_v2(db, name, passive, none, none) };
    }
    ffi::SQLITE_OK
}
