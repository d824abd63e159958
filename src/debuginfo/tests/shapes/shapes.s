// DWARF that clang 22 does not write: LLVM's attributes in both codes, constants of every class, location lists with a
// default entry, procedures, chains and circles of references, old bit fields. shapes.rs knows what stands here by the
// order of the labels at the end, not by reading it with anything. Assembled with
//     clang-22 -x assembler --target=amdgcn-amd-amdhsa -mcpu=gfx90a -o shapes.hsaco shapes.s
    .amdgcn_target "amdgcn-amd-amdhsa--gfx90a"
    .text
    .globl f
    .p2align 8
    .type f,@function
f:
    s_nop 0
    s_nop 0
    s_nop 0
    s_nop 0
    s_nop 0
    s_nop 0
    s_nop 0
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
    // forms: string 0x08, data1 0x0b, sdata 0x0d, udata 0x0f, ref4 0x13, ref_addr 0x10, sec_offset 0x17, exprloc 0x18,
    // flag_present 0x19, addr 0x01, block1 0x0a, data8 0x07
    abbrev 1, 0x11, 1           // compile unit: name, producer, augmentation (0x3e09), language, low, high
    at 0x03, 0x08
    at 0x25, 0x08
    at 0x3e09, 0x08
    at 0x13, 0x0b
    at 0x11, 0x01
    at 0x12, 0x0f
    end
    abbrev 2, 0x2e, 1           // subprogram: name, low, high, lanes (old), lane_pc (old), active_lane (old), frame base
    at 0x03, 0x08
    at 0x11, 0x01
    at 0x12, 0x0f
    at 0x3e0a, 0x0b
    at 0x3e0b, 0x18
    at 0x3e08, 0x17
    at 0x40, 0x18
    end
    abbrev 3, 0x34, 0           // variable: name, type, const_value sdata
    at 0x03, 0x08
    at 0x49, 0x13
    at 0x1c, 0x0d
    end
    abbrev 4, 0x34, 0           // variable: name, type, const_value block1
    at 0x03, 0x08
    at 0x49, 0x13
    at 0x1c, 0x0a
    end
    abbrev 5, 0x34, 0           // variable: name, type, const_value string
    at 0x03, 0x08
    at 0x49, 0x13
    at 0x1c, 0x08
    end
    abbrev 6, 0x34, 0           // variable: name, type, location list
    at 0x03, 0x08
    at 0x49, 0x13
    at 0x02, 0x17
    end
    abbrev 7, 0x36, 0           // procedure: expression
    at 0x02, 0x18
    end
    abbrev 8, 0x24, 0           // base type: name, encoding, size
    at 0x03, 0x08
    at 0x3e, 0x0b
    at 0x0b, 0x0b
    end
    abbrev 9, 0x24, 0           // base type with vector size (old code)
    at 0x03, 0x08
    at 0x3e, 0x0b
    at 0x0b, 0x0b
    at 0x3e0c, 0x0b
    end
    abbrev 10, 0x0f, 0          // pointer: type, address_space 0x3e10, address_class
    at 0x49, 0x13
    at 0x3e10, 0x0b
    at 0x33, 0x0b
    end
    abbrev 11, 0x0f, 0          // pointer: type, address_class
    at 0x49, 0x13
    at 0x33, 0x0b
    end
    abbrev 12, 0x0f, 0          // pointer: type
    at 0x49, 0x13
    end
    abbrev 13, 0x16, 0          // typedef: name, type
    at 0x03, 0x08
    at 0x49, 0x13
    end
    abbrev 14, 0x13, 1          // struct: name, size
    at 0x03, 0x08
    at 0x0b, 0x0b
    end
    abbrev 15, 0x0d, 0          // member of DWARF 2: name, type, byte size, bit size, bit offset, location expression
    at 0x03, 0x08
    at 0x49, 0x13
    at 0x0b, 0x0b
    at 0x0d, 0x0b
    at 0x0c, 0x0b
    at 0x38, 0x0a
    end
    abbrev 16, 0x0d, 0          // member: name, type, offset
    at 0x03, 0x08
    at 0x49, 0x13
    at 0x38, 0x0b
    end
    abbrev 17, 0x34, 0          // variable: abstract origin
    at 0x31, 0x13
    end
    abbrev 18, 0x34, 0          // variable: name, type in another unit, location
    at 0x03, 0x08
    at 0x49, 0x10
    at 0x02, 0x18
    end
    abbrev 19, 0x2e, 0          // declaration with LLVM's present codes: name, lanes, lane_pc
    at 0x03, 0x08
    at 0x11, 0x01
    at 0x12, 0x0f
    at 0x3e11, 0x0b
    at 0x3e12, 0x18
    end
    abbrev 20, 0x01, 1          // array: type
    at 0x49, 0x13
    end
    abbrev 21, 0x21, 0          // subrange: lower and upper bound
    at 0x22, 0x0d
    at 0x2f, 0x0d
    end
    abbrev 22, 0x15, 1          // subroutine: type
    at 0x49, 0x13
    end
    abbrev 23, 0x05, 0          // parameter: type
    at 0x49, 0x13
    end
    abbrev 24, 0x3b, 0          // unspecified type: name
    at 0x03, 0x08
    end
    abbrev 25, 0x13, 1          // struct that is its own member: name, size
    at 0x03, 0x08
    at 0x0b, 0x0b
    end
    .macro references both, class, none, tag
    abbrev \both, \tag, 0        // type, address_space 0x3e10, address_class
    at 0x49, 0x13
    at 0x3e10, 0x0b
    at 0x33, 0x0b
    end
    abbrev \class, \tag, 0       // type, address_class
    at 0x49, 0x13
    at 0x33, 0x0b
    end
    abbrev \none, \tag, 0        // type
    at 0x49, 0x13
    end
    .endm
    references 26, 27, 28, 0x10 // references
    references 29, 30, 31, 0x42 // rvalue references
    references 32, 33, 34, 0x15 // subroutine types
    abbrev 35, 0x2e, 0          // declaration: name, address_class
    at 0x03, 0x08
    at 0x33, 0x0b
    end
    abbrev 36, 0x2e, 0          // function: name, low, high, lanes as a list
    at 0x03, 0x08
    at 0x11, 0x01
    at 0x12, 0x0f
    at 0x3e11, 0x17
    end
    abbrev 37, 0x0d, 0          // member: name, type, offset in 8 bytes
    at 0x03, 0x08
    at 0x49, 0x13
    at 0x38, 0x07
    end
    .byte 0

    .section .debug_loclists,"",@progbits
    .long .Llists_end-.Llists_start
