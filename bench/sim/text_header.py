#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""text_header.py FILE OUT.h: a C header with a string that is what the file says, called after the file."""
import json
import pathlib
import sys


def main():
    text, out = map(pathlib.Path, sys.argv[1:])
    lines = text.read_text(encoding="ascii").splitlines(keepends=True)
    quoted = "\n".join(f"\t{json.dumps(line)}" for line in lines)  # of ASCII a JSON string is one of C
    out.write_text(f"/* Made from {text.name}. */\nstatic const char {text.stem}[] =\n{quoted};\n", encoding="ascii")


if __name__ == "__main__":
    main()
