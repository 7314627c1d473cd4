//! What an administrator runs so that a user of Dyno can do its work: the least, for each engine, with the names of a URL.

use dyno_plan::{Engine, TargetUrl};

const POSTGRES: &str = include_str!("postgres/sql/grants.sql");
const MYSQL: &str = include_str!("mysql/sql/grants.sql");
const SQLITE: &str = include_str!("sqlite/grants.sql");

/// Names where a URL has none.
const USER: &str = "dyno";
const DATABASE: &str = "bench";

/// The statements for the target that `url` names, with comments; lines that begin with `--` are optional.
pub fn grants(url: &TargetUrl) -> String {
    let user = url.user.as_deref().unwrap_or(USER);
    let database = Some(url.path.as_str()).filter(|path| !path.is_empty()).unwrap_or(DATABASE);
    match Engine::of(url) {
        Some(Engine::Postgres) => POSTGRES
            .replace("{user}", &quoted(user, '"'))
            .replace("{database}", &quoted(database, '"'))
            .replace("{database_name}", &one_line(database)),
        Some(Engine::Mysql) => MYSQL
            .replace("{user}", &literal(user))
            .replace("{database}", &quoted(&database.replace('_', "\\_"), '`'))
            .replace("{database_name}", &one_line(database)),
        Some(Engine::Oracle) => crate::oracle::GRANTS.to_owned(),
        Some(Engine::Sqlite) | None => SQLITE.replace("{file}", &one_line(&url.path)),
    }
}

/// `name` as an identifier, which nothing in it can end.
fn quoted(name: &str, mark: char) -> String {
    let plain = name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
    if mark == '"' && plain && !name.starts_with(|c: char| c.is_ascii_digit()) {
        return name.to_owned();
    }
    let twice = format!("{mark}{mark}");
    format!("{mark}{}{mark}", one_line(name).replace(mark, &twice))
}

fn literal(text: &str) -> String {
    format!("'{}'", one_line(text).replace('\\', "\\\\").replace('\'', "''"))
}

/// What cannot leave its line, and with it a comment.
fn one_line(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(url: &str) -> String {
        grants(&url.parse().unwrap())
    }

    #[test]
    fn names_are_the_urls_and_cannot_leave_their_place() {
        let postgres = of("postgres://Me%22;x@db1/be%0Anch");
        assert!(postgres.contains("ON DATABASE \"bench\" TO \"Me\"\";x\";"), "{postgres}");
        let mysql = of("mysql://o%27x@db1/my_bench");
        assert!(mysql.contains("ON `my\\_bench`.* TO 'o''x'@'%';"), "{mysql}");
        for url in ["postgres://db1", "mysql://u@db1/b", "oracle://u@db1/s", "sqlite:a.db"] {
            let text = of(url);
            assert!(!text.contains('{') && text.lines().all(|line| line.len() <= 150), "{text}");
            assert!(!text.to_lowercase().contains("superuser to") && !text.contains("GRANT ALL"), "{text}");
        }
    }
}
