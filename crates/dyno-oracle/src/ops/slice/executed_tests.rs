//! Executes the blocks of the server drive on MariaDB with `sql_mode = ORACLE`, which runs a subset of
//! PL/SQL.
//!
//! Each block becomes a procedure whose parameters are its binds, and some words are replaced
//! ([`procedure`]). The rest runs unchanged: loops, splitting of lists, ranges, exceptions, counts of rows,
//! commits, and the written values.

use dyno_engine::data::{CLASSIC_COLUMN_BYTES, UpdateValues};
use dyno_engine::slices::SliceProcedure;
use dyno_engine::{BlockOp, Extra};
use dyno_plan::{Commit, DataSpec, Redo};
use dyno_testbed::{MyProduct, MySql};

use super::{HEAD_BYTES, OracleSliceCalls};
use crate::grammar_tests::scan_binds;
use crate::ops::OracleStatementTexts;

/// The longest text in MariaDB, in characters of four bytes and with space for other variables.
const LIST_LETTERS: &str = "16000";

const ROWS: u64 = 500;
const SCAN_ROWS: u64 = 300;
/// Number of rows per value of the secondary key.
const ROWS_PER_VALUE: u64 = 10;

/// The block as a procedure of MariaDB. Its binds are parameters, PLS_INTEGER is INT, lists are shorter,
/// DELETE uses no table alias, and a commit is a plain one.
fn procedure(name: &str, block: &str) -> String {
    let names = scan_binds(block);
    let parameters: Vec<String> = names
        .iter()
        .map(|bind| {
            let is_out = block.contains(&format!(":{bind} := {bind};"));
            let is_text = ["list", "prefix", "tail", "tails"].contains(&bind.as_str());
            let kind = if is_text { format!("VARCHAR2({LIST_LETTERS})") } else { "BIGINT".to_owned() };
            format!("p_{bind} {} {kind}", if is_out { "OUT" } else { "IN" })
        })
        .collect();
    let mut by_length = names;
    by_length.sort_by_key(|bind| std::cmp::Reverse(bind.len()));
    let body = block.strip_prefix("DECLARE").expect("a block declares");
    let body = by_length
        .iter()
        .fold(body.to_owned(), |body, bind| body.replace(&format!(":{bind}"), &format!("p_{bind}")));
    let body = body
        .replace("PLS_INTEGER", "INT")
        .replace("VARCHAR2(32767)", &format!("VARCHAR2({LIST_LETTERS})"))
        .replace(
            "FROM dyno_rows_1 t WHERE custid = first_key;\n        deleted",
            "FROM dyno_rows_1 WHERE custid = first_key;\n        deleted",
        )
        .replace("COMMIT WRITE IMMEDIATE WAIT", "COMMIT")
        .replace("COMMIT WRITE BATCH NOWAIT", "COMMIT");
    format!("CREATE OR REPLACE PROCEDURE {name}({}) AS{body}", parameters.join(", "))
}

/// A server with the tables of schema 1.
struct Executed {
    server: MySql,
    calls: OracleSliceCalls,
    values: UpdateValues,
}

/// A function that the blocks call and MariaDB does not have.
const TO_NUMBER: &str = "CREATE OR REPLACE FUNCTION TO_NUMBER(digits VARCHAR2(40)) RETURN BIGINT AS BEGIN RETURN CAST(digits AS SIGNED); END;";

impl Executed {
    /// Starts a server with empty tables; `None` if MariaDB is not installed.
    fn start() -> Option<Self> {
        let version = MySql::available().into_iter().find(|version| version.product == MyProduct::MariaDb)?;
        let calls = OracleSliceCalls::new("u0123456789abcdef00000001".to_owned(), CLASSIC_COLUMN_BYTES, 7);
        let values = UpdateValues::new(1, 0x0123_4567_89ab_cdef, 1, CLASSIC_COLUMN_BYTES, 0);
        let executed = Self { server: MySql::start(&version, &[]), calls, values };
        let columns: String = (2..=20).map(|column| format!("c{column} VARCHAR2(128) NOT NULL, ")).collect();
        for (table, indexes) in [("dyno_rows_1", ", KEY (custid), KEY (sec)"), ("dyno_scan_1", "")] {
            let distinct = ROWS / ROWS_PER_VALUE;
            executed.sql(&format!(
                "CREATE TABLE {table} (custid BIGINT NOT NULL, ver BIGINT NOT NULL, {columns}sec BIGINT AS (MOD(custid, {distinct})){indexes})"
            ));
        }
        executed.create(TO_NUMBER);
        Some(executed)
    }

