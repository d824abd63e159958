// What `using` brings: see members.rs. gdb stops at each `stop`.
namespace one { int v = 1; int own = 11; struct T { int t; }; }
namespace two { int v = 2; int w = 22; namespace deep { int d = 222; } }
namespace four { int v = 4; int w = 44; using namespace one; struct T { long u; }; }
namespace three = two;
namespace longer { namespace way { int far = 5; enum Way { Here = 6 }; int twice() { return 2; } } }
namespace aliased = longer::way;
using longer::way::far;
one::T first;
four::T second;
longer::way::Way way = longer::way::Here;
int stop(int n) { return n; }
extern "C" int directive() { using namespace two; using namespace deep; return stop(v + d); }
extern "C" int declaration() { using four::v; { using two::w; stop(w); } return stop(v); }
extern "C" int alias() { namespace near = two::deep; return stop(near::d + three::v); }
extern "C" int nothing() { return stop(far); }
namespace one { int inside() { using namespace two; return stop(v + w); } }
int main_() { return directive() + declaration() + alias() + nothing() + one::inside(); }
