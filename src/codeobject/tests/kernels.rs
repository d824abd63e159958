//! Recognition of kernels.

use std::fmt::Write as _;

use super::assembled;
use crate::codeobject::{CodeObject, ElfAddress, MANY_SYMBOLS};

/// A kernel, a function, and many labels.
fn library(labels: usize) -> CodeObject {
    let mut text = "    .amdgcn_target \"amdgcn-amd-amdhsa--gfx90a\"
    .text
    .globl kernel, called
    .type kernel,@function
    .type called,@function
    .p2align 8
kernel:
    s_endpgm
.Lkernel: .size kernel, .Lkernel-kernel
called:
    s_setpc_b64 s[30:31]
.Lcalled: .size called, .Lcalled-called
    .section .rodata
    .amdhsa_kernel kernel
      .amdhsa_next_free_vgpr 1
      .amdhsa_next_free_sgpr 1
      .amdhsa_accum_offset 4
    .end_amdhsa_kernel
    .text
"
    .to_owned();
    (0..labels).for_each(|label| writeln!(text, "label{label}:").unwrap());
    CodeObject::parse(assembled(&text)).unwrap()
}

/// Only the exported symbols of a large library are read.
#[test]
fn a_kernel_is_known_without_reading_all_symbols_of_a_large_library() {
    for (labels, reads_all) in [(10, true), (MANY_SYMBOLS, false)] {
        let object = library(labels);
        let address = |name: &str| {
            // Looks up the address in another object, so that this one stays unread.
            ElfAddress(library(labels).symbol(name).unwrap().value)
        };
        assert!(object.is_kernel_entry(address("kernel")));
        assert!(!object.is_kernel_entry(address("called")));
        assert!(object.is_in_kernel(address("kernel")) && !object.is_in_kernel(address("called")));
        assert_eq!(object.symbols.get().is_some(), reads_all, "{labels}");
    }
}
