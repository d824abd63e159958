# Asks gdb for values and stacks of lanes, each lane a thread. Input and output are JSON files.
import json
import os
import re

import gdb

MAX_VALUES = 4096
MAX_FRAMES = 256


def missing(error):
    text = str(error)
    # gdb has neither members of vectors, nor operations on integers of more than 64 bits.
    if "component of a value that is not a structure" in text:
        return {"other": "vector"}
    if "operation is not available" in text:
        return {"other": "wide integer"}
    if isinstance(error, gdb.MemoryError) or "not available" in text or "<unavailable>" in text:
        return {"missing": "unavailable"}
    if "optimized out" in text:
        return {"missing": "optimized out"}
    return {"error": text}


def tree(value, budget):
    budget[0] -= 1
    if budget[0] < 0:
        return {"other": "too many values"}
    try:
        kind = value.type.strip_typedefs()
        if kind.code in (gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF):
            value = value.referenced_value()
            kind = value.type.strip_typedefs()
        if kind.code == gdb.TYPE_CODE_ARRAY:
            first, last = kind.range()
            return {"elements": [tree(value[index], budget) for index in range(first, last + 1)]}
        if kind.code in (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION):
            fields = [field for field in kind.fields() if hasattr(field, "bitpos")]
            return {"fields": [[field.name or "", tree(value[field], budget)] for field in fields]}
        if value.is_optimized_out:
            return {"missing": "optimized out"}
        if kind.code == gdb.TYPE_CODE_FLT:
            return {"float": float(value).hex()}
        integers = (gdb.TYPE_CODE_INT, gdb.TYPE_CODE_BOOL, gdb.TYPE_CODE_CHAR, gdb.TYPE_CODE_ENUM, gdb.TYPE_CODE_PTR)
        if kind.code in integers:
            if kind.sizeof > 8:
                return {"other": str(kind)}
            return {"integer": str(int(value))}
        return {"other": str(kind)}
    except gdb.error as error:
        return missing(error)


def frame_of(number):
    frame = gdb.newest_frame()
    for _ in range(number):
        frame = frame and frame.older()
    return frame


def value(question):
    frame = frame_of(question["frame"])
    if frame is None:
        return {"error": "no frame %d" % question["frame"]}
    frame.select()
    try:
        return tree(gdb.parse_and_eval(question["path"]), [MAX_VALUES])
    except gdb.error as error:
        return missing(error)


def frames():
    found = []
    frame = gdb.newest_frame()
    while frame is not None and len(found) < MAX_FRAMES:
        place = frame.find_sal()
        file = place.symtab.filename if place.symtab else None
        found.append({"function": frame.name(), "file": file, "line": place.line or None})
        frame = frame.older()
    return {"frames": found}


def answer(threads, question):
    thread = threads.get((question["wave"], question["lane"]))
    if thread is None:
        return {"error": "no thread"}
    thread.switch()
    return frames() if question["path"] is None else value(question)


def run():
    with open(os.environ["LANESCOPE_QUESTIONS"]) as file:
        questions = json.load(file)
    for setting in ("confirm off", "pagination off", "max-value-size unlimited", "remotetimeout 60"):
        gdb.execute("set " + setting)
    gdb.execute("target remote " + os.environ["LANESCOPE_SOCKET"], to_string=True)
    threads = {}
    for thread in gdb.selected_inferior().threads():
        name = re.match(r"AMDGPU Lane (?:\d+:)*(\d+)/(\d+) ", thread.name or "")
        if name:
            threads[int(name[1]), int(name[2])] = thread
    with open(os.environ["LANESCOPE_ANSWERS"], "w") as file:
        json.dump([answer(threads, question) for question in questions], file)


run()
