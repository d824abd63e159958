//! Registers and memory: inline, bulk and by image, with missing data absent.

use super::{Folder, HEAD, check, check_whole, global, lines, show};

fn wave(text: &str) -> String {
    format!("[[wave]]\nid = 1\nworkgroup = 1\n{text}\n")
}

#[test]
fn inline_values_of_every_form() {
    let capture = check(
        &wave(
            r#"
            [wave.registers]
            pc = "0x7f0000001c84"
            exec = "0xffffffffffffffff"
            vcc = -1
            m0 = 4294967295
            "s0-s3" = [0, 4096, "xx", -7]
            "s8-s9" = "xx"
            v0 = [0, 1, "xx", "0x3"]
            v1 = { f32 = [1.5, 2, "xx", -0.5] }
            "v2-v3" = [[1], ["xx", 2]]
            "s10-s11" = { f32 = [1, 2.0] }
            v9 = "xx"
            mode = "xx"
            "#,
        ),
        &[],
    );
    for (name, dwords) in [
        ("pc", "1c84 7f00"),
        ("exec", "ffffffff ffffffff"),
        ("vcc", "ffffffff ffffffff"),
        ("m0", "ffffffff"),
        ("s0", "0"),
        ("s1", "1000"),
        ("s2", "xx"),
        ("s3", "fffffff9"),
        ("s4", "xx"),
        ("s8", "xx"),
        ("s10", "3f800000"),
        ("s11", "40000000"),
        ("v0", "0 1 xx 3"),
        ("v1", "3fc00000 40000000 xx bf000000"),
        ("v2", "1"),
        ("v3", "xx 2"),
        ("v4", "xx"),
        ("v9", "xx"),
        ("mode", "xx"),
    ] {
        assert_eq!(show(&capture, name), dwords, "{name}");
    }
}

#[test]
fn inline_values_that_do_not_fit() {
    let lanes = vec!["1"; 65].join(", ");
    let capture = check(
        &wave(&format!(
            r#"
            [wave.registers]
            a_nonsense = 1
            b = 1
            m0 = 4294967296
            s0 = [1]
            "s1-s2" = [1, 2, 3]
            "s3-s1" = [1]
            "s4-s5" = 4
            s6 = 1.5
            s7 = -2147483649
            s8 = "12"
            s9 = {{ f64 = 1 }}
            v0 = 1
            v1 = [{lanes}]
            v2 = [1, 4294967296, true, 4]
            pc = {{ f32 = 1.0 }}
            "#
        )),
        &[
            "wave[0].registers.a_nonsense: gfx90a has no register \"a_nonsense\" in wave64 waves \
             (expected a register of gfx90a (wave64), or a range as s0-s3)",
            "wave[0].registers.b: gfx90a has no register \"b\" in wave64 waves \
             (expected a register of gfx90a (wave64), or a range as s0-s3)",
            "wave[0].registers.m0: 0x100000000 (expected a 32-bit value)",
            "wave[0].registers.pc: f32 for a register of 2 dwords (expected f32 for registers of one dword)",
            "wave[0].registers.s0: an array of 1 (expected an integer, \"0x...\" or \"xx\")",
            "wave[0].registers.s1-s2: 3 values; the last ones are ignored (expected at most the 2 of s1-s2)",
            "wave[0].registers.s3-s1: \"s3-s1\" is not a run of registers of one kind, lowest first \
             (expected a register of gfx90a (wave64), or a range as s0-s3)",
            "wave[0].registers.s4-s5: 0x4 (expected an array with a value for each register of the range)",
            "wave[0].registers.s6: 1.5 (expected an integer, or the array within { f32 = ... })",
            "wave[0].registers.s7: -2147483649 (expected a 32-bit value)",
            "wave[0].registers.s8: \"12\" (expected an integer, \"0x...\" or \"xx\")",
            "wave[0].registers.s9: a table with the key \"f64\" (expected an integer, \"0x...\" or \"xx\")",
            "wave[0].registers.v0: 0x1 (expected an array, lane 0 first)",
            "wave[0].registers.v1: 65 values; the last ones are ignored (expected at most 64 lanes)",
            "wave[0].registers.v2[1]: 0x100000000 (expected a 32-bit value)",
            "wave[0].registers.v2[2]: true (expected an integer, \"0x...\" or \"xx\")",
        ],
    );
    assert_eq!(show(&capture, "s1"), "1");
    assert_eq!(show(&capture, "v2"), "1 xx xx 4");
    assert_eq!(show(&capture, "v0"), "xx");
}

