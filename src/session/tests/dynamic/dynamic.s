// Types that leave something to the object, which clang writes for no GPU language: by the text of DWARF 5, sections 5.5
// (arrays), 5.7 (bases, variants), 5.11 (strings), 5.13 (subranges) and 5.18 (dynamic types). Every object is a constant
// (DW_OP_implicit_value) whose bytes stand beside; dynamic.rs has the values that they make. Assembled with
//     clang-22 -x assembler --target=amdgcn-amd-amdhsa -mcpu=gfx90a -o dynamic.hsaco dynamic.s
    .amdgcn_target "amdgcn-amd-amdhsa--gfx90a"
    .text
    .globl f
    .p2align 8
    .type f,@function
f:
    s_nop 0
    s_endpgm
.Lf_end:
    .size f, .Lf_end-f
    .globl g
    .p2align 8
    .type g,@function
g:
    s_nop 0
    s_endpgm
.Lg_end:
    .size g, .Lg_end-g

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
    abbrev 2, 0x24, 0           // base_type: name string, encoding data1, byte_size data1
    at 0x03, 0x08
    at 0x3e, 0x0b
    at 0x0b, 0x0b
    end
    abbrev 3, 0x24, 0           // base_type: name string, encoding data1, byte_size data1, bit_size data1
    at 0x03, 0x08
    at 0x3e, 0x0b
    at 0x0b, 0x0b
    at 0x0d, 0x0b
    end
    abbrev 4, 0x01, 1           // array_type: type ref4
    at 0x49, 0x13
    end
    abbrev 5, 0x21, 0           // subrange_type: upper_bound ref4
    at 0x2f, 0x13
    end
    abbrev 6, 0x21, 0           // subrange_type: count exprloc
    at 0x37, 0x18
    end
    abbrev 7, 0x21, 0           // subrange_type: upper_bound data4
    at 0x2f, 0x06
    end
    abbrev 8, 0x01, 1           // array_type: type ref4, data_location exprloc, allocated exprloc
    at 0x49, 0x13
    at 0x50, 0x18
    at 0x4e, 0x18
    end
    abbrev 9, 0x21, 0           // subrange_type: lower_bound exprloc, upper_bound exprloc, byte_stride exprloc
    at 0x22, 0x18
    at 0x2f, 0x18
    at 0x51, 0x18
    end
    abbrev 10, 0x01, 1          // array_type: type ref4, data_location exprloc
    at 0x49, 0x13
    at 0x50, 0x18
    end
    abbrev 11, 0x21, 0          // subrange_type: upper_bound data1, byte_stride sdata
    at 0x2f, 0x0b
    at 0x51, 0x0d
    end
    abbrev 12, 0x12, 0          // string_type: string_length exprloc, string_length_byte_size data1, data_location exprloc
    at 0x19, 0x18
    at 0x70, 0x0b
    at 0x50, 0x18
    end
    abbrev 13, 0x12, 0          // string_type: byte_size data1
    at 0x0b, 0x0b
    end
    abbrev 14, 0x01, 1          // array_type: type ref4, rank exprloc, data_location exprloc
    at 0x49, 0x13
    at 0x71, 0x18
    at 0x50, 0x18
    end
    abbrev 15, 0x45, 0          // generic_subrange: lower_bound exprloc, upper_bound exprloc
    at 0x22, 0x18
    at 0x2f, 0x18
    end
    abbrev 16, 0x13, 1          // structure_type: name string, byte_size data1
    at 0x03, 0x08
    at 0x0b, 0x0b
    end
    abbrev 17, 0x0d, 0          // member: name string, type ref4, data_member_location data1
    at 0x03, 0x08
    at 0x49, 0x13
    at 0x38, 0x0b
    end
    abbrev 18, 0x1c, 0          // inheritance: type ref4, data_member_location exprloc, virtuality data1
    at 0x49, 0x13
    at 0x38, 0x18
    at 0x4c, 0x0b
    end
    abbrev 19, 0x01, 1          // array_type: type ref4, bit_stride data1
    at 0x49, 0x13
    at 0x2e, 0x0b
    end
    abbrev 20, 0x21, 0          // subrange_type: count data1
    at 0x37, 0x0b
    end
    abbrev 21, 0x33, 1          // variant_part: discr ref4
    at 0x15, 0x13
    end
    abbrev 22, 0x19, 1          // variant: discr_value data1
    at 0x16, 0x0b
    end
    abbrev 23, 0x19, 1          // variant: discr_list block1
    at 0x3d, 0x0a
    end
    abbrev 24, 0x19, 1          // variant: 
    end
    abbrev 25, 0x20, 0          // set_type: byte_size data1
    at 0x0b, 0x0b
    end
    abbrev 26, 0x21, 0          // subrange_type: name string, type ref4, lower_bound data1, upper_bound data1
    at 0x03, 0x08
    at 0x49, 0x13
    at 0x22, 0x0b
    at 0x2f, 0x0b
    end
    abbrev 27, 0x46, 0          // dynamic_type: type ref4, data_location exprloc, associated exprloc
    at 0x49, 0x13
    at 0x50, 0x18
    at 0x4f, 0x18
    end
    abbrev 28, 0x2e, 1          // subprogram: name string, low_pc addr, high_pc data4
    at 0x03, 0x08
    at 0x11, 0x01
    at 0x12, 0x06
    end
    abbrev 29, 0x34, 0          // variable: name string, type ref4, const_value sdata
    at 0x03, 0x08
    at 0x49, 0x13
    at 0x1c, 0x0d
    end
    abbrev 30, 0x34, 0          // variable: name string, type ref4
    at 0x03, 0x08
    at 0x49, 0x13
    end
    abbrev 31, 0x34, 0          // variable: name string, type ref4, location exprloc
    at 0x03, 0x08
    at 0x49, 0x13
    at 0x02, 0x18
    end
    abbrev 32, 0x21, 0          // subrange_type: upper_bound data1
    at 0x2f, 0x0b
    end
    .byte 0

    .section .debug_info,"",@progbits