.Llists_start:
    .short 5
    .byte 8, 0
    .long 0
.Llist_default:
    .byte 7                     // start_end
    .quad f+4
    .quad f+8
    .uleb128 1
    .byte 0x31                  // lit1
    .byte 5                     // default_location
    .uleb128 1
    .byte 0x32                  // lit2
    .byte 8                     // start_length
    .quad f+8
    .uleb128 4
    .uleb128 0                  // an empty expression
    .byte 0
.Llist_gap:
    .byte 6                     // base_address
    .quad f
    .byte 4                     // offset_pair
    .uleb128 0
    .uleb128 4
    .uleb128 1
    .byte 0x33                  // lit3
    .byte 4                     // another entry for the same addresses
    .uleb128 0
    .uleb128 8
    .uleb128 1
    .byte 0x34                  // lit4
    .byte 0
.Llist_lanes:
    .byte 7
    .quad f
    .quad f+16
    .uleb128 2
    .byte 0x90, 0x11            // regx 17
    .byte 0
.Llist_count:
    .byte 7
    .quad f+0x14
    .quad f+0x18
    .uleb128 2
    .byte 0x38, 0x9f            // lit8; stack_value
    .byte 0
.Llists_end:

    .section .debug_info,"",@progbits
.Lcu1:
    .long .Lcu1_end-.Lcu1_start
.Lcu1_start:
    .short 5
    .byte 1, 8
    .long .Labbrev
    .uleb128 1
    .asciz "shapes.s"
    .asciz "clang version 12"
    .asciz "[amd:v0.0]"
    .byte 0x21
    .quad f
    .uleb128 .Lf_end-f

    .uleb128 2                  // f
    .asciz "f"
    .quad f
    .uleb128 .Lf_end-f
    .byte 64
    .uleb128 3
    .byte 0x90, 0x10, 0x9f      // lane_pc: regx 16; stack_value
    .long .Llist_lanes
    .uleb128 2
    .byte 0x90, 0x41            // frame base: regx 65
    .uleb128 3
    .asciz "minus"
    .long .Lint-.Lcu1
    .sleb128 -2
    .uleb128 4
    .asciz "block"
    .long .Lpair-.Lcu1
    .byte 4, 1, 2, 3, 4
    .uleb128 5
    .asciz "text"
    .long .Lint-.Lcu1
    .asciz "hi"
    .uleb128 6
    .asciz "fallback"
    .long .Lint-.Lcu1
    .long .Llist_default
    .uleb128 6
    .asciz "gap"
    .long .Lint-.Lcu1
    .long .Llist_gap
    .uleb128 18
    .asciz "far"
    .long .Lfar_type
    .uleb128 3
    .byte 0x98                  // call2
    .short 0
    .byte 0

.Lprocedure:
    .uleb128 7
    .uleb128 1
    .byte 0x38
.Lint:
    .uleb128 8
    .asciz "int"
    .byte 5, 4
.Lvector:
    .uleb128 9
    .asciz "float4"
    .byte 4, 16, 4
