"""Lanes and waves in gdb, for captures that lanescope serves.

In ~/.gdbinit:

    source PATH/clients/gdb/lanescope.py

Adds `lane`, `lane apply`, `info lanes`, `info wave`, `info waves`, `info dispatches` and `info workgroups` in the terms of
AMD's gdb, with the server's data only: see docs/gdb.md. Existing commands of the debugger stay. Changes of gdb's own
commands and disassembler begin with the first connection to lanescope, and do not affect other targets.
"""

import importlib.util
import os
import re
import xml.etree.ElementTree as xml

import gdb


def _shared():
    # A script that sources this one has set __file__ to its own path. The code object keeps the path of this file.
    folder = os.path.dirname(os.path.dirname(os.path.realpath(_shared.__code__.co_filename)))
    place = os.path.join(folder, "lanescope_format.py")
    if not os.path.exists(place):
        raise gdb.GdbError("%s is missing: load lanescope.py by `source PATH/clients/gdb/lanescope.py`." % place)
    spec = importlib.util.spec_from_file_location("lanescope_format", place)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


form = _shared()

NOT_SERVED = "This is for captures that lanescope serves, and gdb is not connected to one."
# The maximum length of an x86 instruction in gdb.
LONGEST_INSTRUCTION = 16
# AMDGPU instructions have a multiple of this length, in bytes.
SMALLEST_INSTRUCTION = 4
# Registers that gdb unwinds itself in every frame, or that are no wave registers.
FACADE = ("pc", "lane")
# Names of the register groups in AMD's gdb.
GROUPS = ("general", "scalar", "vector", "accumulator", "system", "trap")
# Bytes of a chunk of the target description.
PIECE = 0x8000


class Server:
    """Connection of gdb to lanescope."""

    # Version answer of each connection's server; None: the server is not lanescope.
    versions = {}

    def __init__(self, connection, version):
        self.connection = connection
        self.version = version

    @classmethod
    def here(cls):
        """Connection of the current inferior, or None."""
        connection = gdb.selected_inferior().connection
        if connection is None or not hasattr(connection, "send_packet"):
            return None
        if connection.num not in cls.versions:
            try:
                said = connection.send_packet(form.request("Version"))
            except gdb.error:
                return None  # A running target. A later call asks again.
            cls.versions[connection.num] = form.is_lanescope(form.unescape(said)) if said else None
        version = cls.versions[connection.num]
        return cls(connection, version) if version else None

    def ask(self, packet):
        said = self.connection.send_packet(packet)
        if not said:
            raise form.Refused("This version of lanescope does not answer %s." % packet.split(":")[0])
        return form.answer(form.unescape(said))

    def read(self, thing, annex):
        """A document, read in chunks."""
        whole = b""
        while True:
            piece = self.connection.send_packet("qXfer:%s:read:%s:%x,%x" % (thing, annex, len(whole), PIECE))
            if not piece or piece[:1] not in (b"m", b"l"):
                raise form.Refused("The server does not give %s." % thing)
            whole += form.unescape(piece[1:])
            if piece[:1] == b"l":
                return whole

    def wave(self, thread):
        return form.wave_of(self.ask, thread.ptid[1])

    def lanes(self, thread):
        return self.ask(form.request("Lanes", thread=thread.ptid[1]))["lanes"]

    def find(self, place, thread):
        """gdb's thread at a position in the grid, and the lane there, or None."""
        found = self.ask(form.request("Find", place=form.place_hex(place), thread=thread.ptid[1]))
        threads = gdb.selected_inferior().threads()
        there = next(one for one in threads if one.ptid[1] == found["thread"])
        return there, None if found["is_lane"] else found["lane"]


def served():
    """Returns the server, or raises a GdbError."""
    server = Server.here()
    if server is None:
        raise gdb.GdbError(NOT_SERVED)
    settle_in()
    form.columns = gdb.parameter("width") or None
    return server


def selected():
    thread = gdb.selected_thread()
    if thread is None:
        raise gdb.GdbError("No thread selected")
    return thread


def shown_lane():
    """The lane in gdb's register of the selected thread; None: gdb has no such register."""
    try:
        return int(gdb.selected_frame().read_register("lane"))
    except (ValueError, gdb.error):
        return None


def focused(lanes):
    """The lane in gdb's register of the selected thread, or the server's lane if gdb has no such register."""
    shown = shown_lane()
    is_focused = lambda lane: lane.get("focused") if shown is None else lane["lane"] == shown
    return next(filter(is_focused, lanes), None)


