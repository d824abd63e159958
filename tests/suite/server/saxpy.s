// The code object of the synthetic capture: saxpy(int, float) at 0x1000, with scale(float) inlined from 0x1010 to 0x1030.
// No debug information holds the first instruction. At the second one of scale, saxpy has a caller, itself at 0x1038, where
// all lanes were active, and lanes that are not active now have not entered the call.
.include "tests/fixtures/kernels/ops.inc"

.text
.cfi_sections .debug_frame
.file 0 "." "saxpy.hip"

.globl _Z5saxpyif
.protected _Z5saxpyif
.type _Z5saxpyif,@function
_Z5saxpyif:
  s_nop 0
.Lsaxpy_begin:
  .cfi_startproc
  kernel_frame
  .loc 0 8 0 is_stmt 1
  s_branch _Z5saxpyif
  s_nop 2
  s_nop 3
.Lscale_begin:
  .loc 0 4 0
  s_nop 4
  .cfi_escape 0x16, PC, 9, 0x0e, 0x38, 0x10, 0, 0, 0xff, 0x7f, 0, 0     // the caller's PC and EXEC are constants
  .cfi_escape 0x16, EXEC, 9, 0x0e, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff
  s_nop 4
  .cfi_undefined 16
  .cfi_same_value 17
  .rept 6
  s_nop 4
  .endr
.Lscale_end:
  .loc 0 9 0
  s_nop 5
  s_swappc_b64 s[30:31], s[34:35]
  s_nop 6
  s_endpgm
.Lsaxpy_end:
  .cfi_endproc
.size _Z5saxpyif, .Lsaxpy_end-_Z5saxpyif

// ---- Debug information ----
.section .debug_abbrev,"",@progbits
.macro function_abbrev code, children
  abbrev \code, 0x2e, \children
  attribute 0x03, 0x08
  attribute 0x3a, 0x0b
  attribute 0x3b, 0x0b
.endm
  function_abbrev 20, 1
  attribute 0x11, 0x01
  attribute 0x12, 0x06
  attribute 0x3e11, 0x0b          // LLVM_lanes
  attribute 0x3e12, 0x17          // LLVM_lane_pc, loclist
  attribute 0, 0
  function_abbrev 21, 0
  attribute 0x20, 0x0b            // inline
  attribute 0, 0
  abbrev 22, 0x1d, 1              // inlined_subroutine
  attribute 0x31, 0x13            // abstract_origin
  attribute 0x11, 0x01
  attribute 0x12, 0x06
  attribute 0x58, 0x0b            // call_file
  attribute 0x59, 0x0b            // call_line
  attribute 0, 0
  abbreviations

.section .debug_info,"",@progbits
.Linfo:
  .long .Linfo_end-.Linfo_version
.Linfo_version:
  .short 5
  .byte 1, 8
  .long .debug_abbrev
  .uleb128 1
  .asciz "written by hand"
  .byte 0x21
  .asciz "saxpy.hip"
  .asciz "."
  .long .Lline
  .quad .Lsaxpy_begin
  .long .Lsaxpy_end-.Lsaxpy_begin
  .long 8
.Lint:
  base_type int, 0x05, 4
.Lscale:
  .uleb128 21
  .asciz "scale(float)"
  .byte 0, 3, 1
  .uleb128 20
  .asciz "saxpy(int, float)"
  .byte 0, 7
  .quad .Lsaxpy_begin
  .long .Lsaxpy_end-.Lsaxpy_begin
  .byte WAVE_SIZE
  .long .Llane_pcs
  variable n, .Lint, 7
  lane_of 0
  end
  .uleb128 22
  .long .Lscale-.Linfo
  .quad .Lscale_begin
  .long .Lscale_end-.Lscale_begin
  .byte 0, 9
  variable i, .Lint, 7
  lane_of 1
  end
  .byte 0, 0, 0
.Linfo_end:

.section .debug_addr,"",@progbits
  .long .Laddr_end-.Laddr_version
.Laddr_version:
  .short 5
  .byte 8, 0
.Laddr_end:

.section .debug_loclists,"",@progbits
  .long .Lloclists_end-.Lloclists_version
.Lloclists_version:
  .short 5
  .byte 8, 0
  .long 0
.Llane_pcs:
  entry .Lscale_begin+4, .Lscale_begin+8
  user undefined
  user2 extend, 64, WAVE_SIZE
  regx PC
  user2 extend, 64, WAVE_SIZE
  regx EXEC
  deref_size WAVE_SIZE/8
  user2 select_bit_piece, 64, WAVE_SIZE
  end
  .byte 0
.Lloclists_end:

.section .debug_line,"",@progbits
.Lline:
