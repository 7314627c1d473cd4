"""Client and server on one processor, where the system's placing of processes plays no part."""

import contextlib
import os


@contextlib.contextmanager
def processors(server, bound):
    """This program, those that it starts, and the server on one processor, if `bound`."""
    before = os.sched_getaffinity(0)
    chosen = {max(before)} if bound else before
    os.sched_setaffinity(0, chosen)
    server.bind(chosen)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
        server.bind(before)


def settings():
    """As the machine is, and bound; `BOUND=0` or `BOUND=1` is one of both."""
    return [bool(int(os.environ["BOUND"]))] if "BOUND" in os.environ else [False, True]


def words(bound):
    """What a row says of it."""
    return "one processor" if bound else "as it is"