def numbers():
    """gdb's thread numbers, by the server's."""
    return {thread.ptid[1]: thread.num for thread in gdb.selected_inferior().threads()}


def has_register(name):
    return any(register.name == name for register in gdb.selected_frame().architecture().registers())


def focus(lane):
    """Selects a lane. gdb sends no write of an unchanged register value: the command sets the lane of `monitor`."""
    gdb.execute("monitor thread %d lane %d" % (selected().num, lane), to_string=True)
    if has_register("lane"):
        gdb.execute("set var $lane = %d" % lane)
    else:
        gdb.execute("maint flush register-cache", to_string=True)


def command(function):
    """Ends a command with the server's message instead of a Python error."""

    def invoke(self, argument, from_tty):
        try:
            function(self, argument.strip())
        except (form.Refused, gdb.error) as words:
            raise gdb.GdbError(str(words)) from None

    return invoke


class Lane(gdb.Command):
    """Show the current lane, or make another one current.
Usage: lane [NUMBER|(X,Y,Z)|(X,Y,Z)[X,Y,Z]]

(X,Y,Z) is the work-item of that id in the grid, (X,Y,Z)[X,Y,Z] one of a work-group; the thread of its wave becomes current, too.
Variables, private memory and the frames of inactive lanes are those of the current lane. Each thread has its own."""

    def __init__(self):
        super().__init__("lane", gdb.COMMAND_RUNNING, gdb.COMPLETE_NONE, True)

    @command
    def invoke(self, argument):
        server, thread = served(), selected()
        if not argument:
            lane = focused(server.lanes(thread))
            where = form.lane_name(server.wave(thread), lane)
            print("[Current thread is %d, lane %d (%s)]" % (thread.num, lane["lane"], where))
            return
        if form.is_place(argument):
            thread, number = server.find(argument, thread)
            thread.switch()
            if number is None:
                gdb.execute("thread")
                gdb.execute("frame")
                return
        else:
            number = int(gdb.parse_and_eval(argument))
        found = [lane for lane in server.lanes(thread) if lane["lane"] == number]
        if not found:
            raise gdb.GdbError("Lane %d does not exist on this thread." % number)
        form.one_lane(server.wave(thread))
        focus(number)
        lane = found[0]
        where = form.lane_name(server.wave(thread), lane)
        print("[Switching to thread %d, lane %d (%s)]" % (thread.num, number, where))
        gdb.execute("frame")
        if lane["state"] in ("inactive", "not_entered"):
            print("warning: Current lane is inactive.")
        elif lane["state"] == "unused":
            print("warning: Current lane is unused.")


class LaneApply(gdb.Command):
    """Apply a command to a list of lanes of the current thread.
Usage: lane apply LANES|all|active [OPTION]... COMMAND

LANES are numbers and ranges of them: 0-3 17. `all` are those with a work-item.
  -all, -active, -inactive  of these lanes only those in that state; -all: unused ones, too
  -q  no line before each lane
  -c  go on after an error, and print it
  -s  go on after an error in silence"""

    def __init__(self):
        super().__init__("lane apply", gdb.COMMAND_RUNNING, gdb.COMPLETE_COMMAND)

    @command
    def invoke(self, argument):
        server, thread = served(), selected()
        found = re.match(r"(all|active|\d(?:[\d\s,-]*\d)?)(?:\s+|$)", argument)
        if not found:
            raise gdb.GdbError("Please specify a lane ID list")
        which, rest, options = found.group(1), argument[found.end() :], set()
        while True:
            option = re.match(r"-(all|active|inactive|q|c|s)(?:\s+|$)", rest)
            if not option:
                break
            options.add(option.group(1))
            rest = rest[option.end() :]
        if not rest:
            raise gdb.GdbError("Please specify a command to apply on the selected lanes")
        lanes = server.lanes(thread)
        chosen = form.filtered(lanes, which, options)
        wave, before, level = server.wave(thread), focused(lanes), gdb.selected_frame().level()
        form.one_lane(wave)
        try:
            for lane in chosen:
                focus(lane["lane"])
                stay_in(level)
                if "q" not in options:
                    print("\nLane %d (%s):" % (lane["lane"], form.lane_name(wave, lane)))
                try:
                    gdb.execute(rest)
                except gdb.error as error:
                    if not options & {"c", "s"}:
                        raise gdb.GdbError(str(error)) from None
                    if "c" in options:
                        print(error)
        finally:
            thread.switch()
            focus(before["lane"])
            stay_in(level)


