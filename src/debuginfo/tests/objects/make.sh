#!/bin/sh
set -eu
cd "$(dirname "$0")"
make() {
    output=$1
    shift
    clang-22 -x hip --cuda-device-only -nogpulib -nogpuinc -std=c++17 -g -w -fdebug-compilation-dir=/src \
        -ffile-prefix-map="$PWD"=/src --no-gpu-bundle-output -o "$output.hsaco" "$@" scopes.cpp
}
make gfx90a-O0 --offload-arch=gfx90a -O0
make gfx90a-O2 --offload-arch=gfx90a -O2
make gfx1100-O2 --offload-arch=gfx1100 -O2
make gfx90a-O0-dwarf4 --offload-arch=gfx90a -O0 -gdwarf-4
make gfx90a-O2-dwarf4 --offload-arch=gfx90a -O2 -gdwarf-4
make gfx90a-O2-dwarf64 --offload-arch=gfx90a -O2 -gdwarf64
make gfx90a-O2-zlib --offload-arch=gfx90a -O2 -gz=zlib
make gfx90a-O2-zstd --offload-arch=gfx90a -O2 -gz=zstd
