//! Memory instructions: access, destination and counters from mnemonic and operands.

use super::DecodeError;
use super::access::{Access, Direction, Family, Form, LdsBase, NotComputableCause, ScalarOperand};
use super::counters::{self, Operation};
use super::effects::{Effects, Write};
use super::facts::Facts;
use super::memory_sizes as sizes;
use super::operands::{Parts, sized};
use super::registers::RegisterRange;
use super::text::{Line, number};

type Decoded = Result<Effects, DecodeError>;

const PREFIXES: &[(&str, Family)] = &[
    ("flat_", Family::Flat),
    ("global_", Family::Global),
    ("cluster_", Family::Global),
    ("scratch_", Family::Scratch),
    ("buffer_", Family::Buffer),
    ("tbuffer_", Family::TypedBuffer),
    ("image_", Family::Image),
    ("ds_", Family::Lds),
    ("lds_", Family::Lds),
    ("s_buffer_", Family::ScalarBuffer),
    ("s_", Family::Scalar),
];

/// Instructions that write caches back or drop them, with the kind of operation that they count as.
const CACHES: &[(&str, Option<Operation>)] = &[
    ("buffer_gl0_inv", None),
    ("buffer_gl1_inv", None),
    ("buffer_inv", None),
    ("buffer_invl2", None),
    ("buffer_wbinvl1", None),
    ("buffer_wbinvl1_vol", None),
    ("buffer_wbl2", Some(Operation::VectorStore)),
    ("global_inv", Some(Operation::VectorLoad)),
    ("global_wb", Some(Operation::VectorStore)),
    ("global_wbinv", Some(Operation::VectorStore)),
];

/// Hints to load memory into a cache. They raise no fault.
const PREFETCHES: &[&str] = &["flat_prefetch_b8", "global_prefetch_b8"];

/// Instructions of the LDS unit that exchange values of lanes, or read no LDS of the work-group: number of
/// destinations.
const LANE_EXCHANGES: &[(&str, usize, Operation)] = &[
    ("ds_swizzle_b32", 1, Operation::Lds),
    ("ds_permute_b32", 1, Operation::Lds),
    ("ds_bpermute_b32", 1, Operation::Lds),
    ("ds_bpermute_fi_b32", 1, Operation::Lds),
    ("ds_ordered_count", 1, Operation::Gds),
    ("ds_add_gs_reg_rtn", 1, Operation::Gds),
    ("ds_sub_gs_reg_rtn", 1, Operation::Gds),
    ("ds_gws_barrier", 0, Operation::Gds),
    ("ds_gws_init", 0, Operation::Gds),
    ("ds_gws_sema_br", 0, Operation::Gds),
    ("ds_gws_sema_p", 0, Operation::Gds),
    ("ds_gws_sema_release_all", 0, Operation::Gds),
    ("ds_gws_sema_v", 0, Operation::Gds),
    ("ds_direct_load", 1, Operation::Export),
    ("ds_param_load", 1, Operation::Export),
    ("lds_direct_load", 1, Operation::Export),
    ("lds_param_load", 1, Operation::Export),
];

/// First words of LDS instructions that read and write memory.
#[rustfmt::skip]
const LDS_ATOMICS: &[&str] = &[
    "add", "and", "append", "atomic", "bvh", "cmpst", "cmpstore", "cond", "condxchg32", "consume", "dec", "inc", "max",
    "min", "mskor", "or", "pk", "rsub", "storexchg", "sub", "wrap", "wrxchg", "wrxchg2", "wrxchg2st64", "xor",
];
const LDS_LOADS: &[&str] = &["load", "read", "read2", "read2st64"];
const LDS_STORES: &[&str] = &["store", "write", "write2", "write2st64"];
/// First words of image instructions that read an image by a sampler, rays, or a descriptor.
const IMAGE_LOADS: &[&str] = &["bvh", "bvh8", "bvh64", "gather4", "gather4h", "get", "msaa", "sample"];

