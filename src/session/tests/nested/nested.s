// Nested functions with static links, entry points, a return address without call frame information, pointers to members and
// virtual functions with expressions, fixed-point types, DW_FORM_implicit_const: by the text of DWARF 5 (sections 3.3.5,
// 3.3, 5.7.8, 5.14, 5.1.2, 7.5.3). nested.rs has the registers and what follows from them..
    .amdgcn_target "amdgcn-amd-amdhsa--gfx90a"
    .text
    .cfi_sections .debug_frame
    .globl inner
    .p2align 8
    .type inner,@function
inner:
    .cfi_startproc
    .cfi_escape 12, 64, 0   // CFA: s32
    .cfi_escape 16, 16, 8, 144, 82, 147, 4, 144, 83, 147, 4   // PC: s[50:51]
    .cfi_escape 9, 72, 73   // s40: in s41
    s_nop 0
    s_nop 0
    s_nop 0
    s_nop 0
    .cfi_endproc
.Linner_end:
    .size inner, .Linner_end-inner
    .globl deaf
    .p2align 8
    .type deaf,@function
deaf:
    .cfi_startproc
    .cfi_escape 12, 64, 0   // CFA: s32
    .cfi_escape 16, 16, 8, 144, 82, 147, 4, 144, 83, 147, 4   // PC: s[50:51]
    s_nop 0
    s_nop 0
    s_nop 0
    s_nop 0
    .cfi_endproc
.Ldeaf_end:
    .size deaf, .Ldeaf_end-deaf
    .globl outer
    .p2align 8
    .type outer,@function
outer:
    .cfi_startproc
    .cfi_escape 12, 64, 0   // CFA: s32
    .cfi_escape 16, 16, 8, 144, 84, 147, 4, 144, 85, 147, 4   // PC: s[52:53]
    .cfi_escape 9, 65, 74   // s33: in s42
    .cfi_escape 9, 84, 86   // s52: in s54
    .cfi_escape 9, 85, 87   // s53: in s55
    .cfi_escape 9, 64, 88   // s32: in s56
    s_nop 0
    s_swappc_b64 s[50:51], s[58:59]
    s_swappc_b64 s[50:51], s[58:59]
    s_nop 0
side:
    s_nop 0
    s_nop 0
.Lside_end:
    s_nop 0
    s_nop 0
    .cfi_endproc
.Louter_end:
    .size outer, .Louter_end-outer
    .globl lone
    .p2align 8
    .type lone,@function
lone:
    s_nop 0
    s_nop 0
    s_nop 0
    s_nop 0
.Llone_end:
    .size lone, .Llone_end-lone
    .globl deep
    .p2align 8
    .type deep,@function
deep:
    s_nop 0
    s_nop 0
.Ldeep_end:
    .size deep, .Ldeep_end-deep
    .section .debug_abbrev,"",@progbits
