//! Statements: what a session prepares when it is opened, and executes with bound values.

use crate::error::OpError;

/// The type of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Type {
    /// A 64-bit integer.
    Int,
    /// A 64-bit floating-point number.
    Real,
    /// A text.
    Text,
    /// Bytes.
    Bytes,
    /// What the database reads as whatever stands there in the statement: a text that is a date, a decimal number or a UUID, or a
    /// number.
    Literal,
}

/// A value: of a parameter, or of a column that is read. NULL fits every type, the others their own; texts and numbers fit
/// [`Type::Literal`], too.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value<'a> {
    /// NULL.
    Null,
    /// A 64-bit integer.
    Int(i64),
    /// A 64-bit floating-point number.
    Real(f64),
    /// A text in UTF-8.
    Text(&'a [u8]),
    /// Bytes.
    Bytes(&'a [u8]),
}

impl Value<'_> {
    /// A key, a number of an operation, or whatever else counts from 0; none of Dyno's is above 2^62.
    #[inline]
    pub fn count(number: u64) -> Self {
        Self::Int(number as i64)
    }

    /// Whether it can be bound to a parameter of type `of`.
    pub fn fits(self, of: Type) -> bool {
        match self {
            Self::Null => true,
            Self::Int(_) => matches!(of, Type::Int | Type::Literal),
            Self::Real(_) => matches!(of, Type::Real | Type::Literal),
            Self::Text(_) => matches!(of, Type::Text | Type::Literal),
            Self::Bytes(_) => of == Type::Bytes,
        }
    }
}

/// The error of values that do not fit the parameters of a statement, of `types`.
#[cold]
pub fn misfit(types: &[Type], values: &[Value<'_>]) -> Box<OpError> {
    let place = values.iter().zip(types).position(|(value, &of)| !value.fits(of));
    let message = match place {
        Some(place) => {
            format!("parameter {} is {:?} and was given {:?}", place + 1, types[place], values[place])
        }
        None => format!("{} values were given for {} parameters", values.len(), types.len()),
    };
    OpError::fatal("values", message)
}

/// The error of a statement that a session does not have.
#[cold]
pub fn unknown(statement: StatementId) -> Box<OpError> {
    OpError::fatal("unprepared", format!("the session has no statement {}", statement.0))
}

/// The error of a session that is asked for a pipeline and has none.
#[cold]
pub fn no_pipeline() -> Box<OpError> {
    OpError::fatal("pipeline", "the session sends each request when the one before is answered")
}

/// What is read of a statement's answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// The integer in the first column of the last row, one below zero as its two's complement: of a count, or of a function. 0
    /// where it is NULL, or there is no row; an error where it is no integer.
    Number,
    /// Whether there is a row; its first column is read. There is no more than one.
    Row,
    /// How many rows there are; each comes to the client.
    Rows,
    /// The columns of the last row, which [`Session::answered`](crate::Session::answered) tells then, and how many rows there are.
    Columns,
    /// How many rows were changed, of which so many make one.
    Changed {
        /// Rows of the table that are one row of the workload; 1 but where a row has others beside it.
        per_row: u32,
    },
}

/// What of a statement commits when it is executed outside of a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Commits {
    /// Nothing that is told: it reads, or it is a step of transactions.
    Nothing,
    /// The statement, behind its end; where the boundary is seen it is told.
    Behind,
    /// The statement itself, as a block that ends with its commit; the number of changed rows is its last bind.
    Inside,
}

/// A statement that a session prepares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    /// Its name: letters, digits and underscores, unique within a session.
    pub name: String,
    /// Its text, in the engine's own SQL with the engine's own marks of parameters.
    pub sql: String,
    /// The types of its parameters, in the order in which values are bound.
    pub params: Vec<Type>,
    /// What is read of its answer.
    pub answer: Answer,
    /// What of it commits.
    pub commits: Commits,
    /// Whether it is work; one that only looks counts as the session's own trouble.
    pub works: bool,
}

impl Statement {
    /// One that reads.
    pub fn read(name: &str, sql: String, params: &[Type], answer: Answer) -> Self {
        let (name, params) = (name.to_owned(), params.to_vec());
        Self { name, sql, params, answer, commits: Commits::Nothing, works: true }
    }

    /// One that only looks: a number.
    pub fn look(name: &str, sql: String, params: &[Type]) -> Self {
        Self { works: false, ..Self::read(name, sql, params, Answer::Number) }
    }

    /// One that changes rows, and commits where it is executed alone.
    pub fn write(name: &str, sql: String, params: &[Type]) -> Self {
        let answer = Answer::Changed { per_row: 1 };
        Self { commits: Commits::Behind, ..Self::read(name, sql, params, answer) }
    }

    /// Whether it changes rows.
    pub fn writes(&self) -> bool {
        matches!(self.answer, Answer::Changed { .. })
    }
}

/// The number of a statement among those of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StatementId(pub u16);

impl StatementId {
    /// The number as an index.
    #[inline]
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// How much a transaction sees of others.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Isolation {
    /// As the platform has it.
    #[default]
    Platform,
    /// What others have committed by each statement.
    ReadCommitted,
    /// What others had committed when it began.
    RepeatableRead,
    /// As if there were no others.
    Serializable,
}

impl Isolation {
    /// Its words in the SQL standard; none for the platform's own.
    pub fn words(self) -> Option<&'static str> {
        match self {
            Self::Platform => None,
            Self::ReadCommitted => Some("READ COMMITTED"),
            Self::RepeatableRead => Some("REPEATABLE READ"),
            Self::Serializable => Some("SERIALIZABLE"),
        }
    }
}

/// What a session is asked to do.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Request<'a> {
    /// Executes a statement with these values: alone, or as a step of the transaction that has begun.
    Execute(StatementId, &'a [Value<'a>]),
    /// Begins a transaction.
    Begin(Isolation),
    /// Commits it.
    Commit,
    /// Takes it back; also one that the database has taken back by itself after an error.
    Rollback,
    /// Keeps a request, to be sent together with the next that is not kept; only engines whose sessions
    /// [pipeline](crate::Capabilities::pipelines) are asked. It has no answer of its own: [`Session::queued`](crate::Session::queued)
    /// tells what came of it when that of the other is there, whose error may be this one's. After an error nothing behind it is done.
    Queue(&'a Request<'a>),
    /// Sends what was kept.
    Flush,
    /// Writes rows `first` to `first + rows - 1` of the table that the setup tells of, by the engine's own bulk path, as one
    /// transaction. Only asked outside of one, and never in two halves.
    Fill {
        /// The first row, from 1.
        first: u64,
        /// How many.
        rows: u64,
    },
    /// Makes everything this session has done visible to observers, and nothing it does within the next second or so where the
    /// engine batches its statistics.
    Edge,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn null_fits_everywhere_and_other_values_their_own_type() {
        for of in [Type::Int, Type::Real, Type::Text, Type::Bytes, Type::Literal] {
            assert!(Value::Null.fits(of));
            assert_eq!(Value::Int(1).fits(of), matches!(of, Type::Int | Type::Literal));
            assert_eq!(Value::Real(1.0).fits(of), matches!(of, Type::Real | Type::Literal));
            assert_eq!(Value::Text(b"1").fits(of), matches!(of, Type::Text | Type::Literal));
        }
    }
}
