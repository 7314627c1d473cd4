//! Example and ready workloads, as `dyno init --workload` writes them.

/// A folder for a new workload.
#[derive(Debug, Clone, Copy)]
pub struct Example {
    /// Its name, which is also the name of its folder.
    pub name: &'static str,
    /// A description in one sentence.
    pub about: &'static str,
    /// Names and contents of its files.
    pub files: &'static [(&'static str, &'static str)],
}

/// A ready workload from the folder `catalog/workloads/` with its files.
macro_rules! ready {
    ($name:literal, $about:literal, $($file:literal),* $(,)?) => {
        Example {
            name: $name,
            about: $about,
            files: &[$(($file, include_str!(concat!("../../../../catalog/workloads/", $name, "/", $file)))),*],
        }
    };
}

/// All of them: an example of the workload format, then the ready workloads.
pub const EXAMPLES: [Example; 11] = [
    Example {
        name: "shop",
        about: "an example shop (customers, orders, order lines, stock) for SQLite, PostgreSQL and MySQL",
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
    },
    ready!("tpcb", "small writing transactions, as pgbench's", "workload.toml", "transfer.sql"),
    ready!(
        "bulkload",
        "a table filled by the engine's own bulk path, with and without indexes",
        "workload.toml"
    ),
    ready!("point-select", "one row by its key, as sysbench's oltp_point_select", "workload.toml"),
    ready!(
        "oltp-read-write",
        "transactions of 18 statements, as sysbench's oltp_read_write",
        "workload.toml",
        "read_write.sql"
    ),
    ready!(
        "key-value",
        "records by their keys, as YCSB's workloads A to F",
        "workload.toml",
        "drop.oracle.sql",
        "drop.sql",
        "insert.sql",
        "scan.oracle.sql",
        "scan.sql",
        "setup.mysql.sql",
        "setup.oracle.sql",
        "setup.sql",
        "setup.sqlite.sql"
    ),
    ready!(
        "orders",
        "order entry with five kinds of transactions, derived from TPC-C",
        "workload.toml",
        "setup.sql",
        "setup.postgres.sql",
        "setup.mysql.sql",
        "setup.oracle.sql",
        "drop.sql",
        "drop.postgres.sql",
        "drop.mysql.sql",
        "drop.oracle.sql",
        "delivery.sql",
        "delivery.sqlite.sql",
        "delivery.oracle.sql",
        "new_order.sql",
        "new_order.sqlite.sql",
        "new_order.oracle.sql",
        "delivery_request.sql",
        "delivery_request.sqlite.sql",
        "order_status.sql",
        "order_status.oracle.sql",
        "payment.sql",
        "payment.sqlite.sql",
        "stock_level.sql",
        "server_new_order.postgres.sql",
        "server_new_order.mysql.sql",
        "server_new_order.oracle.sql",
        "server_payment.postgres.sql",
        "server_payment.mysql.sql",
        "server_payment.oracle.sql",
        "server_order_status.postgres.sql",
        "server_order_status.mysql.sql",
        "server_order_status.oracle.sql",
        "server_delivery.postgres.sql",
        "server_delivery.mysql.sql",
        "server_delivery.oracle.sql",
        "server_stock_level.postgres.sql",
        "server_stock_level.mysql.sql",
        "server_stock_level.oracle.sql"
    ),
    ready!(
        "queue",
        "jobs that are put into a table and taken out of it",
        "workload.toml",
        "drop.oracle.sql",
        "drop.sql",
        "setup.mysql.sql",
        "setup.oracle.sql",
        "setup.sql",
        "setup.sqlite.sql",
        "take.oracle.sql",
        "take.sql",
        "take.sqlite.sql"
    ),
    ready!(
        "time-series",
        "points that are appended, and windows over them",
        "workload.toml",
        "drop.oracle.sql",
        "drop.sql",
        "latest.oracle.sql",
        "latest.sql",
        "setup.mysql.sql",
        "setup.oracle.sql",
        "setup.sql",
        "setup.sqlite.sql"
    ),
    ready!(
        "json-documents",
        "documents that are read, changed in part and looked into",
        "workload.toml",
        "find.mysql.sql",
        "find.oracle.sql",
        "find.sql",
        "find.sqlite.sql",
        "move.mysql.sql",
        "move.oracle.sql",
        "move.sql",
        "move.sqlite.sql",
        "note.mysql.sql",
        "note.oracle.sql",
        "note.sql",
        "note.sqlite.sql",
        "points.mysql.sql",
        "points.oracle.sql",
        "points.sql",
        "points.sqlite.sql"
    ),
    ready!(
        "insert-constant-size",
        "rows that are inserted and deleted at a steady size, with queries beside",
        "workload.toml",
        "drop.oracle.sql",
        "drop.sql",
        "newest.oracle.sql",
        "newest.sql",
        "setup.mysql.sql",
        "setup.oracle.sql",
        "setup.sql",
        "setup.sqlite.sql"
    ),
];