    fn sql(&self, sql: &str) -> String {
        self.server.sql(&format!("SET sql_mode = ORACLE;\n{sql}"))
    }

    fn create(&self, routine: &str) {
        self.sql(&format!("DELIMITER //\n{routine}\n//"));
    }

    /// Fills the tables as a load does.
    fn fill(&self) {
        let columns: String = (2..=20).map(|column| format!(", c{column}")).collect();
        let values = ", RPAD(seq, 128, 'x')".repeat(19);
        for (table, rows) in [("dyno_rows_1", ROWS), ("dyno_scan_1", SCAN_ROWS)] {
            self.sql(&format!(
                "DELETE FROM {table}; INSERT INTO {table} (custid, ver{columns}) SELECT seq, 0{values} FROM seq_1_to_{rows}; COMMIT"
            ));
        }
    }

    fn number(&self, query: &str) -> u64 {
        self.sql(query).parse().unwrap()
    }

    /// The number of commits that the server has executed.
    fn commits(&self) -> u64 {
        let status = self.sql("SHOW GLOBAL STATUS LIKE 'Com_commit'");
        status.split_whitespace().last().unwrap().parse().unwrap()
    }

    /// Creates the block as a procedure and calls it for `ops`; returns the values of its last parameters.
    fn call(&mut self, call: SliceProcedure, ops: &[BlockOp], block: &str) -> Vec<u64> {
        self.create(&procedure("slice", block));
        self.calls.fill_list(call, ops);
        self.values.fill_columns(0, &mut self.calls.columns);
        let (first, others) = self.calls.columns.split_at(CLASSIC_COLUMN_BYTES);
        let tails: Vec<u8> = others
            .chunks_exact(CLASSIC_COLUMN_BYTES)
            .flat_map(|column| &column[HEAD_BYTES..])
            .copied()
            .collect();
        let tail = &first[UpdateValues::STAMP_BYTES..];
        let binds = scan_binds(block);
        let is_out = |bind: &str| block.contains(&format!(":{bind} := {bind};"));
        let arguments: Vec<String> = binds
            .iter()
            .map(|bind| match bind.as_str() {
                "list" => format!("'{}'", self.calls.list),
                "work_unit" => "64".to_owned(),
                "times" => ops.len().to_string(),
                "prefix" => format!("'{}'", self.calls.prefix),
                "tail" => literal(tail),
                "tails" => literal(&tails),
                "width" => (CLASSIC_COLUMN_BYTES - HEAD_BYTES).to_string(),
                out => format!("@{out}"),
            })
            .collect();
        let outs: Vec<String> =
            binds.iter().filter(|bind| is_out(bind)).map(|bind| format!("@{bind}")).collect();
        let returned = self.sql(&format!("CALL slice({}); SELECT {}", arguments.join(", "), outs.join(", ")));
        returned.split_whitespace().map(|number| number.parse().unwrap()).collect()
    }
}

/// A literal of arbitrary bytes.
fn literal(bytes: &[u8]) -> String {
    let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("CONVERT(X'{digits}' USING utf8mb4)")
}

fn spec() -> DataSpec {
    let (rows, scan_rows) = (ROWS, SCAN_ROWS);
    DataSpec {
        schemas: 1,
        rows,
        scan_rows,
        block_size: 8_192,
        compressible: 0,
        seed: 1,
        secondary: true,
        copied: false,
    }
}

