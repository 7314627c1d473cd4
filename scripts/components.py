#!/usr/bin/env python3
"""Lists what is inside the program for a target: `components.py TARGET CYCLONEDX-FILE LICENCE-FILE`.

The crates are those that cargo links for the target, without the ones that only build or test. The C libraries that crates bring along have the
licences of their crates' files; what the compiler adds is named here.
"""

import json
import subprocess
import sys
from pathlib import Path

# Linked into every static program by the compiler: name, licence.
OF_THE_COMPILER = [
    ("musl", "MIT"),
    ("rust-std", "MIT OR Apache-2.0"),
    ("llvm-libunwind", "Apache-2.0 WITH LLVM-exception"),
]
LICENCE_NAMES = ("LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE", "UNLICENSE")
# Of the source folders of C libraries inside crates, this depth is searched.
DEPTH_MAX = 3


def linked_packages(target):
    """The packages that are linked into the program, sorted, without those of the project."""
    command = ["cargo", "metadata", "--locked", "--format-version=1", f"--filter-platform={target}"]
    metadata = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    packages = {package["id"]: package for package in metadata["packages"]}
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    is_macro = lambda package: any("proc-macro" in part["kind"] for part in package["targets"])
    program = next(package["id"] for package in metadata["packages"] if package["name"] == "dyno")
    seen, waiting = set(), [program]
    while waiting:
        one = waiting.pop()
        if one in seen or is_macro(packages[one]):
            continue
        seen.add(one)
        for dependency in nodes[one]["deps"]:
            if any(kind["kind"] is None for kind in dependency["dep_kinds"]):
                waiting.append(dependency["pkg"])
    linked = [packages[one] for one in seen if packages[one]["source"]]
    return sorted(linked, key=lambda package: (package["name"], package["version"]))


def licence_texts(package):
    """The licence files of a package: path inside it and text."""
    root = Path(package["manifest_path"]).parent
    for path in sorted(root.rglob("*")):
        inside = path.relative_to(root)
        if len(inside.parts) <= DEPTH_MAX and path.name.upper().startswith(LICENCE_NAMES) and path.is_file():
            yield inside, path.read_text(errors="replace").strip()


def components(packages):
    """The components as CycloneDX names them."""
    for package in packages:
        name, version = package["name"], package["version"]
        yield {
            "type": "library",
            "bom-ref": f"pkg:cargo/{name}@{version}",
            "name": name,
            "version": version,
            "purl": f"pkg:cargo/{name}@{version}",
            "licenses": [{"expression": (package["license"] or "NOASSERTION").replace("/", " OR ")}],
        }
    for name, licence in OF_THE_COMPILER:
        purl = f"pkg:generic/{name}"
        yield {"type": "library", "bom-ref": purl, "name": name, "purl": purl, "licenses": [{"expression": licence}]}


def main(target, bom_file, licence_file):
    packages = linked_packages(target)
    bom = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": {"type": "application", "bom-ref": "dyno", "name": "dyno"}},
        "components": list(components(packages)),
    }
    Path(bom_file).write_text(json.dumps(bom, indent=1, sort_keys=True) + "\n")
    texts = {}
    for package in packages:
        for inside, text in licence_texts(package):
            texts.setdefault(text, []).append(f"{package['name']} {package['version']} ({inside})")
    with open(licence_file, "w") as out:
        out.write("Licences of the components of this program.\n\n")
        for package in packages:
            out.write(f"{package['name']} {package['version']}: {package['license'] or package['license_file']}\n")
        for name, licence in OF_THE_COMPILER:
            out.write(f"{name}: {licence}\n")
        for text, users in sorted(texts.items(), key=lambda item: item[1]):
            out.write("\n" + "-" * 80 + "\n" + "\n".join(users) + "\n\n" + text + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
