//! Every built-in file: sound, consistent with AMD's documents and with what AMD's own library shows.

use crate::arch::Targets;

#[test]
fn every_built_in_target_loads_at_each_of_its_wave_sizes() {
    let targets = Targets::builtin();
    assert_eq!(targets.names().count(), 14);
    for name in targets.names() {
        let target = targets.target(name).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(target.name, name);
        for size in &target.wave_sizes {
            targets.kind(name, *size).unwrap();
        }
    }
}
