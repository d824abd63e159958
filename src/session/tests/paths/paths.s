// Types and places that paths lead through and clang writes for no GPU language: strides between elements (DWARF 5 sections
// 5.5 and 5.13), a virtual base behind a table of offsets (5.7.6), a pointer that exists only in the debug information
// (2.6.1.1.4), references to references, members inside unnamed members, a block and a list in many ranges, and another unit.
// Objects lie in memory at DATA, which paths.rs captures: that file has their bytes and values. Assembled with
//     clang-22 -x assembler --target=amdgcn-amd-amdhsa -mcpu=gfx90a -o paths.hsaco paths.s
    .amdgcn_target "amdgcn-amd-amdhsa--gfx90a"
    .set DATA, 0x7f0000200000
    .text
    .globl f
    .p2align 8
    .type f,@function
f:
    .rept 32
    s_nop 0
    .endr
    s_endpgm
.Lf_end:
    .size f, .Lf_end-f

    .section .debug_abbrev,"",@progbits
.Labbrev:
    .macro abbrev code, tag, children
    .uleb128 \code
    .uleb128 \tag
    .byte \children
    .endm
    .macro at name, form
    .uleb128 \name
    .uleb128 \form
    .endm
    .macro end
    .byte 0, 0
    .endm
    abbrev 1, 0x11, 1           // compile_unit: name string, language data1, low_pc addr, high_pc data4
    at 0x03, 0x08
    at 0x13, 0x0b
    at 0x11, 0x01
    at 0x12, 0x06
    end
    abbrev 2, 0x11, 1           // compile_unit without code: name string, language data1
    at 0x03, 0x08
    at 0x13, 0x0b
    end
    abbrev 3, 0x24, 0           // base_type: name string, encoding data1, byte_size data1
    at 0x03, 0x08
    at 0x3e, 0x0b
    at 0x0b, 0x0b
    end
    abbrev 4, 0x24, 0           // base_type: name string, encoding data1, byte_size data1, bit_size data1
    at 0x03, 0x08
    at 0x3e, 0x0b
    at 0x0b, 0x0b
    at 0x0d, 0x0b
    end
    abbrev 5, 0x01, 1           // array_type: type ref4
    at 0x49, 0x13
    end
    abbrev 6, 0x21, 0           // subrange_type: count data1
    at 0x37, 0x0b
    end
    abbrev 7, 0x21, 0           // subrange_type: count data1, byte_stride sdata
    at 0x37, 0x0b
    at 0x51, 0x0d
    end
    abbrev 8, 0x01, 1           // array_type: type ref4, bit_stride data1
    at 0x49, 0x13
    at 0x2e, 0x0b
    end
    abbrev 9, 0x13, 1           // structure_type: name string, byte_size data1
    at 0x03, 0x08
    at 0x0b, 0x0b
    end
    abbrev 10, 0x0d, 0          // member: name string, type ref4, data_member_location data1
    at 0x03, 0x08
    at 0x49, 0x13
    at 0x38, 0x0b
    end
    abbrev 11, 0x0d, 0          // unnamed member: type ref4, data_member_location data1
    at 0x49, 0x13
    at 0x38, 0x0b
    end
    abbrev 12, 0x1c, 0          // inheritance: type ref4, data_member_location exprloc, virtuality data1
    at 0x49, 0x13
    at 0x38, 0x18
    at 0x4c, 0x0b
    end
    abbrev 13, 0x10, 0          // reference_type: type ref4, byte_size data1
    at 0x49, 0x13
    at 0x0b, 0x0b
    end
    abbrev 14, 0x0f, 0          // pointer_type: type ref4, byte_size data1
    at 0x49, 0x13
    at 0x0b, 0x0b
    end
    abbrev 15, 0x2e, 1          // subprogram: name string, low_pc addr, high_pc data4
    at 0x03, 0x08
    at 0x11, 0x01
    at 0x12, 0x06
    end
    abbrev 16, 0x34, 0          // variable: name string, type ref4, location exprloc
    at 0x03, 0x08
    at 0x49, 0x13
    at 0x02, 0x18
    end
    abbrev 17, 0x34, 0          // variable: name string, type ref4, location loclist
    at 0x03, 0x08
    at 0x49, 0x13
    at 0x02, 0x17
    end
    abbrev 18, 0x0b, 1          // lexical_block: ranges sec_offset
    at 0x55, 0x17
    end
    abbrev 19, 0x39, 1          // namespace: name string
    at 0x03, 0x08
    end
    .byte 0

