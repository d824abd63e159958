//! Type names as gdb's `whatis` prints them: `float *`, `int [4]`, `const int *`, `void (*)(int)`.
