//! A sentence about the faults of a dump that costs no analysis.

use super::missing::no_stop_reasons;
use crate::capture::Fault;
use crate::notation::plural;
use crate::report::fault;
use crate::session::StopCounts;

/// `1 of 8 waves faulted, no page is reported.`
///
/// `left_out`: number of waves of the dump that faulted and that are not among the counted ones.
#[must_use]
pub fn summary(counts: StopCounts, left_out: usize, faults: &[Fault]) -> String {
    let mut stops = known(counts);
    if let Some(others) = self::left_out(left_out) {
        stops += &format!("; {others}");
    }
    let unknown = unknown(counts);
    match faults.iter().find(|fault| fault.is_of_waves()) {
        Some(first) => format!("{stops}{unknown}. Reported: {}.", fault::sentence(first)),
        None if counts.faulted == 0 => format!("{stops}, no fault is reported{unknown}."),
        None => format!("{stops}, no page is reported{unknown}."),
    }
}

/// `1 of 8 waves faulted; the stop reasons of 3 waves were not captured`
#[must_use]
pub fn stops(counts: StopCounts) -> String {
    known(counts) + &unknown(counts)
}

fn known(StopCounts { faulted, unknown, waves, left_out, lacks_waves }: StopCounts) -> String {
    let are = plural(left_out, "is", "are");
    let absent =
        if left_out > 0 { format!(" ({left_out} {are} left out of the dump)") } else { String::new() };
    let of = if lacks_waves { " of the dump" } else { "" };
    match faulted {
        0 if unknown > 0 => format!("Whether a wave{of} faulted is unknown{absent}"),
        0 => format!("No wave{of} faulted{absent}"),
        count => format!("{count} of {waves} {}{of} faulted{absent}", plural(waves, "wave", "waves")),
    }
}

/// `; the stop reasons of 3 waves were not captured`
fn unknown(counts: StopCounts) -> String {
    no_stop_reasons(counts.unknown).map_or_else(String::new, |unknown| format!("; {unknown}"))
}

/// `2 other waves that faulted are left out (--kind, --wave)`; `None` without one.
pub(super) fn left_out(waves: usize) -> Option<String> {
    let are = plural(waves, "wave that faulted is", "waves that faulted are");
    (waves > 0).then(|| format!("{waves} other {are} left out (--kind, --wave)"))
}

#[cfg(test)]
mod tests {
    use super::{stops, summary as of_counts};
    use crate::capture::{Fault, FaultAddress, FaultSource, PAGE};
    use crate::session::StopCounts;

    fn summary(faulted: usize, waves: usize, left_out: usize, faults: &[Fault]) -> String {
        of_counts(StopCounts { faulted, waves, ..StopCounts::default() }, left_out, faults)
    }

    /// A wave without a captured stop reason may have faulted.
    #[test]
    fn unknown_stop_reasons_are_no_absence_of_faults() {
        let of = |faulted, unknown| {
            of_counts(StopCounts { faulted, unknown, waves: 8, ..StopCounts::default() }, 0, &[])
        };
        assert_eq!(
            of(0, 8),
            "Whether a wave faulted is unknown, no fault is reported; the stop reasons of 8 waves were not captured."
        );
        assert_eq!(
            of(1, 1),
            "1 of 8 waves faulted, no page is reported; the stop reason of 1 wave was not captured."
        );
    }

    #[test]
    fn a_summary_counts_the_waves_and_has_the_first_report() {
        let at = FaultAddress { start: 0x7f00_0020_1000, bytes: PAGE, is_inexact: false };
        let fault = Fault { address: Some(at), source: FaultSource::Runtime, ..Fault::default() };
        let reported = "Reported: access to page 0x7f0000201000; reported by ROCm's runtime.";
        assert_eq!(summary(0, 8, 0, &[]), "No wave faulted, no fault is reported.");
        assert_eq!(summary(1, 1, 0, &[]), "1 of 1 wave faulted, no page is reported.");
        assert_eq!(
            summary(3, 8, 0, &[fault.clone(), Fault::default()]),
            format!("3 of 8 waves faulted. {reported}")
        );
        assert_eq!(summary(0, 8, 0, &[fault]), format!("No wave faulted. {reported}"));
        let left_out = "No wave faulted; 2 other waves that faulted are left out (--kind, --wave), no fault is reported.";
        assert_eq!(summary(0, 8, 2, &[]), left_out);
        let small = StopCounts { faulted: 2, waves: 8, left_out: 5, ..StopCounts::default() };
        assert_eq!(
            of_counts(small, 0, &[]),
            "2 of 8 waves faulted (5 are left out of the dump), no page is reported."
        );
        let chosen = StopCounts { faulted: 1, waves: 1, lacks_waves: true, ..StopCounts::default() };
        assert_eq!(stops(chosen), "1 of 1 wave of the dump faulted");
        assert_eq!(stops(StopCounts { faulted: 0, ..chosen }), "No wave of the dump faulted");
    }
}
