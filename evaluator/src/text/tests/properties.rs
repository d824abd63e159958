//! Any decodable expression and its text round-trip byte for byte.

use proptest::prelude::*;

use super::*;

/// Encodes a LEB128 number by the algorithm of DWARF 5, appendix C, with redundant bytes after it.
fn leb(value: i128, signed: bool, more: usize) -> Vec<u8> {
    let (mut rest, mut bytes) = (value, Vec::new());
    loop {
        let byte = (rest & 0x7f) as u8;
        rest >>= 7;
        let done =
            if signed { rest == 0 && byte & 0x40 == 0 || rest == -1 && byte & 0x40 != 0 } else { rest == 0 };
        bytes.push(byte);
        if done {
            break;
        }
    }
    let filler = if value < 0 { 0x7f } else { 0 };
    bytes.extend(std::iter::repeat_n(filler, more));
    let last = bytes.len() - 1;
    bytes[..last].iter_mut().for_each(|byte| *byte |= 0x80);
    bytes
}

fn padding() -> impl Strategy<Value = usize> {
    prop_oneof![8 => Just(0usize), 1 => 1usize..12]
}

fn number() -> impl Strategy<Value = u64> {
    prop_oneof![0u64..200, 1500u64..3200, any::<u64>(), (0u32..64).prop_map(|bit| 1 << bit)]
}

fn field(field: Field, depth: u32) -> BoxedStrategy<Vec<u8>> {
    let fixed = |count: usize| proptest::collection::vec(any::<u8>(), count).boxed();
    match field {
        Field::Implied | Field::ImpliedRegister => Just(Vec::new()).boxed(),
        Field::Address => fixed(8),
        Field::Signed(0) | Field::Displacement => (number(), padding())
            .prop_map(|(number, more)| leb(i128::from(number as i64), true, more))
            .boxed(),
        Field::Fixed(size) | Field::Signed(size) | Field::Die(size) => fixed(usize::from(size)),
        Field::SectionDie => fixed(4),
        Field::Branch => fixed(2),
        Field::Uleb | Field::Register | Field::Type | Field::TypeOrGeneric => {
            (number(), padding()).prop_map(|(number, more)| leb(i128::from(number), false, more)).boxed()
        }
        Field::ShortBlock => proptest::collection::vec(any::<u8>(), 0..20)
            .prop_map(|block| [vec![block.len() as u8], block].concat())
            .boxed(),
        Field::Block => (proptest::collection::vec(any::<u8>(), 0..20), padding())
            .prop_map(|(block, more)| [leb(block.len() as i128, false, more), block].concat())
            .boxed(),
        Field::Expression => (expression(Dialect::LlvmUser, depth - 1), padding())
            .prop_map(|(block, more)| [leb(block.len() as i128, false, more), block].concat())
            .boxed(),
    }
}

fn expression(dialect: Dialect, depth: u32) -> BoxedStrategy<Vec<u8>> {
    let known: Vec<_> = codes(dialect)
        .into_iter()
        .filter(|(code, name)| {
            // Nested expressions use operations common to all dialects.
            let nests = shape(name).unwrap().fields.contains(&Field::Expression);
            (depth > 0 || !nests) && (depth == 2 || code.code < 0xe0)
        })
        .collect();
    let operation =
        (proptest::sample::select(known), padding()).prop_flat_map(move |((code, name), more)| {
            let mut start = vec![code.code];
            start.extend(code.sub.into_iter().flat_map(|sub| leb(i128::from(sub), false, more)));
            let fields: Vec<_> = shape(name).unwrap().fields.iter().map(|kind| field(*kind, depth)).collect();
            fields.prop_map(move |fields| [start.clone(), fields.concat()].concat())
        });
    proptest::collection::vec(operation, 0..8).prop_map(|operations| operations.concat()).boxed()
}

fn any_expression() -> impl Strategy<Value = (Dialect, Vec<u8>)> {
    proptest::sample::select(Dialect::ALL.to_vec())
        .prop_flat_map(|dialect| expression(dialect, 2).prop_map(move |bytes| (dialect, bytes)))
}

fn holds(bytes: &[u8], encoding: Encoding, names: &dyn Names) {
    let program = Program::decode(bytes, encoding).unwrap();
    let text = print::program(&program, names);
    assert_eq!(assemble(&text, encoding, names).unwrap(), bytes, "{text}");
    assert_eq!(program.encode(), bytes, "{text}");
    let again = Program::assemble(&text, encoding, names).unwrap();
    assert_eq!(again, program);
    assert_eq!(print::program(&again, names), text);
}

proptest! {
    #[test]
    fn what_is_printed_assembles_to_the_same_bytes((dialect, bytes) in any_expression()) {
        holds(&bytes, Encoding::new(dialect), &Named);
        holds(&bytes, Encoding::new(dialect), &NoNames);
    }

    #[test]
    fn bytes_of_any_kind_do_too_where_they_decode(
        dialect in proptest::sample::select(Dialect::ALL.to_vec()),
        dwarf64: bool,
        bytes in proptest::collection::vec(any::<u8>(), 0..24),
    ) {
        let encoding = Encoding { dialect, dwarf64 };
        if Program::decode(&bytes, encoding).is_ok() {
            holds(&bytes, encoding, &Named);
        }
    }

    #[test]
    fn any_text_is_assembled_or_refused(text in "[A-Za-z0-9_ :;()+\\-\\[\\]#\n]{0,60}|\\PC{0,40}") {
        let _ = assemble(&text, user(), &Named);
    }

    #[test]
    fn any_words_of_the_language_are_assembled_or_refused(
        words in proptest::collection::vec(proptest::sample::select(vec![
            "regx", "VGPR3", "DW_OP_LLVM_extend", "bra", "x", ":", "3", "-1", "(", ")", "[01]", ";",
            "entry_value", "implicit_value", "const_type", "generic", "convert", "DW_OP_LLVM_user", "breg16",
        ]), 0..16)
    ) {
        if let Ok(bytes) = assemble(&words.join(" "), user(), &Named) {
            holds(&bytes, user(), &Named);
        }
    }
}
