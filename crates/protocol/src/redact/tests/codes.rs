//! Numbers that states give to people.

use super::{Class, finds, leaves};

#[test]
fn numbers_of_states_are_found_by_their_checks() {
    finds(
        Class::NationalId,
        &[
            "Steuer-ID «86095742719»",
            "«86 095 742 719»",
            "RVNR «15070649C103»",
            "NIR «1 85 05 78 006 084 91»",
            "DNI «12345678Z»",
            "«12.345.678-Z»",
            "NIE «X1234567L»",
            "NINO «AB123456C»",
            "«AB 12 34 56 C»",
            "«RSSMRA85T10A562S»",
            "BSN «111222333»",
            "PESEL «44051401359»",
            "CPF «529.982.247-25»",
            "«85.07.30-033.28»",
            "«756.9217.0769.85»",
            "«811218-9876»",
            "«131052-308T»",
            "«11010519491231002X»",
            "«2341 2341 2346»",
            "マイナンバー «123456789018»",
            "NHS number «943 476 5919»",
        ],
    );
}

#[test]
fn numbers_without_a_check_that_fits_are_left_alone() {
    leaves(&[
        "12345678A",
        "86095742718",
        "44051401359",
        "111222333",
        "RSSMRA85T10A562T",
        "GB123456C",
        "order AB123456C",
        "529.982.247-26",
        "131052-308U",
    ]);
}