.Lcu1:
    .long .Lcu1_end-.Lcu1_start
.Lcu1_start:
    .short 5
    .byte 1, 8
    .long .Labbrev
    .uleb128 1                       // compile_unit: name, language, low_pc, high_pc
    .asciz "dynamic.s"
    .byte 12
    .quad f
    .long .Lf_end-f
.Lint:
    .uleb128 2                       // base_type: name, encoding, byte_size
    .asciz "int"
    .byte 5
    .byte 4
.Lulong:
    .uleb128 2                       // base_type: name, encoding, byte_size
    .asciz "unsigned long"
    .byte 7
    .byte 8
.Lu4:
    .uleb128 3                       // base_type: name, encoding, byte_size, bit_size
    .asciz "unsigned _BitInt(4)"
    .byte 7
    .byte 1
    .byte 4
.Lchar:
    .uleb128 2                       // base_type: name, encoding, byte_size
    .asciz "char"
    .byte 6
    .byte 1
.Lt_vla:
    .uleb128 4                       // array_type: type
    .long .Lint-.Lcu1
    .uleb128 5                       // subrange_type: upper_bound
    .long .Ln-.Lcu1
    .byte 0
.Lt_count:
    .uleb128 4                       // array_type: type
    .long .Lint-.Lcu1
    .uleb128 6                       // subrange_type: count
    .uleb128 .Le1_end-.Le1
.Le1:
    .byte 0x97
    .byte 0x94, 4
.Le1_end:
    .byte 0
.Lt_gone:
    .uleb128 4                       // array_type: type
    .long .Lint-.Lcu1
    .uleb128 5                       // subrange_type: upper_bound
    .long .Lnowhere-.Lcu1
    .byte 0
.Lt_empty:
    .uleb128 4                       // array_type: type
    .long .Lint-.Lcu1
    .uleb128 7                       // subrange_type: upper_bound
    .long 0xffffffff
    .byte 0
.Lt_desc:
    .uleb128 8                       // array_type: type, data_location, allocated
    .long .Lint-.Lcu1
    .uleb128 .Le2_end-.Le2
.Le2:
    .byte 0x97
    .byte 56
    .byte 0xe9, 0x04
.Le2_end:
    .uleb128 .Le3_end-.Le3
.Le3:
    .byte 0x97
    .byte 48
    .byte 0xe9, 0x04
    .byte 0x94, 1
.Le3_end:
    .uleb128 9                       // subrange_type: lower_bound, upper_bound, byte_stride
    .uleb128 .Le4_end-.Le4
.Le4:
    .byte 0x97
    .byte 49
    .byte 0xe9, 0x04
    .byte 0x94, 1
.Le4_end:
    .uleb128 .Le5_end-.Le5
.Le5:
    .byte 0x97
    .byte 50
    .byte 0xe9, 0x04
    .byte 0x94, 1
.Le5_end:
    .uleb128 .Le6_end-.Le6
.Le6:
    .byte 0x97
    .byte 51
    .byte 0xe9, 0x04
    .byte 0x94, 1
.Le6_end:
    .byte 0
.Lt_back:
    .uleb128 10                      // array_type: type, data_location
    .long .Lint-.Lcu1
    .uleb128 .Le7_end-.Le7
.Le7:
    .byte 0x97
    .byte 56
    .byte 0xe9, 0x04
.Le7_end:
    .uleb128 11                      // subrange_type: upper_bound, byte_stride
    .byte 2
    .sleb128 -4
    .byte 0
.Lt_str:
    .uleb128 12                      // string_type: string_length, string_length_byte_size, data_location
    .uleb128 .Le8_end-.Le8
.Le8:
    .byte 0x97
.Le8_end:
    .byte 1
    .uleb128 .Le9_end-.Le9
.Le9:
    .byte 0x97
    .byte 49
    .byte 0xe9, 0x04
.Le9_end:
.Lt_fix:
    .uleb128 13                      // string_type: byte_size
    .byte 3
.Lt_rank:
    .uleb128 14                      // array_type: type, rank, data_location
    .long .Lint-.Lcu1
    .uleb128 .Le10_end-.Le10
.Le10:
    .byte 0x97
    .byte 0x94, 1
.Le10_end:
    .uleb128 .Le11_end-.Le11
.Le11:
    .byte 0x97
    .byte 52
    .byte 0xe9, 0x04
.Le11_end:
    .uleb128 15                      // generic_subrange: lower_bound, upper_bound
    .uleb128 .Le12_end-.Le12
.Le12:
    .byte 0x13, 0x31
.Le12_end:
    .uleb128 .Le13_end-.Le13
.Le13:
    .byte 0x97
    .byte 0x16
    .byte 0xe9, 0x04
    .byte 0x31
    .byte 0xe9, 0x04
    .byte 0x94, 1
.Le13_end:
    .byte 0
.Lt_base:
    .uleb128 16                      // structure_type: name, byte_size
    .asciz "B"
    .byte 4
    .uleb128 17                      // member: name, type, data_member_location
    .asciz "x"
    .long .Lint-.Lcu1
    .byte 0
    .byte 0
.Lt_derived:
    .uleb128 16                      // structure_type: name, byte_size
    .asciz "D"
    .byte 12
    .uleb128 18                      // inheritance: type, data_member_location, virtuality
    .long .Lt_base-.Lcu1
    .uleb128 .Le14_end-.Le14
.Le14:
    .byte 0x34
    .byte 0xe9, 0x04
.Le14_end:
    .byte 1
    .uleb128 17                      // member: name, type, data_member_location
    .asciz "own"
    .long .Lint-.Lcu1
    .byte 8
    .byte 0
.Lt_packed:
    .uleb128 19                      // array_type: type, bit_stride
    .long .Lu4-.Lcu1
    .byte 4
    .uleb128 20                      // subrange_type: count
    .byte 3
    .byte 0
.Lt_variant:
    .uleb128 16                      // structure_type: name, byte_size
    .asciz "V"
    .byte 8
    .uleb128 21                      // variant_part: discr
    .long .Ldiscr-.Lcu1
.Ldiscr:
    .uleb128 17                      // member: name, type, data_member_location
    .asciz "tag"
    .long .Lint-.Lcu1
    .byte 0
    .uleb128 22                      // variant: discr_value
    .byte 1
    .uleb128 17                      // member: name, type, data_member_location
    .asciz "a"
    .long .Lint-.Lcu1
    .byte 4
    .byte 0
    .uleb128 23                      // variant: discr_list
    .byte .Le15_end-.Le15
.Le15:
    .byte 0, 2, 1, 5, 7
.Le15_end:
    .uleb128 17                      // member: name, type, data_member_location
    .asciz "b"
    .long .Lint-.Lcu1
    .byte 4
    .byte 0
    .uleb128 24                      // variant:
    .uleb128 17                      // member: name, type, data_member_location
    .asciz "c"
    .long .Lint-.Lcu1
    .byte 4
    .byte 0
    .byte 0
    .byte 0
.Lt_set:
    .uleb128 25                      // set_type: byte_size
    .byte 2
.Lt_sub:
    .uleb128 26                      // subrange_type: name, type, lower_bound, upper_bound
    .asciz "small"
    .long .Lint-.Lcu1
    .byte 1
    .byte 9
.Lt_dyn:
    .uleb128 27                      // dynamic_type: type, data_location, associated
    .long .Lint-.Lcu1
    .uleb128 .Le16_end-.Le16
.Le16:
    .byte 0x97
    .byte 52
    .byte 0xe9, 0x04
.Le16_end:
    .uleb128 .Le17_end-.Le17
.Le17:
    .byte 0x97
    .byte 48
    .byte 0xe9, 0x04
    .byte 0x94, 1
.Le17_end:
    .uleb128 28                      // subprogram: name, low_pc, high_pc
    .asciz "f"
    .quad f
    .long .Lf_end-f
.Ln:
    .uleb128 29                      // variable: name, type, const_value
    .asciz "n"
    .long .Lulong-.Lcu1
    .sleb128 2
.Lnowhere:
    .uleb128 30                      // variable: name, type
    .asciz "nowhere"
    .long .Lulong-.Lcu1
    .uleb128 31                      // variable: name, type, location
    .asciz "vla"
    .long .Lt_vla-.Lcu1
    .uleb128 .Le18_end-.Le18
.Le18:
    .byte 0x9e
    .uleb128 12
    .long 1, 2, 3
.Le18_end:
    .uleb128 31                      // variable: name, type, location
    .asciz "counted"
    .long .Lt_count-.Lcu1
    .uleb128 .Le19_end-.Le19
.Le19:
    .byte 0x9e
    .uleb128 8
    .long 2, 7
.Le19_end:
    .uleb128 31                      // variable: name, type, location
    .asciz "gone"
    .long .Lt_gone-.Lcu1
    .uleb128 .Le20_end-.Le20
.Le20:
    .byte 0x9e
    .uleb128 4
    .long 1
.Le20_end:
    .uleb128 31                      // variable: name, type, location
    .asciz "empty"
    .long .Lt_empty-.Lcu1
    .uleb128 .Le21_end-.Le21
.Le21:
    .byte 0x9e
    .uleb128 4
    .long 1
.Le21_end:
    .uleb128 31                      // variable: name, type, location
    .asciz "allocated"
    .long .Lt_desc-.Lcu1
    .uleb128 .Le22_end-.Le22
.Le22:
    .byte 0x9e
    .uleb128 28
    .byte 1, 1, 3, 8, 0, 0, 0, 0
    .long 10, 11, 12, 13, 14
.Le22_end:
    .uleb128 31                      // variable: name, type, location
    .asciz "unallocated"
    .long .Lt_desc-.Lcu1
    .uleb128 .Le23_end-.Le23
.Le23:
    .byte 0x9e
    .uleb128 8
    .byte 0, 1, 3, 8, 0, 0, 0, 0
.Le23_end:
    .uleb128 31                      // variable: name, type, location
    .asciz "backwards"
    .long .Lt_back-.Lcu1
    .uleb128 .Le24_end-.Le24
.Le24:
    .byte 0x9e
    .uleb128 12
    .long 10, 11, 12
.Le24_end:
    .uleb128 31                      // variable: name, type, location
    .asciz "text"
    .long .Lt_str-.Lcu1
    .uleb128 .Le25_end-.Le25
.Le25:
    .byte 0x9e
    .uleb128 5
    .byte 3, 97, 98, 99, 120
.Le25_end:
    .uleb128 31                      // variable: name, type, location
    .asciz "fixed"
    .long .Lt_fix-.Lcu1
    .uleb128 .Le26_end-.Le26