// A variable that lies so many bytes into DATA.
    .macro lies name, type, offset
    .uleb128 16
    .asciz "\name"
    .long \type-.Lcu1
    .uleb128 9
    .byte 0x0e                       // const8u
    .quad DATA+\offset
    .endm

    .section .debug_info,"",@progbits
.Lcu1:
    .long .Lcu1_end-.Lcu1_start
.Lcu1_start:
    .short 5
    .byte 1, 8
    .long .Labbrev
    .uleb128 1
    .asciz "paths.s"
    .byte 0x21
    .quad f
    .long .Lf_end-f
.Lint:
    .uleb128 3
    .asciz "int"
    .byte 5, 4
.Lchar:
    .uleb128 3
    .asciz "char"
    .byte 6, 1
.Lu4:
    .uleb128 4
    .asciz "unsigned _BitInt(4)"
    .byte 7, 1, 4
.Lint_pointer:
    .uleb128 14
    .long .Lint-.Lcu1
    .byte 8
.Lchar_pointer:
    .uleb128 14
    .long .Lchar-.Lcu1
    .byte 8
.Lint_2:
    .uleb128 5
    .long .Lint-.Lcu1
    .uleb128 6
    .byte 2
    .byte 0
.Lint_8:
    .uleb128 5
    .long .Lint-.Lcu1
    .uleb128 6
    .byte 8
    .byte 0
.Lapart:                             // every other int
    .uleb128 5
    .long .Lint-.Lcu1
    .uleb128 7
    .byte 3
    .sleb128 8
    .byte 0
.Lbackwards:
    .uleb128 5
    .long .Lint-.Lcu1
    .uleb128 7
    .byte 3
    .sleb128 -4
    .byte 0
.Lnibbles:
    .uleb128 8
    .long .Lu4-.Lcu1
    .byte 4
    .uleb128 6
    .byte 4
    .byte 0
.Lbase:
    .uleb128 9
    .asciz "B"
    .byte 4
    .uleb128 10
    .asciz "x"
    .long .Lint-.Lcu1
    .byte 0
    .byte 0
.Lderived:                           // a pointer to its table, own, and B so far on as the table says, 24 bytes before its start
    .uleb128 9
    .asciz "D"
    .byte 24
    .uleb128 12
    .long .Lbase-.Lcu1
    .uleb128 2f-1f
1:
    .byte 0x12, 0x06, 0x10, 24, 0x1c, 0x06, 0x22   // dup, deref, constu 24, minus, deref, plus
2:
    .byte 1
    .uleb128 10
    .asciz "own"
    .long .Lint-.Lcu1
    .byte 8
    .byte 0
// References to references: reference_N takes N steps to an int. All of them hold their own address.
.Lreference_1:
    .uleb128 13
    .long .Lint-.Lcu1
    .byte 8
.Lreference_2:
    .uleb128 13
    .long .Lreference_1-.Lcu1
    .byte 8
.Lreference_3:
    .uleb128 13
    .long .Lreference_2-.Lcu1
    .byte 8
.Lreference_4:
    .uleb128 13
    .long .Lreference_3-.Lcu1
    .byte 8
.Lreference_5:
    .uleb128 13
    .long .Lreference_4-.Lcu1
    .byte 8
.Lreference_6:
    .uleb128 13
    .long .Lreference_5-.Lcu1
    .byte 8
.Lreference_7:
    .uleb128 13
    .long .Lreference_6-.Lcu1
    .byte 8
.Lreference_8:
    .uleb128 13
    .long .Lreference_7-.Lcu1
    .byte 8
.Lreference_9:
    .uleb128 13
    .long .Lreference_8-.Lcu1
    .byte 8
.Lendless:
    .uleb128 13
    .long .Lendless-.Lcu1
    .byte 8
// Structures in structures, each the only, unnamed member of the one around it; the innermost, nested_0, has x.
.Lnested_0:
    .uleb128 9
    .asciz "N0"
    .byte 4
    .uleb128 10
    .asciz "x"
    .long .Lint-.Lcu1
    .byte 0
    .byte 0
.Lnested_1:
    .uleb128 9
    .asciz "N1"
    .byte 4
    .uleb128 11
    .long .Lnested_0-.Lcu1
    .byte 0
    .byte 0
.Lnested_2:
    .uleb128 9
    .asciz "N2"
    .byte 4
    .uleb128 11
    .long .Lnested_1-.Lcu1
    .byte 0
    .byte 0
.Lnested_3:
    .uleb128 9
    .asciz "N3"
    .byte 4
    .uleb128 11
    .long .Lnested_2-.Lcu1
    .byte 0
    .byte 0
.Lnested_4:
    .uleb128 9
    .asciz "N4"
    .byte 4
    .uleb128 11
    .long .Lnested_3-.Lcu1
    .byte 0
    .byte 0