/// The effects of a memory instruction. `None`: the mnemonic is of no such instruction.
pub(super) fn effects(line: &Line<'_>, facts: &'static Facts) -> Option<Decoded> {
    if line.mnemonic == "ds_nop" || PREFETCHES.contains(&line.mnemonic) {
        return Some(Ok(Effects::default()));
    }
    if let Some((_, operation)) = CACHES.iter().find(|(name, _)| *name == line.mnemonic) {
        let issues = operation.map_or(&[][..], |operation| counters::issued(operation, facts));
        return Some(Ok(Effects { issues, ..Effects::default() }));
    }
    let mut parts = Parts { line, facts, next: 0 };
    if let Some((_, count, operation)) = LANE_EXCHANGES.iter().find(|(name, ..)| *name == line.mnemonic) {
        let writes: Result<Vec<Write>, _> =
            (0..*count).map(|_| parts.register().map(|range| parts.write(range))).collect();
        let issues = counters::issued(*operation, facts);
        return Some(writes.map(|writes| Effects { writes, issues, ..Effects::default() }));
    }
    if let Some(rest) = line.mnemonic.strip_prefix("tensor_") {
        return Some(parts.tensor(rest));
    }
    let (family, rest) =
        PREFIXES.iter().find_map(|(prefix, family)| Some((*family, line.mnemonic.strip_prefix(prefix)?)))?;
    match family {
        Family::Flat | Family::Global | Family::Scratch => Some(parts.vector(family, rest)),
        Family::Buffer | Family::TypedBuffer => Some(parts.buffer(family, rest)),
        Family::Image => Some(parts.image(rest)),
        Family::Lds | Family::Gds => Some(parts.lds(rest)),
        Family::Scalar | Family::ScalarBuffer => parts.scalar(family, rest),
    }
}

