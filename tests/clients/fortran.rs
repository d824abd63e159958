//! Variables of Fortran in stock gdb and gdb-multiarch, which choose their Fortran mode by the unit of the frame.
//!
//! The values are those of the source, tests/fixtures/compilers/offload/expected.json; the notation is that of gdb for
//! the same source on the host.

use std::fs::File;

use super::harness::{Server, scratch};
use super::script::{Debugger, Script, gdbs};
use crate::support::sample::sampled;

const DUMPS: &str = concat!(env!("LANESCOPE_ROOT"), "tests/fixtures/compilers/offload/dumps.zip");

#[test]
fn gdb_prints_fortran_in_its_own_notation() {
    let folder = scratch("fortran");
    zip::ZipArchive::new(File::open(DUMPS).unwrap()).unwrap().extract(&folder).unwrap();
    for dump in sampled(["fields-gfx90a", "fields-gfx942", "fields-gfx1100"], 2) {
        let server = Server::start(&folder.join(dump), &[]);
        let mut script = Script::new(dump);
        script.say(format!("target remote {}", server.address));
        // The caller of `total`.
        script.say("thread 2");
        script.say("up");
        let w = "((101, 111, 139, 131) (102, 112, 122, 132) (103, 113, 123, 133))";
        let q = "( tag = 50, mass = 2.5, ids = (10, 92, 30, 40), row = (0.5, 1.5, 2.5), none = <not associated>, empty = <not allocated> )";
        for (command, shown) in [
            ("show language", "fortran"),
            ("print w(2,1)", "= 139\n"),
            ("print W(0,3)", "= 103\n"),
            ("print w", w),
            ("print q%ids(3)", "= 92\n"),
            ("print q%row(2)", "= 1.5\n"),
            ("print q%tag", "= 50\n"),
            ("print q", q),
            ("print q%none", "<not associated>"),
            ("print q%empty", "<not allocated>"),
            ("print grid(3,6)", "= 36\n"),
            ("print grid", "((25, 35) (26, 36) (27, 37))"),
            ("print hist(7)", "= 27\n"),
            ("print x(1)", "= 3\n"),
            ("print x(6)", "= 15\n"),
            ("print name", "'alpha'"),
            ("print z", "(1.5,-2)"),
            ("print found", ".TRUE."),
            ("print n", "= 6\n"),
            ("print calls", "= 3\n"),
            ("info locals", "hist = (6, 9, 12, 15, 18, 21, 24, 27)\n"),
            ("info locals", "grid = ((25, 35) (26, 36) (27, 37))\n"),
            ("info args", w),
            ("info args", q),
            ("whatis w", "real(kind=8) (0:3,3)"),
            ("whatis q%ids", "integer, allocatable (2:5)"),
            ("ptype q", "real(kind=8) :: mass\n"),
            ("ptype grid", "integer (2:3,5:7)"),
            ("print grid(3,9)", "no such vector element"),
            ("print hist(8)", "no such vector element"),
            ("print &grid", "(PTR TO -> ( integer (2:3,5:7) ))"),
            ("print hist(grid(3,6) - 36)", "= 6\n"),
            ("up", "fields.f90:57"),
            ("print n", "= 6\n"),
        ] {
            script.expect(command, shown);
        }
        for name in gdbs() {
            script.must_pass(&Debugger::Gdb(name));
        }
        server.finish();
    }
    std::fs::remove_dir_all(folder).unwrap();
}
