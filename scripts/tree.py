# SPDX-License-Identifier: BSD-3-Clause
"""What the checks share: which files make up a source tree."""
import os
import subprocess
import sys

SKIPPED_DIRS = {".git", "__pycache__", ".pytest_cache"}


def files(root):
    """Paths of the tree's files, relative to root: those that git tracks, or,
    without git, all but build directories."""
    git = ["git", "-c", "safe.directory=*", "-C", root]
    try:
        top = subprocess.run(git + ["rev-parse", "--show-toplevel"], capture_output=True, text=True)
        if top.returncode == 0 and os.path.realpath(top.stdout.strip()) == os.path.realpath(root):
            names = subprocess.run(git + ["ls-files", "-z"], capture_output=True, text=True, check=True)
            return sorted(n for n in names.stdout.split("\0")
                          if n and os.path.isfile(os.path.join(root, n)))
    except FileNotFoundError:
        pass
    found = []
    for folder, dirs, names in os.walk(root):
        dirs[:] = [d for d in dirs if d not in SKIPPED_DIRS and
                   not (folder == root and d.startswith("build"))]
        found += [os.path.relpath(os.path.join(folder, n), root) for n in names]
    return sorted(found)


def c_files(root):
    """C sources and headers."""
    return [f for f in files(root) if f.endswith((".c", ".h"))]


def text(root, name):
    """Contents as text, or None for a binary file."""
    with open(os.path.join(root, name), "rb") as file:
        data = file.read()
    if b"\0" in data[:8192] or name.endswith((".gz", ".pcap")):
        return None
    return data.decode("utf-8", "replace")


def root_argument():
    """The tree to check: an argument, or the one that the script is in."""
    if len(sys.argv) > 2 or (len(sys.argv) == 2 and sys.argv[1].startswith("-")):
        sys.exit(f"usage: {os.path.basename(sys.argv[0])} [TREE]")
    if len(sys.argv) == 2:
        return os.path.abspath(sys.argv[1])
    return os.path.dirname(os.path.dirname(os.path.realpath(__file__)))


def report(problems):
    """Print problems and exit: 1 when there are any."""
    for problem in problems:
        print(problem)
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    print("\n".join(c_files(root_argument())))