.Lnested_5:
    .uleb128 9
    .asciz "N5"
    .byte 4
    .uleb128 11
    .long .Lnested_4-.Lcu1
    .byte 0
    .byte 0
.Lnested_6:
    .uleb128 9
    .asciz "N6"
    .byte 4
    .uleb128 11
    .long .Lnested_5-.Lcu1
    .byte 0
    .byte 0
.Lnested_7:
    .uleb128 9
    .asciz "N7"
    .byte 4
    .uleb128 11
    .long .Lnested_6-.Lcu1
    .byte 0
    .byte 0
.Lnested_8:
    .uleb128 9
    .asciz "N8"
    .byte 4
    .uleb128 11
    .long .Lnested_7-.Lcu1
    .byte 0
    .byte 0
.Lnested_9:
    .uleb128 9
    .asciz "N9"
    .byte 4
    .uleb128 11
    .long .Lnested_8-.Lcu1
    .byte 0
    .byte 0
.Lnested_10:
    .uleb128 9
    .asciz "N10"
    .byte 4
    .uleb128 11
    .long .Lnested_9-.Lcu1
    .byte 0
    .byte 0
.Lnested_11:
    .uleb128 9
    .asciz "N11"
    .byte 4
    .uleb128 11
    .long .Lnested_10-.Lcu1
    .byte 0
    .byte 0
.Lnested_12:
    .uleb128 9
    .asciz "N12"
    .byte 4
    .uleb128 11
    .long .Lnested_11-.Lcu1
    .byte 0
    .byte 0
.Lnested_13:
    .uleb128 9
    .asciz "N13"
    .byte 4
    .uleb128 11
    .long .Lnested_12-.Lcu1
    .byte 0
    .byte 0
.Lnested_14:
    .uleb128 9
    .asciz "N14"
    .byte 4
    .uleb128 11
    .long .Lnested_13-.Lcu1
    .byte 0
    .byte 0
.Lnested_15:
    .uleb128 9
    .asciz "N15"
    .byte 4
    .uleb128 11
    .long .Lnested_14-.Lcu1
    .byte 0
    .byte 0
.Lnested_16:
    .uleb128 9
    .asciz "N16"
    .byte 4
    .uleb128 11
    .long .Lnested_15-.Lcu1
    .byte 0
    .byte 0
.Lnested_17:
    .uleb128 9
    .asciz "N17"
    .byte 4
    .uleb128 11
    .long .Lnested_16-.Lcu1
    .byte 0
    .byte 0
.Lnested_18:
    .uleb128 9
    .asciz "N18"
    .byte 4
    .uleb128 11
    .long .Lnested_17-.Lcu1
    .byte 0
    .byte 0
.Lnested_19:
    .uleb128 9
    .asciz "N19"
    .byte 4
    .uleb128 11
    .long .Lnested_18-.Lcu1
    .byte 0
    .byte 0
.Lnested_20:
    .uleb128 9
    .asciz "N20"
    .byte 4
    .uleb128 11
    .long .Lnested_19-.Lcu1
    .byte 0
    .byte 0
.Lnested_21:
    .uleb128 9
    .asciz "N21"
    .byte 4
    .uleb128 11
    .long .Lnested_20-.Lcu1
    .byte 0
    .byte 0
.Lnested_22:
    .uleb128 9
    .asciz "N22"
    .byte 4
    .uleb128 11
    .long .Lnested_21-.Lcu1
    .byte 0
    .byte 0
.Lnested_23:
    .uleb128 9
    .asciz "N23"
    .byte 4
    .uleb128 11
    .long .Lnested_22-.Lcu1
    .byte 0
    .byte 0
.Lnested_24:
    .uleb128 9
    .asciz "N24"
    .byte 4
    .uleb128 11
    .long .Lnested_23-.Lcu1
    .byte 0
    .byte 0
.Lnested_25:
    .uleb128 9
    .asciz "N25"
    .byte 4
    .uleb128 11
    .long .Lnested_24-.Lcu1
    .byte 0
    .byte 0
.Lnested_26:
    .uleb128 9
    .asciz "N26"
    .byte 4
    .uleb128 11
    .long .Lnested_25-.Lcu1
    .byte 0
    .byte 0
.Lnested_27:
    .uleb128 9
    .asciz "N27"
    .byte 4
    .uleb128 11
    .long .Lnested_26-.Lcu1
    .byte 0
    .byte 0
.Lnested_28:
    .uleb128 9
    .asciz "N28"
    .byte 4
    .uleb128 11
    .long .Lnested_27-.Lcu1
    .byte 0
    .byte 0
