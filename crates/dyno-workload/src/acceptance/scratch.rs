//! The one table that the acceptance makes beside the test data, for values of every type.

use dyno_engine::{Column, ColumnType, NewTable, ObjectKind, Target, TargetError};

/// The columns of the table, in their order.
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

/// The table's name, beside the tables of the test data.
pub(super) fn name(target: &dyn Target) -> String {
    format!("{}accept_types", target.dialect().prefix)
}

/// Fails where there is a table of this name, whosever it is.
///
/// # Errors
/// There is one, or the target cannot be looked at.
pub(super) fn require_free(target: &dyn Target) -> Result<(), TargetError> {
    match is_there(target)? {
        false => Ok(()),
        true => {
            let name = name(target);
            Err(TargetError::data(format!(
                "the table {name} is there already, and the acceptance makes one of that name"
            ))
            .hint(format!("an acceptance that was killed leaves it: DROP TABLE {name}, if it is not yours")))
        }
    }
}

fn is_there(target: &dyn Target) -> Result<bool, TargetError> {
    Ok(!target.find(ObjectKind::Table, &[&name(target)])?.is_empty())
}

/// Makes the table, does `work`, and drops the table whatever that came to.
///
/// # Errors
/// Those of `work`; or the table cannot be made or dropped.
pub(super) fn with_table<T>(
    target: &dyn Target,
    work: impl FnOnce() -> Result<T, TargetError>,
) -> Result<T, TargetError> {
    let columns = COLUMNS.map(|(name, of)| Column { name: name.to_owned(), of });
    let words = target.table_words();
    let create = words.create_table(&NewTable {
        name: &name(target),
        columns: &columns,
        key: &["id"],
        required_key: None,
        constraints: &[],
        logged: true,
    });
    let create = create.ok_or_else(|| TargetError::unsupported("the engine makes no such table"))?;
    let key = format!("ALTER TABLE {} ADD PRIMARY KEY (id)", name(target));
    let statements = match words.key_first {
        true => vec![create.as_str()],
        false => vec![create.as_str(), key.as_str()],
    };
    let outcome = target.script(&statements, &mut |_| Ok(())).and_then(|()| work());
    remove(target)?;
    outcome
}

/// Drops the table, where it is there.
///
/// # Errors
/// The target cannot be reached, or does not let it go.
pub(super) fn remove(target: &dyn Target) -> Result<(), TargetError> {
    if !is_there(target)? {
        return Ok(());
    }
    let statement = target.table_words().drop_table(&name(target));
    target.script(&[&statement], &mut |_| Ok(()))
}
