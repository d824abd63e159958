// Pointers to functions and members, bases that are virtual, arrays of variable length, complex integers: see pointers.rs.
struct A { virtual int f(int); virtual void g(); void plain(); int x; };
int A::f(int) { return 1; } void A::g() {} void A::plain() {}
struct B { int pad; void bf(); virtual void bv(); };
void B::bf() {} void B::bv() {}
struct AB : A, B { int z; };
struct V1 : virtual A { int v1 = 11; };
struct V2 : virtual A { int v2 = 22; };
struct VD : V1, V2 { int d = 33; };
namespace ns { template <typename T> T tem(T t) { return t; } }
int foo(int) { return 0; }
extern "C" void cfun(void) {}
int (*fp)(int) = foo;
float (*ft)(float) = ns::tem<float>;
struct H { int a; int (*m)(int); void (*arr[3])(); } h = {1, foo, {cfun, nullptr, cfun}};
int (A::*pf)(int) = &A::f;
void (A::*pg)() = &A::g;
void (A::*pp)() = &A::plain;
void (A::*pn)() = nullptr;
void (AB::*pb)() = (void (AB::*)())&B::bf;
void (AB::*pbv)() = (void (AB::*)())&B::bv;
VD vd;
