"""Runs the lines of the file in LANESCOPE_COMMANDS in a new debugger, and prints each with its answer.

lldb's command line prints events from another thread, in the middle of answers, and races with commands for lldb's state
of a source file. Here one thread runs the commands and prints their events.
"""

import os
import sys

import lldb


ENDED = (lldb.eStateExited, lldb.eStateDetached)


def __lldb_init_module(_debugger, _names):
    own = lldb.SBDebugger.Create(False)
    own.SetAsync(False)
    own.HandleCommand("settings set stop-disassembly-display never")
    with open(os.environ["LANESCOPE_COMMANDS"], encoding="utf-8") as file:
        lines = file.read().split("\n")
    for line in lines:
        show(f"\n(lldb) {line}\n")
        process = own.GetSelectedTarget().GetProcess()
        lives = process.IsValid() and process.GetState() not in ENDED
        answer = lldb.SBCommandReturnObject()
        own.GetCommandInterpreter().HandleCommand(line, answer)
        process = own.GetSelectedTarget().GetProcess()
        show_events(own, lives and process.GetState() in ENDED)
        # A script prints its output itself.
        if not line.startswith("script"):
            show((answer.GetOutput() or "") + (answer.GetError() or ""))
    lldb.SBDebugger.Destroy(own)


def show_events(debugger, ends):
    """Prints the changes of the process; `ends`: the command ended it, and its event may still arrive."""
    event = lldb.SBEvent()
    while debugger.GetListener().WaitForEvent(10, event) if ends else debugger.GetListener().GetNextEvent(event):
        if not lldb.SBProcess.EventIsProcessEvent(event):
            continue
        process, out = lldb.SBProcess.GetProcessFromEvent(event), lldb.SBFile(1, "w", False)
        if lldb.SBProcess.GetStateFromEvent(event) in ENDED:
            ends = False
            process.ReportEventState(event, out)
        else:
            debugger.HandleProcessEvent(process, event, out, out)
        out.Flush()


def show(text):
    sys.stdout.flush()
    os.write(1, text.encode())
