//! Tables of waves, and of the lanes of a wave.

use super::absent::stands_for;
use super::lanes::Detail;
use super::text::place;
use super::{Style, Table};
use crate::notation;
use crate::session::{LaneInfo, LaneState, WaveInfo, Waves};
use crate::units::{LaneId, LaneSet, WaveId};

/// All served waves: numbers, places and stop reasons. `threads`: the numbers of a wave's threads; `None`: the user names
/// waves by their ids.
#[must_use]
pub fn waves(
    session: &dyn Waves,
    threads: &dyn Fn(WaveId) -> Option<String>,
    detail: Detail,
    style: Style,
) -> String {
    let waves = session.waves();
    let has_threads = waves.first().is_none_or(|wave| threads(*wave).is_some());
    let heading = if has_threads { "Thread" } else { "Id" };
    let mut table = Table::new([heading, "Wave", "PC", "Lanes", "State", "Kernel"]).grouped();
    let mut add = |run: &Run| {
        let info = &run.first;
        let lanes = info.kind.wave_size.lanes();
        let active = info.exec.map_or("?".to_owned(), |exec| exec.count().to_string());
        let cells = vec![
            run.numbers(),
            run.name(),
            info.pc.map_or("not captured".to_owned(), |pc| pc.to_string()),
            format!("{active}/{lanes}"),
            info.cause.clone() + &stands_for(run.numbers.len(), run.stands_for),
            info.kernel_name.as_deref().unwrap_or("?").to_owned(),
        ];
        if info.signal == 0 { table.row(cells) } else { table.alarm_row(cells) }
    };
    let mut run: Option<Run> = None;
    for wave in waves.iter() {
        let Ok(info) = session.wave(*wave) else { continue };
        let number = threads(*wave).unwrap_or_else(|| info.id.to_string());
        let info = match run.as_mut().filter(|_| detail == Detail::Rules) {
            Some(run) => match run.take(info, &number) {
                Some(other) => other,
                None => continue,
            },
            None => info,
        };
        let stands_for = info.stands_for as usize;
        if let Some(run) = run.replace(Run { numbers: vec![number], stands_for, first: info, last: None }) {
            add(&run);
        }
    }
    run.iter().for_each(add);
    table.render(style)
}

/// Neighbouring waves at the same PC in the same state.
struct Run {
    first: WaveInfo,
    last: Option<WaveInfo>,
    numbers: Vec<String>,
    /// Number of waves that the dump leaves out, and that they stand for.
    stands_for: usize,
}

impl Run {
    /// Adds a wave to the run, or returns it if it differs. Waves with several threads or a doubt stay alone.
    fn take(&mut self, info: WaveInfo, number: &String) -> Option<WaveInfo> {
        let key = |info: &WaveInfo| (info.pc, info.exec.map(LaneSet::count), info.signal, info.dispatch);
        let is_alike = key(&self.first) == key(&info)
            && (&self.first.cause, &self.first.kernel) == (&info.cause, &info.kernel)
            && self.first.unconfirmed.is_none()
            && info.unconfirmed.is_none();
        let is_number = |text: &String| text.parse::<u64>().is_ok();
        if !is_alike || !is_number(number) || !self.numbers.iter().take(1).all(is_number) {
            return Some(info);
        }
        self.numbers.push(number.clone());
        self.stands_for += info.stands_for as usize;
        self.last = Some(info);
        None
    }

    fn numbers(&self) -> String {
        let numbers: Option<Vec<u64>> = self.numbers.iter().map(|text| text.parse().ok()).collect();
        match numbers {
            Some(mut numbers) => {
                numbers.sort_unstable();
                notation::list(numbers)
            }
            None => self.numbers.concat(),
        }
    }

    /// `1:1:1:4 (1,0,0)/3`, or those of the first and the last wave.
    fn name(&self) -> String {
        let name = |info: &WaveInfo| info.name.strip_prefix("AMDGPU Wave ").unwrap_or(&info.name).to_owned();
        match &self.last {
            Some(last) => format!("{} .. {}", name(&self.first), name(last)),
            None => name(&self.first),
        }
    }
}

