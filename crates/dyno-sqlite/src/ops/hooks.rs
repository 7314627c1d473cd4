//! Counts commits and rollbacks with SQLite's callbacks.
//!
//! SQLite has no counter of transactions, but it has hooks. In WAL mode the hook is called after a commit has
//! been written, so each call counts. In the other modes it is called before the commit, which can still
//! fail, for example if another connection holds the file. There a commit counts once no rollback has
//! followed.
//!
//! In these modes the hook is also called for commits that changed nothing, which do not count in any mode: a
//! statement that matches no row has written nothing. An update that sets the existing values changes rows
//! for SQLite but writes nothing to a WAL (`btreeOverwriteContent`). The hook is then not called, and the
//! client's commit is not one of SQLite's.

// Hooks are C function pointers with a context.
#![allow(unsafe_code)]

use std::cell::Cell;
use std::ffi::{c_char, c_int, c_void};

use rusqlite::{Connection, ffi};

use crate::counters::SqliteCommitCounter;
use crate::raw;

/// The counts of one session's hooks.
#[derive(Debug)]
pub(super) struct SqliteSessionHooks {
    commits: Cell<u64>,
    committed: SqliteCommitCounter,
    rollbacks: Cell<u64>,
    /// Whether a commit was announced that no rollback has followed yet.
    announced: Cell<bool>,
    /// Rows changed on the connection when a transaction last ended; absent after a rollback.
    changed: Cell<Option<u64>>,
    /// Whether commits are reported after they were written to a WAL, and whether one was since a transaction
    /// last ended.
    wal: Cell<bool>,
    written: Cell<bool>,
    /// Transactions that changed rows but wrote nothing.
    unwritten: Cell<u64>,
    checkpoint_pages: c_int,
}

impl SqliteSessionHooks {
    /// Creates hooks that start a checkpoint when the WAL has `checkpoint_pages`; 0 means never. SQLite's
    /// automatic checkpoint is also a WAL hook, and only one can be installed. `committed` makes commits
    /// visible to other threads.
    pub(super) fn new(checkpoint_pages: u32, committed: SqliteCommitCounter) -> Box<Self> {
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

    /// Installs the hooks on `conn`. The hooks must outlive the connection.
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

    /// Records that an operation succeeded: its commit counts.
    #[inline]
    pub(super) fn settle(&self, conn: &Connection) {
        if self.wal.get() { self.settle_written(conn) } else { self.settle_announced(conn) }
    }

    /// Records a transaction that changed rows but wrote nothing.
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

    /// Transactions so far that changed rows but wrote nothing, which are not commits for SQLite.
    pub(super) fn unwritten(&self) -> u64 {
        self.unwritten.get()
    }

    /// Counts an announced commit: its operation succeeded, and no rollback has followed. A later rollback
    /// belongs to another transaction.
    #[inline]
    fn settle_announced(&self, conn: &Connection) {
        if self.announced.replace(false) {
            let total = raw::total_changes(conn);
            if self.changed.replace(Some(total)).is_none_or(|before| before < total) {
                self.count();
            }
        } else {
            self.refresh_changed(conn);
        }
    }

    /// After a rollback, reads the number of rows changed so far.
    #[inline]
    pub(super) fn refresh_changed(&self, conn: &Connection) {
        if self.changed.get().is_none() {
            self.changed.set(Some(raw::total_changes(conn)));
        }
    }

    fn count(&self) {
        self.commits.set(self.commits.get() + 1);
        self.committed.add_one();
    }

    /// Commits and rollbacks since the last call, which must be made between transactions.
    pub(super) fn take(&self, conn: &Connection) -> (u64, u64) {
        self.settle(conn);
        (self.commits.take(), self.rollbacks.take())
    }
}

/// The hooks behind a context.
///
/// # Safety
/// `context` was passed to SQLite by [`SqliteSessionHooks::install`].
unsafe fn hooks<'a>(context: *mut c_void) -> &'a SqliteSessionHooks {
    // SAFETY: as the caller promises; hooks are called on the thread that uses the session.
    unsafe { &*context.cast::<SqliteSessionHooks>() }
}

/// # Safety
/// SQLite calls it, with the context that [`SqliteSessionHooks::install`] passed, on the thread of the connection.
unsafe extern "C" fn on_commit(context: *mut c_void) -> c_int {
    // SAFETY: see `install`.
    let hooks = unsafe { hooks(context) };
    hooks.announced.set(true);
    0
}

/// # Safety
/// SQLite calls it, with the context that [`SqliteSessionHooks::install`] passed, on the thread of the connection.
unsafe extern "C" fn on_rollback(context: *mut c_void) {
    // SAFETY: see `install`.
    let hooks = unsafe { hooks(context) };
    hooks.announced.set(false);
    hooks.changed.set(None);
    hooks.rollbacks.set(hooks.rollbacks.get() + 1);
}

/// # Safety
/// SQLite calls it, with the context that [`SqliteSessionHooks::install`] passed, on the thread of the connection.
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
        // SAFETY: SQLite passes its own connection and database name. As with SQLite's automatic checkpoint,
        // a failure is not one of the commit, which is already durable; the next commit tries again.
        unsafe { ffi::sqlite3_wal_checkpoint_v2(db, name, passive, none, none) };
    }
    ffi::SQLITE_OK
}
