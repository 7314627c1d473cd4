//! Reads Oracle's own measurement of its storage.

use dyno_engine::TargetError;
use dyno_record::OwnCalibration;

use super::super::connection::{OracleConnection, TextRow};
use super::super::sql;

/// The last calibration; `None` if there is none or this user may not see it.
pub(super) fn calibrated(connection: &OracleConnection) -> Result<Option<OwnCalibration>, TargetError> {
    let rows = connection.rows_if_allowed(&sql::IO_CALIBRATE.text(), &[])?;
    Ok(rows.as_deref().and_then(<[TextRow]>::first).and_then(parse_calibration))
}

/// A row with missing figures does not count: a running calibration has no end time.
fn parse_calibration(row: &TextRow) -> Option<OwnCalibration> {
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
    fn incomplete_io_calibration_is_absent() {
        let row = |ended: Option<&str>| {
            let figures = ["12500", "1830", "410", "3"].map(|figure| Some(figure.to_owned()));
            TextRow(figures.into_iter().chain([ended.map(str::to_owned)]).collect())
        };
        let calibration = parse_calibration(&row(Some("2026-11-02 03:14:15"))).unwrap();
        assert_eq!((calibration.requests_per_s, calibration.mb_per_s), (12_500.0, 1_830.0));
        assert_eq!((calibration.process_mb_per_s, calibration.latency_ms), (410.0, 3.0));
        assert_eq!(parse_calibration(&row(None)), None, "it is under way");
    }
}
