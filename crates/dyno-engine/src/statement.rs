//! Statements that a session prepares when it is opened, and executes with bound values.

use crate::error::OpError;

/// The type of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Type {
    /// A signed 64-bit integer value.
    Int,
    /// A 64-bit floating-point number, as IEEE 754.
    Real,
    /// A text in UTF-8 encoding.
    Text,
    /// A sequence of arbitrary bytes.
    Bytes,
    /// A text that the database reads as the type the statement expects there, such as a date, a decimal
    /// number or a UUID; or a number.
    Literal,
}

/// The value of a parameter, or of a column that was read. NULL fits every type, other values fit their own
/// type. Texts and numbers also fit [`Type::Literal`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value<'a> {
    /// NULL, for every type of parameter.
    Null,
    /// A signed 64-bit integer value.
    Int(i64),
    /// A 64-bit floating-point number, as IEEE 754.
    Real(f64),
    /// A text, encoded in UTF-8.
    Text(&'a [u8]),
    /// A sequence of arbitrary bytes.
    Bytes(&'a [u8]),
}

impl Value<'_> {
    /// A key, an operation's number, or another count from 0; none of Dyno's is above 2^62.
    #[inline]
    pub fn count(number: u64) -> Self {
        Self::Int(number as i64)
    }

    /// Whether it can be bound to a parameter of type `parameter_type`.
    pub fn fits(self, parameter_type: Type) -> bool {
        match self {
            Self::Null => true,
            Self::Int(_) => matches!(parameter_type, Type::Int | Type::Literal),
            Self::Real(_) => matches!(parameter_type, Type::Real | Type::Literal),
            Self::Text(_) => matches!(parameter_type, Type::Text | Type::Literal),
            Self::Bytes(_) => parameter_type == Type::Bytes,
        }
    }
}

/// The error of values that do not fit a statement's parameters of `types`.
#[cold]
pub fn misfit(types: &[Type], values: &[Value<'_>]) -> Box<OpError> {
    let place = values.iter().zip(types).position(|(value, &of)| !value.fits(of));
    let message = match place {
        Some(place) => {
            format!("parameter {} has type {:?} and was given {:?}", place + 1, types[place], values[place])
        }
        None => format!("{} values were given for {} parameters", values.len(), types.len()),
    };
    OpError::fatal("values", message)
}

/// The error of a statement that the session does not have.
#[cold]
pub fn unknown(statement: StatementId) -> Box<OpError> {
    OpError::fatal("unprepared", format!("the session has no statement {}", statement.0))
}

/// The error of a session that does not support pipelines.
#[cold]
pub fn no_pipeline() -> Box<OpError> {
    OpError::fatal(
        "pipeline",
        "the session does not support pipelines: it waits for each answer before it \
        sends the next request",
    )
}

/// What the session reads from a statement's answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResultKind {
    /// The integer in the first column of the last row, such as a count; negative values as two's complement.
    /// 0 where it is NULL or there is no row; an error where it is not an integer.
    Number,
    /// Whether there is a row; its first column is read. There is at most one.
    Row,
    /// The number of rows; the client receives each of them.
    Rows,
    /// The columns of the last row, for [`Session::answered`](crate::Session::answered), and the number of
    /// rows.
    Columns,
    /// The number of changed rows, divided by `per_row`.
    Changed {
        /// Table rows that make one row of the workload; 1 unless a row has others with it.
        per_row: u32,
    },
}

/// How a statement commits when it is executed outside of a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Commits {
    /// No commit is reported: the statement reads, or belongs to a transaction.
    Nothing,
    /// The statement commits after its end; the session reports that boundary where it sees it.
    Behind,
    /// The statement is a block that ends with its commit; its last bind returns the number of changed rows.
    Inside,
}

