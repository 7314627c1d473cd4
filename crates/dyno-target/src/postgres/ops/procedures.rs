//! The stored procedures of the server drive: one for each set of operation classes, so that none of them branches on
//! what it never does.

/// Name and text of each procedure, with `{n}` for the schema's number.
const PROCEDURES: [(&str, &str); 7] = [
    ("slice_select", include_str!("../sql/slice_select.sql")),
    ("slice_lookup", include_str!("../sql/slice_lookup.sql")),
    ("slice_scan", include_str!("../sql/slice_scan.sql")),
    ("slice_update_lite", include_str!("../sql/slice_update_lite.sql")),
    ("slice_update_heavy", include_str!("../sql/slice_update_heavy.sql")),
    ("slice_mixed_lite", include_str!("../sql/slice_mixed_lite.sql")),
    ("slice_mixed_heavy", include_str!("../sql/slice_mixed_heavy.sql")),
];

/// Full name and `CREATE` statement of every procedure for `schema`; `DROP PROCEDURE name` removes it.
pub fn slice_sql(schema: u32) -> Vec<(String, String)> {
    let number = schema.to_string();
    PROCEDURES
        .iter()
        .map(|(name, sql)| (format!("dyno.{name}_{schema}"), sql.replace("{n}", &number)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_procedure_is_made_under_its_name() {
        for (name, sql) in slice_sql(12) {
            assert!(sql.contains(&format!("PROCEDURE {name}(")), "{name}");
            assert!(!sql.contains('{'), "{name} has a placeholder left");
        }
    }
}
