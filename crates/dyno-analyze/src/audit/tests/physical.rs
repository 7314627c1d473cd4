//! Tests that compare the database's reads with those of its device.

use dyno_record::window::WorkCounts;

use super::*;

#[test]
fn page_cache_share_of_reads_is_reported() {
    let record = postgres(|r| {
        r.hosts[0].counters.insert("device.vda.reads".into(), 600.0);
        r.hosts[0].counters.insert("device.vda.read_bytes".into(), 600.0 * 8_192.0);
    });
    let check = find(&record, "physical_reads");
    assert_eq!(check.status, Warn);
    assert_eq!(
        check.detail,
        "database read 20,000 blocks (164 MB) from outside its cache; vda served 600 reads (4.92 MB): 97.0 % came from the operating system's page cache, so these physical reads do not measure storage"
    );
}

#[test]
fn page_cache_check_is_skipped_without_sufficient_evidence() {
    let with = |read: f64, change: fn(&mut RunRecord)| {
        let record = postgres(|r| {
            r.hosts[0].counters.insert("device.vda.reads".into(), 20_000.0 * read);
            r.hosts[0].counters.insert("device.vda.read_bytes".into(), 20_000.0 * 8_192.0 * read);
            change(r);
        });
        find(&record, "physical_reads")
    };
    let direct = with(0.5, |r| r.targets[0].identity.direct_io = Some(true));
    assert_eq!(
        (direct.status, direct.detail.contains("bypasses the page cache")),
        (Skipped, true),
        "{direct:?}"
    );
    let unsure = |r: &mut RunRecord| {
        let lookups = |ops| WorkCounts { ops: [("select".into(), ops)].into(), ..Default::default() };
        window(r).counted = Some(lookups(20_000));
        window(r).unsure = Some((lookups(4_000), Default::default()));
    };
    let at_edges = with(0.9, unsure);
    assert_eq!(
        (at_edges.status, at_edges.detail.contains("too much to tell")),
        (Skipped, true),
        "{at_edges:?}"
    );
    assert_eq!(with(0.3, unsure).status, Warn);
}
