//! Counts of tables and indexes: the work of each, exactly; sizes of their files.

use std::collections::BTreeMap;

use dyno_engine::table_counts::TableSnapshot;

use super::{load_target, on_each_server_with, spec, target_at};

/// What each count of a table or index rose by, without those that did not.
fn rise(begin: &TableSnapshot, end: &TableSnapshot, key: &str) -> BTreeMap<&'static str, u64> {
    let then =
        |name: &str| begin.relations.get(key).and_then(|one| one.counts.get(name)).copied().unwrap_or(0);
    let now = &end.relations.get(key).unwrap_or_else(|| panic!("{key}: {end:#?}")).counts;
    now.iter().map(|(name, count)| (*name, count - then(name))).filter(|(_, rise)| *rise > 0).collect()
}

#[test]
fn table_and_index_counts_equal_the_rows_of_statements() {
    on_each_server_with(&[("performance_schema", "ON")], |server| {
        server.sql(
            "CREATE TABLE sold (id INT PRIMARY KEY, kind INT, note VARCHAR(200), KEY of_kind (kind));
             CREATE TABLE idle (id INT PRIMARY KEY)",
        );
        let target = target_at(&server.url());
        let mut observer = target.observer(&spec(1, 300, 40)).unwrap();
        let begin = observer.tables().unwrap().unwrap();
        server.sql(
            "INSERT INTO sold VALUES (1, 7, 'a'), (2, 7, 'b'), (3, 8, 'c'), (4, 9, 'd');
             UPDATE sold SET note = 'e' WHERE id = 2;
             DELETE FROM sold WHERE id = 4;
             SELECT note FROM sold FORCE INDEX (of_kind) WHERE kind = 7",
        );
        let end = observer.tables().unwrap().unwrap();
        assert!(!begin.epoch.is_empty(), "counts begin at 0 with a restart");
        assert_eq!(begin.epoch, end.epoch);
        let table = rise(&begin, &end, "table bench.sold");
        assert_eq!((table["rows_inserted"], table["rows_updated"], table["rows_deleted"]), (4, 1, 1));
        assert!(table["rows_read"] >= 4, "{table:?}");
        assert!(rise(&begin, &end, "index bench.sold.of_kind")["rows_read"] >= 2, "{end:#?}");
        let sold = &end.relations["table bench.sold"];
        assert!(sold.bytes.is_some_and(|bytes| bytes > 0), "{sold:?}");
        // Never used, and so not counted; its size is known, so that growth is not its whole size later.
        assert_eq!(rise(&begin, &end, "table bench.idle"), BTreeMap::new());
        assert!(begin.relations["table bench.idle"].bytes.is_some(), "{begin:#?}");
        assert!(end.relations.keys().all(|key| !key.contains("performance_schema")), "{end:#?}");
    });
}

#[test]
fn tables_are_not_counted_without_performance_schema() {
    on_each_server_with(&[("performance_schema", "OFF")], |server| {
        let spec = spec(1, 300, 40);
        let mut observer = load_target(server, &spec).observer(&spec).unwrap();
        let error = observer.tables().unwrap_err();
        assert!(error.message.contains("performance_schema is off"), "{error:?}");
        assert!(error.hint.contains("performance_schema = ON"), "{error:?}");
    });
}
