//! The programs whose output a text without reports has: what was looked for in it.

use crate::import::text::find;

/// A program, marks of its usual lines, and the lines of it that report faults.
const PROGRAMS: [(&str, &[&str], &str); 5] = [
    (
        "the kernel log of amdgpu",
        &["amdgpu: ", "amdgpu 0000:", "[drm:amdgpu", "amdkfd"],
        "`page fault (`, `in page starting at address`, `ring ... timeout`, `GPU reset begin!`, `qcm fence wait loop \
         timeout expired`, `MES failed to respond`, `HIQ MQD's queue_doorbell_id0 is not 0`, `sq_intr: error`, \
         `uncorrectable hardware errors detected in`",
    ),
    (
        "HIP's log",
        &[":rocdevice.cpp", ":hip_", "hipErr", "ROCm error"],
        "`Queue ... aborting with error`, `an illegal memory access was encountered`, `hipErrorIllegalAddress`, \
         `unspecified launch failure`",
    ),
    (
        "ROCm's runtime or libhsakmt",
        &["[hsaKmt", "hsa_", "HSA_STATUS", "(Agent handle:", "rocr:"],
        "`Memory access fault by GPU node-`, `Memory exception on virtual address`, `Memory critical error by agent`, \
         `HW Exception by GPU node-`",
    ),
    (
        "LLVM's offload runtime",
        &["omptarget", "Libomptarget", "OFFLOAD ", "__omp_offloading_"],
        "`memory access fault by GPU`, `[GPU Memory Error]`",
    ),
    (
        "a Python program on a GPU",
        &["torch", "tinygrad", "triton"],
        "`HIP error: an illegal memory access was encountered`, `Memory access fault by GPU node-`, `MMU fault: 0x`",
    ),
];

/// The programs whose lines a text has, as indexes.
#[derive(Clone, Debug, Default)]
pub(super) struct Writers {
    seen: [bool; PROGRAMS.len()],
    lines: usize,
}

/// Maximum number of searched lines: a program shows in the first ones.
const MAX_LINES: usize = 10_000;

impl Writers {
    pub(super) fn line(&mut self, text: &[u8]) {
        self.lines += 1;
        if self.lines > MAX_LINES {
            return;
        }
        for (seen, (_, marks, _)) in self.seen.iter_mut().zip(PROGRAMS) {
            *seen = *seen || marks.iter().any(|mark| find(text, mark).is_some());
        }
    }

    /// The words that were looked for, for each program whose output the text has.
    pub(super) fn wanted(&self) -> Option<String> {
        let seen = self.seen.iter().zip(PROGRAMS).filter(|(seen, _)| **seen);
        let each: Vec<String> = seen
            .map(|(_, (program, _, lines))| {
                format!("it looks like {program}, whose reports have one of {lines}")
            })
            .collect();
        (!each.is_empty()).then(|| each.join("; "))
    }
}
