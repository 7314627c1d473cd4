"""Single-row updates on MariaDB, one commit each, client drive, against sysbench: its own oltp_update_non_index, and
Dyno's own statement."""

from shared import sysbench


def main():
    """One row for each count of sessions and each peer."""
    sysbench.against(
        "mysql_updates",
        "Single-row updates, one commit each, on MariaDB, client drive, against sysbench",
        {"workload__update_pct": 100, "workload__work_unit": 1},
        "oltp_update_non_index",
        "update",
        "1,2,4,8",
    )
