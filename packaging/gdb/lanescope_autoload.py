"""Loads lanescope's helper when gdb attaches to lanescope. gdb imports this file at its start, and nothing else changes.

gdb before 12 has no packets in Python: type `source /usr/share/lanescope/clients/gdb/lanescope.py` there.
"""

import os

import gdb

# This file is PREFIX/share/gdb/python/gdb/command/lanescope_autoload.py.
_HELPER = os.path.realpath(os.path.join(os.path.dirname(__file__), *[os.pardir] * 4, "lanescope", "clients", "gdb", "lanescope.py"))


def _attached(_event):
    connection = getattr(gdb.selected_inferior(), "connection", None)
    try:
        reply = connection.send_packet("qlanescope.Version")
    except (AttributeError, gdb.error):
        return  # Not a remote connection.
    if reply and b'"lanescope' in bytes(reply):
        gdb.events.new_objfile.disconnect(_attached)
        gdb.execute("source " + _HELPER)


if hasattr(gdb, "RemoteTargetConnection") and os.path.isfile(_HELPER):
    gdb.events.new_objfile.connect(_attached)
