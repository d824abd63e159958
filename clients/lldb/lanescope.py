"""Lanes and waves in lldb, for captures that lanescope serves.

In ~/.lldbinit:

    command script import PATH/clients/lldb/lanescope.py

Adds `lane`, `lanes`, `wave`, `waves`, `dispatches`, `monitor`, `triage`, `groups` and `disasm`, with the server's data only:
see docs/lldb.md. Existing commands and aliases of these names stay. Other targets are not affected.
"""

import importlib.util
import os
import re
import shlex

import lldb


def _shared():
    folder = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
    place = os.path.join(folder, "lanescope_format.py")
    spec = importlib.util.spec_from_file_location("lanescope_format", place)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


form = _shared()

NOT_SERVED = "This is for captures that lanescope serves, and lldb is not connected to one."


class Server:
    """Connection of the process to lanescope."""

    def __init__(self, debugger, process):
        self.interpreter = debugger.GetCommandInterpreter()
        self.process = process

    def send(self, packet):
        result = lldb.SBCommandReturnObject()
        self.interpreter.HandleCommand("process plugin packet send " + packet, result)
        return (result.GetOutput() or "").partition("response: ")[2].strip()

    def ask(self, packet):
        said = self.send(packet)
        if not said:
            raise form.Refused("This version of lanescope does not answer %s." % packet.split(":")[0])
        return form.answer(said)

    def monitor(self, thread, words):
        """Output of a `monitor` command about a thread, without lldb's own lines after it."""
        self.ask(form.request("Selected", thread=thread.GetThreadID()))
        result = lldb.SBCommandReturnObject()
        self.interpreter.HandleCommand("process plugin packet monitor " + words, result)
        said = (result.GetOutput() or "").rpartition("  packet: ")[0].rstrip("\n")
        if not self.interpreter.UserCommandExists("monitor"):
            return said
        # Commands to type next, in rows of a page.
        return re.sub(r"(?m)^((?:Next)? +)process plugin packet monitor ", r"\1monitor ", said)

    def wave(self, thread):
        return form.wave_of(self.ask, thread.GetThreadID())

    def lanes(self, thread):
        return self.ask(form.request("Lanes", thread=thread.GetThreadID()))["lanes"]

    def find(self, place, thread):
        """The thread at a position in the grid, and the lane there, or None."""
        found = self.ask(form.request("Find", place=form.place_hex(place), thread=thread.GetThreadID()))
        return self.process.GetThreadByID(found["thread"]), None if found["is_lane"] else found["lane"]

    def numbers(self):
        """lldb's thread numbers, by the server's."""
        threads = (self.process.GetThreadAtIndex(at) for at in range(self.process.GetNumThreads()))
        return {thread.GetThreadID(): thread.GetIndexID() for thread in threads}


def served(debugger, context):
    process = context.GetProcess() or debugger.GetSelectedTarget().GetProcess()
    if not process or process.GetPluginName() != "gdb-remote" or process.GetState() != lldb.eStateStopped:
        raise form.Refused(NOT_SERVED)
    server = Server(debugger, process)
    if form.is_lanescope(server.send(form.request("Version"))) is None:
        raise form.Refused(NOT_SERVED)
    form.columns = debugger.GetTerminalWidth() if os.isatty(1) else None
    return server


def focused(lanes):
    return next((lane for lane in lanes if lane.get("focused")), None)


def still_shown(thread, lane):
    """Warning if lldb shows another lane than the focused one: its cache lasts until `register write` or a stop."""
    shown = thread.GetFrameAtIndex(0).FindRegister("lane")
    if lane is None or not shown.IsValid() or shown.GetValueAsUnsigned() == lane:
        return ""
    return "\nwarning: lldb still shows lane %d: type `lane %d`." % (shown.GetValueAsUnsigned(), lane)


def number_of(text):
    try:
        return int(text, 0)
    except ValueError:
        raise form.Refused("'%s' is not a number." % text) from None


def described(thread):
    stream = lldb.SBStream()
    thread.GetFrameAtIndex(0).GetDescription(stream)
    return stream.GetData().rstrip("\n")


class Command:
    """Base of all commands: `run` returns the text, or raises an error with its text."""

    help = ""
    # Returns the argument of `run` from the typed text.
    parse = staticmethod(shlex.split)

    def __init__(self, debugger, _):
        pass

    def get_short_help(self):
        return self.help.splitlines()[0]

    def get_long_help(self):
        return self.help

    def __call__(self, debugger, command, context, result):
        try:
            server = served(debugger, context)
            text = self.run(server, server.process.GetSelectedThread(), self.parse(command))
            if text:
                result.AppendMessage(text)
            result.SetStatus(lldb.eReturnStatusSuccessFinishResult)
        except (form.Refused, ValueError) as words:
            result.SetError(str(words))


class Lanes(Command):
    help = """List the lanes of the selected thread: lanes [-all|-active|-inactive] [LANES]
Without options those with a work-item. State A: active, I: inactive, U: unused. Frame is where an inactive lane is, if the
debug information says so."""

    def run(self, server, thread, words):
        options = {word for word in words if word.startswith("-")}
        for option in sorted(options - {"-all", "-active", "-inactive"}):
            raise form.Refused("Unrecognized option at: %s" % option)
        which = " ".join(word for word in words if not word.startswith("-"))
        lanes = server.lanes(thread)
        chosen = form.filtered(lanes, which, {option[1:] for option in options})
        if not chosen:
            return "No lanes."
        here = focused(lanes)
        here = here and here["lane"]
        return form.lanes(server.wave(thread), chosen, here) + still_shown(thread, here)


