//! Tests of the conversion from tables to records.

use std::io::{Cursor, Read, Seek, SeekFrom};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;

/// A file that counts the bytes read from it.
struct Counted(Cursor<String>, Arc<AtomicUsize>);

impl Read for Counted {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        let read = self.0.read(out)?;
        self.1.fetch_add(read, Ordering::Relaxed);
        Ok(read)
    }
}

impl Seek for Counted {
    fn seek(&mut self, to: SeekFrom) -> std::io::Result<u64> {
        self.0.seek(to)
    }
}

/// In a table of any length, each pass reads each line once, each distinct setting builds one plan, and only
/// one line is in memory.
#[test]
fn import_work_per_line_is_independent_of_table_length() {
    let maps =
        ["s=sessions", "ops=ops_per_s", "reads=logical_reads_per_s@pdb1"].map(|map| map.parse().unwrap());
    for count in [100, 2_000] {
        let lines: String = (0..count).map(|line| format!("{},{},7\n", 1 + line % 4, 100 + line)).collect();
        let text = format!("s,ops,reads\n{lines}");
        let (bytes, read) = (text.len(), Arc::new(AtomicUsize::new(0)));
        let mut source = ImportFile::over(Counted(Cursor::new(text), read.clone()));
        let common = ImportContext::for_test("t.csv");
        let dialect = CsvDialect::default();
        let mut table = ImportLines::new(&mut source, &maps, &common, &dialect);
        let mut records = 0;
        for _ in 0..2 {
            table
                .each(|line| {
                    assert_eq!(line.len(), 2);
                    records += line.len();
                    Ok::<_, Error>(())
                })
                .unwrap();
        }
        assert_eq!(records, 2 * 2 * count);
        assert_eq!(read.load(Ordering::Relaxed), 2 * bytes);
        assert_eq!(table.plans.0.len(), 4);
    }
}

#[test]
fn records_of_one_line_differ_only_in_name_time_and_figures() {
    let maps =
        ["ops=ops_per_s", "a=logical_reads_per_s@a", "b=logical_reads_per_s@b", "t=seconds", "l=label"]
            .map(|map| map.parse().unwrap());
    let mut source = ImportFile::over(Cursor::new("ops,a,b,t,l\n1,2,3,10,x\n,5,,,\n".to_owned()));
    let common = ImportContext::for_test("t.csv");
    let dialect = CsvDialect::default();
    let mut lines = ImportLines::new(&mut source, &maps, &common, &dialect);
    let mut all = Vec::new();
    lines
        .each(|line| {
            all.append(line);
            Ok::<_, Error>(())
        })
        .unwrap();
    let [whole, a, b, alone] = all.as_slice() else { panic!("{} records", all.len()) };
    assert_eq!(whole.one_target_of, None);
    for (part, url) in [(a, "imported:///t.csv?target=a"), (b, "imported:///t.csv?target=b")] {
        assert_eq!(part.one_target_of.as_deref(), Some(whole.id.as_str()));
        assert_eq!(part.targets[0].url, url);
        assert_eq!((&part.plan, &part.imported), (&whole.plan, &whole.imported));
    }
    assert_eq!(whole.ended_at, "1970-01-01T00:00:10.000000Z");
    assert_eq!(b.started_at, "1970-01-01T00:00:00.000002Z");
    assert_eq!(alone.started_at, alone.ended_at);
    let names: std::collections::BTreeSet<&String> = all.iter().map(|record| &record.id).collect();
    assert_eq!(names.len(), 4);
}

/// The plan is read back once for all lines that share it; a file name must not break that.
#[test]
fn record_is_readable_for_any_import_file_name() {
    for file in
        ["a b.csv", "a?b=c&d.csv", "ä#%41:@[x]//.csv", "sqlite:x.csv", "..", "\u{1b}[31m.csv", "\"\\.csv"]
    {
        let maps = ["ops=ops_per_s".parse().unwrap()];
        let mut source = ImportFile::over(Cursor::new("ops\n1\n".to_owned()));
        let common = ImportContext::for_test(file);
        let dialect = CsvDialect::default();
        let mut lines = ImportLines::new(&mut source, &maps, &common, &dialect);
        let mut packer = dyno_record::Packer::new();
        lines
            .each(|line| {
                // Packing reads the record back as well.
                packer.pack(&line[0]).unwrap();
                packer.pack_known_plan(&line[0]).unwrap();
                Ok::<_, Error>(())
            })
            .unwrap();
    }
}

#[test]
fn import_names_stay_unique_within_one_second() {
    let names: std::collections::BTreeSet<String> =
        (0..200_000).map(|index| name(Timestamp::UNIX_EPOCH, index, 0x7f3a)).collect();
    assert_eq!(names.len(), 200_000);
}
