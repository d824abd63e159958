//! Symbols of clang 22 and flang 22, with the sources' names and lines.

use super::{fortran_name, region_parent, target_region};

const MESH: &str = "__omp_offloading_fe00_d2004__ZN4grid4Mesh6smoothEi_l15";

#[test]
fn symbols_of_target_regions_have_the_names_of_the_source() {
    for (symbol, expected) in [
        ("__omp_offloading_fe00_d2002__QMfieldsPupdate_l56", "fields::update, target region at line 56"),
        ("__omp_offloading_fe00_d2003_scale__l7", "scale, target region at line 7"),
        ("__omp_offloading_804_2b87b0e__QQmain_l4", "main, target region at line 4"),
        ("__omp_offloading_804_2b87b0e__QFPfill_l31", "fill, target region at line 31"),
        ("__omp_offloading_fe00_d2003__Z5saxpyifPfS__l9", "saxpy, target region at line 9"),
        ("__omp_offloading_10303_2c60a1_main_l12", "main, target region at line 12"),
        // clang's OMPIRBuilder counts the regions of a line from 0 and writes no 0.
        ("__omp_offloading_10303_2c60a1_main_l12_1", "main, target region 2 at line 12"),
        ("__omp_offloading_fd00_1f_solver_l2_step_l7", "solver_l2_step, target region at line 7"),
        (
            "__omp_offloading_fe00_d2__ZN12_GLOBAL__N_13runEi_l4",
            "(anonymous namespace)::run, target region at line 4",
        ),
        ("__omp_offloading_fe00_d2__ZN1FclEi_l4", "F::operator(), target region at line 4"),
        ("__omp_offloading_fe00_d2003_scale__l7..omp_par", "scale, target region at line 7 [outlined body]"),
        (
            "__omp_offloading_fe00_d2003_scale__l7..omp_par.3",
            "scale, target region at line 7 [outlined body 3]",
        ),
        (
            "__omp_offloading_10303_2c6_main_l12_omp_outlined",
            "main, target region at line 12 [outlined body]",
        ),
        (
            "__omp_offloading_10303_2c6_main_l12_omp_outlined_omp_outlined.1",
            "main, target region at line 12 [outlined body 1, depth 2]",
        ),
        (
            "__omp_offloading_10303_2c6_main_l12_kernel_environment",
            "main, target region at line 12 [kernel_environment]",
        ),
    ] {
        assert_eq!(target_region(symbol).as_deref(), Some(expected), "{symbol}");
    }
    for (suffix, part) in [
        ("", ""),
        ("_debug__", " [body]"),
        ("_debug___omp_outlined", " [call of outlined body]"),
        ("_debug___omp_outlined_debug__", " [outlined body]"),
        ("_debug___omp_outlined_debug___omp_outlined", " [call of outlined body, depth 2]"),
        ("_debug___omp_outlined_debug___omp_outlined_debug__", " [outlined body, depth 2]"),
    ] {
        let expected = format!("grid::Mesh::smooth, target region at line 15{part}");
        let found = target_region(&format!("{MESH}{suffix}")).unwrap();
        assert_eq!(found, expected, "{suffix}");
        assert_eq!(region_parent(&found), Some("grid::Mesh::smooth"));
    }
}

#[test]
fn other_names_are_no_target_regions() {
    for symbol in [
        "__omp_offloading_table",
        "__omp_offloading_",
        "__omp_offloading_fe00_d2",
        "__omp_offloading_fe00_xyz_main_l3",
        "__omp_offloading_fe00_d2_main_l",
        "__omp_offloading_fe00_d2_main_l3x",
        "__omp_offloading_fe00_d2__l3",
        "__omp_offloading_fe00_d2_main_l99999999999999999999999",
        "saxpy",
        "",
    ] {
        assert_eq!(target_region(symbol), None, "{symbol}");
    }
    assert_eq!(region_parent("saxpy"), None);
    assert_eq!(region_parent("a, target region"), None);
}

#[test]
fn symbols_of_flang_have_modules_and_procedures() {
    for (symbol, expected) in [
        ("_QMfieldsPsmooth", Some("fields::smooth")),
        ("_QMfieldsEcalls", Some("fields::calls")),
        ("_QMaSbFouterPinner", Some("a::b::outer::inner")),
        ("_QPsaxpy", Some("saxpy")),
        ("_QMm_1Ps_2", Some("m_1::s_2")),
        // Of the main program.
        ("_QFPfill", Some("fill")),
        ("_QFEtotal", Some("total")),
        // Constants, type descriptors, strings, and what no flang writes.
        ("_QMfieldsEXdtXcell", None),
        ("_QQclX616C", None),
        ("_QQmain", None),
        ("_QMfields", None),
        ("_QMP", None),
        ("_QF", None),
        ("_QFFPfill", None),
        ("_QMmFPfill", None),
        ("_Q", None),
        ("_QMfieldsPsmooth.kd", None),
        ("saxpy", None),
    ] {
        assert_eq!(fortran_name(symbol).as_deref(), expected, "{symbol}");
    }
}
