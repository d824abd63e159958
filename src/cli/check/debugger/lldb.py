# Asks lldb for values and stacks of lanes, each lane a thread. Input and output are JSON files.
import json
import os
import re

import lldb

MAX_VALUES = 4096
MAX_FRAMES = 256


def missing(text):
    text = text.lower()
    if "optimized out" in text or "no location" in text or "variable not available" in text:
        return {"missing": "optimized out"}
    if "read memory" in text or "memory read" in text or "not available" in text or "unavailable" in text:
        return {"missing": "unavailable"}
    return {"error": text}


# Whether the numbers of a type have a sign; None: unknown. The flags of enumerations and of _BitInt lack it.
def has_sign(kind, flags):
    if flags & lldb.eTypeIsSigned:
        return True
    if flags & lldb.eTypeIsEnumeration:
        if not hasattr(kind, "GetEnumerationIntegerType"):
            return None
        of = kind.GetEnumerationIntegerType().GetCanonicalType()
        return has_sign(of, of.GetTypeFlags()) if of.IsValid() else None
    name = kind.GetName() or ""
    return "_BitInt" in name and "unsigned" not in name


def tree(value, budget):
    budget[0] -= 1
    if budget[0] < 0:
        return {"other": "too many values"}
    kind = value.GetType().GetCanonicalType()
    if kind.IsReferenceType():
        value = value.Dereference()
        kind = value.GetType().GetCanonicalType()
    error = value.GetError()
    if error.Fail():
        return missing(error.GetCString() or "")
    of = kind.GetTypeClass()
    children = [value.GetChildAtIndex(index) for index in range(min(value.GetNumChildren(), MAX_VALUES))]
    if of & (lldb.eTypeClassArray | lldb.eTypeClassVector):
        return {"elements": [tree(child, budget) for child in children]}
    if of & (lldb.eTypeClassStruct | lldb.eTypeClassClass | lldb.eTypeClassUnion):
        return {"fields": [[child.GetName() or "", tree(child, budget)] for child in children]}
    data, failed = value.GetData(), lldb.SBError()
    flags = kind.GetTypeFlags()
    size = kind.GetByteSize()
    if flags & lldb.eTypeIsFloat:
        number = {4: data.GetFloat, 8: data.GetDouble}.get(size)
        if number is None:
            return {"other": kind.GetName()}
        number = number(failed, 0)
        return missing(failed.GetCString() or "") if failed.Fail() else {"float": float(number).hex()}
    if flags & (lldb.eTypeIsInteger | lldb.eTypeIsEnumeration | lldb.eTypeIsPointer):
        is_signed = has_sign(kind, flags)
        if is_signed is None or size > 8:
            return {"other": kind.GetName()}
        number = value.GetValueAsSigned(failed) if is_signed else value.GetValueAsUnsigned(failed)
        return missing(failed.GetCString() or "") if failed.Fail() else {"integer": str(number)}
    return {"other": kind.GetName()}


def value(thread, question):
    frame = thread.GetFrameAtIndex(question["frame"])
    if not frame.IsValid():
        return {"error": "no frame %d" % question["frame"]}
    found = frame.GetValueForVariablePath(question["path"])
    if not found.IsValid():
        # Of a vector lldb knows the elements by number alone.
        object = frame.GetValueForVariablePath(question["path"].rpartition(".")[0])
        if object.IsValid() and object.GetType().GetCanonicalType().GetTypeClass() & lldb.eTypeClassVector:
            return {"other": object.GetType().GetName()}
        return {"error": "no such variable"}
    return tree(found, [MAX_VALUES])


def frames(thread):
    found = []
    for index in range(min(thread.GetNumFrames(), MAX_FRAMES)):
        frame = thread.GetFrameAtIndex(index)
        place = frame.GetLineEntry()
        file = str(place.GetFileSpec()) if place.IsValid() else None
        found.append({"function": frame.GetDisplayFunctionName(), "file": file, "line": place.GetLine() or None})
    return {"frames": found}


def answer(threads, question):
    thread = threads.get((question["wave"], question["lane"]))
    if thread is None:
        return {"error": "no thread"}
    return frames(thread) if question["path"] is None else value(thread, question)


def info(debugger, thread):
    result = lldb.SBCommandReturnObject()
    packet = "process plugin packet send qThreadExtraInfo,%x" % thread.GetThreadID()
    debugger.GetCommandInterpreter().HandleCommand(packet, result)
    found = re.search(r"response: ([0-9a-f]+)", result.GetOutput() or "")
    return bytes.fromhex(found[1]).decode(errors="replace") if found else ""


def run():
    with open(os.environ["LANESCOPE_QUESTIONS"]) as file:
        questions = json.load(file)
    debugger = lldb.debugger
    debugger.SetAsync(False)
    # The cache reads whole lines: a line that is captured in part would have no value at all.
    debugger.HandleCommand("settings set target.process.disable-memory-cache true")
    debugger.HandleCommand("settings set plugin.process.gdb-remote.packet-timeout 60")
    target = debugger.CreateTarget("")
    failed = lldb.SBError()
    socket = "unix-connect://" + os.environ["LANESCOPE_SOCKET"]
    process = target.ConnectRemote(debugger.GetListener(), socket, "gdb-remote", failed)
    if failed.Fail():
        raise SystemExit(failed.GetCString())
    threads = {}
    for thread in process:
        # lldb reads the name with the stop reason, and of many threads it leaves some out.
        thread.GetStopReason()
        name = re.match(r"AMDGPU Lane (?:\d+:)*(\d+)/(\d+) ", thread.GetName() or info(debugger, thread))
        if name:
            threads[int(name[1]), int(name[2])] = thread
    with open(os.environ["LANESCOPE_ANSWERS"], "w") as file:
        json.dump([answer(threads, question) for question in questions], file)
    process.Detach()


run()