.Labbrev:
    .uleb128 1
    .uleb128 0x11
    .byte 1           // cu: name string, language data1, low addr, high data4
    .uleb128 0x3
    .uleb128 0x8
    .uleb128 0x13
    .uleb128 0xb
    .uleb128 0x11
    .uleb128 0x1
    .uleb128 0x12
    .uleb128 0x6
    .byte 0, 0
    .uleb128 2
    .uleb128 0x24
    .byte 0           // base: name string, enc data1, size data1
    .uleb128 0x3
    .uleb128 0x8
    .uleb128 0x3e
    .uleb128 0xb
    .uleb128 0xb
    .uleb128 0xb
    .byte 0, 0
    .uleb128 3
    .uleb128 0x24
    .byte 0           // binary: name string, enc data1, size data1, binary sdata
    .uleb128 0x3
    .uleb128 0x8
    .uleb128 0x3e
    .uleb128 0xb
    .uleb128 0xb
    .uleb128 0xb
    .uleb128 0x5b
    .uleb128 0xd
    .byte 0, 0
    .uleb128 4
    .uleb128 0x24
    .byte 0           // decimal: name string, enc data1, size data1, decimal sdata
    .uleb128 0x3
    .uleb128 0x8
    .uleb128 0x3e
    .uleb128 0xb
    .uleb128 0xb
    .uleb128 0xb
    .uleb128 0x5c
    .uleb128 0xd
    .byte 0, 0
    .uleb128 5
    .uleb128 0x24
    .byte 0           // small: name string, enc data1, size data1, small ref4
    .uleb128 0x3
    .uleb128 0x8
    .uleb128 0x3e
    .uleb128 0xb
    .uleb128 0xb
    .uleb128 0xb
    .uleb128 0x5d
    .uleb128 0x13
    .byte 0, 0
    .uleb128 6
    .uleb128 0x27
    .byte 0           // ratio: name string, num data1, den data1
    .uleb128 0x3
    .uleb128 0x8
    .uleb128 0x2303
    .uleb128 0xb
    .uleb128 0x2304
    .uleb128 0xb
    .byte 0, 0
    .uleb128 7
    .uleb128 0x2e
    .byte 1           // nested: name string, low addr, high data4, frame_base exprloc, static_link exprloc
    .uleb128 0x3
    .uleb128 0x8
    .uleb128 0x11
    .uleb128 0x1
    .uleb128 0x12
    .uleb128 0x6
    .uleb128 0x40
    .uleb128 0x18
    .uleb128 0x48
    .uleb128 0x18
    .byte 0, 0
    .uleb128 8
    .uleb128 0x2e
    .byte 1           // function: name string, low addr, high data4, frame_base exprloc
    .uleb128 0x3
    .uleb128 0x8
    .uleb128 0x11
    .uleb128 0x1
    .uleb128 0x12
    .uleb128 0x6
    .uleb128 0x40
    .uleb128 0x18
    .byte 0, 0
    .uleb128 9
    .uleb128 0x2e
    .byte 1           // returning: name string, low addr, high data4, return_addr exprloc
    .uleb128 0x3
    .uleb128 0x8
    .uleb128 0x11
    .uleb128 0x1
    .uleb128 0x12
    .uleb128 0x6
    .uleb128 0x2a
    .uleb128 0x18
    .byte 0, 0
    .uleb128 10
    .uleb128 0x3
    .byte 1           // entry: name string, low addr, high data4
    .uleb128 0x3
    .uleb128 0x8
    .uleb128 0x11
    .uleb128 0x1
    .uleb128 0x12
    .uleb128 0x6
    .byte 0, 0
    .uleb128 11
    .uleb128 0x3
    .byte 1           // point: name string, low addr
    .uleb128 0x3
    .uleb128 0x8
    .uleb128 0x11
    .uleb128 0x1
    .byte 0, 0
    .uleb128 12
    .uleb128 0x34
    .byte 0           // variable: name string, type ref4, loc exprloc
    .uleb128 0x3
    .uleb128 0x8
    .uleb128 0x49
    .uleb128 0x13
    .uleb128 0x2
    .uleb128 0x18
    .byte 0, 0
    .uleb128 13
    .uleb128 0x5
    .byte 0           // argument: name string, type ref4, loc exprloc
    .uleb128 0x3
    .uleb128 0x8
    .uleb128 0x49
    .uleb128 0x13
    .uleb128 0x2
    .uleb128 0x18
    .byte 0, 0
    .uleb128 14
    .uleb128 0x13
    .byte 1           // class: name string, size data1
    .uleb128 0x3
    .uleb128 0x8
    .uleb128 0xb
    .uleb128 0xb
    .byte 0, 0
    .uleb128 15
    .uleb128 0xd
    .byte 0           // member: name string, type ref4, member_loc data1
    .uleb128 0x3
    .uleb128 0x8
    .uleb128 0x49
    .uleb128 0x13
    .uleb128 0x38
    .uleb128 0xb
    .byte 0, 0
    .uleb128 16
    .uleb128 0x2e
    .byte 0           // method: name string, type ref4, virt data1, elem exprloc, decl flag
    .uleb128 0x3
    .uleb128 0x8
    .uleb128 0x49
    .uleb128 0x13
    .uleb128 0x4c
    .uleb128 0xb
    .uleb128 0x4d
    .uleb128 0x18
    .uleb128 0x3c
    .uleb128 0x19
    .byte 0, 0
    .uleb128 17
    .uleb128 0x1f
    .byte 0           // pointer_to_member: type ref4, containing ref4, use exprloc
    .uleb128 0x49
    .uleb128 0x13
    .uleb128 0x1d
    .uleb128 0x13
    .uleb128 0x4a
    .uleb128 0x18
    .byte 0, 0
    .uleb128 18
    .uleb128 0x24
    .byte 0           // implicit: name string, enc implicit 7, size implicit 2
    .uleb128 0x3
    .uleb128 0x8
    .uleb128 0x3e
    .uleb128 0x21
    .sleb128 7
    .uleb128 0xb
    .uleb128 0x21
    .sleb128 2
    .byte 0, 0
    .uleb128 19
    .uleb128 0xd
    .byte 0           // implicit_member: name string, type ref4, member_loc implicit 2
    .uleb128 0x3
    .uleb128 0x8
    .uleb128 0x49
    .uleb128 0x13
    .uleb128 0x38
    .uleb128 0x21
    .sleb128 2
    .byte 0, 0
    .uleb128 20
    .uleb128 0x34
    .byte 0           // implicit_constant: name string, type ref4, const implicit -3
    .uleb128 0x3
    .uleb128 0x8
    .uleb128 0x49
    .uleb128 0x13
    .uleb128 0x1c
    .uleb128 0x21
    .sleb128 -3
    .byte 0, 0
    .uleb128 21
    .uleb128 0xb
    .byte 1           // block: low addr, high data4
    .uleb128 0x11
    .uleb128 0x1
    .uleb128 0x12
    .uleb128 0x6
    .byte 0, 0
    .uleb128 22
    .uleb128 0x2e
    .byte 1           // shell: name string
    .uleb128 0x3
    .uleb128 0x8
    .byte 0, 0
    .byte 0
    .section .debug_info,"",@progbits
