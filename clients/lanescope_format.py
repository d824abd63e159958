"""Shared parts of lanescope's helpers for gdb and lldb: arguments and answers of its packets, and their text.

The server computes all values (docs/protocol.md); these functions choose and pad columns. Names, columns and states follow
AMD's gdb.
"""

import json
import re

# Supported version of the packets, and number of waves per request: an answer is one packet.
PROTOCOL = 1
PAGE = 100

# A lane's state as the letter of AMD's gdb, and the text in place of a source location.
STATES = {
    "active": ("A", "(active)"),
    "inactive": ("I", "(inactive)"),
    "not_entered": ("I", "(not entered)"),
    "unused": ("U", "(unused)"),
    None: ("?", "(EXEC was not captured)"),
}

# Marks of the sources of inferred answers.
INFERENCES = {
    "lane_dword": "lane's dword",
    "private_frame": "private frame",
    "private_address": "private address",
    "kernel_frame": "kernel's frame at 0",
    "frame_code": "frame by code",
    "caller_code": "caller by code",
    "lds_size": "LDS by size",
    "local_address": "LDS address",
}


class Refused(Exception):
    """The server's reason for an error."""


def request(name, **arguments):
    """A packet with hexadecimal numbers, without the arguments that are None."""
    written = []
    for key, value in arguments.items():
        if value is not None:
            written.append("%s:%s;" % (key, "%x" % value if isinstance(value, int) else value))
    return "qlanescope." + name + (":" + "".join(written) if written else "")


def answer(text):
    """The JSON of an answer; raises `Refused` for an error of the server."""
    try:
        said = json.loads(text)
    except ValueError:
        raise Refused("The server's answer is not JSON: %.80r" % text) from None
    if isinstance(said, dict) and "error" in said:
        raise Refused(sentence(said["error"]))
    return said


def unescape(data):
    """Removes the protocol's binary escaping. lldb does it itself, gdb does not."""
    return re.sub(rb"\}(.)", lambda pair: bytes([pair.group(1)[0] ^ 0x20]), data, flags=re.DOTALL)


def is_lanescope(version):
    """Whether an answer to qlanescope.Version comes from lanescope."""
    try:
        said = json.loads(version)
    except ValueError:
        return None
    return said if isinstance(said, dict) and said.get("name") == "lanescope" else None


def is_place(text):
    """Whether the text is a work-item, `(5,0,0)` or `5,0,0`, and not a number."""
    return re.fullmatch(r"\d+(,\d*){1,2}(\[.*)?|\(.*", text.replace(" ", "")) is not None


def place_hex(place):
    """A position in the grid, `(5,0,0)`, in packet form."""
    return place.encode().hex()


def sentence(words):
    return words[:1].upper() + words[1:].rstrip(".") + "."


def all_waves(ask):
    """All waves, page by page; `ask` sends a packet and returns its answer."""
    waves = []
    while True:
        page = ask(request("Waves", first=len(waves), count=PAGE))["waves"]
        waves.extend(page)
        if len(page) < PAGE:
            return waves


def wave_of(ask, thread):
    """The wave of a thread. The thread number is the wave's index unless some waves are not served."""
    guess = ask(request("Waves", first=max(thread - 1, 0), count=1))["waves"]
    for wave in guess:
        if _has(wave, thread):
            return wave
    for wave in all_waves(ask):
        if _has(wave, thread):
            return wave
    raise Refused("Thread %d is no wave." % thread)


def one_lane(wave):
    """Rejects a change of lane if each lane is a thread."""
    first, last = wave.get("threads") or (None, None)
    if first != last:
        raise Refused("Lanes are threads here: select the thread of the lane, which has its number in its name.")


def _has(wave, thread):
    """Whether a thread is the wave, or one of its lanes."""
    first, last = wave.get("threads") or (wave["thread"], wave["thread"])
    return first is not None and first <= thread <= last


def printed(said):
    """The value of a path with the marks of its inferences, or the reason for its absence."""
    lanes = said["lanes"]
    if not lanes:
        return "<unavailable>"
    lane = lanes[0]
    return lane["value"] + inferred(lane) if lane["value"] is not None else "<%s>" % (lane["why"] or lane["state"])


def inferred(answer):
    """` (inferred: caller by code)`; empty if nothing is inferred."""
    marks = [INFERENCES.get(source, source) for source in answer.get("inferred", [])]
    return " (inferred: %s)" % ", ".join(marks) if marks else ""


