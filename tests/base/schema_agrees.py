#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""schema_agrees.py DOC_CASES: the JSON Schema and the loader say the same.

DOC_CASES prints the schema and description files with the loader's verdict. An
editor reads the files with its own YAML parser, and judges them by the schema:
so does this. Exit 77 (skipped) without a validator."""
import json
import re
import subprocess
import sys

try:
    import jsonschema
    import yaml
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)


class Core(yaml.SafeLoader):
    """YAML 1.2's core schema, as editors have it: yes and 02:00 are texts."""


Core.yaml_implicit_resolvers = {}
for tag, pattern, first in (
    ("bool", r"^(true|True|TRUE|false|False|FALSE)$", "tTfF"),
    ("int", r"^([-+]?[0-9]+|0x[0-9a-fA-F]+)$", "-+0123456789"),
    ("float", r"^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$", "-+.0123456789"),
    ("null", r"^(~|null|Null|NULL|)$", ["~", "n", "N", ""]),
):
    Core.add_implicit_resolver(f"tag:yaml.org,2002:{tag}", re.compile(pattern), list(first))

printed = subprocess.run(sys.argv[1:], check=True, stdout=subprocess.PIPE)
told = json.loads(printed.stdout)
jsonschema.Draft202012Validator.check_schema(told["schema"])
validator = jsonschema.Draft202012Validator(told["schema"])
wrong = 0
for case in told["cases"]:
    value = yaml.load(case["text"], Loader=Core)
    good = validator.is_valid(value)
    if good != case["good"]:
        wrong += 1
        print(f"{case['text']!r}: the schema says {good}, the loader {case['good']} {case['error']}")
print(f"{len(told['cases'])} files, {wrong} judged differently")
good = sum(case["good"] for case in told["cases"])
sys.exit(1 if wrong or good < 20 or len(told["cases"]) - good < 20 else 0)
