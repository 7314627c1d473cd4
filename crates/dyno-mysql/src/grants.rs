//! The statements with which an administrator grants a user its rights: hints name one, `dyno check --grants`
//! prints all.

use dyno_engine::grants::{literal, one_line, quoted};

/// The statements for one user and database. The host of the account is `%`.
#[derive(Debug, Clone)]
pub(crate) struct MySqlGrants {
    account: String,
    user: String,
    database: String,
    /// Name of the database within a comment.
    plain_database: String,
}

impl MySqlGrants {
    pub(crate) fn new(user: &str, database: &str) -> Self {
        Self {
            account: format!("{}@'%'", literal(user)),
            user: literal(user),
            // In a grant, `_` stands for any character.
            database: quoted(&database.replace('_', "\\_"), '`'),
            plain_database: one_line(database),
        }
    }

    /// Required for load, run and drop, in this database only.
    pub(crate) fn load(&self) -> String {
        format!(
            "GRANT SELECT, INSERT, UPDATE, DELETE, CREATE, DROP, ALTER, INDEX, CREATE ROUTINE, ALTER ROUTINE, EXECUTE ON {}.* TO {};",
            self.database, self.account
        )
    }

    /// To run on data that another user loaded.
    pub(crate) fn run(&self) -> String {
        format!("GRANT SELECT, INSERT, UPDATE, DELETE, EXECUTE ON {}.* TO {};", self.database, self.account)
    }

    /// To see other users' sessions.
    pub(crate) fn process(&self) -> String {
        format!("GRANT PROCESS ON *.* TO {};", self.account)
    }

    /// For exact page counts after a load.
    pub(crate) fn page_counts(&self) -> String {
        format!("GRANT SELECT ON mysql.innodb_index_stats TO {};", self.account)
    }

    /// To read counters and waits that only `performance_schema` has.
    pub(crate) fn performance_schema(&self) -> String {
        format!("GRANT SELECT ON performance_schema.* TO {};", self.account)
    }

    /// The script that `dyno check --grants` prints.
    pub(crate) fn script(&self) -> String {
        include_str!("sql/grants.sql")
            .replace("{load}", &self.load())
            .replace("{run}", &self.run())
            .replace("{process}", &self.process())
            .replace("{page_counts}", &self.page_counts())
            .replace("{performance_schema}", &self.performance_schema())
            .replace("{user}", &self.user)
            .replace("{database}", &self.database)
            .replace("{database_name}", &self.plain_database)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mysql_grants_script_contains_every_statement_of_hints() {
        let grants = MySqlGrants::new("some_one", "my_bench");
        let script = grants.script();
        let hints = [
            grants.load(),
            grants.run(),
            grants.process(),
            grants.page_counts(),
            grants.performance_schema(),
        ];
        for statement in hints {
            let is_line = |line: &str| line.trim_start_matches("-- ") == statement;
            assert!(script.lines().any(is_line), "{statement}\n{script}");
        }
    }
}
