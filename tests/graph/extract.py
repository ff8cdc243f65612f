#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Write the C code of a document to a file: extract.py DOCUMENT.md OUT.h

All blocks that begin with ```c, one after the other, with #line so that the compiler
names the document's lines.
"""
import sys


def blocks(lines):
    inside = False
    for number, line in enumerate(lines, 1):
        if line.startswith("```"):
            inside = line.strip() == "```c" and not inside
            if inside:
                yield f'#line {number + 1} "{sys.argv[1]}"\n'
        elif inside:
            yield line


def main():
    with open(sys.argv[1], encoding="utf-8") as document:
        code = list(blocks(document))
    if not code:
        sys.exit(f"{sys.argv[1]}: no C code in it")
    with open(sys.argv[2], "w", encoding="utf-8") as out:
        out.writelines(code)


if __name__ == "__main__":
    main()
