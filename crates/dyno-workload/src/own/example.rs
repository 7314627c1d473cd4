//! Workloads to begin with: folders as `dyno init --workload` writes them.

/// A folder to begin with.
#[derive(Debug, Clone, Copy)]
pub struct Example {
    /// Its name, and the folder's.
    pub name: &'static str,
    /// What it is.
    pub about: &'static str,
    /// Names of files with what is in them.
    pub files: &'static [(&'static str, &'static str)],
}

/// All of them.
pub const EXAMPLES: [Example; 1] = [Example {
    name: "shop",
    about: "customers, orders, lines and stock; on SQLite, PostgreSQL and MySQL",
    files: &[
        ("workload.toml", include_str!("example/shop/workload.toml")),
        ("setup.sql", include_str!("example/shop/setup.sql")),
        ("drop.sql", include_str!("example/shop/drop.sql")),
        ("order.sql", include_str!("example/shop/order.sql")),
        ("pay.sql", include_str!("example/shop/pay.sql")),
        ("look.sql", include_str!("example/shop/look.sql")),
        ("top.sql", include_str!("example/shop/top.sql")),
        ("top.mysql.sql", include_str!("example/shop/top.mysql.sql")),
        ("cities.txt", include_str!("example/shop/cities.txt")),
    ],
}];