impl Parts<'_> {
    /// A destination of a load: 16-bit forms keep the other half of a register.
    fn write(&self, range: RegisterRange) -> Write {
        let keeps_old = self.line.mnemonic.contains("d16");
        Write { range, keeps_old, ignores_exec: !range.file.is_vector() }
    }

    /// Whether the text marks an atomic that returns.
    fn is_returning(&self) -> Result<bool, DecodeError> {
        if !self.facts.has_policy {
            return Ok(self.line.has("glc") || self.line.has("sc0"));
        }
        match self.line.value("th").unwrap_or_default() {
            policy if policy.contains("CASCADE") => Err(DecodeError::Return),
            policy => Ok(match policy.rsplit_once("_0x") {
                Some((_, digits)) => u8::from_str_radix(digits, 16).is_ok_and(|bits| bits & 1 == 1),
                None => policy.contains("RETURN"),
            }),
        }
    }

    /// The old value that an atomic returns in its data registers.
    fn returned(&self, data: RegisterRange) -> Write {
        let is_compare = self.line.mnemonic.contains("cmpswap");
        self.write(if is_compare { data.first_half() } else { data })
    }

    fn access(&self, family: Family, direction: Direction, data: Vec<RegisterRange>, form: Form) -> Access {
        let bytes = sizes::bytes(self.line, direction);
        let form = if self.line.has("scale_offset") {
            let scale = bytes.filter(|_| self.facts.has_scaled_offset);
            let scaled = scale.and_then(|scale| scaled(form, scale));
            scaled.unwrap_or(Form::NotComputable(NotComputableCause::ScaledOffset))
        } else {
            form
        };
        Access {
            family,
            direction,
            bytes,
            data,
            is_lds_copy: false,
            lds_address: None,
            is_block: false,
            form,
            facts: self.facts,
        }
    }

    fn effects(&self, access: Access, writes: Vec<Write>, operation: Operation) -> Effects {
        let issues = counters::issued(operation, self.facts);
        Effects { access: Some(access), writes, issues, ..Effects::default() }
    }

    /// `flat_`, `global_`, `scratch_`.
    fn vector(&mut self, family: Family, rest: &str) -> Decoded {
        // Copies whose completion a counter of their own shows, and whose LDS address is in a VGPR.
        let is_async = rest.contains("_async_");
        let is_lds_copy = is_async || rest.starts_with("load_lds_") || self.line.has("lds");
        let is_flat = family == Family::Flat;
        // The text shows the scalar base of a flat address only if there is one.
        let last = self.line.operands().last().copied().and_then(RegisterRange::parse);
        let has_scalar = !is_flat || last.is_some_and(|last| !last.file.is_vector());
        // Destination, address, data, scalar base.
        let all = if has_scalar { 4 } else { 3 };
        let is_block = rest.ends_with("_block");
        if is_block && !self.facts.has_blocks {
            return Err(DecodeError::Mnemonic);
        }
        let direction = direction(rest, Ok(self.line.operands().len() == all))?;
        let has_lane_stride = rest.contains("addtid");
        let has_destination = match direction {
            Direction::Load => !is_lds_copy,
            Direction::Store => false,
            Direction::Atomic { returns } => returns,
        };
        let destination = if has_destination { Some(self.register()?) } else { None };
        let lds_of_load =
            if is_async && direction == Direction::Load { Some(self.registers(1)?) } else { None };
        let vector = if has_lane_stride { None } else { self.optional()? };
        let source = if direction == Direction::Load { None } else { Some(self.register()?) };
        let (lds_address, source) = if is_async { (lds_of_load.or(source), None) } else { (None, source) };
        let scalar = if has_scalar { self.optional()? } else { None };
        let offset = self.offset("offset")?;
        let form = match (family, vector, scalar) {
            (Family::Scratch, ..) => {
                let vector = vector.map(|range| sized(range, 1)).transpose()?;
                let scalar = scalar.map(|range| sized(range, 1).map(ScalarOperand::Register)).transpose()?;
                Form::Scratch { vector, scale: 1, scalar, offset }
            }
            (Family::Flat, Some(vector), scalar) => {
                let address = sized(scalar.unwrap_or(vector), 2)?;
                let index = scalar.map(|_| sized(vector, 1)).transpose()?;
                Form::Flat { address, index, scale: 1, offset }
            }
            (Family::Global, _, base) if has_lane_stride => {
                let base = base.map(|range| sized(range, 2)).transpose()?;
                Form::Global { base, index: None, scale: 1, lane_stride: 4, offset }
            }
            (Family::Global, Some(vector), scalar) => {
                let base = Some(sized(scalar.unwrap_or(vector), 2)?);
                let index = scalar.map(|_| sized(vector, 1)).transpose()?;
                Form::Global { base, index, scale: 1, lane_stride: 0, offset }
            }
            _ => return Err(DecodeError::Operands),
        };
        let data = source.or(destination).into_iter().collect();
        let access =
            Access { is_lds_copy, lds_address, is_block, ..self.access(family, direction, data, form) };
        if is_async {
            return Ok(Effects { access: Some(access), ..Effects::default() });
        }
        // M0 leaves out registers of a block.
        let write = |range| {
            let write = self.write(range);
            Write { keeps_old: write.keeps_old || is_block, ..write }
        };
        let writes = destination.map(write).into_iter().collect();
        let is_load = matches!(direction, Direction::Load | Direction::Atomic { returns: true });
        let operation = match (is_flat, is_load) {
            (true, true) => Operation::FlatLoad,
            (true, false) => Operation::FlatStore,
            (false, true) => Operation::VectorLoad,
            (false, false) => Operation::VectorStore,
        };
        Ok(self.effects(access, writes, operation))
    }

    /// `tensor_load_to_lds`, `tensor_store_from_lds`.
    fn tensor(&self, rest: &str) -> Decoded {
        let direction = direction(rest, Err(DecodeError::Mnemonic))?;
        let form = Form::NotComputable(NotComputableCause::Tensor);
        let access = self.access(Family::Global, direction, Vec::new(), form);
        let access = Access { bytes: None, is_lds_copy: true, ..access };
        Ok(Effects { access: Some(access), ..Effects::default() })
    }

    /// `buffer_`, `tbuffer_`.
    fn buffer(&mut self, family: Family, rest: &str) -> Decoded {
        let direction = direction(rest, self.is_returning())?;
        let is_lds_copy = self.line.has("lds");
        let data = if is_lds_copy { None } else { Some(self.register()?) };
        // Copies from LDS have no vector operand.
        let vector = if rest.starts_with("store_lds_") { None } else { self.optional()? };
        let descriptor = self.registers(4)?;
        let scalar = self.scalar_operand()?;
        let (has_index, has_offset) = (self.line.has("idxen"), self.line.has("offen"));
        let count = u16::from(has_index) + u16::from(has_offset);
        if vector.map_or(0, |range| range.count) != count {
            return Err(DecodeError::Operands);
        }
        let part =
            |at: u16| vector.map(|range| RegisterRange::new(range.file, range.first.saturating_add(at), 1));
        let has_format = rest.contains("format");
        let form = Form::Buffer {
            descriptor,
            index: if has_index { part(0) } else { None },
            vector: if has_offset { part(u16::from(has_index)) } else { None },
            scalar,
            offset: self.offset::<u32>("offset")?,
            is_checked_by_dword: !has_format && !matches!(direction, Direction::Atomic { .. }),
            has_format,
        };
        let access =
            Access { is_lds_copy, ..self.access(family, direction, data.into_iter().collect(), form) };
        let (writes, operation) = match direction {
            Direction::Load => (data.map(|range| self.write(range)), Operation::VectorLoad),
            Direction::Atomic { returns: true } => {
                (data.map(|range| self.returned(range)), Operation::VectorLoad)
            }
            Direction::Store | Direction::Atomic { .. } => (None, Operation::VectorStore),
        };
        Ok(self.effects(access, writes.into_iter().collect(), operation))
    }

    /// `image_`.
    fn image(&mut self, rest: &str) -> Decoded {
        let stem = rest.split('_').next().unwrap_or_default();
        let direction = match direction(rest, self.is_returning()) {
            Err(_) if IMAGE_LOADS.contains(&stem) => Direction::Load,
            direction => direction?,
        };
        let data = self.register()?;
        let mut writes = match direction {
            Direction::Store | Direction::Atomic { returns: false } => Vec::new(),
            Direction::Load => vec![self.write(data)],
            Direction::Atomic { returns: true } => vec![self.returned(data)],
        };
        let is_bvh = rest.starts_with("bvh");
        if rest.starts_with("bvh8") || rest.starts_with("bvh_dual") {
            // Origin and direction of the ray.
            let list = self.operand()?.trim_matches(['[', ']']);
            let ray: Option<Vec<_>> =
                list.split(',').skip(2).take(2).map(|word| RegisterRange::parse(word.trim())).collect();
            let ray = ray.filter(|ray| ray.len() == 2).ok_or(DecodeError::Operands)?;
            writes.extend(ray.into_iter().map(|range| self.write(range)));
        }
        let has_sampler = ["sample", "gather4", "msaa", "get_lod"].iter().any(|word| rest.starts_with(word));
        let operation = match direction {
            _ if is_bvh => Operation::Bvh,
            _ if has_sampler => Operation::Sample,
            Direction::Load | Direction::Atomic { returns: true } => Operation::VectorLoad,
            Direction::Store | Direction::Atomic { .. } => Operation::VectorStore,
        };
        // It reads the descriptor alone.
        if rest == "get_resinfo" || rest == "get_lod" {
            let issues = counters::issued(operation, self.facts);
            return Ok(Effects { writes, issues, ..Effects::default() });
        }
        let form = Form::NotComputable(NotComputableCause::Image);
        let access = Access { bytes: None, ..self.access(Family::Image, direction, vec![data], form) };
        Ok(self.effects(access, writes, operation))
    }

    /// `ds_`.
    fn lds(&mut self, rest: &str) -> Decoded {
        let is_gds = self.line.has("gds");
        let (family, operation) =
            if is_gds { (Family::Gds, Operation::Gds) } else { (Family::Lds, Operation::Lds) };
        let is_counter = matches!(rest, "append" | "consume");
        let is_stack = rest.starts_with("bvh_stack");
        let returns = rest.contains("_rtn") || is_counter;
        let direction = match rest.split('_').next().unwrap_or_default() {
            stem if LDS_LOADS.contains(&stem) => Direction::Load,
            stem if LDS_STORES.contains(&stem) => Direction::Store,
            stem if LDS_ATOMICS.contains(&stem) => Direction::Atomic { returns },
            _ => return Err(DecodeError::Mnemonic),
        };
        let has_lane_stride = rest.contains("addtid");
        let destination = if direction == Direction::Load || returns { Some(self.register()?) } else { None };
        let mut writes: Vec<Write> = destination.map(|range| self.write(range)).into_iter().collect();
        let base = match (has_lane_stride, is_counter) {
            (true, _) => LdsBase::WaveAndLane,
            (_, true) => LdsBase::Wave,
            _ => LdsBase::Lane(self.registers(1)?),
        };
        // The pointer into the stack moves.
        if let (true, LdsBase::Lane(pointer)) = (is_stack, base) {
            writes.push(self.write(pointer));
        }
        let mut data = Vec::new();
        while self.next < self.line.operands().len() {
            data.push(self.register()?);
        }
        if data.is_empty() {
            data.extend(destination);
        }
        let has_two = rest.contains("2addr")
            || ["read2", "write2", "wrxchg2"].iter().any(|name| rest.starts_with(name));
        let elements = if rest.contains("st64_") || rest.contains("stride64_") { 64 } else { 1 };
        let unit = elements * u32::from(sizes::bytes(self.line, direction).unwrap_or(4));
        let form = match () {
            () if is_gds => Form::NotComputable(NotComputableCause::Gds),
            () if is_stack || rest.contains("_src2_") => Form::NotComputable(NotComputableCause::LdsData),
            () if has_two => Form::Lds {
                base,
                offset: self.offset::<u32>("offset0")?.saturating_mul(unit),
                second: Some(self.offset::<u32>("offset1")?.saturating_mul(unit)),
            },
            () => Form::Lds { base, offset: self.offset::<u32>("offset")?, second: None },
        };
        let access = self.access(family, direction, data, form);
        // They wait for copies between memory and LDS.
        if rest.starts_with("atomic_async_") {
            return Ok(Effects { access: Some(access), writes, ..Effects::default() });
        }
        Ok(self.effects(access, writes, operation))
    }

    /// `s_load_`, `s_buffer_store_`, `s_atomic_` and kin. `None`: another scalar instruction.
    fn scalar(&mut self, family: Family, rest: &str) -> Option<Decoded> {
        let (is_scratch, rest) = rest.strip_prefix("scratch_").map_or((false, rest), |rest| (true, rest));
        match direction(rest, self.is_returning()) {
            Err(DecodeError::Mnemonic) => None,
            direction => {
                Some(direction.and_then(|direction| self.scalar_access(family, direction, is_scratch)))
            }
        }
    }

    fn scalar_access(&mut self, family: Family, direction: Direction, is_scratch: bool) -> Decoded {
        let data = self.optional()?;
        let base = self.registers(if family == Family::Scalar { 2 } else { 4 })?;
        // The third operand is a constant offset, or a register that a constant offset may follow.
        let third = self.line.operand(self.next).and_then(number);
        let (scalar, offset) = match third {
            Some(offset) => (None, i32::try_from(offset).map_err(|_| DecodeError::Operands)?),
            None => (Some(self.scalar_operand()?), self.offset("offset")?),
        };
        let form = match family {
            // CDNA ISA 8.2.1.1: the register of scratch instructions counts 64 bytes.
            Family::Scalar => Form::Scalar { base, scalar, unit: if is_scratch { 64 } else { 1 }, offset },
            _ => Form::ScalarBuffer { descriptor: base, scalar, offset },
        };
        let access = self.access(family, direction, data.into_iter().collect(), form);
        let writes = match direction {
            Direction::Load => data.map(|range| self.write(range)),
            Direction::Atomic { returns: true } => data.map(|range| self.returned(range)),
            Direction::Store | Direction::Atomic { .. } => None,
        };
        Ok(self.effects(access, writes.into_iter().collect(), Operation::Scalar))
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

fn direction(rest: &str, returns: Result<bool, DecodeError>) -> Result<Direction, DecodeError> {
    match rest.split('_').next() {
        Some("load") => Ok(Direction::Load),
        Some("store") => Ok(Direction::Store),
        Some("atomic") => Ok(Direction::Atomic { returns: returns? }),
        _ => Err(DecodeError::Mnemonic),
    }
}
