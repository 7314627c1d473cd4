//! What Oracle itself has measured of its storage.

use dyno_engine::TargetError;
use dyno_record::OwnCalibration;

use super::super::connection::{Connection, Row};
use super::super::sql;

/// Its last calibration; nothing where nobody has made one, or this user may not see it.
pub(super) fn calibrated(connection: &Connection) -> Result<Option<OwnCalibration>, TargetError> {
    let rows = connection.rows_if_allowed(&sql::IO_CALIBRATE.text(), &[])?;
    Ok(rows.as_deref().and_then(<[Row]>::first).and_then(of))
}

/// A row without all of its figures is none: a calibration under way has no end.
fn of(row: &Row) -> Option<OwnCalibration> {
    Some(OwnCalibration {
        requests_per_s: row.parse(0)?,
        mb_per_s: row.parse(1)?,
        process_mb_per_s: row.parse(2)?,
        latency_ms: row.parse(3)?,
        ended_at: row.get(4)?.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_calibration_has_all_its_figures_or_is_none() {
        let row = |ended: Option<&str>| {
            let figures = ["12500", "1830", "410", "3"].map(|figure| Some(figure.to_owned()));
            Row(figures.into_iter().chain([ended.map(str::to_owned)]).collect())
        };
        let own = of(&row(Some("2026-11-02 03:14:15"))).unwrap();
        assert_eq!((own.requests_per_s, own.mb_per_s), (12_500.0, 1_830.0));
        assert_eq!((own.process_mb_per_s, own.latency_ms), (410.0, 3.0));
        assert_eq!(of(&row(None)), None, "it is under way");
    }
}
