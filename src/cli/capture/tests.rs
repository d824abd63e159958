use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;

use super::kernel_log::line;
use super::{ended, exit_status};

/// The examples of the kernel's `Documentation/ABI/testing/dev-kmsg`, with the time that `dmesg` prints of them, and a
/// record of a program.
#[test]
fn records_of_the_kernel_are_lines() {
    for (record, expected) in [
        (
            "7,160,424069,-;pci_root PNP0A03:00: host bridge window [io  0x0000-0x0cf7] (ignored)\n SUBSYSTEM=acpi\n DEVICE=+acpi:PNP0A03:00\n",
            Some("[    0.424069] pci_root PNP0A03:00: host bridge window [io  0x0000-0x0cf7] (ignored)\n"),
        ),
        (
            "6,339,5140900,-;NET: Registered protocol family 10\n",
            Some("[    5.140900] NET: Registered protocol family 10\n"),
        ),
        ("4,340,123456789012,c,caller=T7;amdgpu: a; b\n", Some("[123456.789012] amdgpu: a; b\n")),
        ("30,341,5690716,-;udevd[80]: starting version 181\n", None),
        ("no record\n", None),
        ("6,339;\n", None),
        ("", None),
    ] {
        let found = line(record.as_bytes()).map(|line| String::from_utf8(line).unwrap());
        assert_eq!(found.as_deref(), expected, "{record}");
    }
}

/// wait(2): the low 7 bits are the signal, 8 bits above them the status.
#[test]
fn the_status_is_that_of_a_shell() {
    for (raw, status, words) in [
        (0, 0, "app ended with the status 0"),
        (3 << 8, 3, "app ended with the status 3"),
        (6, 134, "app was ended by SIGABRT"),
        (11 | 0x80, 139, "app was ended by SIGSEGV"),
        (64, 192, "app was ended by signal 64"),
    ] {
        let found = ExitStatus::from_raw(raw);
        assert_eq!((exit_status(found), &*ended("app", found)), (status, words));
    }
}
