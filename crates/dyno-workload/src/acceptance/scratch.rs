//! The scratch table of the acceptance test, with a column of every type.

use dyno_engine::{ColumnDefinition, ColumnType, NewTable, ObjectKind, Target, TargetError};

/// The columns of the table in order.
pub(super) const COLUMNS: [(&str, ColumnType); 9] = [
    ("id", ColumnType::Integer),
    ("big", ColumnType::Bigint),
    ("amount", ColumnType::Decimal(18, 4)),
    ("ratio", ColumnType::Real),
    ("label", ColumnType::Varchar(40)),
    ("day", ColumnType::Date),
    ("moment", ColumnType::Timestamp),
    ("raw_bytes", ColumnType::Bytes(200)),
    ("body", ColumnType::Text),
];

/// The table's name, in the same schema as the test data.
pub(super) fn name(target: &dyn Target) -> String {
    format!("{}accept_types", target.dialect().prefix)
}

/// Fails if a table with this name exists, including tables of other users.
///
/// # Errors
/// The table exists, or the target cannot be read.
pub(super) fn require_free(target: &dyn Target) -> Result<(), TargetError> {
    match is_there(target)? {
        false => Ok(()),
        true => {
            let name = name(target);
            Err(TargetError::data(format!(
                "the table {name} already exists, and the acceptance creates one with that name"
            ))
            .hint(format!(
                "an acceptance that was killed can leave it behind: DROP TABLE {name}, unless it \
                           is yours"
            )))
        }
    }
}

fn is_there(target: &dyn Target) -> Result<bool, TargetError> {
    Ok(!target.find(ObjectKind::Table, &[&name(target)])?.is_empty())
}

/// Creates the table, runs `work`, and always drops the table.
///
/// # Errors
/// Errors of `work`, or the table cannot be created or dropped.
pub(super) fn with_table<T>(
    target: &dyn Target,
    work: impl FnOnce() -> Result<T, TargetError>,
) -> Result<T, TargetError> {
    let columns = COLUMNS.map(|(name, of)| ColumnDefinition { name: name.to_owned(), column_type: of });
    let words = target.table_words();
    let create = words.create_table(&NewTable {
        name: &name(target),
        columns: &columns,
        key: &["id"],
        required_key: None,
        constraints: &[],
        logged: true,
    });
    let create = create.ok_or_else(|| TargetError::unsupported("the engine cannot create such a table"))?;
    let key = format!("ALTER TABLE {} ADD PRIMARY KEY (id)", name(target));
    let statements = match words.key_first {
        true => vec![create.as_str()],
        false => vec![create.as_str(), key.as_str()],
    };
    let outcome = target.script(&statements, &mut |_| Ok(())).and_then(|()| work());
    remove(target)?;
    outcome
}

/// Drops the table if it exists.
///
/// # Errors
/// The target is unreachable or refuses to drop it.
pub(super) fn remove(target: &dyn Target) -> Result<(), TargetError> {
    if !is_there(target)? {
        return Ok(());
    }
    let statement = target.table_words().drop_table(&name(target));
    target.script(&[&statement], &mut |_| Ok(()))
}
