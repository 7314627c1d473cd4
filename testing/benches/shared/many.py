"""A repository with so many runs, each like one that was measured."""

import json
import sqlite3
import zlib


def copy_of(run, number):
    """The name of copy `number`, as unique as a real one."""
    return f"{run}-{number:05d}"


def multiply(repository, run, runs):
    """Copies one real run until there are `runs`, each with its own name and moment, as that many runs would lie there."""
    base = sqlite3.connect(repository)
    columns = [row[1] for row in base.execute("PRAGMA table_info(run)")]
    first = dict(zip(columns, base.execute("SELECT * FROM run WHERE id = ?", [run]).fetchone()))
    (packed,) = base.execute("SELECT packed FROM record WHERE id = ?", [run]).fetchone()
    text = zlib.decompress(packed).decode()
    marks = ", ".join("?" * len(columns))
    for number in range(1, runs):
        name = copy_of(run, number)
        document = text.replace(json.dumps(run), json.dumps(name))
        row = {**first, "id": name, "started_us": first["started_us"] - number * 60_000_000}
        base.execute(f"INSERT INTO run ({', '.join(columns)}) VALUES ({marks})", [row[c] for c in columns])
        base.execute("INSERT INTO record (id, json_bytes, packed) VALUES (?, ?, ?)", [name, len(document), zlib.compress(document.encode())])
    base.commit()
    base.close()
