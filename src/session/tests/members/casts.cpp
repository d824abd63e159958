// Classes between which pointers are cast, vectors with components, and a template.
struct Left {
    int left = 33;
    virtual int f() { return left; }
};
struct W {
    int w = 22;
    virtual int g() { return w; }
};
// W behind Left, so that its address is not the object's.
struct D : Left, W {
    int d = 55;
};
struct First {
    int first = 1;
};
struct Second {
    int second = 2;
};
struct Both : First, Second {
    int own = 3;
};
// First twice.
struct Twice : Both, First {
    int twice = 4;
};
template <typename T, int N> struct Vec {
    T at[N] = {7, 8, 9};
};
typedef float float4 __attribute__((ext_vector_type(4)));
typedef int int3 __attribute__((ext_vector_type(3)));

D object;
D *whole = &object;
W *second_base = &object;
D *null = nullptr;
Both both;
Second *part = &both;
Twice twice;
Vec<int, 3> vec;
Vec<int, 3> *at_vec = &vec;
float4 four = {1, 2, 3, 4};
float4 *at_four = &four;
int3 three = {5, 6, 7};
__int128 wide = 1;
unsigned number = 7;
long history[4] = {1, 2, 3, 4};
long *at_history = history;

#ifdef __x86_64__
int main() {
#else
extern "C" __attribute__((visibility("protected"))) int f() {
#endif
    // Its constructors have clang describe the classes.
    D other;
    return other.f() + object.f() + object.g() + both.own + twice.twice + vec.at[0] + (int)four.x + three.x + (int)wide + (int)number
        + (int)at_history[0];
}
