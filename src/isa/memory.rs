//! The access of a memory instruction, by its encoding, its flags and the roles of its operands.

use amdgpu_isa::{Encoding, Flags, Instruction, Operand, Role, Value};

use super::DecodeError;
use super::access::{Access, Direction, Family, Form, LdsBase, NotComputableCause, ScalarOperand};
use super::facts::Facts;
use super::memory_sizes as sizes;
use super::registers::RegisterRange;

/// Parts of the names of instructions without an access that counts: hints, which raise no fault, and exchanges of lanes
/// or of values of the GPU by the LDS unit.
const NO_ACCESS: [&str; 8] =
    ["prefetch", "discard", "probe", "gs_reg_rtn", "ordered_count", "ds_gws_", "get_resinfo", "get_lod"];
/// First parts of the names of instructions of the LDS unit that address no LDS of lanes.
const OTHER_UNITS: [&str; 4] = ["lds_direct", "lds_param", "ds_direct", "ds_param"];

const VADDR: Role = Role::named("vaddr");
const SADDR: Role = Role::named("saddr");
const ADDR: Role = Role::named("addr");
const SOFFSET: Role = Role::named("soffset");
const OFFSET0: Role = Role::named("offset0");
const OFFSET1: Role = Role::named("offset1");
const GDS: Role = Role::named("gds");
const CPOL: Role = Role::named("cpol");
/// The bit of the cache policy that multiplies an offset by the bytes of the access.
const SCALE_OFFSET: i64 = 1 << 11;
/// Operands with data, in the order of registers.
const DATA: [Role; 7] = [
    Role::named("vdata"),
    Role::named("data0"),
    Role::named("data1"),
    Role::named("sdata"),
    Role::named("vdst"),
    Role::named("sdst"),
    Role::named("vdata_in"),
];

/// The access of an instruction; `None`: it has none.
pub(super) fn access(code: &Instruction, facts: &'static Facts) -> Result<Option<Access>, DecodeError> {
    let Some((family, name)) = family(code).zip(code.mnemonic()) else { return Ok(None) };
    if NO_ACCESS.iter().any(|part| name.contains(part)) {
        return Ok(None);
    }
    let memory = Memory { code, name, family };
    // Instructions that write caches back or drop them have no address.
    let has_address = code
        .operand_infos()
        .any(|of| matches!(of.role.name(), "vaddr" | "vaddr0" | "saddr" | "srsrc" | "sbase" | "addr"))
        || matches!(family, Family::Lds | Family::Scratch)
        || name.contains("addtid");
    let Some(direction) = memory.direction().filter(|_| has_address) else { return Ok(None) };
    let bytes = sizes::bytes(name, direction, code.buffer_format());
    let is_copy = memory.is_copy();
    let form = memory.form(direction).ok_or(DecodeError::Operands)?;
    let number = |role| code.operand_of(role).and_then(|of| of.number()).unwrap_or(0);
    let form = match number(CPOL) & SCALE_OFFSET {
        0 => form,
        _ => bytes
            .filter(|_| facts.has_scaled_offset)
            .and_then(|bytes| scaled(form, bytes))
            .unwrap_or(Form::NotComputable(NotComputableCause::ScaledOffset)),
    };
    let is_whole =
        matches!(form, Form::NotComputable(NotComputableCause::Image | NotComputableCause::Tensor));
    Ok(Some(Access {
        family: if memory.is_gds() { Family::Gds } else { family },
        direction,
        bytes: bytes.filter(|_| !is_whole),
        data: memory.data(direction),
        is_lds_copy: is_copy,
        lds_address: memory.lds_address(),
        is_block: name.ends_with("_block"),
        form,
        facts,
    }))
}

/// The family of a memory instruction.
fn family(code: &Instruction) -> Option<Family> {
    let name = code.mnemonic()?;
    if name.starts_with("tensor_") {
        return Some(Family::Global);
    }
    let family = match code.effects()?.encoding {
        Encoding::Flat => Family::Flat,
        Encoding::Global => Family::Global,
        Encoding::Scratch => Family::Scratch,
        Encoding::Mubuf => Family::Buffer,
        Encoding::Mtbuf => Family::TypedBuffer,
        Encoding::Mimg | Encoding::Vimage | Encoding::Vsample => Family::Image,
        Encoding::Ds if !OTHER_UNITS.iter().any(|unit| name.starts_with(unit)) => Family::Lds,
        Encoding::Smem if name.contains("_buffer_") => Family::ScalarBuffer,
        Encoding::Smem => Family::Scalar,
        _ => return None,
    };
    Some(family)
}