.Lnested_29:
    .uleb128 9
    .asciz "N29"
    .byte 4
    .uleb128 11
    .long .Lnested_28-.Lcu1
    .byte 0
    .byte 0
.Lnested_30:
    .uleb128 9
    .asciz "N30"
    .byte 4
    .uleb128 11
    .long .Lnested_29-.Lcu1
    .byte 0
    .byte 0
.Lnested_31:
    .uleb128 9
    .asciz "N31"
    .byte 4
    .uleb128 11
    .long .Lnested_30-.Lcu1
    .byte 0
    .byte 0
.Lnested_32:
    .uleb128 9
    .asciz "N32"
    .byte 4
    .uleb128 11
    .long .Lnested_31-.Lcu1
    .byte 0
    .byte 0
.Lnested_33:
    .uleb128 9
    .asciz "N33"
    .byte 4
    .uleb128 11
    .long .Lnested_32-.Lcu1
    .byte 0
    .byte 0
    .uleb128 15                      // f
    .asciz "f"
    .quad f
    .long .Lf_end-f
    lies numbers, .Lint_8, 0
    lies apart, .Lapart, 0
    lies backwards, .Lbackwards, 8
    lies nibbles, .Lnibbles, 32
    lies derived, .Lderived, 64
    lies eight, .Lreference_8, 128
    lies nine, .Lreference_9, 128
    lies endless, .Lendless, 128
    lies deep, .Lnested_32, 0
    lies deeper, .Lnested_33, 0
    lies text, .Lchar_pointer, 136
    lies tail, .Lchar_pointer, 144
.Lpair:
    .uleb128 16
    .asciz "pair"
    .long .Lint_2-.Lcu1
    .uleb128 2f-1f
1:
    .byte 0x9e, 8                    // implicit_value
    .long 5, 6
2:
    .uleb128 16
    .asciz "implicit"
    .long .Lint_pointer-.Lcu1
    .uleb128 2f-1f
1:
    .byte 0xa0                       // implicit_pointer
    .long .Lpair-.Lcu1
    .sleb128 4
2:
    .uleb128 17
    .asciz "listed"
    .long .Lint-.Lcu1
    .long .Llist
    .uleb128 17
    .asciz "emptied"
    .long .Lint-.Lcu1
    .long .Lemptied
    .uleb128 18                      // a block in ten ranges
    .long .Lranges
    lies inside, .Lint, 4
    .byte 0
    .byte 0
    .uleb128 16                      // in the work-group's LDS
    .asciz "counter"
    .long .Lint-.Lcu1
    .uleb128 2f-1f
1:
    .byte 0x40, 0x33, 0xe9, 2        // lit16, lit3, form_aspace_address
2:
    .byte 0
.Lcu1_end:
.Lcu2:
    .long .Lcu2_end-.Lcu2_start
.Lcu2_start:
    .short 5
    .byte 1, 8
    .long .Labbrev
    .uleb128 2
    .asciz "other.s"
    .byte 0x21
.Lint_of_other:
    .uleb128 3
    .asciz "int"
    .byte 5, 4
    .uleb128 19
    .asciz "far"
    .uleb128 16
    .asciz "away"
    .long .Lint_of_other-.Lcu2
    .uleb128 9
    .byte 0x0e
    .quad DATA+8
    .uleb128 16
    .asciz "slots"
    .long .Lint_of_other-.Lcu2
    .uleb128 2f-1f
1:
    .byte 0x44, 0x33, 0xe9, 2        // lit20 of LDS
2:
    .byte 0
    .byte 0
.Lcu2_end:

    .section .debug_loclists,"",@progbits
    .long .Llists_end-.Llists
.Llists:
    .short 5
    .byte 8, 0
    .long 0
// Ten entries, none of which holds the PC of the wave, f+4.
.Llist:
    .irp n, 2,4,6,8,10,12,14,16,18,20
    .byte 7
    .quad f+4*\n
    .quad f+4*\n+4
    .uleb128 9
    .byte 0x0e
    .quad DATA
    .endr
    .byte 0
.Lemptied:
    .byte 7
    .quad f
    .quad f+8
    .uleb128 0
    .byte 7
    .quad f+8
    .quad f+12
    .uleb128 9
    .byte 0x0e
    .quad DATA
    .byte 0
.Llists_end:

    .section .debug_rnglists,"",@progbits
    .long .Lrnglists_end-.Lrnglists
.Lrnglists:
    .short 5
    .byte 8, 0
    .long 0
.Lranges:
    .irp n, 2,4,6,8,10,12,14,16,18,20
    .byte 6
    .quad f+4*\n
    .quad f+4*\n+4
    .endr
    .byte 0
.Lrnglists_end:
