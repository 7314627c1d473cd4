//! The statements with which a DBA grants a user its rights: hints name one, `dyno check --grants` prints all.

use dyno_engine::grants::one_line;

use crate::sql::GRANTS;

/// The statements for one user.
#[derive(Debug, Clone)]
pub(crate) struct OracleGrants {
    user: String,
}

impl OracleGrants {
    /// `user` is quoted only where the database requires it: otherwise its case does not matter.
    pub(crate) fn new(user: &str) -> Self {
        let is_plain = user.starts_with(|first: char| first.is_ascii_alphabetic())
            && user.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_$#".contains(&byte));
        let user = one_line(user);
        Self { user: if is_plain { user } else { format!("\"{}\"", user.replace('"', "")) } }
    }

    /// A session and own tables: required for load, run and drop.
    pub(crate) fn load(&self) -> String {
        self.system("CREATE SESSION, CREATE TABLE")
    }

    /// One or more system privileges.
    pub(crate) fn system(&self, privileges: &str) -> String {
        format!("GRANT {privileges} TO {};", self.user)
    }

    /// To read a view, under its name in grants: `V_$SYSSTAT`.
    pub(crate) fn view(&self, view: &str) -> String {
        format!("GRANT SELECT ON SYS.{view} TO {};", self.user)
    }

    /// To lock the schema of the data.
    pub(crate) fn lock(&self) -> String {
        format!("GRANT EXECUTE ON SYS.DBMS_LOCK TO {};", self.user)
    }

    /// The script that `dyno check --grants` prints.
    pub(crate) fn script(&self) -> String {
        GRANTS.replace("{user}", &self.user)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn oracle_grants_script_contains_every_statement_of_hints() {
        let grants = OracleGrants::new("Some_one");
        let script = grants.script();
        let views = [
            "V_$SYSSTAT",
            "V_$PARAMETER",
            "V_$SESSION",
            "V_$SGAINFO",
            "V_$LOG",
            "V_$DATABASE",
            "GV_$INSTANCE",
        ];
        let hints = [grants.load(), grants.lock()].into_iter().chain(views.map(|view| grants.view(view)));
        for statement in hints {
            assert!(script.lines().any(|line| line == statement), "{statement}\n{script}");
        }
        assert!(!script.contains('{'), "{script}");
        assert!(script.contains("CREATE USER Some_one "), "{script}");
        assert_eq!(OracleGrants::new("a b\"\n").load(), "GRANT CREATE SESSION, CREATE TABLE TO \"a b\";");
    }
}