.Lcu:
    .long .Lcu_end-.Lcu_start
.Lcu_start:
    .short 5
    .byte 1, 8
    .long .Labbrev
    .uleb128 1   // cu
    .asciz "nested.s"
    .byte 12
    .quad inner
    .long .Ldeep_end-inner
.Lint:
    .uleb128 2   // base
    .asciz "int"
    .byte 5
    .byte 4
.Llong:
    .uleb128 2   // base
    .asciz "long"
    .byte 5
    .byte 8
.Laccum:
    .uleb128 3   // binary
    .asciz "accum"
    .byte 13
    .byte 4
    .sleb128 -15
.Lfract:
    .uleb128 3   // binary
    .asciz "fract"
    .byte 14
    .byte 1
    .sleb128 -8
.Lmoney:
    .uleb128 4   // decimal
    .asciz "money"
    .byte 13
    .byte 8
    .sleb128 -2
.Lratio:
    .uleb128 6   // ratio
    .asciz "ratio"
    .byte 1
    .byte 12
.Ltwelfths:
    .uleb128 5   // small
    .asciz "twelfths"
    .byte 13
    .byte 2
    .long .Lratio-.Lcu
.Lpacked:
    .uleb128 2   // base
    .asciz "packed"
    .byte 10
    .byte 2
.Lx87:
    .uleb128 2   // base
    .asciz "x87"
    .byte 4
    .byte 10
.Lushort:
    .uleb128 18   // implicit
    .asciz "unsigned short"
.LS:
    .uleb128 14   // class
    .asciz "S"
    .byte 12
    .uleb128 15   // member
    .asciz "table"
    .long .Lint-.Lcu
    .byte 0
    .uleb128 15   // member
    .asciz "a"
    .long .Lint-.Lcu
    .byte 4
    .uleb128 15   // member
    .asciz "b"
    .long .Lint-.Lcu
    .byte 8
    .uleb128 19   // implicit_member
    .asciz "half"
    .long .Lushort-.Lcu
    .uleb128 16   // method
    .asciz "run"
    .long .Lint-.Lcu
    .byte 1
    .uleb128 4
    .byte 0x94, 0x4, 0x23, 0x10
    .uleb128 16   // method
    .asciz "late"
    .long .Lint-.Lcu
    .byte 1
    .uleb128 4
    .byte 0x94, 0x4, 0x23, 0x18
    .byte 0
.Lpm:
    .uleb128 17   // pointer_to_member
    .long .Lint-.Lcu
    .long .LS-.Lcu
    .uleb128 1
    .byte 0x22
.Lpm_object:
    .uleb128 17   // pointer_to_member
    .long .Lint-.Lcu
    .long .LS-.Lcu
    .uleb128 1
    .byte 0x97
