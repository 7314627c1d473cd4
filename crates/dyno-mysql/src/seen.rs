//! Statements that the server has seen: the digests of `performance_schema`.

use dyno_engine::seen::{Asked, MOST, Marks, Order, Seen, SeenStatement};
use dyno_engine::{Refusal as _, Row, TargetError};

use super::layout::literal;
use super::wire::{Connection, MyError};

/// Whether digests are kept: the schema as a whole, their consumer, how many there may be, and how long a text may be.
const KEPT: &str = "SELECT @@performance_schema,
       (SELECT ENABLED FROM performance_schema.setup_consumers WHERE NAME = 'statements_digest'),
       @@performance_schema_digests_size, LEAST(@@max_digest_length, @@performance_schema_max_digest_length), DATABASE()";

/// Picoseconds of a second.
const PICO: f64 = 1e12;

/// What can be told of the statements that were `asked` for.
pub(super) fn seen(connection: &mut Connection, asked: &Asked) -> Result<Seen, TargetError> {
    if asked.user.is_some() {
        let message = "digests do not tell which user a statement is from";
        return Err(TargetError::unsupported(message)
            .hint("leave --user out; --schema NAME takes those of one database"));
    }
    let may_not_read = |error: TargetError| match MyError::of(&error).map(MyError::code).as_deref() {
        Some("1142" | "1044" | "1227") => error
            .during("performance_schema.events_statements_summary_by_digest")
            .hint("GRANT SELECT ON performance_schema.* TO the user of --target"),
        _ => error,
    };
    let kept = connection.simple(KEPT).map_err(may_not_read)?;
    let of = |index: usize| kept.first().map_or("", |row| row.text(index));
    let off = |message: &str, hint: &str| Err(TargetError::unsupported(message).hint(hint));
    if of(0) != "1" {
        return off(
            "performance_schema is off, and nothing else keeps statements",
            "set performance_schema = ON in the server's option file and restart it, then let the application work for a while",
        );
    }
    if of(1) != "YES" {
        return off(
            "the consumer statements_digest of performance_schema is off",
            "UPDATE performance_schema.setup_consumers SET ENABLED = 'YES' WHERE NAME = 'statements_digest'; then let the application work for a while",
        );
    }
    if of(2) == "0" || of(3) == "0" {
        return off(
            "performance_schema_digests_size, max_digest_length or performance_schema_max_digest_length is 0: no statements are kept",
            "leave them out of the server's option file and restart it",
        );
    }
    let length_max = of(3).parse().unwrap_or(0);
    let schema = match (&asked.schema, of(4)) {
        (Some(schema), _) => schema.clone(),
        (None, "") => {
            return off("no database is named", "name one in the URL of --target, or with --schema NAME");
        }
        (None, own) => own.to_owned(),
    };
    let order = match asked.order {
        Order::Time => "SUM_TIMER_WAIT",
        Order::Calls => "COUNT_STAR",
        Order::Reads => "SUM_ROWS_EXAMINED",
    };
    // The name is put in last, as it may hold braces.
    let sql = include_str!("sql/seen.sql")
        .replace("{order}", order)
        .replace("{most}", &MOST.to_string())
        .replace("{schema}", &literal(&schema));
    let rows = connection.simple(&sql).map_err(may_not_read)?;
    let mut notes = Vec::new();
    if let Some(since) = connection.simple(SINCE).map_err(may_not_read)?.first().and_then(|row| row.get(0)) {
        notes.push(format!("counted since {since}"));
    }
    if let Some(lost) = lost(connection).map_err(may_not_read)? {
        notes.push(lost);
    }
    Ok(Seen {
        source: format!("the digests of database {schema}"),
        marks: Marks::Question,
        schemas: &["mysql", "sys", "information_schema", "performance_schema"],
        reads: "rows looked at",
        statements: rows.iter().map(|row| one(row, length_max)).collect(),
        notes,
    })
}

const SINCE: &str = "SELECT MIN(FIRST_SEEN) FROM performance_schema.events_statements_summary_by_digest";

/// Executions for whose digests there was no place.
fn lost(connection: &mut Connection) -> Result<Option<String>, TargetError> {
    let rows = connection.simple(
        "SELECT COUNT_STAR FROM performance_schema.events_statements_summary_by_digest WHERE DIGEST IS NULL",
    )?;
    let calls: u64 = rows.first().and_then(|row| row.parse(0)).unwrap_or(0);
    Ok((calls > 0).then(|| {
        format!("{calls} executions on the whole server had no place for their digest: performance_schema_digests_size keeps more")
    }))
}

/// A statement, whose text is cut behind so many bytes of its tokens.
fn one(row: &Row, length_max: usize) -> SeenStatement {
    let text = row.get(1).map(str::to_owned);
    SeenStatement {
        id: row.text(0).to_owned(),
        whole: text.as_ref().map(|text| !is_cut(text, length_max)),
        text,
        calls: row.parse(2),
        time_s: row.parse::<f64>(3).map(|pico| pico / PICO),
        rows: row.parse(4),
        reads: row.parse(5),
    }
}

/// What a token takes of the place for a statement's digest, and what a name takes beside its letters, bytes.
const TOKEN_BYTES: usize = 2;
const NAME_BYTES: usize = 4;
/// A token that had no place any more took so many bytes at most: a name of 64 letters.
const LAST_MAX: usize = NAME_BYTES + 64;

/// Whether a text may end before its statement does. MySQL writes `...` where it has cut one, MariaDB nothing: there what is kept is as
/// long as it may be, but for the token that had no place.
fn is_cut(text: &str, length_max: usize) -> bool {
    // Several values end so, too: `LIMIT ?, ...`.
    let dots = text.trim_end().ends_with("...") && !text.trim_end().ends_with("?, ...");
    dots || kept_bytes(text) + LAST_MAX.min(length_max / 4) > length_max
}

/// The bytes that the tokens of a digest's text take: what stands between spaces is one, and names are in backquotes.
fn kept_bytes(text: &str) -> usize {
    let (mut bytes, mut in_name, mut in_word) = (0, false, false);
    for c in text.chars() {
        match c {
            '`' => {
                bytes += if in_name { 0 } else { NAME_BYTES };
                (in_name, in_word) = (!in_name, true);
            }
            _ if in_name => bytes += c.len_utf8(),
            ' ' => in_word = false,
            _ if !in_word => (bytes, in_word) = (bytes + TOKEN_BYTES, true),
            _ => {}
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_cut_is_told_from_several_values() {
        assert!(is_cut("SELECT `a` FROM `t` WHERE `b` ...", 1024));
        assert!(!is_cut("SELECT `a` FROM `t` LIMIT ?, ...", 1024));
        assert!(!is_cut("SELECT `a` FROM `t` WHERE `b` IN (...)", 1024));
        assert!(!is_cut("INSERT INTO `t` VALUES (...) /* , ... */", 1024));
        // SELECT ? , ? , … with as many names as have a place.
        let long = |names: usize| format!("SELECT {}", "`column_123` , ".repeat(names));
        assert_eq!(kept_bytes(&long(10)), 2 + 10 * (4 + 10 + 2));
        assert!(!is_cut(&long(59), 1024));
        assert!(is_cut(&long(63), 1024));
        assert!(!is_cut(&long(63), 4096));
    }
}
