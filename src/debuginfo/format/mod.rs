//! Values as gdb prints them.