.Lp_both:
    .uleb128 10
    .long .Lint-.Lcu1
    .byte 5, 4
.Lp_class:
    .uleb128 11
    .long .Lint-.Lcu1
    .byte 4                     // 2020: constant, which is global
.Lp_none:
    .uleb128 12
    .long .Lint-.Lcu1
.Ltypedef_a:
    .uleb128 13
    .asciz "a"
    .long .Ltypedef_b-.Lcu1
.Ltypedef_b:
    .uleb128 13
    .asciz "b"
    .long .Ltypedef_a-.Lcu1
.Lpair:
    .uleb128 14
    .asciz "Pair"
    .byte 4
    .uleb128 15                 // bits 31 to 29 of the word: the top three
    .asciz "top"
    .long .Lint-.Lcu1
    .byte 4, 3, 0
    .byte 2, 0x23, 0            // plus_uconst 0
    .uleb128 15                 // bits 4 to 0
    .asciz "low"
    .long .Lint-.Lcu1
    .byte 4, 5, 27
    .byte 2, 0x23, 0
    .byte 0
.Lself:
    .uleb128 25
    .asciz "Self"
    .byte 8
    .uleb128 16
    .asciz "me"
    .long .Lself-.Lcu1
    .byte 0
    .byte 0
.Lorigin_a:
    .uleb128 17
    .long .Lorigin_b-.Lcu1
.Lorigin_b:
    .uleb128 17
    .long .Lorigin_a-.Lcu1
.Lbounds:
    .uleb128 20
    .long .Lint-.Lcu1
    .uleb128 21                 // [1:3]
    .sleb128 1
    .sleb128 3
    .uleb128 21                 // none
    .sleb128 0
    .sleb128 -1
    .byte 0
.Lgrowing:                      // a function whose two parameters are itself
    .uleb128 22
    .long .Lint-.Lcu1
    .uleb128 23
    .long .Lgrowing-.Lcu1
    .uleb128 23
    .long .Lgrowing-.Lcu1
    .byte 0
.Lnull:
    .uleb128 24
    .asciz "decltype(nullptr)"
    .macro spaces label, code
.L\label\()_both:
    .uleb128 \code
    .long .Lint-.Lcu1
    .byte 5, 4
.L\label\()_class:
    .uleb128 \code+1
    .long .Lint-.Lcu1
    .byte 3                     // 2020: local
.L\label\()_none:
    .uleb128 \code+2
    .long .Lint-.Lcu1
    .endm
    spaces r, 26
    spaces rr, 29
    spaces call, 32
.Lplaces:
    .uleb128 14
    .asciz "Places"
    .byte 8
    .uleb128 37
    .asciz "last"               // bit 2^64 - 8
    .long .Lint-.Lcu1
    .quad 0x1fffffffffffffff
    .uleb128 37
    .asciz "beyond"             // bit 2^64
    .long .Lint-.Lcu1
    .quad 0x2000000000000000
    .uleb128 15                 // 40 bits from the top of a word of 32
    .asciz "before"
    .long .Lint-.Lcu1
    .byte 4, 3, 40
    .byte 2, 0x23, 0
    .byte 0
.Lcalled:
    .uleb128 35
    .asciz "called"
    .byte 4                     // 2020: constant, which is global
    .byte 0
.Lcu1_end:

.Lcu2:
    .long .Lcu2_end-.Lcu2_start
.Lcu2_start:
    .short 5
    .byte 1, 8
    .long .Labbrev
    .uleb128 1
    .asciz "second.s"
    .asciz "somebody else"
    .asciz ""
    .byte 0x02
    .quad f+0x10
    .uleb128 4
.Lfar_type:
    .uleb128 11
    .long .Lfar_int-.Lcu2
    .byte 4
.Lfar_int:
    .uleb128 8
    .asciz "int"
    .byte 5, 4
    .uleb128 19
    .asciz "g"
    .quad f+0x10
    .uleb128 4
    .byte 32
    .uleb128 1
    .byte 0x30
.Lfar_call:
    .uleb128 33
    .long .Lfar_int-.Lcu2
    .byte 4
    .uleb128 36
    .asciz "listed"
    .quad f+0x14
    .uleb128 8
    .long .Llist_count
    .byte 0
.Lcu2_end:

    // Where things stand, for the tests: offsets into .debug_info, four bytes each, in this order.
    .section .shapes,"",@progbits
    .long .Lprocedure, .Lint, .Lvector, .Lp_both, .Lp_class, .Lp_none, .Ltypedef_a, .Lpair, .Lself, .Lorigin_a
    .long .Lbounds, .Lgrowing, .Lnull, .Lfar_type, .Lcu2, .Lr_both, .Lr_class, .Lr_none, .Lrr_both, .Lrr_class
    .long .Lrr_none, .Lcall_both, .Lcall_class, .Lcall_none, .Lcalled, .Lfar_call, .Lplaces
