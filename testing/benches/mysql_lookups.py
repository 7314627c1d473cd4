"""Single-row lookups on MariaDB, client drive, against sysbench: its own oltp_point_select, and Dyno's own statement."""

from shared import sysbench


def main():
    """One row for each count of sessions and each peer."""
    sysbench.against(
        "mysql_lookups",
        "Single-row lookups on MariaDB, client drive, against sysbench",
        {"workload__lookup_pct": 100},
        "oltp_point_select",
        "lookup",
        "1,2,4,8",
    )