def stay_in(level):
    """An inactive lane has its own frames. gdb goes to the innermost one."""
    if gdb.selected_frame().level() != level:
        try:
            gdb.execute("frame level %d" % level, to_string=True)
        except gdb.error:
            pass  # This lane has fewer frames.


class InfoLanes(gdb.Command):
    """List the lanes of the current thread.
Usage: info lanes [-all|-active|-inactive] [LANES]

Without options those with a work-item. State A: active, I: inactive, U: unused. Frame is where an inactive lane is, if the
debug information says so."""

    def __init__(self):
        super().__init__("info lanes", gdb.COMMAND_STATUS)

    @command
    def invoke(self, argument):
        server, thread = served(), selected()
        options = set()
        while argument.startswith("-"):
            option, _, argument = argument.partition(" ")
            argument = argument.strip()
            if option not in ("-all", "-active", "-inactive"):
                raise gdb.GdbError("Unrecognized option at: %s" % option)
            options.add(option[1:])
        lanes = server.lanes(thread)
        chosen = form.filtered(lanes, argument, options)
        if not chosen:
            print("No lanes.")
            return
        here = focused(lanes)
        print(form.lanes(server.wave(thread), chosen, here and here["lane"]))


class InfoWaves(gdb.Command):
    """List all waves. Id is the thread.
Usage: info waves"""

    def __init__(self):
        super().__init__("info waves", gdb.COMMAND_STATUS)

    @command
    def invoke(self, argument):
        server = served()
        print(form.waves(form.all_waves(server.ask), numbers(), here()))


class InfoWave(gdb.Command):
    """Show what is known of a wave.
Usage: info wave [THREAD]"""

    def __init__(self):
        super().__init__("info wave", gdb.COMMAND_STATUS)

    @command
    def invoke(self, argument):
        server = served()
        thread = thread_numbered(int(gdb.parse_and_eval(argument))) if argument else selected()
        lane = focused(server.lanes(thread))
        print(form.wave(server.wave(thread), thread.num, lane and lane["lane"]))


class InfoDispatches(gdb.Command):
    """List the dispatches, with grid and work-group in work-items, fences and bytes of address spaces.
Usage: info dispatches

Fence B: barrier; Aa, As: acquire, of the agent or the system; Ra, Rs: release; -: none; ?: not captured."""

    def __init__(self):
        super().__init__("info dispatches", gdb.COMMAND_STATUS)

    @command
    def invoke(self, argument):
        print(form.dispatches(served().ask(form.request("Dispatches"))["dispatches"], here()))


class InfoWorkgroups(gdb.Command):
    """List the work-groups of the waves, with their threads.
Usage: info workgroups"""

    def __init__(self):
        super().__init__("info workgroups", gdb.COMMAND_STATUS)

    @command
    def invoke(self, argument):
        print(form.workgroups(form.all_waves(served().ask), numbers(), here()))


def here():
    thread = gdb.selected_thread()
    return thread.ptid[1] if thread else None


def thread_numbered(number):
    for thread in gdb.selected_inferior().threads():
        if thread.num == number:
            return thread
    raise gdb.GdbError("Unknown thread %d." % number)


class InfoRegisters(gdb.Command):
    """List of integer registers and their contents, for selected stack frame.
One or more register names as argument means describe the given registers.
One or more register group names as argument means describe the registers
in the named register groups."""

    # Groups of `info registers` without arguments: vectors are too long.
    FIRST = ("general", "scalar", "system", "trap")

    def __init__(self):
        super().__init__("info registers", gdb.COMMAND_STATUS, gdb.COMPLETE_NONE)

    @command
    def invoke(self, argument):
        server = Server.here()
        # This command replaces gdb's own, whose longer name still works.
        if server is None or server.version["client"] != "gdb":
            gdb.execute("info all-registers " + (argument or "general"))
            return
        groups = register_groups(server)
        if not argument:
            for group in self.FIRST:
                show_registers(groups.get(group, []))
            more = ["%s (%s-%s)" % (name, of[0], of[-1]) for name, of in groups.items() if name not in self.FIRST]
            if more:
                print("More with `info registers GROUP`: %s." % ", ".join(more))
            return
        for word in argument.split():
            name = word.lstrip("$")
            if name == "all":
                for members in groups.values():
                    show_registers(members)
            elif name in groups and not word.startswith("$"):
                show_registers(groups[name])
            elif name in GROUPS and not word.startswith("$"):
                print("No register of the group %s was captured." % name)
            elif any(name in members for members in groups.values()):
                show_registers([name])
            else:
                gdb.execute("info all-registers " + word)


def show_registers(names):
    """Unwinds AMDGPU registers. gdb has rules for x86's only: others keep the innermost frame's value."""
    server, level = Server.here(), gdb.selected_frame().level()
    for name in names:
        if level == 0 or server is None or name in FACADE:
            gdb.execute("info all-registers " + name)
        else:
            print("%-14s %s" % (name, in_frame(server, name, level)))


def in_frame(server, name, level):
    """The register in the frame: where a callee saved it, or the reason for its absence."""
    path = ("$" + name).encode().hex()
    asked = dict(thread=selected().ptid[1], frame=level, path=path)
    try:
        said = server.ask(form.request("Print", format="x", **asked))
    except form.Refused as words:
        return "<%s>" % words
    return form.printed(said)


def register_groups(server):
    """The names in each group of the target description. Registers that only x86 needs have no group."""
    description = server.read("features", "target.xml")
    groups = {"general": ["pc"]}
    for register in xml.fromstring(re.sub(rb"<!DOCTYPE[^>]*>", b"", description)).iter("reg"):
        group = register.get("group")
        if group:
            groups.setdefault(group, []).append(register.get("name"))
    return groups


def make_disassembler():
    """Disassembles with the server: gdb would decode the code as x86."""
    import gdb.disassembler

    class Disassembler(gdb.disassembler.Disassembler):
        def __init__(self):
            super().__init__("lanescope")

        def __call__(self, info):
            server = Server.here()
            if server is None or server.version["client"] != "gdb":
                return None
            try:
                said = server.ask(form.request("Disassemble", address=info.address, count=1))
            except form.Refused as words:
                # No error: gdb would add its own, less precise one.
                return gdb.disassembler.DisassemblerResult(SMALLEST_INSTRUCTION, "(no disassembly: %s)" % words)
            found = said.get("instructions")
            if not found:
                raise gdb.MemoryError("not captured")
            size, text = int(found[0]["size"]), found[0]["text"]
            if size > LONGEST_INSTRUCTION:
                words = "%s (%d bytes; gdb goes on after %d at most)" % (text, size, LONGEST_INSTRUCTION)
                raise gdb.GdbError(words)
            return gdb.disassembler.DisassemblerResult(size, text)

    gdb.disassembler.register_disassembler(Disassembler())


class Values:
    """$_lane and the other variables of the lane.

    Python can set gdb's convenience variables, but gdb does not compute them on demand. So they are set after each change of
    selection and before a command that evaluates, and are void while `thread apply` selects threads without an event. Front
    ends select threads without an event: only the function $_focus is valid there, since gdb calls it at evaluation.
    """

    NAMES = (
        "lane",
        "lane_count",
        "wave",
        "agent",
        "queue",
        "dispatch",
        "dispatch_pos",
        "thread_workgroup_pos",
        "lane_workgroup_pos",
    )
    # Commands that evaluate expressions: the variables are updated before them.
    EVALUATE = ("print", "printf", "output", "call", "x")
    offered = False
    shown = None
    # Constant values of each thread, and each lane's work-item.
    known = {}

    @classmethod
    def clear(cls):
        cls.shown = None
        if cls.offered:
            for name in cls.NAMES:
                gdb.set_convenience_variable("_" + name, None)

    @classmethod
    def here(cls):
        """Values of the current thread and lane, and the thread and lane themselves."""
        server, thread = Server.here(), gdb.selected_thread()
        if server is None or thread is None:
            return None, {}
        key = (server.connection.num, thread.ptid)
        if key not in cls.known:
            wave, lanes = server.wave(thread), server.lanes(thread)
            values = {name: wave[name] for name in ("agent", "queue", "dispatch")}
            values.update(wave=wave["id"], lane_count=len(form.select(lanes, "all")))
            if wave["coord"]:
                values["dispatch_pos"] = form.dispatch_position(wave)
            if wave["wave_in_group"] is not None:
                values["thread_workgroup_pos"] = str(wave["wave_in_group"])
            items = {lane["lane"]: form.triple(lane["local_id"], "[]") for lane in lanes if lane["local_id"]}
            cls.known[key] = values, items
        lane = current_lane(server, thread)
        values, items = cls.known[key]
        return (key, lane), dict(values, lane=lane, lane_workgroup_pos=items.get(lane))

    @classmethod
    def update(cls):
        if not cls.offered:
            return
        try:
            of, values = cls.here()
        except (form.Refused, gdb.error):
            of, values = None, {}
        if of is None:
            cls.clear()
        elif of != cls.shown:
            for name in cls.NAMES:
                gdb.set_convenience_variable("_" + name, values.get(name))
            cls.shown = of


def current_lane(server, thread):
    """Number of the focused lane. Sends nothing if gdb has a register for it."""
    shown = shown_lane()
    return (focused(server.lanes(thread)) or {}).get("lane") if shown is None else shown


class Focus(gdb.Function):
    """A value of the current thread and lane: $_focus("lane"), where the variables $_lane and its kin are not kept.
Usage: $_focus (NAME)

NAME is lane, lane_count, wave, agent, queue, dispatch, dispatch_pos, thread_workgroup_pos or lane_workgroup_pos."""

    def __init__(self):
        super().__init__("_focus")

    def invoke(self, name):
        name = name.string()
        if name not in Values.NAMES:
            raise gdb.GdbError("There are %s." % ", ".join(Values.NAMES))
        served()
        try:
            value = Values.here()[1].get(name)
        except form.Refused as words:
            raise gdb.GdbError(str(words)) from None
        if value is None:
            raise gdb.GdbError("The %s was not captured." % name)
        return value


# Commands that gdb runs before and after its own. A user's hook of the same name is kept.
HOOKS = (
    ("hookpost-thread", "update"),
    ("thread hook-apply", "apply"),
    ("thread hookpost-apply", "update"),
    ("thread apply hook-all", "apply"),
    ("thread apply hookpost-all", "update"),
    ("hook-monitor", "select"),
    ("hook-continue", "select"),
    ("hookpost-monitor", "update"),
) + tuple(("hook-" + name, "update") for name in Values.EVALUATE)


class Hook(gdb.Command):
    """Action of lanescope's hooks of other commands."""

    def __init__(self):
        super().__init__("lanescope_hook", gdb.COMMAND_MAINTENANCE)

    def invoke(self, argument, from_tty):
        if Server.here() is None:
            return
        if argument == "apply":
            Values.clear()
        elif argument == "select":
            name_selected()
        else:
            Values.update()


def name_selected():
    """Sends the selected thread to the server: gdb sends nothing when it returns to a thread."""
    server, thread = Server.here(), gdb.selected_thread()
    if thread is not None:
        try:
            server.ask(form.request("Selected", thread=thread.ptid[1]))
        except (form.Refused, gdb.error):
            pass  # The command itself reports the error.


def is_front_end():
    """Whether gdb was started with an MI interpreter."""
    try:
        with open("/proc/self/cmdline", "rb") as file:
            words = file.read().split(b"\0")
    except OSError:
        return True
    return any(re.match(rb"--?i(nterpreter)?(=|$)", word) for word in words)


def knows(name):
    """Whether a command of exactly this name exists."""
    return name in gdb.execute("complete " + name, to_string=True).splitlines()


settled = False


def settle_in():
    """Replaces commands of gdb, on the first connection to lanescope."""
    global settled
    if settled:
        return
    settled = True
    InfoRegisters()
    try:
        make_disassembler()
    except ImportError:
        pass  # gdb before version 13.
    Focus()
    Hook()
    for hook, does in HOOKS:
        if not knows(hook):
            gdb.execute("define %s\nlanescope_hook %s\nend" % (hook, does), to_string=True)
    if is_front_end():
        return
    Values.offered = True
    gdb.events.before_prompt.connect(at_prompt)
    gdb.events.register_changed.connect(lambda _: Values.update())
    Values.update()


def at_stop(_):
    if Server.here() is not None:
        settle_in()
        Values.update()


def at_prompt():
    Values.update()


def at_end(event):
    Server.versions.pop(event.connection.num, None)
    Values.known.clear()
    Values.clear()


def load():
    # AMD's gdb has some of these commands, and a user may have defined others.
    for name, kinds in (
        ("lane", (Lane, LaneApply)),
        ("info lanes", (InfoLanes,)),
        ("info waves", (InfoWaves,)),
        ("info wave", (InfoWave,)),
        ("info dispatches", (InfoDispatches,)),
        ("info workgroups", (InfoWorkgroups,)),
    ):
        if not knows(name):
            for kind in kinds:
                kind()
    gdb.events.stop.connect(at_stop)
    if hasattr(gdb.events, "connection_removed"):
        gdb.events.connection_removed.connect(at_end)
    if Server.here() is not None:
        settle_in()


load()
