# SPDX-License-Identifier: MIT OR Apache-2.0
"""The filter dyno.platform.set_options."""

from __future__ import annotations

DOCUMENTATION = """
name: set_options
author: The Dyno authors
version_added: 0.1.0
short_description: Write keys of a plan as options of the command line
description:
  - Gives C(--set SECTION.KEY=VALUE) for each key; the values of a list are separated by commas.
positional: _input
options:
  _input:
    description: Values by key, such as C(run.time).
    type: dict
    required: true
"""

EXAMPLES = """
- name: Show options
  ansible.builtin.debug:
    msg: "{{ {'run.time': '30s'} | dyno.platform.set_options }}"
"""

RETURN = """
_value:
  description: Arguments of the command.
  type: list
  elements: str
"""


def _text(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return ",".join(_text(inner) for inner in value)
    return str(value)


def set_options(values):
    """Two arguments for each key."""
    return [argument for key, value in values.items() for argument in ("--set", f"{key}={_text(value)}")]


class FilterModule:
    """Filters of the collection."""

    def filters(self):
        """Filters by name."""
        return {"set_options": set_options}