#[test]
fn bulk_registers_with_lanes_and_too_few_bytes() {
    let capture = check(
        &wave(
            r#"
            bulk = [
              { registers = "s0-s1", u32 = [1, "0x2"] },
              { registers = "v0", lanes = "0x5", u32 = [1, 2, 3] },
              { registers = "v1-v2", hex = "01 00 00 00 02 00 00 00 03 00" },
              { registers = "s4-s7", u32 = [4, 5, 6, 7, 8] },
              { registers = "s8", lanes = 1, u32 = [9] },
              { registers = "s9" },
              { registers = "s10", u32 = [1], hex = "00" },
              { registers = "s11", offset = 4 },
              { registers = "s12", u32 = [1, 4294967296] },
              { registers = "s13", hex = "0" },
              { u32 = [1] },
            ]
            "#,
        ),
        &[
            "wave[0].bulk[2]: the data has 10 bytes; the rest is not captured (expected 512 bytes: registers of 256 bytes, 2 of them)",
            "wave[0].bulk[3]: the data has 20 bytes; the rest is ignored (expected 16 bytes: registers of 4 bytes, 4 of them)",
            "wave[0].bulk[4].lanes: s8 has one dword; the mask is ignored (expected a mask only for registers of several)",
            "wave[0].bulk[5]: there is no data; the entry is left out (expected one of file, hex and u32)",
            "wave[0].bulk[6]: data is given in more than one way; none counts (expected exactly one of file, hex and u32)",
            "wave[0].bulk[7]: offset or length without a file (expected exactly one of file, hex and u32)",
            "wave[0].bulk[8].u32[1]: 0x100000000 (expected a 32-bit integer)",
            "wave[0].bulk[9].hex: an odd number of digits, ending at character 1 \
             (expected pairs of hex digits, spaces between them allowed)",
            "wave[0].bulk[10].registers: is missing; the entry is left out (expected a string)",
        ],
    );
    for (name, dwords) in [
        ("s0", "1"),
        ("s1", "2"),
        ("v0", "1 xx 3"),
        ("v1", "1 2"),
        ("v2", "xx"),
        ("s7", "7"),
        ("s8", "9"),
        ("s9", "xx"),
    ] {
        assert_eq!(show(&capture, name), dwords, "{name}");
    }
}

#[test]
fn a_mask_has_the_lanes_of_the_wave() {
    let text = r#"
        format = 1
        agent = [{ id = 1, target = "gfx1100" }]
        [[wave]]
        id = 1
        agent = 1
        wave_size = 32
        bulk = [{ registers = "v0", lanes = "0x100000001", hex = "05000000" }]
    "#;
    let capture = check_whole(
        text,
        &[
            "wave[0].bulk[0].lanes: 0x100000001 has lanes that a wave32 does not have (expected a mask within 0xffffffff)",
        ],
    );
    assert_eq!(show(&capture, "v0"), "5");
}

#[test]
fn a_register_given_twice_counts_inline_first() {
    let capture = check(
        &format!(
            "[[layout]]\nname = \"l\"\nblocks = [{{ registers = \"s0-s7\", offset = 0 }}, \
             {{ registers = \"s7-s8\", offset = 28 }}]\n{}",
            wave(
                r#"
                image = { layout = "l", u32 = [0, 1, 2, 3, 4, 5, 6, 7, 8] }
                bulk = [{ registers = "s2-s4", u32 = [12, 13, 14] }, { registers = "s20", u32 = [1] }, { registers = "s20", u32 = [2] }]
                registers = { "s4-s5" = [24, 25], s9 = 29 }
                "#
            )
        ),
        &[
            "layout[0]: s7 is given twice in image (expected each register once)",
            "wave[0]: s2-s4 is given by image and by bulk; bulk counts (expected each register once)",
            "wave[0]: s4 is given by bulk and by registers; registers counts (expected each register once)",
            "wave[0]: s4-s5 is given by image and by registers; registers counts (expected each register once)",
            "wave[0]: s20 is given twice in bulk (expected each register once)",
        ],
    );
    for (name, dwords) in [
        ("s1", "1"),
        ("s2", "c"),
        ("s3", "d"),
        ("s4", "18"),
        ("s5", "19"),
        ("s6", "6"),
        ("s8", "8"),
        ("s9", "1d"),
    ] {
        assert_eq!(show(&capture, name), dwords, "{name}");
    }
}

