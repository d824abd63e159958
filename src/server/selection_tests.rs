use super::{Selection, Thread};
use crate::units::WaveId;

/// Runs gdb's packets (`L`: the list of threads, a number: `T`, `M`: `monitor`) and returns the selected thread.
fn after(packets: &str) -> u32 {
    played(packets).thread().wave.0
}

fn played(packets: &str) -> Selection {
    let thread = |number| Thread::wave(WaveId(number));
    let threads: Vec<Thread> = (0..4).map(thread).collect();
    let mut selection = Selection::new(thread(1));
    for packet in packets.split_whitespace() {
        match packet.parse() {
            Ok(number) => selection.asked(thread(number), &threads),
            Err(_) if packet == "M" => selection.used(),
            Err(_) => selection.listed(),
        }
    }
    selection
}

#[test]
fn a_stop_selects_its_wave() {
    assert_eq!(after(""), 1);
}

#[test]
fn selecting_a_thread_asks_whether_it_is_alive() {
    assert_eq!(after("2"), 2);
    assert_eq!(after("2 0"), 0);
}

#[test]
fn info_threads_selects_nothing() {
    assert_eq!(after("2 L"), 2);
}

#[test]
fn applying_to_all_threads_ends_where_it_began() {
    assert_eq!(after("2 L 3 2 1 0"), 2);
}

#[test]
fn each_thread_of_a_walk_is_selected_in_its_turn() {
    assert_eq!(after("L 3 2"), 2);
}

#[test]
fn the_last_thread_can_be_selected_after_a_list() {
    assert_eq!(after("L 3"), 3);
    assert_eq!(after("L 3 1"), 1);
}

#[test]
fn a_selection_after_a_walk_counts() {
    assert_eq!(after("L 3 2 1 0 3"), 3);
}

#[test]
fn a_user_who_goes_through_all_threads_stays_at_the_last() {
    assert_eq!(after("L 3 M 2 M 1 M 0 M"), 0);
    assert_eq!(after("L 0 1 2 3"), 3);
}

/// gdb 13 sends `T N` for `thread N` and for `thread apply N`, and nothing when it returns to a thread.
#[test]
fn a_thread_is_certain_until_gdb_asks_for_another_one() {
    for packets in ["", "M", "L M", "1", "1 M 1"] {
        assert!(played(packets).is_certain(), "{packets}");
    }
    for packets in ["2", "2 M", "2 1", "L 3 2 1 0", "L 3 M 2 M 1 M 0 M"] {
        assert!(!played(packets).is_certain(), "{packets}");
    }
    let mut selection = played("2");
    selection.choose(Thread::wave(WaveId(2)));
    assert!(selection.is_certain());
}
