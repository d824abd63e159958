//! The text form of targets: tables.

use std::io::{self, Write};

use super::describe::{Description, FaultBit, KindDescription, Run, Summary, wave_sizes};
use crate::report::fold::beside;
use crate::report::{Style, Table};

const STYLE: Style = Style::Coloured;

/// Prints rows in columns.
fn table<const N: usize>(out: &mut dyn Write, header: &[&str; N], rows: &[Vec<String>]) -> io::Result<()> {
    let mut table = Table::new(*header);
    rows.iter().for_each(|row| table.row(row.clone()));
    out.write_all(table.render(STYLE).as_bytes())
}

/// Prints a line.
fn line(out: &mut dyn Write, text: &str) -> io::Result<()> {
    writeln!(out, "{}", STYLE.folded(text))
}

fn or_dash(text: &[String]) -> String {
    if text.is_empty() { "-".to_owned() } else { text.join(", ") }
}

/// `32-95`, or `16` for one.
fn span(first: Option<u64>, count: u16) -> String {
    match first {
        None => "-".to_owned(),
        Some(first) if count == 1 => first.to_string(),
        Some(first) => format!("{first}-{}", first + u64::from(count) - 1),
    }
}

/// One line for each target.
pub(super) fn list(targets: &[Summary], out: &mut dyn Write) -> io::Result<()> {
    let rows: Vec<Vec<String>> = targets
        .iter()
        .map(|target| {
            let mut products = target.products.clone();
            if !target.is_built_in {
                products.push_str(&format!(" [{}]", target.file));
            }
            vec![
                target.name.clone(),
                format!("{:#04x}", target.elf_machine),
                wave_sizes(&target.wave_sizes),
                target.scratch.to_owned(),
                or_dash(&target.features),
                products,
            ]
        })
        .collect();
    table(out, &["TARGET", "MACH", "WAVES", "SCRATCH", "FEATURES", "PRODUCTS"], &rows)
}

/// All of one target.
pub(super) fn one(target: &Description, out: &mut dyn Write) -> io::Result<()> {
    let summary = &target.summary;
    line(out, &format!("{}: {}", summary.name, summary.products))?;
    let counts = if summary.scratch == "buffer" { "the whole wave" } else { "a lane" };
    let (slots, limit) = (target.sgpr_slots, target.sgpr_alias_limit);
    for (what, fact) in [
        ("described by", summary.file.clone()),
        ("EF_AMDGPU_MACH", format!("{:#04x}", summary.elf_machine)),
        ("waves", format!("{} (the default first)", wave_sizes(&summary.wave_sizes))),
        ("features", or_dash(&summary.features)),
        ("private memory", format!("{}: stack pointers count bytes of {counts}", summary.scratch)),
        ("SGPR slots", format!("at most {slots}; aliases end at slot {limit} or at the last one")),
    ] {
        writeln!(out, "{}", beside(&format!("  {what:<16} "), &fact, STYLE.columns()))?;
    }
    for kind in &target.kinds {
        registers(kind, out)?;
    }
    for kind in &target.kinds {
        numbers(kind, out)?;
    }
    fields(target, out)?;
    spaces(target, out)?;
    classes(target, out)?;
    reasons(target, out)
}

fn registers(kind: &KindDescription, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "\nRegisters of wave{}", kind.wave_size)?;
    let row = |run: &Run| {
        let name = if run.count == 1 { run.first.clone() } else { format!("{}-{}", run.first, run.last) };
        let note = match (run.sgprs_from_end, &run.fields) {
            (Some(back), _) => format!("in SGPRs, {back} from the end of the allocation"),
            (None, Some(fields)) => format!("bits: {fields}"),
            (None, None) => String::new(),
        };
        let class = format!("{:?}", run.class).to_lowercase();
        let (dwarf, dbgapi) = (span(run.dwarf, run.count), span(run.dbgapi.map(u64::from), run.count));
        vec![name, class, run.bits.to_string(), dwarf, dbgapi, note]
    };
    let rows: Vec<_> = kind.registers.iter().map(row).collect();
    table(out, &["REGISTER", "CLASS", "BITS", "DWARF", "DBGAPI", "NOTE"], &rows)
}

