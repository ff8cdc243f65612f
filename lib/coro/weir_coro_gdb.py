# SPDX-License-Identifier: BSD-3-Clause
"""gdb: coroutines of a program that uses Weir, live or in a core file.

    (gdb) source .../share/weir/gdb/weir_coro_gdb.py
    (gdb) info coroutines [FILTER...]
    (gdb) coro bt ID...|all [FILTER...] [-- OPTIONS OF bt]
    (gdb) coro apply ID...|all [FILTER...] -- COMMAND

Nothing is written to the program and nothing is called in it. A backtrace of a suspended coroutine is
made by an unwinder, which tells gdb for a moment that the innermost frame of the thread was called from where the
coroutine will go on. So core files do as well. gdb 11 or later; libweir with debug information.
"""
import argparse
import os
import re
import struct

import gdb
from gdb.unwinder import Unwinder

LIMIT = 100
CHUNK = 2048  # blocks read at a time
ENTRY_BYTES = 64  # coro_entry() is shorter
REGISTERS = {"i386:x86-64": ("rsp", "rbp", "rip"), "aarch64": ("sp", "x29", "pc")}
FORMATS = {1: "B", 2: "H", 4: "I", 8: "Q"}
STATES = ("free", "suspended", "running", "exited")
OUTERMOST = re.compile(r"#\d+\s+0x0+ in \?\? \(\)")  # what the unwinder says calls coro_entry()
OWN_FUNCTIONS = re.compile(r"(weir_)?coro_")


class Context:
    """Where a stack goes on: struct weir_coro_context."""

    def __init__(self, sp, fp, pc):
        self.sp, self.fp, self.pc = sp, fp, pc


class Coroutine:
    """What is in a struct weir_coro_block."""

    def __init__(self, address, values):
        self.__dict__.update(values)
        self.address = address
        state = self.word & 0xFFFF
        self.state = STATES[state] if state < len(STATES) else "state %d" % state
        self.own = Context(self.own_sp, self.own_fp, self.own_pc)
        self.resumer = Context(self.resumer_sp, self.resumer_fp, self.resumer_pc)
        self.thread = None  # gdb.InferiorThread, where it runs
        self.inner = None  # Coroutine that it resumed, and waits for