#[test]
fn layouts_are_checked_once_for_each_kind() {
    check(
        r#"
        layout = [{ name = "a", blocks = [{ registers = "s0-s1", offset = 0 }, { registers = "q0", offset = 8 },
                    { registers = "v0", offset = 8, lanes = 3, x = 1 }, { registers = "s4" }, { offset = 4 },
                    { registers = "s5", offset = "0xffffffffffffffff" }] },
                  { name = "a", blocks = [] }, { name = "c" }, { blocks = [] }]
        wave = [{ id = 1, workgroup = 1, image = { layout = "a", hex = "0000000000000000" } },
                { id = 2, workgroup = 1, image = { layout = "a", u32 = [1] } },
                { id = 3, workgroup = 1, image = { layout = "b", u32 = [1] } },
                { id = 4, workgroup = 1, image = { layout = "c", u32 = [1] } },
                { id = 5, workgroup = 1, image = { u32 = [1] } }, { id = 6, workgroup = 1, image = { layout = "a" } }]
        "#,
        &[
            "layout[1].name: \"a\" is taken by an earlier entry; this one is left out (expected names that are unique)",
            "layout[3].name: is missing; the entry is left out (expected a string)",
            "layout[0].blocks[1].registers: gfx90a has no register \"q0\" in wave64 waves \
             (expected a register of gfx90a (wave64), or a range as s0-s3)",
            "layout[0].blocks[2].x: is not a key of format 1; it is ignored (expected keys of format 1, or x-...)",
            "layout[0].blocks[3].offset: is missing; the entry is left out \
             (expected a non-negative integer below 2^64 or a string \"0x...\")",
            "layout[0].blocks[4].registers: is missing; the entry is left out (expected a string)",
            "layout[0].blocks[5].offset: 0xffffffffffffffff (expected an offset within an image)",
            "wave[0].image: the image has 8 bytes; registers beyond it are not captured \
             (expected the 264 bytes of layout \"a\")",
            "wave[1].image: the image has 4 bytes; registers beyond it are not captured \
             (expected the 264 bytes of layout \"a\")",
            "wave[2].image.layout: no layout has the name \"b\" (expected the name of a [[layout]])",
            "layout[2].blocks: is missing (expected an array of blocks)",
            "wave[4].image.layout: is missing; the image is left out (expected a string)",
            "wave[5].image: there is no data; the image is left out (expected one of file, hex and u32)",
        ],
    );
}

#[test]
fn memory_that_overlaps_or_leaves_its_space() {
    let capture = check_whole(
        r#"
        format = 1
        agent = [{ id = 1, target = "gfx90a" }]
        queue = [{ id = 1, agent = 1 }]
        dispatch = [{ id = 1, queue = 1 }]
        memory = [{ address = 0x1000, hex = "01 02 03 04" }, { address = 0x1002, hex = "ff ff" },
                  { address = 0x1004, u32 = [5], name = "next" }, { hex = "00" }, { address = 1, hex = "" },
                  { address = "0xfffffffffffffffe", hex = "0102 03" }, { address = "0xfffffffffffffffe", hex = "0708" },
                  { address = 0x1000, hex = "01 02 03 04" }, { address = 0, hex = "0" }]
        wave = [{ id = 1, agent = 1, private_size = 8, private = [{ u32 = [1, 2, 3] }] },
                { id = 2, agent = 1, private = [{ address = "0xfffffffe", u32 = [1] }, { address = "0x100000000", u32 = [1] }] }]
        [[workgroup]]
        id = 7
        dispatch = 1
        lds_size = 4
        lds = [{ hex = "00 01 02 03 04 05" }, { address = 8, hex = "00" }]
        "#,
        &[
            "workgroup[0].lds[0]: 6 bytes from 0x0; those beyond lds_size are left out \
             (expected a piece that ends at 0x4 or before)",
            "workgroup[0].lds[1]: 1 bytes from 0x8; those beyond lds_size are left out \
             (expected a piece that ends at 0x4 or before)",
            "wave[0].private[0]: 12 bytes from 0x0; those beyond private_size are left out \
             (expected a piece that ends at 0x8 or before)",
            "wave[1].private[0]: 4 bytes from 0xfffffffe; those beyond the address space are left out \
             (expected a piece that ends at 0x100000000 or before)",
            "wave[1].private[1]: 4 bytes from 0x100000000; those beyond the address space are left out \
             (expected a piece that ends at 0x100000000 or before)",
            "memory[3].address: is missing; the entry is left out \
             (expected a non-negative integer below 2^64 or a string \"0x...\")",
            "memory[4]: no bytes; it is left out (expected at least one byte)",
            "memory[5]: 3 bytes from 0xfffffffffffffffe leave the address space (expected a piece that ends below 2^64)",
            "memory[8].hex: an odd number of digits, ending at character 1 \
             (expected pairs of hex digits, spaces between them allowed)",
            "memory[1]: 0x1002-0x1003 overlaps 0x1000-0x1003 of an earlier entry; it is left out \
             (expected pieces that do not overlap)",
            "memory[7]: 0x1000-0x1003 overlaps 0x1000-0x1003 of an earlier entry; it is left out \
             (expected pieces that do not overlap)",
        ],
    );
    assert_eq!(global(&capture, 0x1000, 100), [1, 2, 3, 4, 5, 0, 0, 0]);
    assert_eq!(global(&capture, u64::MAX, 4), [8]);
    assert_eq!(capture.global.segments()[1].name.as_deref(), Some("next"));
    assert_eq!(capture.workgroups[0].lds.captured(), 4);
    assert_eq!(capture.waves[0].private.captured(), 8);
    assert_eq!(capture.waves[1].private.captured(), 2);
}

