#!/bin/sh
# Makes values.hsaco (clang 22) and values.expected (clang 22 and gdb 13.1 on x86-64) from values.cpp.
# Columns of values.expected, divided by tabs: name, type as `whatis` has it, value as `info locals` has it, and the
# value with `set print repeats unlimited`.
set -eu
cd "$(dirname "$0")"
host=$(mktemp)
flags="-x c++ -std=c++20 -g -O0 -w -fdebug-compilation-dir=/src -ffile-prefix-map=$PWD=/src"
clang-22 $flags -o "$host" values.cpp
clang-22 $flags --target=amdgcn-amd-amdhsa -mcpu=gfx90a -nogpulib -o values.hsaco values.cpp
LC_ALL=C.UTF-8 gdb -q -batch -nx -ex 'python
import re
names = []
for line in gdb.execute("info variables -n", to_string=True).splitlines():
    found = re.match(r"^(\d+):\s.*?(\w+)(\)?\[.*|\)\(.*)?;$", line)
    if found:
        names.append(re.search(r"(\w+)(?=[\]\[\d()]*(\(.*\))?;$)", line).group(1))
source = open("values.cpp").read()
names = [n for n in names if re.search(r"\b%s\b" % re.escape(n), source)]
rows = []
for name in sorted(set(names)):
    try:
        gdb.execute("set print repeats 10")
        kind = gdb.execute("whatis " + name, to_string=True).strip()[len("type = "):]
        value = gdb.parse_and_eval(name)
        text = value.format_string()
        gdb.execute("set print repeats unlimited")
        rows.append("\t".join([name, kind, text, value.format_string()]))
    except gdb.error as error:
        print(name, error)
open("values.expected", "w").write("\n".join(rows) + "\n")
' "$host"
rm "$host"