class Layout:
    """Offsets of the fields of a block, from the debug information."""

    FIELDS = ("word", "outer", "cancelled", "resumes", "slice", "class_id", "run", "stack", "top", "id")

    def __init__(self, block_type):
        block_type = block_type.strip_typedefs()
        self.size = block_type.sizeof
        self.fields = []
        for name in self.FIELDS:
            self.add(name, block_type[name], 0)
        pair = block_type["contexts"]
        for name in ("own", "resumer"):
            context = pair.type.strip_typedefs()[name]
            at = (pair.bitpos + context.bitpos) // 8
            for register in ("sp", "fp", "pc"):
                self.add(name + "_" + register, context.type.strip_typedefs()[register], at)

    def add(self, name, field, base):
        self.fields.append((name, struct.Struct("=" + FORMATS[field.type.sizeof]), base + field.bitpos // 8))

    def read(self, memory, offset):
        return {name: form.unpack_from(memory, offset + at)[0] for name, form, at in self.fields}


def global_variable(name):
    symbol = gdb.lookup_global_symbol(name) or gdb.lookup_static_symbol(name)
    if symbol is None:
        raise gdb.GdbError("no symbol %s: the program does not use Weir's coroutines, "
                           "or libweir has no debug information" % name)
    return symbol.value()


def switch_to(thread):
    if thread is not None and gdb.selected_thread() != thread:
        thread.switch()


class Selection:
    """With this: thread and frame that are selected stay so, whatever happens."""

    def __enter__(self):
        self.thread = gdb.selected_thread()
        if self.thread is None:
            raise gdb.GdbError("the program is not being run, and there is no core file")
        self.frame = None
        if not self.thread.is_running():
            self.frame = gdb.selected_frame()
        return self

    def __exit__(self, *exception):
        switch_to(self.thread)
        if self.frame is not None and self.frame.is_valid():
            self.frame.select()


class CoroutineUnwinder(Unwinder):
    """While it has a context: the innermost frame was called from there, and coro_entry() by nobody."""

    def __init__(self):
        super().__init__("weir-coroutine")
        self.context = None

    def __call__(self, pending):
        if self.context is None:
            return None
        names = REGISTERS[pending.architecture().name()]
        sp, _, pc = (pending.read_register(name) for name in names)
        if (int(sp), int(pc)) == self.innermost:
            return self.unwound(pending, names, self.context)
        if self.last and is_entry(int(pc)):
            return self.unwound(pending, names, Context(int(sp) + 16, 0, 0))
        return None

    def unwound(self, pending, names, context):
        # gdb wants each caller's frame above that of the called: so this one is right below.
        identity = FrameId(context.sp - 8, pending.read_register(names[2]))
        info = pending.create_unwind_info(identity)
        for name, value in zip(names, (context.sp, context.fp, context.pc)):
            kind = pending.read_register(name).type
            info.add_saved_register(name, gdb.Value(value).cast(kind))
        return info

    def set(self, context, last):
        """Context, None: stop. last: nothing comes behind coro_entry()."""
        self.context = None
        gdb.invalidate_cached_frames()
        if context is None:
            return
        frame = gdb.newest_frame()
        names = REGISTERS.get(frame.architecture().name())
        if names is None:
            raise gdb.GdbError("no backtraces of coroutines on " + frame.architecture().name())
        self.innermost = (int(frame.read_register(names[0])), frame.pc())
        self.last = last
        self.context = context
        gdb.invalidate_cached_frames()


class FrameId:
    def __init__(self, sp, pc):
        self.sp = gdb.Value(sp).cast(pc.type)
        self.pc = pc


class Unwound:
    """With this: frames of a context, from level .first on. Of whom nothing is left, even upon an error."""

    def __init__(self, context, last):
        self.context, self.last = context, last

    def __enter__(self):
        unwinder.set(self.context, self.last)
        frame = gdb.newest_frame()
        self.first = 1
        while frame is not None and frame.type() == gdb.INLINE_FRAME:
            frame = frame.older()
            self.first += 1
        self.frame = frame.older() if frame is not None else None
        if self.frame is None:
            raise gdb.GdbError("gdb finds no frame at %#x" % self.context.pc)
        return self

    def __exit__(self, *exception):
        unwinder.set(None, False)


entry_addresses = {}


def is_entry(pc):
    """Is it in coro_entry(), which is where a coroutine's stack begins?"""
    if pc not in entry_addresses:
        found = gdb.execute("info symbol %#x" % pc, to_string=True)
        entry_addresses[pc] = re.match(r"coro_entry( \+|  ?in |\n)", found) is not None
    return entry_addresses[pc]


def function_at(address):
    """Name of the function, not of what was inlined there."""
    try:
        block = gdb.block_for_pc(address)
        while block is not None and (block.function is None or
                                     (block.superblock is not None and not block.superblock.is_static)):
            block = block.superblock
        if block is not None and block.function is not None:
            return block.function.print_name
    except (RuntimeError, gdb.error):
        pass
    found = gdb.execute("info symbol %#x" % address, to_string=True)
    return "%#x" % address if found.startswith("No symbol") else found.split(" ")[0]


class Program:
    """All coroutines, as they are now."""

    def __init__(self):
        entry_addresses.clear()
        self.names = {}
        self.by_address = {}
        self.classes = []
        self.pagemap = None
        classes = global_variable("coro_classes")
        for number in range(int(global_variable("coro_nb_classes"))):
            self.classes.append(classes[number])
        self.layout = Layout(gdb.lookup_type("struct weir_coro_block")) if self.classes else None

    def read(self):
        for entry in self.classes:
            self.read_class(int(entry["blocks"]), int(entry["nb_fresh"]))
        self.find_threads()
        return self

    def read_class(self, address, nb):
        size = self.layout.size
        for first in range(0, nb, CHUNK):
            count = min(CHUNK, nb - first)
            at = address + first * size
            memory = gdb.selected_inferior().read_memory(at, count * size)
            for index in range(count):
                values = self.layout.read(memory, index * size)
                if values["word"] & 0xFFFF != 0:
                    self.by_address[at + index * size] = Coroutine(at + index * size, values)

    def on_stack(self, sp):
        for coroutine in self.by_address.values():
            if coroutine.state == "running" and coroutine.stack <= sp <= coroutine.top:
                return coroutine
        return None

    def current(self):
        """Which one runs on the selected thread?"""
        frame = gdb.newest_frame()
        names = REGISTERS.get(frame.architecture().name())
        sp = int(frame.read_register(names[0])) if names else None
        try:
            coroutine = self.by_address.get(int(gdb.parse_and_eval("weir_coro_thread.current")))
        except gdb.error:  # no thread-local variables: no libthread_db, as often with core files
            return self.on_stack(sp) if names else None
        # Between two instructions of a switch it may be the one that has left, or has not begun yet.
        while coroutine is not None and sp == coroutine.resumer_sp:
            coroutine = self.by_address.get(coroutine.outer)
        return coroutine

    def find_threads(self):
        for thread in gdb.selected_inferior().threads():
            if not thread.is_valid() or thread.is_running():
                continue
            switch_to(thread)
            inner, coroutine = None, self.current()
            while coroutine is not None and coroutine.thread is None:
                coroutine.thread, coroutine.inner = thread, inner
                inner, coroutine = coroutine, self.by_address.get(coroutine.outer)

    def name(self, address):
        if address not in self.names:
            self.names[address] = function_at(address)
        return self.names[address]

    def high_water(self, coroutine):
        """Bytes from the top to the lowest page that was touched; None: nobody tells, as in a core file."""
        if self.pagemap is None:
            self.pagemap = open_pagemap()
        if self.pagemap is False:
            return None
        page = os.sysconf("SC_PAGESIZE")
        first = -(-coroutine.stack // page)
        # Below the others is a canary's page, present in any case: zeros as long as the stack did not come so far.
        lowest = first * page - coroutine.stack
        if lowest > 0 and any(bytes(gdb.selected_inferior().read_memory(coroutine.stack, lowest))):
            return coroutine.top - coroutine.stack
        try:
            self.pagemap.seek(first * 8)
            entries = self.pagemap.read((coroutine.top // page - first + 1) * 8)
        except OSError:
            return None
        for number, (entry,) in enumerate(struct.iter_unpack("=Q", entries[:len(entries) // 8 * 8])):
            at = (first + number) * page
            if entry >> 62 != 0:
                return max(0, coroutine.top - at)
        return 0

    def close(self):
        if self.pagemap:
            self.pagemap.close()


def open_pagemap():
    inferior = gdb.selected_inferior()
    connection = getattr(inferior, "connection", None)
    if connection is None or connection.type != "native":
        return False
    try:
        return open("/proc/%d/pagemap" % inferior.pid, "rb", buffering=0)
    except OSError:
        return False


class Arguments(argparse.ArgumentParser):
    def error(self, message):
        raise gdb.GdbError("%s: %s" % (self.prog, message))


def limit(text):
    if text != "all" and not text.isdecimal():
        raise argparse.ArgumentTypeError("a number from 0, or all, and not '%s'" % text)
    return None if text == "all" else int(text)


def expression(text):
    try:
        return re.compile(text)
    except re.error as error:
        raise argparse.ArgumentTypeError("'%s' is no regular expression: %s" % (text, error)) from None


def add_filters(parser):
    parser.add_argument("-state", choices=STATES[1:])
    parser.add_argument("-class", dest="class_id", type=int)
    parser.add_argument("-entry", type=expression)
    parser.add_argument("-limit", type=limit, default=LIMIT)


def parse(parser, argument):
    return parser.parse_args(gdb.string_to_argv(argument))


def chosen(program, options, ids=None):
    """Those that the filters let through, in the order of their numbers."""
    found = sorted(program.by_address.values(), key=lambda coroutine: coroutine.id)
    if ids is not None:
        by_id = {coroutine.id: coroutine for coroutine in found}
        for number in ids:
            if number not in by_id:
                raise gdb.GdbError("no coroutine %d is alive" % number)
        found = [by_id[number] for number in ids]
    return [coroutine for coroutine in found
            if options.state in (None, coroutine.state)
            and options.class_id in (None, coroutine.class_id)
            and (options.entry is None or options.entry.search(program.name(coroutine.run)))]


def told_left(nb, shown):
    if nb > shown:
        print("%d more; -limit N or -limit all shows them" % (nb - shown))


def has_begun(coroutine):
    return not is_entry(coroutine.own.pc)


def unwinding(coroutine):
    """Its frames; of one that waits for another, those it goes on with then."""
    if coroutine.inner is not None:
        switch_to(coroutine.thread)
        return Unwound(coroutine.inner.resumer, False)
    if coroutine.own.pc == 0:
        raise gdb.GdbError("its context is kept by Boost.Context, which gdb cannot follow")
    if not coroutine.stack <= coroutine.own.sp <= coroutine.top:
        raise gdb.GdbError("its stack pointer %#x is outside of its stack" % coroutine.own.sp)
    return Unwound(coroutine.own, True)


def place(frame):
    """The innermost frame that is not the library's."""
    while frame is not None and OWN_FUNCTIONS.match(frame.name() or ""):
        frame = frame.older()
    if frame is None:
        return "?"
    where = frame.find_sal()
    name = frame.name() or "%#x" % frame.pc()
    return "%s (%s:%d)" % (name, os.path.basename(where.symtab.filename), where.line) if where.symtab else name


def location(coroutine):
    if coroutine.state == "exited":
        return "-"
    if coroutine.inner is not None:
        return "thread %d, resumed %d" % (coroutine.thread.num, coroutine.inner.id)
    if coroutine.thread is not None:
        switch_to(coroutine.thread)
        return "thread %d, %s" % (coroutine.thread.num, place(gdb.newest_frame()))
    if coroutine.state == "running":
        return "being switched, or its thread is not stopped"
    if not has_begun(coroutine):
        return "not begun"
    with unwinding(coroutine) as unwound:
        return place(unwound.frame)


def safely(function, *arguments):
    """What is wrong with one coroutine is no reason not to tell of the others."""
    try:
        return function(*arguments)
    except (gdb.error, gdb.GdbError, RuntimeError) as error:
        return "(%s)" % error


def row(program, coroutine):
    depth = high = None
    if coroutine.state == "suspended":
        depth = coroutine.top - coroutine.own.sp
    high = program.high_water(coroutine)
    return [str(coroutine.id), str(coroutine.class_id), coroutine.state,
            program.name(coroutine.run), str(coroutine.slice), str(coroutine.resumes),
            "-" if depth is None else str(depth), "-" if high is None else str(high),
            safely(location, coroutine) + (", cancelled" if coroutine.cancelled else "")]


HEADINGS = ["id", "class", "state", "entry", "slice", "resumes", "depth", "high", "where"]
LEFT = (2, 3)


def print_table(rows):
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADINGS) - 1)]
    for line in rows:
        cells = [cell.ljust(width) if column in LEFT else cell.rjust(width)
                 for column, (cell, width) in enumerate(zip(line, widths))]
        print("  ".join(cells + line[-1:]))


def list_coroutines(argument):
    parser = Arguments(prog="info coroutines", add_help=False, allow_abbrev=False)
    add_filters(parser)
    options = parse(parser, argument)
    with Selection():
        program = Program().read()
        found = chosen(program, options)
        shown = found[:options.limit]
        if shown:
            print_table([HEADINGS] + [row(program, coroutine) for coroutine in shown])
        told_left(len(found), len(shown))
        states = ["%d %s" % (nb, state) for state in STATES[1:]
                  for nb in [sum(coroutine.state == state for coroutine in found)] if nb > 0]
        print("%d coroutines%s" % (len(found), ": " + ", ".join(states) if states else ""))
        program.close()


class InfoCoroutines(gdb.Command):
    """Coroutines of the program.
Usage: info coroutines [-state suspended|running|exited] [-class N] [-entry REGEX] [-limit N|all]

slice: cycles. resumes: how often it was resumed. depth: bytes of its stack that are in use now. high: bytes
of its stack ever touched, in pages. where: innermost function that is not the library's."""

    def __init__(self, name):
        super().__init__(name, gdb.COMMAND_STATUS)

    def invoke(self, argument, from_tty):
        list_coroutines(argument)


class Coro(gdb.Command):
    """Coroutines: coro list, coro bt, coro apply."""

    def __init__(self):
        super().__init__("coro", gdb.COMMAND_STACK, prefix=True)


def split_command(argument):
    """What is before and after a -- of its own."""
    before, _, after = (" " + argument + " ").partition(" -- ")
    return before, after.strip()


def for_each(prog, argument, work):
    parser = Arguments(prog=prog, add_help=False, allow_abbrev=False)
    parser.add_argument("ids", nargs="+", metavar="ID|all")
    add_filters(parser)
    options = parse(parser, argument)
    try:
        ids = None if options.ids == ["all"] else [int(number, 0) for number in options.ids]
    except ValueError:
        raise gdb.GdbError("%s: what is wanted are numbers of coroutines, or all" % prog) from None
    with Selection():
        program = Program().read()
        found = chosen(program, options, ids)
        shown = found[:options.limit] if ids is None else found
        for coroutine in shown:
            title = "Coroutine %d (class %d, %s), entry %s" % (
                coroutine.id, coroutine.class_id, coroutine.state, program.name(coroutine.run))
            if coroutine.thread is not None:
                title += ", thread %d" % coroutine.thread.num
            if coroutine.inner is not None:
                title += ", resumed %d" % coroutine.inner.id
            print(title + ":")
            problem = safely(work, coroutine)
            if problem:
                print(problem)
            print()
        told_left(len(found), len(shown))


def backtrace(options, first):
    """What bt says, numbered from the coroutine's first frame."""
    words = gdb.string_to_argv(options)
    if words and re.fullmatch(r"\d+", words[-1]):  # of how many frames
        words[-1] = str(int(words[-1]) + first)
    lines = gdb.execute("bt " + " ".join(words), to_string=True).splitlines()
    for number, line in enumerate(lines):
        if OUTERMOST.match(line):
            del lines[number:]
            break
    starts = [number for number, line in enumerate(lines) if re.match(r"#%d\s" % first, line)]
    for line in lines[starts[0] if starts else 0:]:
        match = re.match(r"#(\d+)(\s+)(.*)", line)
        print("#%-*d%s" % (len(match[1] + match[2]), int(match[1]) - first, match[3]) if match else line)


def with_frames(coroutine, work):
    """Call work(level of the first frame) with the frames of a coroutine."""
    if coroutine.state == "exited":
        return "(it has exited)"
    if coroutine.thread is not None and coroutine.inner is None:
        switch_to(coroutine.thread)
        gdb.newest_frame().select()
        return work(0)
    if coroutine.state == "running" and coroutine.thread is None:
        return "(it is being switched, or its thread is not stopped)"
    if coroutine.inner is None and not has_begun(coroutine):
        return "(not begun)"
    with unwinding(coroutine) as unwound:
        unwound.frame.select()
        return work(unwound.first)


class CoroBt(gdb.Command):
    """Backtraces of coroutines: where they go on, or are.
Usage: coro bt ID...|all [-state suspended|running|exited] [-class N] [-entry REGEX] [-limit N|all] [-- OPTIONS OF bt]

That of one that runs is its thread's, with those who resumed it."""

    def __init__(self):
        super().__init__("coro bt", gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        argument, options = split_command(argument)
        for_each("coro bt", argument, lambda coroutine: with_frames(
            coroutine, lambda first: backtrace(options, first)))


class CoroApply(gdb.Command):
    """Have gdb do something at the innermost frame of coroutines.
Usage: coro apply ID...|all [-state suspended|running|exited] [-class N] [-entry REGEX] [-limit N|all] -- COMMAND

COMMAND is one that looks, such as "info locals" or "frame apply level 2 print x"; frames of one that is
suspended begin with number 1. Do not have the program go on from here."""

    def __init__(self):
        super().__init__("coro apply", gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        argument, command = split_command(argument)
        if not command:
            raise gdb.GdbError("coro apply: no -- COMMAND")
        for_each("coro apply", argument, lambda coroutine: with_frames(
            coroutine, lambda first: gdb.execute(command)))


unwinder = CoroutineUnwinder()
gdb.unwinder.register_unwinder(None, unwinder, replace=True)
Coro()
InfoCoroutines("info coroutines")
InfoCoroutines("coro list")
CoroBt()
CoroApply()
