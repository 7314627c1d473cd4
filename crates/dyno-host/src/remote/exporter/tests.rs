//! Counters and places in answers of node_exporter 1.5.

use std::io::Write as _;
use std::net::TcpListener;

use super::*;
use crate::HostDelta;

/// The answer of a machine with two processors and a volume on a partition, at this time in seconds.
fn answer(time_s: u64) -> String {
    let user = 100.0 + time_s as f64 * 0.5;
    let reads = 1_000 + time_s * 10;
    let mut text = format!(
        "node_time_seconds {time_s}.5e+00\nnode_boot_time_seconds 1.7e+09\nnode_context_switches_total {reads}\n"
    );
    for cpu in [0, 1] {
        for mode in ["nice", "system", "idle", "iowait", "irq", "softirq", "steal"] {
            text += &format!(
                "node_cpu_seconds_total{{cpu=\"{cpu}\",mode=\"{mode}\"}} {}\n",
                time_s as f64 * if mode == "idle" { 0.5 } else { 0.0 }
            );
        }
        text += &format!("node_cpu_seconds_total{{cpu=\"{cpu}\",mode=\"user\"}} {user}\n");
    }
    for (device, own) in [("sda", reads), ("dm-0", reads * 2)] {
        for (name, value) in [
            ("reads_completed_total", own as f64),
            ("read_bytes_total", own as f64 * 8_192.0),
            ("read_time_seconds_total", own as f64 * 0.001),
            ("writes_completed_total", 0.0),
            ("written_bytes_total", 0.0),
            ("write_time_seconds_total", 0.0),
            ("io_now", 0.0),
            ("io_time_seconds_total", own as f64 * 0.01),
            ("io_time_weighted_seconds_total", own as f64 * 0.001),
        ] {
            text += &format!("node_disk_{name}{{device=\"{device}\"}} {value:e}\n");
        }
    }
    text + "node_disk_device_mapper_info{device=\"dm-0\",name=\"vg-data\"} 1\n\
        node_filesystem_size_bytes{device=\"/dev/sda1\",fstype=\"ext4\",mountpoint=\"/\"} 1\n\
        node_filesystem_size_bytes{device=\"/dev/mapper/vg-data\",fstype=\"xfs\",mountpoint=\"/srv/my data\"} 1\n\
        node_uname_info{machine=\"x86_64\",nodename=\"db1\",release=\"6.1.0\",sysname=\"Linux\",version=\"#1\"} 1\n\
        node_os_info{pretty_name=\"Debian GNU/Linux 12 (bookworm)\"} 1\nnode_memory_MemTotal_bytes 1.024e+06\n"
}

/// Serves these bodies, one after the other, and then nothing.
fn served(bodies: Vec<Vec<u8>>) -> NodeExporterSource {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for body in bodies {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = [0; 4_096];
            let _ = std::io::Read::read(&mut stream, &mut request);
            let head =
                format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
            let _ = stream.write_all(head.as_bytes());
            let _ = stream.write_all(&body);
        }
    });
    let start = Instant::now();
    let now: Now = Arc::new(move || start.elapsed().as_nanos() as u64);
    let url = format!("node-exporter://127.0.0.1:{port}").parse().unwrap();
    NodeExporterSource::new(&HostAccess { url, password: None, ca: None, agents: None }, &now).unwrap()
}

const PATIENCE: Duration = Duration::from_secs(60);

#[test]
fn exporter_metrics_map_to_kernel_counters() {
    let mut exporter = served([10, 10, 12].map(|time_s| answer(time_s).into_bytes()).into());
    let places =
        [("data".to_owned(), "/srv/my data/pg".to_owned()), ("redo".to_owned(), "/var/lib/log".to_owned())];
    let described = exporter.describe(&places, PATIENCE).unwrap();
    let HostDescription { host, missing, .. } = described;
    assert_eq!((host.name.as_str(), host.kernel.as_str(), host.cpus), ("db1", "Linux 6.1.0 x86_64", 2));
    assert_eq!((host.os.as_str(), host.memory_bytes), ("Debian GNU/Linux 12 (bookworm)", 1_024_000));
    assert_eq!(host.facts["place.data.device"], "dm-0");
    assert_eq!(host.facts["place.redo.device"], "sda", "its partitions are not counted");
    assert_eq!(host.mounts["data"], "/dev/mapper/vg-data xfs");
    for name in ["pressure", "vm", "net", "processes"] {
        assert!(
            missing.iter().any(|(missing, why)| missing == name && !why.is_empty()),
            "{name}: {missing:?}"
        );
    }
    let (begin, end) = (exporter.read(PATIENCE).unwrap(), exporter.read(PATIENCE).unwrap());
    let delta = HostDelta::between(&begin.snapshot, &end.snapshot, 2.0);
    let cpu = delta.cpu.unwrap();
    assert_eq!((cpu.busy_pct, cpu.idle_pct, cpu.user_s), (50.0, 50.0, Some(2.0)));
    let data = delta.data_device().unwrap();
    assert_eq!((data.reads, data.read_bytes, data.reads_per_s), (40, 40 * 8_192, 20.0));
    assert_eq!(data.read_latency_us, Some(1_000.0));
    assert_eq!(delta.context_switches_per_s, Some(10.0));
    assert!(delta.pressure.is_empty());
    assert!(delta.network.is_empty());
    assert!(!delta.counters().keys().any(|name| name.starts_with("pressure") || name.starts_with("vm")));
    assert_eq!(end.far.unwrap().begin_ns, 12_500_000_000);
}

#[test]
fn server_that_is_no_node_exporter_is_refused() {
    let mut wrong = served(vec![b"<html>hello</html>".to_vec()]);
    let error = wrong.read(PATIENCE).unwrap_err();
    assert!(error.kind == SourceErrorKind::Nonsense, "{error:?}");
    assert!(error.hint.contains("9100"), "{error:?}");
    let mut huge = served(vec![vec![b'x'; BYTES_MAX as usize + 2]]);
    assert!(huge.read(PATIENCE).unwrap_err().message.contains("more than 16 MiB"));
    let mut unresponsive = served(Vec::new());
    let error = unresponsive.read(PATIENCE).unwrap_err();
    assert!(!error.hint.is_empty() || error.kind == SourceErrorKind::Late, "{error:?}");
}
