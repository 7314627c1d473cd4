//! The statements with which an administrator grants a user its rights: hints name one, `dyno check --grants`
//! prints all.

use dyno_engine::grants::{one_line, quoted};

use crate::schema::SCHEMA;

/// The statements for one user and database.
#[derive(Debug, Clone)]
pub(crate) struct PostgresGrants {
    user: String,
    database: String,
    /// Name of the database within a comment.
    plain_database: String,
}

impl PostgresGrants {
    pub(crate) fn new(user: &str, database: &str) -> Self {
        Self { user: quoted(user, '"'), database: quoted(database, '"'), plain_database: one_line(database) }
    }

    /// To connect, and to create the schema of the data: required for load, run and drop.
    pub(crate) fn load(&self) -> String {
        format!("GRANT CONNECT, CREATE ON DATABASE {} TO {};", self.database, self.user)
    }

    /// To load into the schema that another user created.
    pub(crate) fn load_into_schema(&self) -> String {
        format!("GRANT USAGE, CREATE ON SCHEMA {SCHEMA} TO {};", self.user)
    }

    /// To load tables of a custom workload.
    pub(crate) fn load_own(&self) -> String {
        format!("GRANT USAGE, CREATE ON SCHEMA public TO {};", self.user)
    }

    /// To run on data that another user loaded.
    pub(crate) fn run(&self) -> [String; 3] {
        [
            format!("GRANT USAGE ON SCHEMA {SCHEMA} TO {};", self.user),
            format!(
                "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {SCHEMA} TO {};",
                self.user
            ),
            format!("GRANT EXECUTE ON ALL PROCEDURES IN SCHEMA {SCHEMA} TO {};", self.user),
        ]
    }

    /// To see other users' sessions and the server's directories.
    pub(crate) fn monitor(&self) -> String {
        format!("GRANT pg_monitor TO {};", self.user)
    }

    /// The script that `dyno check --grants` prints.
    pub(crate) fn script(&self) -> String {
        include_str!("sql/grants.sql")
            .replace("{load}", &self.load())
            .replace("{load_into_schema}", &self.load_into_schema())
            .replace("{load_own}", &self.load_own())
            .replace("{run}", &self.run().join("\n-- "))
            .replace("{monitor}", &self.monitor())
            .replace("{user}", &self.user)
            .replace("{database}", &self.database)
            .replace("{database_name}", &self.plain_database)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn postgres_grants_script_contains_every_statement_of_hints() {
        let grants = PostgresGrants::new("some one", "bench");
        let script = grants.script();
        let [usage, tables, procedures] = grants.run();
        let hints = [
            grants.load(),
            grants.load_into_schema(),
            grants.load_own(),
            grants.monitor(),
            usage,
            tables,
            procedures,
        ];
        for statement in hints {
            let is_line = |line: &str| line.trim_start_matches("-- ") == statement;
            assert!(script.lines().any(is_line), "{statement}\n{script}");
        }
    }
}