.Lpm_odd:
    .uleb128 17   // pointer_to_member
    .long .Lint-.Lcu
    .long .LS-.Lcu
    .uleb128 6
    .byte 0x16, 0x31, 0x25, 0x1c, 0x23, 0xc
    .uleb128 8   // function
    .asciz "outer"
    .quad outer
    .long .Louter_end-outer
    .uleb128 3
    .byte 0x92, 0x41, 0x0
    .uleb128 12   // variable
    .asciz "x"
    .long .Lint-.Lcu
    .uleb128 2
    .byte 0x91, 0x10
    .uleb128 12   // variable
    .asciz "r"
    .long .Lint-.Lcu
    .uleb128 2
    .byte 0x90, 0x48
    .uleb128 12   // variable
    .asciz "shared"
    .long .Lint-.Lcu
    .uleb128 2
    .byte 0x91, 0x14
    .uleb128 21   // block
    .quad outer
    .long 8
    .uleb128 12   // variable
    .asciz "early"
    .long .Lint-.Lcu
    .uleb128 2
    .byte 0x91, 0x18
    .byte 0
    .uleb128 7   // nested
    .asciz "inner"
    .quad inner
    .long .Linner_end-inner
    .uleb128 3
    .byte 0x92, 0x40, 0x0
    .uleb128 3
    .byte 0x92, 0x42, 0x0
    .uleb128 12   // variable
    .asciz "own"
    .long .Lint-.Lcu
    .uleb128 6
    .byte 0x9e, 0x4, 0x7, 0x0, 0x0, 0x0
    .uleb128 12   // variable
    .asciz "obj"
    .long .LS-.Lcu
    .uleb128 3
    .byte 0x92, 0x44, 0x0
    .uleb128 12   // variable
    .asciz "constant"
    .long .LS-.Lcu
    .uleb128 14
    .byte 0x9e, 0xc, 0x0, 0x10, 0x0, 0x0, 0xb, 0x0, 0x0, 0x0, 0x16, 0x0, 0x0, 0x0
    .uleb128 12   // variable
    .asciz "pm"
    .long .Lpm-.Lcu
    .uleb128 10
    .byte 0x9e, 0x8, 0x8, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0
    .uleb128 12   // variable
    .asciz "pm_null"
    .long .Lpm-.Lcu
    .uleb128 10
    .byte 0x9e, 0x8, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff
    .uleb128 12   // variable
    .asciz "pm_odd"
    .long .Lpm_odd-.Lcu
    .uleb128 10
    .byte 0x9e, 0x8, 0x8, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0
    .uleb128 12   // variable
    .asciz "pm_object"
    .long .Lpm_object-.Lcu
    .uleb128 10
    .byte 0x9e, 0x8, 0x4, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0
    .uleb128 12   // variable
    .asciz "accum"
    .long .Laccum-.Lcu
    .uleb128 6
    .byte 0x9e, 0x4, 0x0, 0xc0, 0x0, 0x0
    .uleb128 12   // variable
    .asciz "minus"
    .long .Laccum-.Lcu
    .uleb128 6
    .byte 0x9e, 0x4, 0x0, 0x40, 0xff, 0xff
    .uleb128 12   // variable
    .asciz "fract"
    .long .Lfract-.Lcu
    .uleb128 3
    .byte 0x9e, 0x1, 0xc0
    .uleb128 12   // variable
    .asciz "money"
    .long .Lmoney-.Lcu
    .uleb128 10
    .byte 0x9e, 0x8, 0xd2, 0x4, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0
    .uleb128 12   // variable
    .asciz "twelfths"
    .long .Ltwelfths-.Lcu
    .uleb128 4
    .byte 0x9e, 0x2, 0xfd, 0xff
    .uleb128 12   // variable
    .asciz "packed"
    .long .Lpacked-.Lcu
    .uleb128 4
    .byte 0x9e, 0x2, 0x34, 0x12
    .uleb128 12   // variable
    .asciz "x87"
    .long .Lx87-.Lcu
    .uleb128 12
    .byte 0x9e, 0xa, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x80, 0xff, 0x3f
    .uleb128 12   // variable
    .asciz "us"
    .long .Lushort-.Lcu
    .uleb128 4
    .byte 0x9e, 0x2, 0xfe, 0xff
    .uleb128 20   // implicit_constant
    .asciz "minus_three"
    .long .Lint-.Lcu
    .byte 0
    .uleb128 8   // function
    .asciz "deaf"
    .quad deaf
    .long .Ldeaf_end-deaf
    .uleb128 3
    .byte 0x92, 0x40, 0x0
    .byte 0
    .uleb128 10   // entry
    .asciz "side"
    .quad side
    .long 8
    .uleb128 13   // argument
    .asciz "given"
    .long .Lint-.Lcu
    .uleb128 2
    .byte 0x91, 0x1c
    .byte 0
    .uleb128 11   // point
    .asciz "gate"
    .quad side
    .byte 0
    .byte 0
    .uleb128 9   // returning
    .asciz "lone"
    .quad lone
    .long .Llone_end-lone
    .uleb128 8
    .byte 0x90, 0x4e, 0x93, 0x4, 0x90, 0x4f, 0x93, 0x4
    .byte 0
    .uleb128 22   // shells around `deep`, more than are looked into; the first has a variable
    .asciz "first"
    .uleb128 12   // variable
    .asciz "outermost"
    .long .Lint-.Lcu
    .uleb128 3
    .byte 0x91, 0xe0, 0
    .rept 17
    .uleb128 22
    .asciz "shell"
    .endr
    .uleb128 7   // nested
    .asciz "deep"
    .quad deep
    .long .Ldeep_end-deep
    .uleb128 3
    .byte 0x92, 0x40, 0
    .uleb128 3
    .byte 0x92, 0x42, 0
    .byte 0
    .rept 18
    .byte 0
    .endr
    .byte 0
.Lcu_end:
