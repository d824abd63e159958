//! Operations of the extensions, with their numbers in each dialect.

/// An operation of the extensions, independent of its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extension {
    Nop,
    FormAspaceAddress,
    PushLane,
    Offset,
    OffsetUconst,
    BitOffset,
    CallFrameEntryReg,
    Undefined,
    AspaceBregx,
    AspaceImplicitPointer,
    PieceEnd,
    Extend,
    SelectBitPiece,
    ObjectMap,
    Composite,
    Overlay,
    BitOverlay,
}

/// Sub-operations of `DW_OP_LLVM_user` (LLVM's `Dwarf.def`: numbers are never reused). 0x0d belongs to another vendor.
/// Its operands are undocumented, so all later operations would be undecodable.
pub(crate) fn user(sub: u8) -> Option<(&'static str, Extension)> {
    Some(match sub {
        0x01 => ("DW_OP_LLVM_nop", Extension::Nop),
        0x02 => ("DW_OP_LLVM_form_aspace_address", Extension::FormAspaceAddress),
        0x03 => ("DW_OP_LLVM_push_lane", Extension::PushLane),
        0x04 => ("DW_OP_LLVM_offset", Extension::Offset),
        0x05 => ("DW_OP_LLVM_offset_uconst", Extension::OffsetUconst),
        0x06 => ("DW_OP_LLVM_bit_offset", Extension::BitOffset),
        0x07 => ("DW_OP_LLVM_call_frame_entry_reg", Extension::CallFrameEntryReg),
        0x08 => ("DW_OP_LLVM_undefined", Extension::Undefined),
        0x09 => ("DW_OP_LLVM_aspace_bregx", Extension::AspaceBregx),
        0x0a => ("DW_OP_LLVM_piece_end", Extension::PieceEnd),
        0x0b => ("DW_OP_LLVM_extend", Extension::Extend),
        0x0c => ("DW_OP_LLVM_select_bit_piece", Extension::SelectBitPiece),
        _ => return None,
    })
}

/// Single-byte codes of LLVM's documents from 2020 to 2022.
pub(crate) fn direct(code: u8) -> Option<(&'static str, Extension)> {
    Some(match code {
        0xe1 => ("DW_OP_LLVM_form_aspace_address", Extension::FormAspaceAddress),
        0xe2 => ("DW_OP_LLVM_push_lane", Extension::PushLane),
        0xe3 => ("DW_OP_LLVM_offset", Extension::Offset),
        0xe4 => ("DW_OP_LLVM_offset_uconst", Extension::OffsetUconst),
        0xe5 => ("DW_OP_LLVM_bit_offset", Extension::BitOffset),
        0xe6 => ("DW_OP_LLVM_call_frame_entry_reg", Extension::CallFrameEntryReg),
        0xe7 => ("DW_OP_LLVM_undefined", Extension::Undefined),
        0xe8 => ("DW_OP_LLVM_aspace_bregx", Extension::AspaceBregx),
        0xe9 => ("DW_OP_LLVM_aspace_implicit_pointer", Extension::AspaceImplicitPointer),
        0xea => ("DW_OP_LLVM_piece_end", Extension::PieceEnd),
        0xeb => ("DW_OP_LLVM_extend", Extension::Extend),
        0xec => ("DW_OP_LLVM_select_bit_piece", Extension::SelectBitPiece),
        _ => return None,
    })
}

/// The three codes of the AMDGPU text of 2020.
pub(crate) fn amdgpu_usage_2020(code: u8) -> Option<(&'static str, Extension)> {
    Some(match code {
        0xe7 => ("DW_OP_LLVM_form_aspace_address", Extension::FormAspaceAddress),
        0xe9 => ("DW_OP_LLVM_offset", Extension::Offset),
        0xea => ("DW_OP_LLVM_push_lane", Extension::PushLane),
        _ => return None,
    })
}

/// Codes of the draft operations, from their data file.
pub(crate) fn draft(code: u8) -> Option<(&'static str, Extension)> {
    super::super::draft::numbers().operation(code)
}

/// Returns a draft operation by its key in the data file.
pub(crate) fn draft_named(key: &str) -> Option<(&'static str, Extension)> {
    Some(match key {
        "form_aspace_address" => ("DW_OP_form_aspace_address", Extension::FormAspaceAddress),
        "push_lane" => ("DW_OP_push_lane", Extension::PushLane),
        "offset" => ("DW_OP_offset", Extension::Offset),
        "bit_offset" => ("DW_OP_bit_offset", Extension::BitOffset),
        "call_frame_entry_reg" => ("DW_OP_call_frame_entry_reg", Extension::CallFrameEntryReg),
        "undefined" => ("DW_OP_undefined", Extension::Undefined),
        "aspace_bregx" => ("DW_OP_aspace_bregx", Extension::AspaceBregx),
        "aspace_implicit_pointer" => ("DW_OP_aspace_implicit_pointer", Extension::AspaceImplicitPointer),
        "piece_end" => ("DW_OP_piece_end", Extension::PieceEnd),
        "extend" => ("DW_OP_extend", Extension::Extend),
        "select_bit_piece" => ("DW_OP_select_bit_piece", Extension::SelectBitPiece),
        "object_map" => ("DW_OP_object_map", Extension::ObjectMap),
        "composite" => ("DW_OP_composite", Extension::Composite),
        "overlay" => ("DW_OP_overlay", Extension::Overlay),
        "bit_overlay" => ("DW_OP_bit_overlay", Extension::BitOverlay),
        _ => return None,
    })
}
