# SPDX-License-Identifier: MIT OR Apache-2.0
"""The filter dyno.platform.to_toml."""

from __future__ import annotations

import json
import re

from ansible.errors import AnsibleFilterError

DOCUMENTATION = """
name: to_toml
author: The Dyno authors
version_added: 0.1.0
short_description: Write a dictionary as TOML
description:
  - Writes plans and configuration files from variables. Keys with the value null are left out.
positional: _input
options:
  _input:
    description: Tables, lists of tables and values.
    type: dict
    required: true
"""

EXAMPLES = """
- name: Show a plan
  ansible.builtin.debug:
    msg: "{{ {'target': {'url': 'sqlite:bench.db'}} | dyno.platform.to_toml }}"
"""

RETURN = """
_value:
  description: The text in TOML.
  type: str
"""

# TOML refuses this character, which JSON does not escape.
DELETE = "\x7f"


def _string(text):
    return json.dumps(str(text), ensure_ascii=False).replace(DELETE, "\\u007f")


def _key(key):
    return str(key) if re.fullmatch(r"[A-Za-z0-9_-]+", str(key)) else _string(key)


def _value(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, dict):
        pairs = [f"{_key(key)} = {_value(inner)}" for key, inner in value.items() if inner is not None]
        return "{ " + ", ".join(pairs) + " }" if pairs else "{}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_value(inner) for inner in value) + "]"
    if value is None:
        raise AnsibleFilterError("to_toml: a list contains null, which TOML does not have")
    return _string(value)


def _is_tables(value):
    return isinstance(value, (list, tuple)) and bool(value) and all(isinstance(inner, dict) for inner in value)


def _table(table, path):
    """Lines of the table's values; its tables follow."""
    lines = []
    for key, value in table.items():
        if value is not None and not isinstance(value, dict) and not _is_tables(value):
            lines.append(f"{_key(key)} = {_value(value)}")
    for key, value in table.items():
        name = ".".join([*path, _key(key)])
        if isinstance(value, dict):
            lines += ["", f"[{name}]", *_table(value, [*path, _key(key)])]
        elif _is_tables(value):
            for inner in value:
                lines += ["", f"[[{name}]]", *_table(inner, [*path, _key(key)])]
    return lines


def to_toml(table):
    """The dictionary as TOML."""
    if not isinstance(table, dict):
        raise AnsibleFilterError("to_toml: not a dictionary")
    return "\n".join(_table(table, [])).lstrip("\n") + "\n"


class FilterModule:
    """Filters of the collection."""

    def filters(self):
        """Filters by name."""
        return {"to_toml": to_toml}