fn numbers(kind: &KindDescription, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "\nDWARF numbers without a register in wave{}", kind.wave_size)?;
    let rows: Vec<_> = kind
        .no_register
        .iter()
        .map(|range| {
            let numbers = if range.first == range.last {
                range.first.to_string()
            } else {
                format!("{}-{}", range.first, range.last)
            };
            let names = match &range.names {
                None => "-".to_owned(),
                Some((first, last)) if first == last => first.clone(),
                Some((first, last)) => format!("{first}-{last}"),
            };
            vec![numbers, names, range.why.clone()]
        })
        .collect();
    table(out, &["DWARF", "NAME", "WHY"], &rows)
}

fn fields(target: &Description, out: &mut dyn Write) -> io::Result<()> {
    for block in &target.fields {
        writeln!(out, "\n{}", block.name)?;
        let bits = |field: &crate::arch::BitField| match field.width() {
            1 => field.low.to_string(),
            _ => format!("{}:{}", field.high, field.low),
        };
        let rows: Vec<_> = block.bits.iter().map(|field| vec![bits(field), field.name.clone()]).collect();
        table(out, &["BITS", "FIELD"], &rows)?;
    }
    Ok(())
}

fn spaces(target: &Description, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "\nAddress spaces")?;
    // One lane represents all of its family.
    let lane = |scope: &str| scope.starts_with("lane ") && scope != "lane in focus" && scope != "lane 0";
    let rows: Vec<_> = target
        .spaces
        .iter()
        .filter(|space| !lane(&space.scope))
        .map(|space| {
            let family = space.scope == "lane 0";
            let number = format!("{:#04x}{}", space.number, if family { "+N" } else { "" });
            let (name, scope) = match family {
                true => (format!("{}N", space.name.trim_end_matches('0')), "lane N".to_owned()),
                false => (space.name.clone(), space.scope.clone()),
            };
            let aperture = space.aperture.map_or_else(|| "-".to_owned(), |base| format!("{base:#018x}"));
            vec![number, name, space.bits.to_string(), format!("{:#x}", space.null), scope, aperture]
        })
        .collect();
    table(out, &["NUMBER", "SPACE", "BITS", "NULL", "ONE FOR EACH", "APERTURE"], &rows)
}

fn classes(target: &Description, out: &mut dyn Write) -> io::Result<()> {
    for classes in &target.address_classes {
        let units = classes.augmentation.as_ref().map_or_else(
            || "all other units".to_owned(),
            |augmentation| format!("units with augmentation {augmentation}"),
        );
        line(out, &format!("\nAddress classes in {units}"))?;
        let mut rows = vec![vec!["absent".to_owned(), "-".to_owned(), classes.absent.clone()]];
        if classes.classes_are_spaces {
            rows.push(vec!["N".to_owned(), "-".to_owned(), "space N".to_owned()]);
        }
        let listed = classes.classes.iter();
        rows.extend(
            listed.map(|class| vec![class.number.to_string(), class.name.clone(), class.space.clone()]),
        );
        table(out, &["CLASS", "NAME", "SPACE"], &rows)?;
    }
    Ok(())
}

fn reasons(target: &Description, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "\nStop reasons")?;
    let fault = |fault: &FaultBit| {
        let enabled = fault.enabled_by.as_ref();
        let enabled = enabled.map_or_else(String::new, |(register, bit)| format!(" with {register}[{bit}]"));
        let unless = fault.unless.map_or_else(String::new, |bit| format!(" without [{bit}]"));
        let own = if fault.dbgapi { "" } else { " (not by AMD's library)" };
        format!("{}[{}]{enabled}{unless}{own}", fault.register, fault.bit)
    };
    let rows: Vec<_> = target
        .stop_reasons
        .iter()
        .map(|reason| {
            let from: Vec<String> = reason.follows_from.iter().map(fault).collect();
            vec![reason.name.clone(), reason.signal.to_string(), reason.words.clone(), or_dash(&from)]
        })
        .collect();
    table(out, &["REASON", "SIGNAL", "WORDS", "FOLLOWS FROM"], &rows)
}
