//! Opens and settles every connection of a server engine, each for a purpose.

use std::sync::Arc;

use crate::error::TargetError;
use crate::net::Breaker;
use crate::pool::{InterruptFn, LoadConnector};
use crate::row::TextRow;
use crate::session::SessionSetup;
use crate::target::RowCallback;

/// What a connection is for.
#[derive(Clone, Copy)]
pub enum ConnectionPurpose<'a> {
    /// Questions about the server, its settings and Dyno's data.
    Check,
    /// Statements of the user and questions about them, where names resolve as in sessions.
    Script,
    /// Control of a load or drop.
    Load,
    /// Filling and indexing Dyno's tables.
    LoadWork,
    /// Filling the user's tables, where names resolve as in sessions.
    Fill,
    /// The lock that excludes other Dyno processes as long as the connection lives.
    Lock,
    /// Reading counters before and after the window.
    Observe,
    /// Sampling waits of sessions during the window.
    Sample,
    /// The operations of one session of a run.
    Session(&'a SessionSetup),
}

impl ConnectionPurpose<'_> {
    /// The program name in the server's views.
    fn name(self) -> String {
        let word = match self {
            Self::Check => "check",
            Self::Script => "script",
            Self::Load | Self::LoadWork | Self::Fill => "load",
            Self::Lock => "lock",
            Self::Observe => "observer",
            Self::Sample => "sampler",
            Self::Session(setup) => return format!("dyno session {}", setup.number),
        };
        format!("dyno {word}")
    }
}

/// A connection that executes SQL as text.
pub trait TextConnection: Sized {
    /// Where and how to connect.
    type Config: Clone + Sync;

    /// Connects as the program `name`; `breaker` can interrupt the connection from the start.
    ///
    /// # Errors
    /// The server cannot be reached, or refuses.
    fn connect(config: &Self::Config, name: &str, breaker: &Breaker) -> Result<Self, TargetError>;

    /// The function that interrupts the connection, which was opened with `breaker`.
    fn interrupt(&self, breaker: Arc<Breaker>) -> InterruptFn;

    /// Executes one or several statements; returns all their rows.
    ///
    /// # Errors
    /// The server refuses, or the connection is lost.
    fn execute(&mut self, sql: &str) -> Result<Vec<TextRow>, TargetError>;

    /// Closes the connection in the protocol's own way.
    fn end(self);
}

/// The connections of one target.
#[derive(Debug)]
pub struct ServerConnections<C: TextConnection> {
    /// Where and how to connect.
    pub config: C::Config,
    /// The statements that settle a connection; empty for none.
    settings: fn(&C, ConnectionPurpose<'_>) -> String,
}

impl<C: TextConnection> ServerConnections<C> {
    /// Connections that make these settings.
    pub fn new(config: C::Config, settings: fn(&C, ConnectionPurpose<'_>) -> String) -> Self {
        Self { config, settings }
    }

    /// Opens a connection of this name without settings.
    ///
    /// # Errors
    /// The server cannot be reached, or refuses.
    pub fn plain(&self, name: &str) -> Result<C, TargetError> {
        C::connect(&self.config, name, &Breaker::default())
    }

    /// Opens a connection for a purpose without settings; `breaker` can interrupt it from the start.
    ///
    /// # Errors
    /// As [`Self::plain`].
    pub fn guarded(&self, purpose: ConnectionPurpose<'_>, breaker: &Breaker) -> Result<C, TargetError> {
        C::connect(&self.config, &purpose.name(), breaker)
    }

    /// Makes the settings of `purpose` in one request; returns its rows.
    ///
    /// # Errors
    /// The server refuses a setting, or the connection is lost.
    pub fn settle(
        &self,
        connection: &mut C,
        purpose: ConnectionPurpose<'_>,
    ) -> Result<Vec<TextRow>, TargetError> {
        match (self.settings)(connection, purpose) {
            none if none.is_empty() => Ok(Vec::new()),
            settings => connection.execute(&settings),
        }
    }

    /// Opens a connection for a purpose.
    ///
    /// # Errors
    /// As [`Self::plain`] and [`Self::settle`].
    pub fn open_for(&self, purpose: ConnectionPurpose<'_>) -> Result<C, TargetError> {
        self.interruptible(purpose).map(|(connection, _)| connection)
    }

    /// As [`Self::open_for`]; also returns the function that interrupts the connection.
    ///
    /// # Errors
    /// As [`Self::open_for`].
    pub fn interruptible(&self, purpose: ConnectionPurpose<'_>) -> Result<(C, InterruptFn), TargetError> {
        let breaker = Arc::new(Breaker::default());
        let mut connection = self.guarded(purpose, &breaker)?;
        self.settle(&mut connection, purpose)?;
        let interrupt = connection.interrupt(breaker);
        Ok((connection, interrupt))
    }

    /// Opens a connection for one question about the server and returns the answer.
    ///
    /// # Errors
    /// As [`Self::open_for`], and the errors of `question`.
    pub fn ask<T>(&self, question: impl FnOnce(&mut C) -> Result<T, TargetError>) -> Result<T, TargetError> {
        self.ask_for(ConnectionPurpose::Check, question)
    }

    /// As [`Self::ask`], on a connection for another purpose.
    ///
    /// # Errors
    /// As [`Self::ask`].
    pub fn ask_for<T>(
        &self,
        purpose: ConnectionPurpose<'_>,
        question: impl FnOnce(&mut C) -> Result<T, TargetError>,
    ) -> Result<T, TargetError> {
        let mut connection = self.open_for(purpose)?;
        let answer = question(&mut connection)?;
        connection.end();
        Ok(answer)
    }

    /// Implements [`Target::script`](crate::Target::script).
    ///
    /// # Errors
    /// As [`Target::script`](crate::Target::script).
    pub fn script(&self, statements: &[&str], on_rows: RowCallback<'_>) -> Result<(), TargetError> {
        self.ask_for(ConnectionPurpose::Script, |connection| {
            statements.iter().try_for_each(|sql| on_rows(connection.execute(sql)?))
        })
    }
}

impl<C: TextConnection> Clone for ServerConnections<C> {
    fn clone(&self) -> Self {
        Self::new(self.config.clone(), self.settings)
    }
}

impl<C: TextConnection> LoadConnector for ServerConnections<C> {
    type Connection = C;

    fn open(&self) -> Result<(C, InterruptFn), TargetError> {
        self.interruptible(ConnectionPurpose::LoadWork)
    }

    fn close(&self, connection: C) {
        connection.end();
    }
}