#[test]
fn side_files_are_checked_for_size_and_not_read() {
    let manifest = format!(
        "{HEAD}{}",
        r#"
        layout = [{ name = "l", blocks = [{ registers = "s0-s3", offset = 0 }] }]
        wave = [{ id = 1, workgroup = 1, image = { layout = "l", file = "r.bin", offset = 4 } },
                { id = 2, workgroup = 1, image = { layout = "l", file = "r.bin", offset = 16, length = 16 } },
                { id = 3, workgroup = 1, image = { layout = "l", file = "r.bin", offset = 24 } },
                { id = 4, workgroup = 1, image = { layout = "l", file = "r.bin", offset = 12 } }]
        memory = [{ address = 0, file = "r.bin" }, { address = 100, file = "r.bin", offset = 20, length = 5 },
                  { address = 200, file = "none.bin" }, { address = 300, file = "none.bin" },
                  { address = 400, file = "r.bin", offset = "0xffffffffffffffff", length = "0xffffffffffffffff" },
                  { address = 500, file = "r.bin", offset = "x" }]
        "#
    );
    let words: Vec<u8> = (1..=6u32).flat_map(u32::to_le_bytes).collect();
    let folder = Folder::new().with("manifest.toml", manifest).with("r.bin", &words);
    let opened = folder.open().unwrap();
    assert_eq!(
        lines(&opened),
        [
            "r.bin: offset 0x10: wave[1].image: the file ends after 8 bytes (at 0x18); \
             the rest is taken as not captured (expected 16 bytes there)",
            "r.bin: offset 0x18: wave[2].image: the file has only 24 bytes (ends at 0x18) (expected data at that offset)",
            "r.bin: offset 0xc: wave[3].image: the image has 12 bytes; registers beyond it are not captured \
             (expected the 16 bytes of layout \"l\")",
            "r.bin: offset 0x14: memory[1]: the file ends after 4 bytes (at 0x18); \
             the rest is taken as not captured (expected 5 bytes there)",
            "none.bin: memory[2]: No such file or directory (os error 2) (expected a readable file)",
            "none.bin: memory[3]: the file cannot be used (see above) (expected a readable file)",
            "r.bin: offset 0xffffffffffffffff: memory[4]: the file has only 24 bytes (ends at 0x18) \
             (expected 18446744073709551615 bytes there)",
            "manifest.toml: memory[5].offset: \"x\" (expected a non-negative integer below 2^64 or a string \"0x...\")",
        ]
    );
    let capture = &opened.capture;
    let show = |wave: usize, name: &str| {
        let wave = &capture.waves[wave];
        capture.register(wave, wave.kind.named(name).unwrap().id).unwrap().dword(0)
    };
    assert_eq!(
        [show(0, "s0"), show(0, "s3"), show(1, "s1"), show(1, "s2"), show(3, "s2"), show(3, "s3")],
        [Some(2), Some(5), Some(6), None, Some(6), None]
    );
    assert_eq!(global(capture, 0, 100), words);
    assert_eq!(global(capture, 100, 100), words[20..]);
    assert!(global(capture, 200, 4).is_empty());
}
