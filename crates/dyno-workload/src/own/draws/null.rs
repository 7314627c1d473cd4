//! Values that are NULL for the statements that they are given to.

use crate::own::expr::Expr;
use crate::own::fault::Fault;
use crate::own::table::Table;

/// Tells whether a value is NULL from what it is.
pub(in crate::own) const NULL: u64 = 0x6e75_6c6c;
/// Shares of NULL are counted in parts of so many.
pub(in crate::own) const NULL_PARTS: u64 = 1_000_000_000;

/// How many of [`NULL_PARTS`] of the values of `table`, a draw or a column, are NULL: its `null_pct`.
///
/// # Errors
/// That is no share.
pub(in crate::own) fn null_share(table: &Table<'_>) -> Result<u32, Fault> {
    let Some(share) = table.get("null_pct") else { return Ok(0) };
    match share.real("a share: 5")? {
        number if (0.0..=100.0).contains(&number) => Ok((number / 100.0 * NULL_PARTS as f64).round() as u32),
        number => Err(share.fault(format!("{number} is not from 0 to 100"), "")),
    }
}

/// Which values of a draw are NULL for the statements that they are given to.
#[derive(Debug, Clone)]
pub(in crate::own) struct Null {
    /// How many of [`NULL_PARTS`], whatever they are.
    pub(in crate::own) share: u32,
    /// And those where this holds.
    pub(in crate::own) when: Option<Expr>,
    /// The counter that says whether this one is.
    pub(in crate::own) counter: usize,
}
