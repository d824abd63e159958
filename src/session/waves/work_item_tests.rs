use crate::session::waves::work_item::{GridPlace, WorkItemError, coordinates};

#[test]
fn places_are_read_as_lists_write_them() {
    assert_eq!("(5,0,0)".parse(), Ok(GridPlace::WorkItem([5, 0, 0])));
    assert_eq!(" ( 5 , 1 ) ".parse(), Ok(GridPlace::WorkItem([5, 1, 0])));
    let (group, local) = ([2, 0, 1], [17, 3, 0]);
    assert_eq!("(2,0,1)[17,3,0]".parse(), Ok(GridPlace::InGroup { group, local }));
    assert_eq!("5,1".parse(), Ok(GridPlace::WorkItem([5, 1, 0])));
    assert_eq!("2,0,1[17,3,0]".parse(), Ok(GridPlace::InGroup { group, local }));
    assert_eq!("2,0,1/3".parse(), Ok(GridPlace::Wave { group, number: Some(3) }));
    assert_eq!("(2,0,1)/3".parse(), Ok(GridPlace::Wave { group, number: Some(3) }));
}

#[test]
fn what_is_no_place_is_an_error() {
    for text in [
        "",
        "5,,0",
        "5)",
        "(",
        "()",
        "(1,2,3,4)",
        "(-1)",
        "(1",
        "(1)x",
        "(1)[",
        "(1)[]",
        "(1)/",
        "(4294967296)",
    ] {
        assert_eq!(text.parse::<GridPlace>(), Err(WorkItemError::Syntax(text.to_owned())), "{text}");
    }
    assert_eq!(coordinates("1,,2"), None);
}
