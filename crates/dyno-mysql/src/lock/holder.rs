//! Encodes the holder of a lock in the names of further locks.

use std::time::{Duration, Instant};

use crate::layout::literal;
use crate::wire::MySqlConnection;
use dyno_engine::{Holder, TargetError};

/// Seconds to wait for a holder that is ending: a server notices within a moment that its client has died.
pub(super) const DYING_S: f32 = 0.5;

/// Characters of the holder's description that are stored; a longer one loses the end of its host name.
pub(super) const LETTERS_MAX: usize = 80;

/// Bits per character: all are ASCII.
pub(super) const BITS: usize = 7;

/// The time that a holder may take to write its description after it has the lock.
const WRITING: Duration = Duration::from_millis(500);

pub(super) fn bit_name(name: &str, letter: usize, bit: usize) -> String {
    literal(&format!("{name}/{letter}.{bit}"))
}

/// Acquires the locks that encode `words`.
pub(super) fn write(connection: &mut MySqlConnection, name: &str, words: &str) -> Result<(), TargetError> {
    let bits = words.bytes().take(LETTERS_MAX).enumerate().flat_map(|(letter, byte)| {
        (0..BITS).filter(move |bit| byte >> bit & 1 == 1).map(move |bit| (letter, bit))
    });
    let calls: Vec<String> =
        bits.map(|(letter, bit)| format!("GET_LOCK({}, 0)", bit_name(name, letter, bit))).collect();
    connection.simple(&format!("SELECT {} AS dyno_lock", calls.join(" + ")))?;
    Ok(())
}

/// Reads the holder's description; waits until the holder has written it.
pub(super) fn read(connection: &mut MySqlConnection, name: &str) -> Result<Option<Holder>, TargetError> {
    let letter = |letter| {
        let bits = (0..BITS)
            .map(|bit| format!("IF(IS_USED_LOCK({}) IS NULL, 0, {})", bit_name(name, letter, bit), 1 << bit));
        bits.collect::<Vec<_>>().join(" + ")
    };
    let sql = format!("SELECT {} AS dyno_lock", (0..LETTERS_MAX).map(letter).collect::<Vec<_>>().join(", "));
    let until = Instant::now() + WRITING;
    loop {
        let rows = connection.simple(&sql)?;
        let letters =
            (0..LETTERS_MAX).map_while(|i| rows.first()?.parse::<u8>(i).filter(|&letter| letter > 0));
        let holder = Holder::decode(&letters.map(char::from).collect::<String>());
        if holder.is_some() || Instant::now() > until {
            return Ok(holder);
        }
    }
}

/// The id of the holder's connection, or `ID` if it is gone.
pub(super) fn holder_id(connection: &mut MySqlConnection, name: &str) -> Result<String, TargetError> {
    let rows = connection.simple(&format!("SELECT IS_USED_LOCK({}) AS dyno_lock", literal(name)))?;
    Ok(rows.first().and_then(|row| row.get(0)).unwrap_or("ID").to_owned())
}
