//! The facades: an x86-64 process for debuggers that know no AMDGPU, a GPU for those that do.
//!
//! Stock gdb and lldb reject a target description of an unknown architecture, and then print nothing. Both accept
//! registers of any name and width in addition to those of x86-64. In their facade `rip` is therefore the wave's PC,
//! every other x86 register is unavailable, and the wave's registers follow under AMD's names.

use std::fmt;

use crate::arch::Target;

/// The architecture and dialect that a client is served.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Facade {
    /// Stock gdb and gdb-multiarch: an x86-64 description with all of gdb's core registers.
    Gdb,
    /// lldb up to 22: `x86_64-unknown-linux-gnu`, with the PC as the only x86 register.
    Lldb,
    /// A gdb built for amdgcn: registers in the order and numbering of AMD's debugger library.
    AmdgcnGdb,
    /// lldb from 23 on: `amdgcn-amd-amdhsa`.
    AmdgcnLldb,
}

impl Facade {
    /// Every facade, as `--client` names them.
    pub const NAMES: [(&'static str, Self); 4] = [
        ("gdb", Self::Gdb),
        ("lldb", Self::Lldb),
        ("amdgcn-gdb", Self::AmdgcnGdb),
        ("amdgcn-lldb", Self::AmdgcnLldb),
    ];

    /// Whether the client uses LLDB's dialect.
    #[must_use]
    pub fn is_lldb(self) -> bool {
        matches!(self, Self::Lldb | Self::AmdgcnLldb)
    }

    /// The client's command for commands of the server.
    pub(super) fn monitor(self) -> &'static str {
        if self.is_lldb() { "process plugin packet monitor" } else { "monitor" }
    }

    /// Whether the client knows the GPU's architecture.
    #[must_use]
    pub fn is_amdgcn(self) -> bool {
        matches!(self, Self::AmdgcnGdb | Self::AmdgcnLldb)
    }

    /// The note about a processor for the user of such a client.
    #[must_use]
    pub fn note(self, target: &Target) -> Option<String> {
        let name = &target.name;
        match &target.gdb {
            _ if self != Self::AmdgcnGdb => None,
            Some(known) if known == name => None,
            Some(known) => Some(format!(
                "GNU gdb 16 does not know {name}: gdb gets {known}, which has the same registers, and `x/i` decodes instructions of \
                 {known}. `monitor disassemble` decodes those of {name}. If your gdb knows {name}, type `set architecture \
                 amdgcn:{name}` before `target remote`"
            )),
            None => Some(format!(
                "GNU gdb 16 knows no processor with the registers of {name} and cannot attach: use a gdb that knows \
                 amdgcn:{name}, or --client gdb"
            )),
        }
    }

    /// The triple for LLDB.
    pub(super) fn triple(self) -> &'static str {
        if self.is_amdgcn() { "amdgcn-amd-amdhsa" } else { "x86_64-unknown-linux-gnu" }
    }

    /// The evidence that a packet gives of its client.
    ///
    /// gdb begins with `qSupported`, and offers `qRelocInsn`. LLDB begins with `QStartNoAckMode` (`no_acks`), names its
    /// architectures in `qSupported`, and continues with packets that gdb lacks.
    ///
    /// IDA Pro begins with the `qSupported` of an LLDB before version 12, and continues like gdb:
    /// <https://github.com/qilingframework/qiling/issues/128> has its packets. Served as LLDB, it would get no register
    /// of x86 but the PC.
    pub(super) fn betrayed_by(name: &str, body: &[u8], no_acks: bool) -> Option<Self> {
        let says = |text: &[u8]| body.windows(text.len()).any(|window| window == text);
        match name {
            "qSupported" if says(b"qRelocInsn+") => Some(Self::Gdb),
            "qSupported" if says(b"xmlRegisters=i386,arm") && (no_acks || says(b",arc")) => Some(Self::Lldb),
            "QThreadSuffixSupported"
            | "QListThreadsInStopReply"
            | "QEnableErrorStrings"
            | "qHostInfo"
            | "qProcessInfo"
            | "qVAttachOrWaitSupported" => Some(Self::Lldb),
            _ => None,
        }
    }
}

impl fmt::Display for Facade {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Self::NAMES.iter().find(|(_, facade)| facade == self).map_or("", |(name, _)| name);
        f.write_str(name)
    }
}
