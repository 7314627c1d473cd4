//! MySQL and MariaDB, as plans know them.

use dyno_plan::Protocol;
use dyno_plan::engine::{EngineSpec, Form, Passwords, Words};

/// What a plan has to know of MySQL and MariaDB.
pub const SPEC: EngineSpec = EngineSpec {
    aliases: &["mariadb"],
    product: "MySQL",
    examples: &["mysql://USER@HOST:PORT/DATABASE"],
    words: &[
        Words::any_case("ssl-mode", &["DISABLED", "PREFERRED", "REQUIRED", "VERIFY_CA", "VERIFY_IDENTITY"]),
        Words::exact("option-files", &["on", "off"]),
    ],
    other_commits: "leave it out; the server decides for all sessions: SET GLOBAL innodb_flush_log_at_trx_commit = 2 (or 0) and, with \
                    a binary log, SET GLOBAL sync_binlog = 0",
    protocols: &[Protocol::Simple],
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
    ..EngineSpec::plain("mysql", Form::Server, "mysql://dyno@localhost:3306/bench")
};
