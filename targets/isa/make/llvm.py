"""The Debian package llvm-22-dev: its static archives hold LLVM's generated AMDGPU tables, and probe.cpp links with them."""

import hashlib
import os
import subprocess
import sys
import tempfile
from pathlib import Path

PACKAGE, VERSION = "llvm-22-dev", "22.1."
# What the archives need of LLVM itself.
LIBRARIES = [
    *(f"LLVMAMDGPU{part}" for part in ("Disassembler", "Desc", "Utils", "Info")),
    "LLVMMC",
    "LLVMMCDisassembler",
    "LLVMMCParser",
    "LLVMCodeGenTypes",
    "LLVMCore",
    "LLVMSupport",
    "LLVMTargetParser",
    "LLVMBinaryFormat",
    "LLVMDemangle",
    "LLVMDebugInfoDWARFLowLevel",
    "LLVMRemarks",
    "LLVMBitstreamReader",
    "LLVMAnalysis",
    "LLVMObject",
]
CACHE = Path(os.environ.get("MAKE_ISA_CACHE") or Path(tempfile.gettempdir()) / "make-isa")


def run(*command, cwd=None):
    return subprocess.run([str(part) for part in command], check=True, stdout=subprocess.PIPE, cwd=cwd).stdout


def package():
    """The folder of the unpacked package, of the one version whose internal numbers this script knows."""
    folder = CACHE / "package"
    if not (folder / "usr").is_dir():
        folder.mkdir(parents=True, exist_ok=True)
        run("apt-get", "download", PACKAGE, cwd=CACHE)
        [file] = CACHE.glob(f"{PACKAGE}_*.deb")
        run("dpkg-deb", "-x", file, folder)
    [file] = CACHE.glob(f"{PACKAGE}_*.deb")
    version = run("dpkg-deb", "-f", file, "Version").decode().strip()
    if not version.split(":")[-1].startswith(VERSION):
        sys.exit(f"make-isa: {PACKAGE} {version}: expected {VERSION}x; the numbers of operands and flags are those of that version")
    return folder / "usr" / "lib" / "llvm-22"


def member(archive, name):
    """The bytes of a member of an archive."""
    return run("llvm-ar-22", "p", package() / "lib" / archive, name)


def probe():
    """probe.cpp, compiled."""
    source = Path(__file__).with_name("probe.cpp")
    out = CACHE / f"probe-{hashlib.sha256(source.read_bytes()).hexdigest()[:16]}.so"
    if not out.exists():
        root = package()
        libraries = [f"-l{name}" for name in LIBRARIES]
        run(
            "clang++-22",
            "-std=c++17",
            "-O1",
            "-fPIC",
            "-shared",
            "-fno-rtti",
            "-ffunction-sections",
            "-Wl,--gc-sections",
            "-Wl,-Bsymbolic",
            "-I",
            root.parent.parent / "include" / "llvm-22",
            "-I",
            root / "include",
            source,
            "-o",
            out,
            "-L",
            root / "lib",
            "-Wl,--start-group",
            *libraries,
            "-Wl,--end-group",
            "-Wl,--unresolved-symbols=ignore-all",
            "-l:libzstd.so.1",
            "-lz",
        )
    return out