/// Lanes of a wave: the work-item, the state and the position of each, or of lanes with the same state and position;
/// the row of the focused one has a mark.
#[must_use]
pub fn lanes(lanes: &[LaneInfo], focus: LaneId, detail: Detail, style: Style) -> String {
    let headings = ["", "Lanes", "State", "Item in group", "Item in grid", "PC", "Where"];
    let mut table = Table::new(headings).grouped();
    let mut has_note = false;
    for row in rows(lanes, detail) {
        let Some(first) = row.first() else { continue };
        let state = first.state.map_or("not captured", LaneState::words);
        let is_focused = row.iter().any(|lane| lane.lane == focus);
        has_note |= is_focused && row.len() > 1;
        let numbers = notation::lanes::listed(row.iter().map(|lane| lane.lane).collect());
        let mut cells =
            vec![if is_focused { "*" } else { "" }.to_owned(), numbers.join(",\n"), state.to_owned()];
        if first.state == Some(LaneState::Unused) {
            cells.extend(["-", "-", "-", "-"].map(str::to_owned));
        } else {
            let pc = first.at.pc.map_or("?".to_owned(), |pc| pc.to_string());
            let items =
                |id: fn(&LaneInfo) -> Option<[u32; 3]>| items(row.iter().map(|lane| id(lane)).collect());
            cells.extend([items(|lane| lane.local_id), items(|lane| lane.global_id), pc, place(&first.at)]);
        }
        if first.state == Some(LaneState::Active) { table.row(cells) } else { table.dim_row(cells) }
    }
    let mut text = table.render(style);
    if has_note {
        text += &style.dim(&format!("* lane {focus} is in focus"));
        text.push('\n');
    }
    text
}

/// The lanes of each row, the lowest first.
fn rows(lanes: &[LaneInfo], detail: Detail) -> Vec<Vec<&LaneInfo>> {
    let is_alike = |one: &LaneInfo, other: &LaneInfo| {
        detail == Detail::Rules
            && (one.state, one.at.pc, one.local_id.is_some(), one.global_id.is_some())
                == (other.state, other.at.pc, other.local_id.is_some(), other.global_id.is_some())
            && place(&one.at) == place(&other.at)
    };
    let mut rows: Vec<Vec<&LaneInfo>> = Vec::new();
    for lane in lanes {
        match rows.iter_mut().find(|row| row.first().is_some_and(|first| is_alike(first, lane))) {
            Some(row) => row.push(lane),
            None => rows.push(vec![lane]),
        }
    }
    rows
}

/// Work-items: `(3,0,0)`; a range in each dimension if they fill it, `(0..7,0..3,0)`; else the first and the last, as
/// parts of a cell.
fn items(ids: Option<Vec<[u32; 3]>>) -> String {
    let text = |[x, y, z]: &[u32; 3]| format!("({x},{y},{z})");
    let Some(ids) = ids else { return "?".to_owned() };
    let (Some(first), Some(last)) = (ids.first(), ids.last()) else { return "?".to_owned() };
    let sides = [0, 1, 2].map(|dimension| {
        let along = || ids.iter().filter_map(move |id| id.get(dimension)).copied();
        (along().min().unwrap_or_default(), along().max().unwrap_or_default())
    });
    let count = sides.iter().map(|(low, high)| u64::from(high - low) + 1).fold(1, u64::saturating_mul);
    let mut sorted: Vec<_> = ids.iter().map(|[x, y, z]| (z, y, x)).collect();
    sorted.sort_unstable();
    sorted.dedup();
    match (ids.len(), sorted.len() as u64 == count) {
        (1, _) => text(first),
        (_, true) => {
            let side = |(low, high): (u32, u32)| {
                if low == high { low.to_string() } else { format!("{low}..{high}") }
            };
            format!("({})", sides.map(side).join(","))
        }
        (_, false) => format!("{} ..\n{}", text(first), text(last)),
    }
}
