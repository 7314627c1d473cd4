//! Reads the CPU use of host and instance.

use super::context::{Context, Sources};
use super::load;
use crate::number::Suffix;
use crate::table::{AwrTable, squash};

/// Load and shares of the host's CPU time.
pub(crate) fn host(context: &mut Context, table: &AwrTable<'_>) {
    let sources = Sources::new(table);
    counts_of_title(context, table);
    let Some(row) = table.rows.first() else { return };
    let find = |end: &str| table.find(|caption| caption.ends_with(end));
    let columns = [
        ("cpus", table.column("cpus")),
        ("cores", table.column("cores")),
        ("sockets", table.column("sockets")),
        ("host_cpu.load_begin", find("begin")),
        ("host_cpu.load_end", find("end")),
        ("host_cpu.user_pct", find("user")),
        ("host_cpu.system_pct", find("system")),
        ("host_cpu.io_wait_pct", find("wio")),
        ("host_cpu.idle_pct", find("idle")),
        ("host_cpu.cpu_wait_pct", find("wcpu")),
    ];
    for (name, column) in columns {
        context.keep(name, &sources, row, column, Suffix::Decimal);
    }
}

/// Older releases have the counts in the title: `Host CPU (CPUs:    8 Cores:    8 Sockets:    2)`.
fn counts_of_title(context: &mut Context, table: &AwrTable<'_>) {
    let sources = Sources::new(table);
    let Some(row) = table.rows.first() else { return };
    let Some((_, inside)) = table.title.split_once('(') else { return };
    let inside = inside.trim_end_matches(')');
    for (label, name) in [("CPUs:", "cpus"), ("Cores:", "cores"), ("Sockets:", "sockets")] {
        let value = inside.split_once(label).and_then(|(_, rest)| rest.split_whitespace().next());
        // A blank count is followed by the next label.
        if let Some(value) = value.filter(|value| !value.ends_with(':')) {
            context.keep_labelled(name, value, Suffix::Decimal, sources.labelled(row, label, ""));
        }
    }
}

/// The instance's share of the host's CPU.
pub(crate) fn instance(context: &mut Context, table: &AwrTable<'_>) {
    if table.columns.iter().filter(|caption| caption.contains('%')).count() >= 2 {
        let sources = Sources::new(table);
        let Some(row) = table.rows.first() else { return };
        let columns = [
            ("instance_cpu.total_cpu_pct", table.find(|caption| caption.contains("totalcpu"))),
            ("instance_cpu.busy_cpu_pct", table.find(|caption| caption.contains("busycpu"))),
            ("instance_cpu.db_time_waiting_pct", table.find(|caption| caption.contains("dbtime"))),
        ];
        for (name, column) in columns {
            context.keep(name, &sources, row, column, Suffix::Decimal);
        }
        return;
    }
    let sources = Sources::new(table);
    for row in &table.rows {
        for (label, values) in row.pairs() {
            let squashed = squash(&label);
            let name = match squashed.as_str() {
                "%oftotalcpuforinstance" => "instance_cpu.total_cpu_pct",
                "%ofbusycpuforinstance" | "%ofbusycpuusedforinstance" => "instance_cpu.busy_cpu_pct",
                s if s.starts_with("%dbtimewaitingforcpu") => "instance_cpu.db_time_waiting_pct",
                _ => &format!("instance_cpu.{}", load::name_of(&label)),
            };
            if let Some(value) = values.first() {
                context.keep_labelled(name, value, Suffix::Decimal, sources.labelled(row, &label, ""));
            }
        }
    }
}
