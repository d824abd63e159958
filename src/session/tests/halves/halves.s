// Scalars of which one half has no location, or was not captured (DWARF 5, section 2.6.1.2: a piece without a location
// description "describes an object or portion which is not present in the program").
    .amdgcn_target "amdgcn-amd-amdhsa--gfx90a"
    .text
    .globl f
    .p2align 8
    .type f,@function
f:
    s_nop 0
    s_nop 0
.Lend:
    .size f, .Lend-f
    .section .debug_abbrev,"",@progbits
.Labbrev:
    .uleb128 1        // cu: name, language, low, high
    .uleb128 0x11
    .byte 1
    .uleb128 0x3
    .uleb128 0x8
    .uleb128 0x13
    .uleb128 0xb
    .uleb128 0x11
    .uleb128 0x1
    .uleb128 0x12
    .uleb128 0x6
    .byte 0, 0
    .uleb128 2        // base type: name, encoding, size
    .uleb128 0x24
    .byte 0
    .uleb128 0x3
    .uleb128 0x8
    .uleb128 0x3e
    .uleb128 0xb
    .uleb128 0xb
    .uleb128 0xb
    .byte 0, 0
    .uleb128 3        // pointer: type, size
    .uleb128 0xf
    .byte 0
    .uleb128 0x49
    .uleb128 0x13
    .uleb128 0xb
    .uleb128 0xb
    .byte 0, 0
    .uleb128 4        // function: name, low, high
    .uleb128 0x2e
    .byte 1
    .uleb128 0x3
    .uleb128 0x8
    .uleb128 0x11
    .uleb128 0x1
    .uleb128 0x12
    .uleb128 0x6
    .byte 0, 0
    .uleb128 5        // variable: name, type, location
    .uleb128 0x34
    .byte 0
    .uleb128 0x3
    .uleb128 0x8
    .uleb128 0x49
    .uleb128 0x13
    .uleb128 0x2
    .uleb128 0x18
    .byte 0, 0
    .byte 0
    .section .debug_info,"",@progbits
.Lcu:
    .long .Lcu_end-.Lcu_begin
.Lcu_begin:
    .short 5
    .byte 1, 8
    .long .Labbrev
    .uleb128 1
    .asciz "halves.c"
    .byte 0x1d
    .quad f
    .long .Lend-f
.Lint:
    .uleb128 2
    .asciz "long"
    .byte 5, 8
.Lpointer:
    .uleb128 3
    .long .Lint-.Lcu
    .byte 8
    .uleb128 4
    .asciz "f"
    .quad f
    .long .Lend-f
    .uleb128 5
    .asciz "whole"
    .long .Lpointer-.Lcu
    .uleb128 8
    .byte 0x90, 0x48, 0x93, 0x4, 0x90, 0x49, 0x93, 0x4   // s40, s41
    .uleb128 5
    .asciz "undefined"
    .long .Lpointer-.Lcu
    .uleb128 6
    .byte 0x90, 0x48, 0x93, 0x4, 0x93, 0x4               // s40, nothing
    .uleb128 5
    .asciz "lost"
    .long .Lint-.Lcu
    .uleb128 8
    .byte 0x90, 0x48, 0x93, 0x4, 0x90, 0x4a, 0x93, 0x4   // s40, s42
    .byte 0
    .byte 0
.Lcu_end:
