"""A memory cgroup of our own, version 1 or 2: bounds the page cache that a server's reads may fill. Needs root."""

import contextlib
import os
import pathlib


@contextlib.contextmanager
def memory(limit_mib):
    """Yields a function that moves processes in, by pid; their children are born inside. Gone at the end, when they are."""
    v1 = pathlib.Path("/sys/fs/cgroup/memory/memory.limit_in_bytes")
    root, limit = (v1.parent, v1.name) if v1.exists() else (pathlib.Path("/sys/fs/cgroup"), "memory.max")
    if os.getuid() != 0 or not (v1.exists() or (root / "cgroup.controllers").exists()):
        raise RuntimeError("bounding the page cache needs root and the memory cgroup")
    group = root / f"dyno-bench-{os.getpid()}"
    group.mkdir()
    try:
        (group / limit).write_text(str(limit_mib << 20))

        def enter(pids):
            for pid in pids:
                (group / "cgroup.procs").write_text(str(pid))

        yield enter
    finally:
        for pid in (group / "cgroup.procs").read_text().split():
            with contextlib.suppress(OSError):
                (root / "cgroup.procs").write_text(pid)
        group.rmdir()


def drop_page_cache():
    """Writes back what is dirty and empties the page cache of the whole machine."""
    os.sync()
    pathlib.Path("/proc/sys/vm/drop_caches").write_text("3")