# Columns of the client's console; None: unlimited. Each helper sets it before it prints.
columns = None
INDENT = "    "


def table(heads, rows):
    """Columns under their heads; the last one is not padded.

    If a table is too wide for the console, a cell that all rows share is printed once, above the heads, and a last cell that
    neighbouring rows share once, above them; otherwise cells that do not fit continue in further lines."""
    shared, at = [], len(heads) - 1
    # The mark and the name of a row stay.
    while columns is not None and at > 1 and _width(heads, rows) > columns:
        if len({row[at] for row in rows}) == 1:
            shared.append("%s: %s" % (heads[at], rows[0][at]))
            heads, *rows = [row[:at] + row[at + 1 :] for row in [heads] + rows]
        at -= 1
    return "\n".join(shared + [_rest(heads, rows)])


def _width(heads, rows):
    return sum(max(len(cell) for cell in column) for column in zip(heads, *rows)) + len(heads) - 1


def _rest(heads, rows):
    """The columns that differ between rows."""
    widths = [max(len(cell) for cell in column) for column in zip(heads, *rows)]
    if columns is None or _width(heads, rows) <= columns:
        return "\n".join(_line(row, widths) for row in [heads] + rows)
    runs = sum(1 for row, before in zip(rows, [None] + rows) if before is None or row[-1] != before[-1])
    if sum(widths[:-1]) + len(widths) - 2 > columns or runs * 2 > len(rows):
        return "\n".join(_wrapped(row, widths) for row in [heads] + rows)
    lines, before = [_line(heads[:-1], widths)], None
    for row in rows:
        if row[-1] != before:
            before = row[-1]
            lines.append("%s: %s" % (heads[-1], before))
        lines.append(_line(row[:-1], widths))
    return "\n".join(lines)


def _line(row, widths):
    cells = [cell.ljust(width) for cell, width in zip(row[:-1], widths)]
    return " ".join(cells + [row[-1]]).rstrip()


def _wrapped(row, widths):
    """A row, wrapped to the console."""
    if len(_line(row, widths)) <= columns:
        return _line(row, widths)
    lines, line = [], ""
    for cell, width in zip(row, widths):
        if line.strip() and len(line) + len(cell) > columns:
            lines.append(line.rstrip())
            line = INDENT
        line += cell.ljust(width if not lines else 0) + " "
    return "\n".join(lines + [line.rstrip()])


def star(marked):
    return "*" if marked else " "


def triple(numbers, brackets):
    """(1,0,0) or [1,0,0]; question marks for unknown values."""
    inside = ",".join("?" if number is None else str(number) for number in numbers or [None] * 3)
    return brackets[0] + inside + brackets[1]


def known(value):
    return "?" if value is None else str(value)


def ids(wave):
    """agent:queue:dispatch"""
    return ":".join(known(wave[key]) for key in ("agent", "queue", "dispatch"))


def dispatch_position(wave):
    """(1,0,0)/3: the work-group in the grid and the wave in it."""
    return "%s/%s" % (triple(wave["coord"], "()"), known(wave["wave_in_group"]))


def lane_name(wave, lane):
    """AMDGPU Lane 1:1:1:4/17 (1,0,0)[17,0,0]"""
    place = triple(wave["coord"], "()") + triple(lane["local_id"], "[]")
    return "AMDGPU Lane %s:%s/%d %s" % (ids(wave), wave["id"], lane["lane"], place)


def place(lane):
    """Location of a lane, or a text in its place."""
    nowhere = STATES.get(lane["state"], STATES[None])[1]
    if lane["state"] not in ("active", "inactive") or lane["pc"] is None:
        return nowhere
    where = lane["function"] or lane["pc"]
    if lane["file"] and lane["line"]:
        where += " at %s:%d" % (lane["file"], lane["line"])
    return where


def lanes(wave, chosen, focused):
    rows = []
    for lane in chosen:
        letter = STATES.get(lane["state"], STATES[None])[0]
        number = lane["lane"]
        rows.append([star(number == focused), str(number), letter, lane_name(wave, lane), place(lane)])
    return table(["", "Id  ", "State", "Target Id", "Frame"], rows)


