//! The description of MySQL and MariaDB for plans.

use dyno_plan::StatementProtocol;
use dyno_plan::engine::{EngineSpec, Passwords, UrlForm, UrlParameterWords};

/// What a plan needs to know about MySQL and MariaDB.
pub const SPEC: EngineSpec = EngineSpec {
    aliases: &["mariadb"],
    product: "MySQL",
    examples: &["mysql://USER@HOST:PORT/DATABASE"],
    words: &[
        UrlParameterWords::any_case(
            "ssl-mode",
            &["DISABLED", "PREFERRED", "REQUIRED", "VERIFY_CA", "VERIFY_IDENTITY"],
        ),
        UrlParameterWords::exact("option-files", &["on", "off"]),
    ],
    other_commits: "leave it out; the server decides for all sessions: SET GLOBAL innodb_flush_log_at_trx_commit = 2 (or 0) and, with \
                    a binary log, SET GLOBAL sync_binlog = 0",
    protocols: &[StatementProtocol::Simple],
    passwords: Passwords {
        variables: &["MYSQL_PWD"],
        clients: &[
            "mysql",
            "mariadb",
            "mysqladmin",
            "mariadb-admin",
            "mysqldump",
            "mariadb-dump",
            "mysqlslap",
        ],
    },
    ..EngineSpec::plain("mysql", UrlForm::Server, "mysql://dyno@localhost:3306/bench")
};
