//! Debug information against what llvm-dwarfdump says of it.
