//! Values that statements receive as NULL.

use crate::custom::expr::Expr;
use crate::custom::fault::WorkloadError;
use crate::custom::table::TomlTable;

/// Separates the random number for NULL from the one for the value.
pub(in crate::custom) const NULL: u64 = 0x6e75_6c6c;
/// The unit for shares of NULL.
pub(in crate::custom) const NULL_PARTS: u64 = 1_000_000_000;

/// How many of [`NULL_PARTS`] values of `table`, a generator or column, are NULL: its `null_pct`.
///
/// # Errors
/// It is not a percentage.
pub(in crate::custom) fn null_share(table: &TomlTable<'_>) -> Result<u32, WorkloadError> {
    let Some(share) = table.get("null_pct") else { return Ok(0) };
    match share.real("a share: 5")? {
        number if (0.0..=100.0).contains(&number) => Ok((number / 100.0 * NULL_PARTS as f64).round() as u32),
        number => Err(share.fault(format!("{number} is not from 0 to 100"), "")),
    }
}

/// Which values of a generator statements receive as NULL.
#[derive(Debug, Clone)]
pub(in crate::custom) struct Null {
    /// Random share, as a number of [`NULL_PARTS`].
    pub(in crate::custom) share: u32,
    /// A condition under which the value is NULL, in addition to `share`.
    pub(in crate::custom) when: Option<Expr>,
    /// The counter that is 1 if the current value is NULL.
    pub(in crate::custom) counter: usize,
}
