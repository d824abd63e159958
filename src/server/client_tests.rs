//! The server's calls of the session: the minimum for each packet.

use std::sync::Arc;

use super::{Client, ClientOptions, Flow};
use crate::arch::{RegisterValue, Targets, WaveArch};
use crate::server::{Facade, Threads, ThreadsAs};
use crate::session::{
    LaneInfo, LanePosition, LaneState, MemoryAddress, MockInspect, ReadError, Region, StopCounts, WaveInfo,
    address,
};
use crate::units::{Address, AddressSpace, LaneId, Pc, WaveId, WaveSize};

fn kind() -> Arc<WaveArch> {
    Targets::builtin().kind("gfx90a", WaveSize::W64).unwrap()
}

/// A session of three waves with only the calls that every client needs.
fn session() -> MockInspect {
    let mut session = MockInspect::new();
    session.expect_waves().times(1).returning(|| (0..3).map(WaveId).collect());
    session.expect_first_wave().returning(|| WaveId(1));
    session.expect_has_wave().returning(|wave| wave.0 < 3);
    session.expect_next_question().returning(|| ());
    session.expect_changed_file().returning(|| None);
    session
}

fn registers(session: &mut MockInspect) {
    session.expect_kind().returning(kind);
    session.expect_described().times(1).returning(|| {
        let kind = kind();
        ["pc", "exec", "v0"].map(|name| kind.named(name).unwrap().id).to_vec()
    });
}

fn client(session: MockInspect, facade: Facade) -> Client {
    Client::new(Box::new(session), ClientOptions { facade: Some(facade), ..ClientOptions::default() })
}

/// The reply to one packet.
fn ask(client: &mut Client, body: &str) -> String {
    let sum = body.bytes().fold(0u8, u8::wrapping_add);
    let mut out = Vec::new();
    assert_eq!(client.feed(format!("${body}#{sum:02x}").as_bytes(), &mut out), Flow::Continue);
    let reply = out.escape_ascii().to_string();
    reply.strip_prefix("+$").unwrap().rsplit_once('#').unwrap().0.to_owned()
}

fn info(wave: WaveId) -> WaveInfo {
    WaveInfo {
        wave,
        id: wave.0,
        name: format!("wave {}", wave.0),
        kind: kind(),
        pc: Some(Pc(0x1000)),
        exec: None,
        kernel: None,
        kernel_name: None,
        agent: 0,
        queue: None,
        dispatch: None,
        workgroup: None,
        wave_in_group: None,
        stop: None,
        cause: "stop reason not captured".to_owned(),
        unconfirmed: None,
        unchecked: None,
        signal: 0,
        stands_for: 0,
    }
}

#[test]
fn threads_are_chosen_and_checked_without_reading_anything() {
    let mut client = client(session(), Facade::Gdb);
    assert_eq!(ask(&mut client, "Hg3"), "OK");
    assert_eq!(ask(&mut client, "T2"), "OK");
    assert_eq!(ask(&mut client, "T4"), "E03");
    assert_eq!(ask(&mut client, "qC"), "QC3");
}

/// A list of waves asks so many times for those that the dump lacks.
fn lacks_no_waves(session: &mut MockInspect, times: usize) {
    session.expect_stop_counts().times(times).returning(StopCounts::default);
    session.expect_uncounted_waves().times(times).returning(Vec::new);
}

#[test]
fn a_list_of_waves_has_those_that_cannot_be_read() {
    let mut session = session();
    lacks_no_waves(&mut session, 1);
    session.expect_waves().times(1).returning(|| (0..3).map(WaveId).collect());
    session.expect_wave().returning(|wave| match wave.0 {
        1 => Err(ReadError::NoSuchWave(wave)),
        _ => Ok(info(wave)),
    });
    let answer = ask(&mut client(session, Facade::Gdb), "qlanescope.Waves").replace("\\\"", "\"");
    for (thread, is_read) in [(1, true), (2, false), (3, true)] {
        assert!(answer.contains(&format!("\"thread\":{thread}")), "{answer}");
        assert_eq!(answer.contains(&format!("\"wave {}\"", thread - 1)), is_read, "{answer}");
    }
    assert_eq!(answer.matches("\"error\"").count(), 1, "{answer}");
}

