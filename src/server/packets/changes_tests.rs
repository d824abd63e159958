//! Text of an assignment.

use super::halves;

#[test]
fn an_assignment_is_split_at_its_sign() {
    assert_eq!(halves("x = 5"), Some(("x", "5")));
    assert_eq!(halves("$v3[5]=-1"), Some(("$v3[5]", "-1")));
    assert_eq!(halves("table['='] = '='"), Some(("table['=']", "'='")));
    assert_eq!(halves("table['\\''] = 1"), Some(("table['\\'']", "1")));
    for nothing in ["x", "= 5", "x =", "", "'='"] {
        assert_eq!(halves(nothing), None, "{nothing}");
    }
}