#[test]
fn slice_blocks_count_exactly_the_executed_work() {
    let Some(mut executed) = Executed::start() else { return };
    for (redo, commit) in
        [(Redo::Lite, Commit::Wait), (Redo::Heavy, Commit::Nowait), (Redo::Heavy, Commit::Plsql)]
    {
        let texts = OracleStatementTexts::new(1, redo, commit, &spec());
        executed.fill();

        let select = [1, 65, 449, 501].map(|first| BlockOp::Select { first });
        // The third range has 52 rows, and the last range has none.
        assert_eq!(executed.call(SliceProcedure::Select, &select, &texts.slice_select), [64 + 64 + 52]);
        let lookup = [1, 500, 501, 250].map(|key| BlockOp::Lookup { key });
        assert_eq!(executed.call(SliceProcedure::Lookup, &lookup, &texts.slice_lookup), [3]);
        assert_eq!(
            executed.call(SliceProcedure::Scan, &[BlockOp::Scan; 3], &texts.slice_scan),
            [3 * SCAN_ROWS]
        );
        let secondary = [0, 49, 50].map(|value| BlockOp::Secondary { value });
        assert_eq!(
            executed.call(SliceProcedure::Secondary, &secondary, &texts.slice_secondary),
            [2 * ROWS_PER_VALUE]
        );
        // A block does nothing if its list has one character.
        assert_eq!(executed.call(SliceProcedure::Select, &[], &texts.slice_select), [0]);

        let before = executed.commits();
        let update = [(101, 7), (469, 8)].map(|(first, number)| BlockOp::Update { first, number });
        assert_eq!(executed.call(SliceProcedure::Update, &update, &texts.slice_update), [64 + 32, 2]);
        assert_eq!(executed.commits() - before, 2);
        assert_eq!(executed.number("SELECT SUM(ver) FROM dyno_rows_1"), 64 + 32);
        for (first, number) in [(101, 7_u64), (469, 8)] {
            let stamp = format!("u0123456789abcdef00000001{number:016x}");
            let updated = format!("custid BETWEEN {first} AND {first} + 63");
            let is_stamped =
                format!("LEFT(c2, 41) = '{stamp}' AND LENGTH(c2) = 128 AND LENGTH(c20) = 128 AND ver = 1");
            let query = format!("SELECT COUNT(*) FROM dyno_rows_1 WHERE {updated} AND {is_stamped}");
            assert_eq!(executed.number(&query), if first == 101 { 64 } else { 32 }, "{query}");
        }
        let columns: Vec<String> = (2..=20)
            .map(|column| executed.sql(&format!("SELECT c{column} FROM dyno_rows_1 WHERE custid = 101")))
            .collect();
        let changed = columns.iter().filter(|column| !column.starts_with("101x")).count();
        assert_eq!(changed, if redo == Redo::Lite { 2 } else { 19 });
        assert_eq!(columns[18].get(14..16), Some("20"), "hash and number of the column come first");
        let mut distinct = columns.clone();
        distinct.sort();
        distinct.dedup();
        assert_eq!(distinct.len(), if redo == Redo::Lite { 3 } else { 19 });

        executed.fill();
        let before = executed.commits();
        let mixed = [
            BlockOp::Select { first: 1 },
            BlockOp::Lookup { key: 500 },
            BlockOp::Lookup { key: 9_999 },
            BlockOp::Scan,
            BlockOp::Secondary { value: 7 },
            BlockOp::Update { first: 101, number: 1 },
            BlockOp::Insert { key: 501, number: 2 },
            BlockOp::Delete { key: 3 },
            BlockOp::Delete { key: 9_999 },
            BlockOp::Select { first: 449 },
        ];
        // The last range also contains the new row.
        let expected = [64 + 53, 1, SCAN_ROWS, ROWS_PER_VALUE, 64, 1, 1, 4];
        assert_eq!(
            executed.call(SliceProcedure::for_ops(&mixed, Extra::default()), &mixed, &texts.slice_mixed),
            expected
        );
        assert_eq!(executed.commits() - before, 4);
        assert_eq!(executed.number("SELECT COUNT(*) FROM dyno_rows_1"), ROWS);
        assert_eq!(executed.number("SELECT COUNT(*) FROM dyno_rows_1 WHERE custid = 3"), 0);
        assert_eq!(executed.number("SELECT SUM(ver) FROM dyno_rows_1"), 64);
        let inserted = "SELECT COUNT(*) FROM dyno_rows_1 WHERE custid = 501 AND LEFT(c2, 41) = 'u0123456789abcdef000000010000000000000002' \
                        AND LENGTH(c2) = 128 AND LENGTH(c3) = 128 AND SUBSTR(c3, 15, 2) = '03'";
        assert_eq!(executed.number(inserted), 1);
    }
}
