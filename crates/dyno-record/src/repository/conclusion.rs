//! Stores the conclusion of a sweep, search, soak or A/B test.

use rusqlite::{OptionalExtension as _, params};

use super::{Repository, RepositoryError};

impl Repository {
    /// Stores the conclusion of the sweep with this name; it replaces an earlier one.
    ///
    /// # Errors
    /// No sweep has this name, or the file cannot be written.
    pub fn conclude(&self, sweep: &str, conclusion: &serde_json::Value) -> Result<(), RepositoryError> {
        let sql = "INSERT INTO conclusion (sweep, conclusion) VALUES (?1, ?2)
                   ON CONFLICT (sweep) DO UPDATE SET conclusion = excluded.conclusion";
        let values = params![sweep, conclusion.to_string()];
        self.connection.execute(sql, values).map(|_| ()).map_err(|e| self.classify_error(e))
    }

    /// The conclusion of the sweep with this name; `None` if none is stored.
    ///
    /// # Errors
    /// The file cannot be read, or the stored text is not JSON.
    pub fn conclusion(&self, sweep: &str) -> Result<Option<serde_json::Value>, RepositoryError> {
        let sql = "SELECT conclusion FROM conclusion WHERE sweep = ?1";
        let text: Option<String> = self
            .connection
            .query_row(sql, [sweep], |row| row.get(0))
            .optional()
            .map_err(|e| self.classify_error(e))?;
        text.map(|text| serde_json::from_str(&text)).transpose().map_err(|e| RepositoryError::Damaged {
            path: self.path.clone(),
            detail: format!("the conclusion of {sweep} is no JSON: {e}"),
        })
    }
}