/// A statement that a session prepares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    /// Its name: letters, digits and underscores, unique within a session.
    pub name: String,
    /// Its text in the engine's SQL, with the engine's placeholders.
    pub sql: String,
    /// The types of its parameters, in the order in which values are bound.
    pub params: Vec<Type>,
    /// What the session reads from its answer.
    pub answer: ResultKind,
    /// How it commits outside of a transaction.
    pub commits: Commits,
    /// Whether it is work of the workload; a check counts as the session's overhead.
    pub works: bool,
}

impl Statement {
    /// A statement that only reads rows.
    pub fn read(name: &str, sql: String, params: &[Type], answer: ResultKind) -> Self {
        let (name, params) = (name.to_owned(), params.to_vec());
        Self { name, sql, params, answer, commits: Commits::Nothing, works: true }
    }

    /// A statement that checks data and returns a number.
    pub fn look(name: &str, sql: String, params: &[Type]) -> Self {
        Self { works: false, ..Self::read(name, sql, params, ResultKind::Number) }
    }

    /// A statement that changes rows, and commits where it is executed alone.
    pub fn write(name: &str, sql: String, params: &[Type]) -> Self {
        let answer = ResultKind::Changed { per_row: 1 };
        Self { commits: Commits::Behind, ..Self::read(name, sql, params, answer) }
    }

    /// Whether executing it changes rows.
    pub fn writes(&self) -> bool {
        matches!(self.answer, ResultKind::Changed { .. })
    }
}

/// The number of a statement within its session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StatementId(pub u16);

impl StatementId {
    /// The number as an index into the session's statements.
    #[inline]
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// The isolation level of a transaction.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Isolation {
    /// The platform's default level.
    #[default]
    Platform,
    /// Each statement sees what others have committed.
    ReadCommitted,
    /// The transaction sees what others had committed when it began.
    RepeatableRead,
    /// The transaction runs as if no others existed.
    Serializable,
}

impl Isolation {
    /// The level's name in the SQL standard; absent for the platform's default.
    pub fn words(self) -> Option<&'static str> {
        match self {
            Self::Platform => None,
            Self::ReadCommitted => Some("READ COMMITTED"),
            Self::RepeatableRead => Some("REPEATABLE READ"),
            Self::Serializable => Some("SERIALIZABLE"),
        }
    }
}

/// A request to a session.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SessionRequest<'a> {
    /// Executes a statement with these values: alone, or as a step of the open transaction.
    Execute(StatementId, &'a [Value<'a>]),
    /// Begins a transaction at this level.
    Begin(Isolation),
    /// Commits the transaction that is open.
    Commit,
    /// Rolls the transaction back; also one that the database has already rolled back after an error.
    Rollback,
    /// Keeps a request and sends it together with the next one that is not queued. Only engines whose
    /// sessions [pipeline](crate::Capabilities::pipelines) receive it. It has no answer of its own:
    /// [`Session::queued`](crate::Session::queued) returns its result after the other request. An error of
    /// that one may be this one's; after an error no later request is executed.
    Queue(&'a SessionRequest<'a>),
    /// Sends all requests that are queued.
    Flush,
    /// Writes rows `first` to `first + rows - 1` of the setup's table by the engine's bulk path, in one
    /// transaction. Only sent outside of a transaction, and never through [`Duplex`](crate::Duplex).
    Fill {
        /// The first row, from 1.
        first: u64,
        /// Number of rows, at least 1.
        rows: u64,
    },
    /// Makes all work of this session visible to observers. Where the engine batches its statistics, later
    /// work stays invisible for about a second.
    Edge,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn null_fits_every_type_and_values_fit_their_own() {
        for of in [Type::Int, Type::Real, Type::Text, Type::Bytes, Type::Literal] {
            assert!(Value::Null.fits(of));
            assert_eq!(Value::Int(1).fits(of), matches!(of, Type::Int | Type::Literal));
            assert_eq!(Value::Real(1.0).fits(of), matches!(of, Type::Real | Type::Literal));
            assert_eq!(Value::Text(b"1").fits(of), matches!(of, Type::Text | Type::Literal));
        }
    }
}