struct Memory<'a> {
    code: &'a Instruction,
    name: &'static str,
    family: Family,
}

impl Memory<'_> {
    fn operand(&self, role: Role) -> Option<Operand> {
        self.code.operand_of(role)
    }

    fn register(&self, role: Role) -> Option<RegisterRange> {
        self.operand(role)?.register().and_then(RegisterRange::of)
    }

    fn sized(&self, role: Role, count: u16) -> Option<RegisterRange> {
        self.register(role).filter(|range| range.count == count)
    }

    fn is_gds(&self) -> bool {
        let number = self.operand(GDS).and_then(|of| of.number());
        self.family == Family::Lds && (number == Some(1) || self.code.has_word("gds"))
    }

    /// Whether the other side of the access is LDS.
    fn is_copy(&self) -> bool {
        let of_memory =
            matches!(self.family, Family::Global | Family::Flat | Family::Scratch | Family::Buffer);
        of_memory
            && (self.name.contains("_lds_")
                || self.name.ends_with("_lds")
                || self.is_async()
                || self.code.has_word("lds"))
    }

    /// A copy whose completion a counter of its own shows, and whose LDS address is in a VGPR.
    fn is_async(&self) -> bool {
        self.name.contains("_async_") && self.family == Family::Global
    }

    fn direction(&self) -> Option<Direction> {
        let flags = self.code.effects()?.flags;
        let is_store = self.name.contains("_store_") || self.name.starts_with("ds_write_src2");
        match (flags.contains(Flags::LOAD), flags.contains(Flags::STORE)) {
            (true, true) if self.is_copy() || is_store || self.name.starts_with("tensor_") => {
                Some(if is_store { Direction::Store } else { Direction::Load })
            }
            (true, true) => Some(Direction::Atomic { returns: self.returns() }),
            (true, false) => Some(Direction::Load),
            (false, true) => Some(Direction::Store),
            (false, false) => None,
        }
    }

    /// Whether an atomic has a result; those of images are marked by the cache policy alone.
    fn returns(&self) -> bool {
        match self.family {
            Family::Image => self.operand(CPOL).and_then(|of| of.number()).is_some_and(|bits| bits & 1 == 1),
            _ => self.code.operands().any(|of| of.is_written && of.register().is_some()),
        }
    }

    /// The VGPR with the LDS address of a copy.
    fn lds_address(&self) -> Option<RegisterRange> {
        const LDS: [Role; 2] = [Role::named("vdst"), Role::named("vdata")];
        LDS.into_iter().find_map(|role| self.sized(role, 1)).filter(|_| self.is_async())
    }

    /// The registers of the data: sources, or of loads the destination.
    fn data(&self, direction: Direction) -> Vec<RegisterRange> {
        if self.is_copy() {
            return Vec::new();
        }
        let of_direction = |of: &Operand| match direction {
            Direction::Load => of.is_written,
            _ => {
                !of.is_written
                    || self.code.operands().all(|other| other.is_written || !DATA.contains(&other.role))
            }
        };
        let operands = self.code.operands().filter(|of| DATA.contains(&of.role) && of_direction(of));
        let all: Vec<RegisterRange> = operands.filter_map(|of| RegisterRange::of(of.register()?)).collect();
        match direction {
            Direction::Load => all.into_iter().take(1).collect(),
            _ => all,
        }
    }

    fn scalar_operand(&self, role: Role) -> Option<ScalarOperand> {
        Some(match self.operand(role)?.value {
            Value::Register(register) => match RegisterRange::of(register) {
                Some(range) if range.count == 1 => ScalarOperand::Register(range),
                Some(_) => return None,
                None if register.name() == Some("null") => ScalarOperand::Constant(0),
                None => ScalarOperand::Internal,
            },
            Value::Immediate(number) | Value::Literal(number) => ScalarOperand::Constant(number as u32),
            Value::None => return None,
        })
    }

    /// The form of the address; `None`: operands that no instruction has.
    fn form(&self, direction: Direction) -> Option<Form> {
        let signed = i32::try_from(self.code.offset()).ok()?;
        let not = |cause| Some(Form::NotComputable(cause));
        match self.family {
            _ if self.name.starts_with("tensor_") => not(NotComputableCause::Tensor),
            Family::Image => not(NotComputableCause::Image),
            Family::Scratch => Some(Form::Scratch {
                vector: self.sized(VADDR, 1),
                scale: 1,
                scalar: self.sized(SADDR, 1).map(ScalarOperand::Register),
                offset: signed,
            }),
            Family::Flat => {
                let base = self.sized(SADDR, 2);
                let address = base.or_else(|| self.sized(VADDR, 2))?;
                Some(Form::Flat { address, index: base.and(self.sized(VADDR, 1)), scale: 1, offset: signed })
            }
            Family::Global if self.name.contains("addtid") => Some(Form::Global {
                base: self.sized(SADDR, 2),
                index: None,
                scale: 1,
                lane_stride: 4,
                offset: signed,
            }),
            Family::Global => {
                let scalar = self.sized(SADDR, 2);
                let base = Some(scalar.or_else(|| self.sized(VADDR, 2))?);
                let index = scalar.and(self.sized(VADDR, 1));
                Some(Form::Global { base, index, scale: 1, lane_stride: 0, offset: signed })
            }
            Family::Buffer | Family::TypedBuffer => self.buffer(direction),
            Family::Lds | Family::Gds => self.lds(direction),
            Family::Scalar => {
                let base = self.sized(const { Role::named("sbase") }, 2)?;
                // CDNA ISA 8.2.1.1: the register of scratch instructions counts 64 bytes.
                let unit = if self.name.starts_with("s_scratch_") { 64 } else { 1 };
                Some(Form::Scalar { base, scalar: self.scalar_offset()?, unit, offset: signed })
            }
            Family::ScalarBuffer => {
                let descriptor = self.sized(const { Role::named("sbase") }, 4)?;
                Some(Form::ScalarBuffer { descriptor, scalar: self.scalar_offset()?, offset: signed })
            }
        }
    }

    /// The scalar offset, if there is one.
    fn scalar_offset(&self) -> Option<Option<ScalarOperand>> {
        match self.operand(SOFFSET) {
            Some(_) => self.scalar_operand(SOFFSET).map(Some),
            None => Some(None),
        }
    }

    fn buffer(&self, direction: Direction) -> Option<Form> {
        let (has_index, has_offset) = (self.code.has_word("idxen"), self.code.has_word("offen"));
        let vector = self.register(VADDR);
        let part =
            |at: u16| vector.map(|range| RegisterRange::new(range.file, range.first.saturating_add(at), 1));
        let has_format = self.name.contains("format");
        Some(Form::Buffer {
            descriptor: self.sized(const { Role::named("srsrc") }, 4)?,
            index: if has_index { part(0) } else { None },
            vector: if has_offset { part(u16::from(has_index)) } else { None },
            scalar: self.scalar_operand(SOFFSET)?,
            offset: u32::try_from(self.code.offset()).ok()?,
            is_checked_by_dword: !has_format && !matches!(direction, Direction::Atomic { .. }),
            has_format,
        })
    }

    fn lds(&self, direction: Direction) -> Option<Form> {
        let is_stack = self.name.starts_with("ds_bvh_stack");
        if self.is_gds() || is_stack || self.name.contains("_src2_") {
            let cause = if self.is_gds() { NotComputableCause::Gds } else { NotComputableCause::LdsData };
            return Some(Form::NotComputable(cause));
        }
        let base = match self.sized(ADDR, 1) {
            Some(address) => LdsBase::Lane(address),
            None if self.name.contains("addtid") => LdsBase::WaveAndLane,
            None => LdsBase::Wave,
        };
        let number = |role| self.operand(role).and_then(|of| of.number());
        let Some((first, second)) = number(OFFSET0).zip(number(OFFSET1)) else {
            return Some(Form::Lds { base, offset: u32::try_from(self.code.offset()).ok()?, second: None });
        };
        let elements = if self.name.contains("st64_") || self.name.contains("stride64_") { 64 } else { 1 };
        let unit = elements * u32::from(sizes::bytes(self.name, direction, None).unwrap_or(4));
        let at = |number: i64| Some(u32::try_from(number).ok()?.saturating_mul(unit));
        Some(Form::Lds { base, offset: at(first)?, second: Some(at(second)?) })
    }
}

/// A form whose offset in a register counts units of some bytes. `None`: no such offset.
fn scaled(mut form: Form, bytes: u16) -> Option<Form> {
    match &mut form {
        Form::Flat { index: Some(_), scale, .. }
        | Form::Global { index: Some(_), scale, .. }
        | Form::Scratch { vector: Some(_), scale, .. }
        | Form::Scalar { scalar: Some(_), unit: scale, .. } => *scale = bytes,
        _ => return None,
    }
    Some(form)
}