class Lane(Command):
    help = """Show the current lane of the selected thread, or make another one current: lane [NUMBER|(X,Y,Z)|(X,Y,Z)[X,Y,Z]]
(X,Y,Z) is the work-item of that id in the grid, (X,Y,Z)[X,Y,Z] one of a work-group; the thread of its wave is selected, too.
Variables, private memory and the frames of inactive lanes are those of the current lane. Each thread has its own."""

    def run(self, server, thread, words):
        lanes = server.lanes(thread)
        if not words:
            lane = focused(lanes)
            where = form.lane_name(server.wave(thread), lane)
            text = "[Current thread is %d, lane %d (%s)]" % (thread.GetIndexID(), lane["lane"], where)
            return text + still_shown(thread, lane["lane"])
        if form.is_place(words[0]):
            thread, number = server.find("".join(words), thread)
            server.process.SetSelectedThread(thread)
            if number is None:
                return "[Switching to thread %d]\n%s" % (thread.GetIndexID(), described(thread))
            lanes = server.lanes(thread)
        else:
            number = number_of(words[0])
        lane = next((lane for lane in lanes if lane["lane"] == number), None)
        if lane is None:
            raise form.Refused("Lane %d does not exist on this thread." % number)
        form.one_lane(server.wave(thread))
        # Only a register write clears lldb's cache.
        result = lldb.SBCommandReturnObject()
        # Context of the thread: while a command runs, lldb's own context has the previously selected thread.
        context = lldb.SBExecutionContext(thread.GetFrameAtIndex(0))
        server.interpreter.HandleCommand("register write lane %d" % number, context, result)
        if not result.Succeeded():
            raise form.Refused(result.GetError().strip())
        where = form.lane_name(server.wave(thread), lane)
        text = ["[Switching to thread %d, lane %d (%s)]" % (thread.GetIndexID(), number, where), described(thread)]
        if lane["state"] in ("inactive", "not_entered"):
            text.append("warning: Current lane is inactive.")
        elif lane["state"] == "unused":
            text.append("warning: Current lane is unused.")
        return "\n".join(text)


class Waves(Command):
    help = """List all waves: waves
Id is the thread."""

    def run(self, server, thread, words):
        return form.waves(form.all_waves(server.ask), server.numbers(), thread.GetThreadID())


class Wave(Command):
    help = """Show what is known of a wave: wave [THREAD]"""

    def run(self, server, thread, words):
        if words:
            number = number_of(words[0])
            thread = server.process.GetThreadByIndexID(number)
            if not thread.IsValid():
                raise form.Refused("Unknown thread %d." % number)
        lane = focused(server.lanes(thread))
        return form.wave(server.wave(thread), thread.GetIndexID(), lane and lane["lane"])


class Dispatches(Command):
    help = """List the dispatches, with grid and work-group in work-items, fences and bytes of address spaces: dispatches
Fence B: barrier; Aa, As: acquire, of the agent or the system; Ra, Rs: release; -: none; ?: not captured."""

    def run(self, server, thread, words):
        return form.dispatches(server.ask(form.request("Dispatches"))["dispatches"], thread.GetThreadID())


class Monitor(Command):
    help = """Send a command to lanescope: monitor COMMAND
It is about the selected thread. `monitor help` lists the commands."""

    # The command of the server; empty: the user's first word.
    name = ""
    # A path may have quotes and blanks.
    parse = staticmethod(str.strip)

    def run(self, server, thread, words):
        return server.monitor(thread, (self.name + " " + words).strip())


class Triage(Monitor):
    help = """Name the cause of a crash or hang: triage [hang]
The access, its lanes, the line and the evidence."""

    name = "triage"


class Disassemble(Monitor):
    help = """List instructions: disasm [ADDRESS] [--count N] [--around N] [--lane N] [--frame N] [--full]
Of the function that the selected thread is in, the PC and the lanes marked; ADDRESS: of the one there, with --count from there on.
lldb's own `disassemble` takes the code for x86."""

    name = "disassemble"


class Groups(Monitor):
    help = """List groups of waves with the same call stack, those with a fault first: groups [lanes] [function|line|pc]"""

    name = "groups"


COMMANDS = {
    "lane": Lane,
    "lanes": Lanes,
    "wave": Wave,
    "waves": Waves,
    "dispatches": Dispatches,
    "monitor": Monitor,
    "triage": Triage,
    "groups": Groups,
    "disasm": Disassemble,
}


def __lldb_init_module(debugger, _):
    interpreter = debugger.GetCommandInterpreter()
    for name, kind in COMMANDS.items():
        taken = interpreter.CommandExists(name) or interpreter.AliasExists(name) or interpreter.UserCommandExists(name)
        if not taken:
            debugger.HandleCommand("command script add -c %s.%s %s" % (__name__, kind.__name__, name))
