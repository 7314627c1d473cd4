//! Reads a run's position in a campaign from the columns of `member`.

use rusqlite::Row;

use crate::membership::{PartOf, SweepKind};

/// A run's position in a campaign, from the columns of `member`; `None` for a single run.
pub(super) fn part_of(row: &Row<'_>) -> rusqlite::Result<Option<PartOf>> {
    let Some(id) = row.get::<_, Option<String>>("sweep")? else { return Ok(None) };
    let settings: String = row.get("settings")?;
    Ok(Some(PartOf {
        id,
        kind: SweepKind::from_name(&row.get::<_, String>("kind")?).unwrap_or(SweepKind::Sweep),
        point: row.get("point")?,
        repeat: row.get("repeat")?,
        side: row.get("side")?,
        settings: serde_json::from_str(&settings).unwrap_or_default(),
    }))
}