#[test]
fn memory_is_one_place_and_one_read() {
    let mut session = session();
    let place = MemoryAddress {
        space: AddressSpace(0),
        address: Address(0x40),
        wave: Some(WaveId(1)),
        lane: Some(LaneId(0)),
    };
    session
        .expect_place()
        .times(1)
        .withf(|at, wave| *at == 0x40 && *wave == WaveId(1))
        .returning(move |_, _| Ok(place));
    session
        .expect_read()
        .times(1)
        .withf(move |asked, buffer| *asked == place && buffer.len() == 4)
        .returning(|_, buffer| {
            buffer.fill(0xab);
            Ok(3)
        });
    let mut client = client(session, Facade::Gdb);
    assert_eq!(ask(&mut client, "m40,4"), "ababab");
}

#[test]
fn a_read_is_never_longer_than_a_packet() {
    let mut session = session();
    let place = MemoryAddress { space: AddressSpace(0), address: Address(0), wave: None, lane: None };
    session.expect_place().returning(move |_, _| Ok(place));
    session.expect_read().withf(|_, buffer| buffer.len() == 0x1_0000).returning(|_, buffer| Ok(buffer.len()));
    let mut client = client(session, Facade::Gdb);
    assert_eq!(ask(&mut client, "m0,ffffffffffffffff").len(), 0x2_0000);
}

#[test]
fn a_named_space_needs_no_place() {
    let mut session = session();
    session.expect_kind().returning(kind);
    session.expect_focus().withf(|wave| *wave == WaveId(2)).returning(|_| LaneId(9));
    session
        .expect_read()
        .times(1)
        .withf(|place, _| {
            let MemoryAddress { space, address, wave, lane } = *place;
            (space, address, wave, lane) == (AddressSpace(5), Address(0x10), Some(WaveId(2)), Some(LaneId(9)))
        })
        .returning(|_, _| Err(ReadError::NotCaptured { what: "it".to_owned() }));
    let mut client = client(session, Facade::Lldb);
    assert_eq!(ask(&mut client, "m10,4;thread:3;address_space:5;"), "E0e");
}

#[test]
fn a_register_is_one_question() {
    let mut session = session();
    registers(&mut session);
    session.expect_register().times(2).withf(|wave, _| *wave == WaveId(1)).returning(|_, id| {
        let mut value = RegisterValue::unknown(kind().register(id).unwrap().dwords);
        value.set_dword(0, 7);
        Ok(value)
    });
    let mut client = client(session, Facade::Gdb);
    assert_eq!(ask(&mut client, "p10"), "x".repeat(16), "half of it is known, and there are no halves");
    assert_eq!(ask(&mut client, "p28"), "x".repeat(16));
    assert_eq!(ask(&mut client, "p0"), "x".repeat(16), "no wave has rax, and none is asked");
}

#[test]
fn the_short_g_reads_the_pc_and_nothing_else() {
    let mut session = session();
    registers(&mut session);
    let pc = kind().named("pc").unwrap().id;
    session.expect_register().times(1).withf(move |_, id| *id == pc).returning(|_, _| {
        let mut value = RegisterValue::unknown(2);
        value.set_dword(0, 0x1000);
        value.set_dword(1, 0);
        Ok(value)
    });
    let mut client = client(session, Facade::Gdb);
    let reply = ask(&mut client, "g");
    assert_eq!(reply.trim_matches('x'), "0010000000000000");
}

#[test]
fn the_list_of_threads_is_built_once() {
    let mut session = session();
    session.expect_wave().times(3).returning(|wave| Ok(info(wave)));
    let mut client = client(session, Facade::Gdb);
    for _ in 0..4 {
        assert!(ask(&mut client, "qXfer:threads:read::0,20").starts_with("m<threads>"));
        assert!(ask(&mut client, "qXfer:threads:read::20,1000").starts_with('l'));
    }
}