.Le26:
    .byte 0x9e
    .uleb128 3
    .byte 97, 98, 99
.Le26_end:
    .uleb128 31                      // variable: name, type, location
    .asciz "ranked"
    .long .Lt_rank-.Lcu1
    .uleb128 .Le27_end-.Le27
.Le27:
    .byte 0x9e
    .uleb128 28
    .byte 2, 2, 3, 0
    .long 1, 2, 3, 4, 5, 6
.Le27_end:
    .uleb128 31                      // variable: name, type, location
    .asciz "derived"
    .long .Lt_derived-.Lcu1
    .uleb128 .Le28_end-.Le28
.Le28:
    .byte 0x9e
    .uleb128 12
    .long 0, 5, 9
.Le28_end:
    .uleb128 31                      // variable: name, type, location
    .asciz "packed"
    .long .Lt_packed-.Lcu1
    .uleb128 .Le29_end-.Le29
.Le29:
    .byte 0x9e
    .uleb128 2
    .byte 33, 3
.Le29_end:
    .uleb128 31                      // variable: name, type, location
    .asciz "one"
    .long .Lt_variant-.Lcu1
    .uleb128 .Le30_end-.Le30
.Le30:
    .byte 0x9e
    .uleb128 8
    .long 1, 41
.Le30_end:
    .uleb128 31                      // variable: name, type, location
    .asciz "six"
    .long .Lt_variant-.Lcu1
    .uleb128 .Le31_end-.Le31
.Le31:
    .byte 0x9e
    .uleb128 8
    .long 6, 42
.Le31_end:
    .uleb128 31                      // variable: name, type, location
    .asciz "other"
    .long .Lt_variant-.Lcu1
    .uleb128 .Le32_end-.Le32
.Le32:
    .byte 0x9e
    .uleb128 8
    .long 9, 43
.Le32_end:
    .uleb128 31                      // variable: name, type, location
    .asciz "set"
    .long .Lt_set-.Lcu1
    .uleb128 .Le33_end-.Le33
.Le33:
    .byte 0x9e
    .uleb128 2
    .byte 2, 1
.Le33_end:
    .uleb128 31                      // variable: name, type, location
    .asciz "small"
    .long .Lt_sub-.Lcu1
    .uleb128 .Le34_end-.Le34
.Le34:
    .byte 0x9e
    .uleb128 4
    .long 7
.Le34_end:
    .uleb128 31                      // variable: name, type, location
    .asciz "dynamic"
    .long .Lt_dyn-.Lcu1
    .uleb128 .Le35_end-.Le35
.Le35:
    .byte 0x9e
    .uleb128 8
    .long 1, 77
.Le35_end:
    .uleb128 31                      // variable: name, type, location
    .asciz "apart"
    .long .Lt_dyn-.Lcu1
    .uleb128 .Le36_end-.Le36
.Le36:
    .byte 0x9e
    .uleb128 8
    .long 0, 77
.Le36_end:
    .byte 0
    .byte 0
.Lcu1_end:
.Lcu2:
    .long .Lcu2_end-.Lcu2_start
.Lcu2_start:
    .short 5
    .byte 1, 8
    .long .Labbrev
    .uleb128 1                       // compile_unit: name, language, low_pc, high_pc
    .asciz "dynamic.s"
    .byte 14
    .quad g
    .long .Lg_end-g
.Linteger:
    .uleb128 2                       // base_type: name, encoding, byte_size
    .asciz "integer"
    .byte 5
    .byte 4
.Lt_matrix:
    .uleb128 4                       // array_type: type
    .long .Linteger-.Lcu2
    .uleb128 32                      // subrange_type: upper_bound
    .byte 2
    .uleb128 32                      // subrange_type: upper_bound
    .byte 3
    .byte 0
    .uleb128 28                      // subprogram: name, low_pc, high_pc
    .asciz "g"
    .quad g
    .long .Lg_end-g
    .uleb128 31                      // variable: name, type, location
    .asciz "matrix"
    .long .Lt_matrix-.Lcu2
    .uleb128 .Le37_end-.Le37
.Le37:
    .byte 0x9e
    .uleb128 24
    .long 1, 2, 3, 4, 5, 6
.Le37_end:
    .byte 0
    .byte 0
.Lcu2_end:
