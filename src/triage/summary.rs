//! A sentence about the faults of a dump that costs no analysis.

use crate::capture::Fault;
use crate::notation::plural;
use crate::report::fault;

/// `1 of 8 waves faulted, no page is reported.`
///
/// `faulted`: number of waves that stopped for a fault; `waves`: number of all waves; `left_out`: number of waves of the
/// dump that faulted and that are not among these.
#[must_use]
pub fn summary(faulted: usize, waves: usize, left_out: usize, faults: &[Fault]) -> String {
    let mut stops = stops(faulted, waves);
    if let Some(others) = self::left_out(left_out) {
        stops += &format!("; {others}");
    }
    match faults.first() {
        Some(first) => format!("{stops}. Reported: {}.", fault::sentence(first)),
        None if faulted == 0 => format!("{stops}, no fault is reported."),
        None => format!("{stops}, no page is reported."),
    }
}

/// `1 of 8 waves faulted`
#[must_use]
pub fn stops(faulted: usize, waves: usize) -> String {
    match faulted {
        0 => "No wave faulted".to_owned(),
        count => format!("{count} of {waves} {} faulted", plural(waves, "wave", "waves")),
    }
}

/// `2 other waves that faulted are left out (--kind, --wave)`; `None` without one.
pub(super) fn left_out(waves: usize) -> Option<String> {
    let are = plural(waves, "wave that faulted is", "waves that faulted are");
    (waves > 0).then(|| format!("{waves} other {are} left out (--kind, --wave)"))
}

#[cfg(test)]
mod tests {
    use super::summary;
    use crate::capture::{Fault, FaultAddress, FaultSource, PAGE};

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
    }
}