def select(lanes_of_wave, text, states=("active", "inactive", "not_entered", None)):
    """Lanes of `0-2 5`, `all`, `active` or an empty text, in the given states; named lanes must exist."""
    by_number = {lane["lane"]: lane for lane in lanes_of_wave}
    text = text.strip()
    if text == "active":
        states, text = ("active",), "all"
    if text in ("", "all"):
        return [lane for lane in lanes_of_wave if lane["state"] in states]
    chosen = []
    for word in re.split(r"[\s,]+", text):
        found = re.fullmatch(r"(\d+)(?:-(\d+))?", word)
        if not found:
            raise Refused("Invalid lane list: '%s'." % word)
        first, last = int(found.group(1)), int(found.group(2) or found.group(1))
        if last < first:
            raise Refused("Inverted range: '%s'." % word)
        # The list's range has no limit; the wave's lanes are few.
        within = [lane for number, lane in by_number.items() if first <= number <= last]
        if not within:
            raise Refused("No lanes match '%s'." % word)
        chosen.extend(lane for lane in within if lane not in chosen)
    return chosen


def filtered(lanes, which, options):
    """The lanes in a list and in the states of the options."""
    every = ("active", "inactive", "not_entered", "unused", None)
    states = []
    if "active" in options:
        states.append("active")
    if "inactive" in options:
        states.extend(["inactive", "not_entered"])
    if "all" in options:
        states = every
    if which.strip() in ("", "all"):
        return select(lanes, "all", states) if states else select(lanes, "all")
    return [lane for lane in select(lanes, which) if not states or lane["state"] in states]


def kernel(one):
    """The kernel's name in the source, or its symbol."""
    return one.get("kernel_name") or known(one["kernel"])


def waves(all_of_them, numbers, current):
    """`numbers`: the client's own number of each thread."""
    rows = []
    for wave in all_of_them:
        thread = wave["thread"]
        here = current is not None and _has(wave, current)
        cells = [wave["name"], kernel(wave), known(wave["pc"]), known(wave["exec"]), known(wave["cause"])]
        rows.append([star(here), str(numbers.get(thread, "-"))] + cells)
    return table(["", "Id  ", "Target Id", "Kernel Function", "PC", "EXEC", "State"], rows)


def wave(one, number, lane):
    rows = [
        ("Thread", known(number)),
        ("Target Id", one["name"]),
        ("Architecture", "%s, %s lanes" % (one["architecture"], one["lanes"])),
        ("Agent", known(one["agent"])),
        ("Queue", known(one["queue"])),
        ("Dispatch", known(one["dispatch"])),
        ("Kernel Function", kernel(one)),
        ("Work-group", "%s, wave %s of it" % (triple(one["coord"], "()"), known(one["wave_in_group"]))),
        ("PC", known(one["pc"])),
        ("EXEC", known(one["exec"])),
        ("Current lane", known(lane)),
        ("State", known(one["cause"])),
    ]
    return "\n".join("%-16s %s" % row for row in rows)


def sizes(numbers):
    """[256,1,1]; a question mark for an unknown value."""
    return "?" if numbers is None else triple(numbers, "[]")


def dispatches(all_of_them, current):
    """The dispatches with the columns of AMD's gdb; a question mark for missing data."""
    if not all_of_them:
        return "No dispatches."
    rows = []
    for one in all_of_them:
        here = current is not None and any(first <= current <= last for first, last in one["threads"])
        spaces = "Shared(%s), Private(%s)" % (known(one["group_segment_size"]), known(one["private_segment_size"]))
        fences = "?" if one["fences"] is None else one["fences"]["short"]
        cells = [sizes(one["grid"]), sizes(one["workgroup"]), fences, spaces, kernel(one)]
        rows.append([star(here), str(one["id"]), one["name"]] + cells)
    heads = ["", "Id  ", "Target Id", "Grid", "Workgroup", "Fence", "Address Spaces", "Kernel Function"]
    return table(heads, rows)


def workgroups(all_of_them, numbers, current):
    """The work-groups with waves, with their threads."""
    rows = {}
    for wave in all_of_them:
        group = "AMDGPU Workgroup %s %s" % (ids(wave), triple(wave["coord"], "()"))
        row = rows.setdefault(group, [" ", group, kernel(wave), []])
        row[0] = star(row[0] == "*" or current is not None and _has(wave, current))
        row[3].append(str(numbers.get(wave["thread"], "-")))
    return table(["", "Target Id", "Kernel Function", "Threads"], [row[:3] + [" ".join(row[3])] for row in rows.values()])
