//! Bytes in case files: hexadecimal digits with free spaces.

/// The bytes, or an error in the text.
pub(super) fn bytes(text: &str) -> Result<Vec<u8>, String> {
    let digits: Vec<u8> = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    if !digits.len().is_multiple_of(2) {
        return Err(format!("{text:?} has an odd number of hexadecimal digits"));
    }
    let mut bytes = vec![0; digits.len() / 2];
    faster_hex::hex_decode(&digits, &mut bytes).map_err(|_| format!("{text:?} is not hexadecimal"))?;
    Ok(bytes)
}