#[test]
fn an_object_of_ours_is_built_when_it_is_read_from_its_beginning() {
    let mut session = session();
    lacks_no_waves(&mut session, 2);
    // The client lists the waves once, and each built object does, too.
    session.expect_waves().times(2).returning(|| (0..3).map(WaveId).collect());
    session.expect_wave().times(6).returning(|wave| Ok(info(wave)));
    let mut client = client(session, Facade::Gdb);
    for _ in 0..2 {
        for offset in 0..4 {
            assert!(ask(&mut client, &format!("qXfer:lanescope-waves:read::{offset}0,10")).starts_with('m'));
        }
    }
}

#[test]
fn a_region_is_asked_for_the_wave_in_hand() {
    let mut session = session();
    session
        .expect_region()
        .times(1)
        .withf(|at, wave| *at == 0x10 && *wave == WaveId(2))
        .returning(|_, _| Region { start: 0, last: u64::MAX, readable: true, code: true, name: None });
    let mut client = client(session, Facade::AmdgcnLldb);
    assert_eq!(ask(&mut client, "Hg3"), "OK");
    assert_eq!(ask(&mut client, "qMemoryRegionInfo:10"), "start:0;size:ffffffffffffffff;permissions:rx;");
}

#[test]
fn a_panic_costs_one_packet() {
    let mut session = session();
    session.expect_region().returning(|_, _| panic!("a mistake"));
    let mut client = client(session, Facade::Lldb);
    assert_eq!(ask(&mut client, "qMemoryRegionInfo:10"), "E16");
    assert_eq!(ask(&mut client, "qC"), "QC2");
}

/// Threads 1 to 3: lanes 0 and 17 of wave 1, and wave 2.
fn lanes() -> Threads {
    let mut session = MockInspect::new();
    session.expect_waves().returning(|| [WaveId(1), WaveId(2)].into());
    session.expect_first_wave().returning(|| WaveId(1));
    session.expect_lanes().returning(|wave| {
        let active = |lane| LaneInfo {
            lane: LaneId(lane),
            state: Some(LaneState::Active),
            at: LanePosition::default(),
            local_id: None,
            global_id: None,
            focused: lane == 0,
        };
        Ok(if wave == WaveId(1) { vec![active(0), active(17)] } else { Vec::new() })
    });
    Threads::new(&session, ThreadsAs::Lanes, None).unwrap()
}

#[test]
fn an_address_that_names_no_lane_is_read_for_the_lane_that_the_thread_is() {
    let mut session = session();
    session.expect_set_focus().returning(|_, _| Ok(()));
    // The address is valid for any focused lane; plain addresses may be in the aperture of private memory.
    session.expect_place().returning(|at, wave| {
        let lane = match address::decode(at) {
            address::Token::Space { lane, .. } => lane,
            _ => None,
        };
        let lane = Some(lane.unwrap_or(LaneId(0)));
        Ok(MemoryAddress { space: AddressSpace(5), address: Address(at & 0xffff), wave: Some(wave), lane })
    });
    session.expect_read().returning(|place, buffer| {
        buffer[0] = place.lane.unwrap().0;
        Ok(1)
    });
    let options = ClientOptions {
        facade: Some(Facade::Gdb),
        threads: Some(Arc::new(lanes())),
        ..ClientOptions::default()
    };
    let mut client = Client::new(Box::new(session), options);
    for (thread, address, lane) in [
        ("2", "100", "11"),
        ("1", "100", "00"),
        ("2", "500007f00000100", "11"),
        ("2", "500010300000100", "03"),
        ("3", "100", "00"),
    ] {
        assert_eq!(ask(&mut client, &format!("Hg{thread}")), "OK");
        assert_eq!(ask(&mut client, &format!("m{address},1")), lane, "thread {thread} at {address}");
    }
}
