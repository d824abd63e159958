//! Names by the mangling of the compilers, and rules.

use super::names::{folded, with_arguments};
use super::rules::{Rules, Sort};

#[test]
fn names_keep_what_is_equal_in_all_builds() {
    for (name, expected) in [
        ("saxpy", "saxpy"),
        ("saxpy.kd", "saxpy"),
        ("_Z5saxpyifPKfPf", "saxpy"),
        ("_Z5scaleIfEvPT_i.kd", "scale<>"),
        ("void scale<float>(float*, int)", "scale<>"),
        ("run<Config<int, 3>, (Mode)1>::step<int>", "run<>::step<>"),
        ("solve.llvm.1234567890", "solve"),
        ("solve.constprop.0.isra.3", "solve"),
        ("solve.cold", "solve"),
        ("name[abi:cxx11]()", "name"),
        ("main::{lambda(int)#1}::operator()(int) const", "main::{lambda}::operator()"),
        ("main::'lambda0'(int)::operator()(int) const", "main::{lambda}::operator()"),
        ("main::$_1::operator()(int) const", "main::{lambda}::operator()"),
        ("operator<(a, b)", "operator<"),
        ("ns::operator<< <int>(a)", "ns::operator<< <>"),
        ("ns::operator<<int>(a)", "ns::operator< <>"),
        ("ns::operator<<(a, b)", "ns::operator<<"),
        ("_ZN1AcvbEv", "A::operator bool"),
        ("_ZN1AcvPiEv", "A::operator int*"),
        ("A::operator int *", "A::operator int*"),
        ("_ZN1BcvPT_IfEEv", "B::operator float*<>"),
        ("_ZN1BltIfEEiT_", "B::operator< <>"),
        ("_Zli3_kmy", "operator\"\"_km"),
        ("operator\"\"_km", "operator\"\"_km"),
        ("_ZZ4kernPiEN1L1mEi", "kern::L::m"),
        ("_ZZN6solver4stepEPiENKUliE_clEi", "solver::step::{lambda}::operator()"),
        ("_Z3appIZ4kernPiEUliE_EiT_", "app<>"),
        ("app<(lambda at b.hip:19:190)>", "app<>"),
        ("ptr<&B::operator[]>", "ptr<>"),
        ("(anonymous namespace)::run<int>(int)", "(anonymous namespace)::run<>"),
        ("__omp_offloading_10303_2c60a1_main_l12", "omp main"),
        ("__omp_offloading_fd00_1f_solver_step_l7", "omp solver_step"),
        ("__omp_offloading_table", "__omp_offloading_table"),
        ("softmax_kernel_0d1d2de", "softmax_kernel"),
        ("softmax_kernel", "softmax_kernel"),
        ("axpy_2d", "axpy_2d"),
        ("", ""),
        ("a<b", "a<>"),
        ("{lambda(", "{lambda}"),
    ] {
        assert_eq!(folded(name), expected, "{name}");
    }
}

#[test]
fn kernels_of_libraries_keep_their_template_arguments() {
    for (name, expected) in [
        ("_ZN6Kokkos3runIN4phys4FluxEEEvT_i.kd", "Kokkos::run<phys::Flux>"),
        ("_ZN6Kokkos3runIZN6solver4stepEPiEUliE0_EEvT_i", "Kokkos::run<solver::step(int*)::{lambda}>"),
        ("Kokkos::run<(lambda at /src/me/a.hip:3:4)>", "Kokkos::run<(lambda at a.hip:3:4)>"),
        ("saxpy", "saxpy"),
    ] {
        assert_eq!(with_arguments(name), expected, "{name}");
    }
}

#[test]
fn rules_of_the_user_are_before_those_of_the_program() {
    let rules =
        Rules::parse("irrelevant = [\"my_abort\"]\nprefix = [\"util::*\"]\nin_app = [\"rocprim::mine\"]")
            .unwrap();
    assert_eq!(rules.sort("my_abort"), Sort::Irrelevant("my_abort"));
    assert_eq!(rules.sort("util::copy<>"), Sort::Prefix("util::*"));
    assert_eq!(rules.sort("rocprim::mine"), Sort::InApp);
    assert_eq!(rules.sort("rocprim::detail::kernel<>"), Sort::Prefix("rocprim::*"));
    assert_eq!(rules.sort("__ockl_printf_begin"), Sort::Irrelevant("__ockl_*"));
    // With a list of the program's functions every other one is a library's.
    assert_eq!(rules.sort("other"), Sort::Prefix("in_app"));
    assert_eq!(Rules::default().sort("saxpy"), Sort::InApp);
    let alone = Rules::parse("built_in = false").unwrap();
    assert_eq!(alone.sort("rocprim::detail::kernel<>"), Sort::InApp);
    for wrong in ["irrelevant = 3", "other = []", "prefix = [\"a*b*\"]"] {
        assert!(Rules::parse(wrong).is_err(), "{wrong}");
    }
}
