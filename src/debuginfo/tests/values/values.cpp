// Globals of many types, each with a value. values.hsaco is this file for gfx90a; values.expected is what gdb 13.1
// prints for this file compiled for the host. `make.sh` makes both.
typedef float float4 __attribute__((ext_vector_type(4)));
typedef float float3 __attribute__((ext_vector_type(3)));
typedef char char4 __attribute__((ext_vector_type(4)));
typedef unsigned char uchar2 __attribute__((ext_vector_type(2)));
typedef int int16 __attribute__((ext_vector_type(16)));
typedef unsigned char byte;
typedef signed char sbyte;
typedef int (*callback)(int, float);

enum Color { RED, GREEN, BLUE = 5 };
enum class Shade : unsigned char { LIGHT = 1, DARK = 2 };
enum Flags { A = 1, B = 2, C = 4 };
enum FlagsZ { Z0 = 0, Z1 = 1, Z2 = 2, Z3 = 4, Z3_TOO = 4 };
enum NotFlag { N1 = 1, N3 = 3, N4 = 4 };
enum Negative { M1 = -1, P1 = 1 };
enum MultiFlag { FM_1 = 1, FM_6 = 6, FM_8 = 8 };
enum One { ONLY = 1 };
enum ZeroOnly { ZERO = 0 };
enum Big : unsigned long { TOP = 0x8000000000000000, LOW = 1 };
enum Empty {};
typedef enum { UN1, UN2 } unnamed_enum;

namespace ns {
struct Vec { float x, y, z; };
enum class E2 { X, Y };
enum E3 { P, Q };
template <class T> struct Pair { T a; T b; };
struct Outer {
  struct Inner { int q; } in;
  enum K { KA, KB } k;
};
namespace { struct Hidden { int h; }; }
inline namespace v1 { struct Inl { int i; }; }
}

struct Base { int x; };
struct Base2 { int w; };
struct Der : Base, ns::Vec { int y; };
struct OnlyBase : Base {};
struct Nothing {};
struct DerNothing : Nothing { int z; };
class Cls { public: int priv; };
struct Bits { unsigned a : 3; int b : 5; unsigned long c : 40; bool d : 1; Color e : 4; int : 3; char f : 7; };
struct BitsTwo { int lead; unsigned p : 20; unsigned q : 20; };
union Uni { int i; float f; char c[4]; };
struct Anon { int a; union { int i; float f; }; struct { int p; int q; }; };
struct Node { int v; Node *next; };
struct Str { char name[8]; int n; };
struct Unnamed { struct { int x; } inner; };
typedef struct { int x; } unnamed_struct;
struct M { int m; int n; };
struct Flex { int n; int data[]; };
struct Deep { struct { struct { struct { int v[2][2]; } c; } b; } a; };

int i = -5; unsigned u = 7; short s = -3; unsigned short us = 65535; long l = -1; unsigned long ul = 18446744073709551615UL;
long long ll = -1234567890123LL; __int128 i128 = -5; bool bt = true, bf = false;
unsigned __int128 u128 = ((unsigned __int128)1 << 100);
char c = 'A', c0 = 0, cn = '\n', cq = '\'', cb = '\\', c200 = (char)200, c1 = 1, c27 = 27, cbs = '\b', ca = '\a', cdel = 127, cdq = '"', cff = '\f', cr = '\r', ct = '\t', cv = '\v', cneg = -1;
unsigned char uc = 200; signed char sc = -2; byte by = 65; sbyte sb = -65;
wchar_t wc = L'A', wc0 = 0, wcn = L'\n'; char16_t c16 = u'B'; char32_t c32 = U'C'; char8_t c8 = 'D';

float f = 1.5f, f01 = 0.1f, f20 = 1e20f, fz = 0.0f, fmz = -0.0f, finf = __builtin_inff(), fninf = -__builtin_inff(), fnan = __builtin_nanf(""), fnan5 = __builtin_nanf("5"), f100 = 100.f, fbig = 16777216.f, fsmall = 1e-10f, fden = 1e-45f, fmax = 3.40282347e38f, ftie = 1048576.125f, f4 = 0.0001f, f5 = 0.00001f, f9 = 123456789.f, f10 = 1234567890.f;
double d = 3.14159265358979, d300 = 1e300, d01 = 0.1, d100 = 100, dnan = __builtin_nan(""), dden = 5e-324, d17 = 12345678901234567.0, d18 = 123456789012345678.0;
_Float16 h = 1.5f16, h01 = 0.1f16, hmax = 65504.0f16, hden = 6e-8f16, hneg = -2.0f16; __bf16 bh = 1.5f;

Color col = GREEN, col3 = (Color)3, col77 = (Color)77; Shade sh = Shade::DARK, sh3 = (Shade)3, sh9 = (Shade)9;
Flags fl3 = (Flags)3, fl0 = (Flags)0, fl9 = (Flags)9, fl8 = (Flags)8, fl7 = (Flags)7; FlagsZ z0 = Z0, z3 = (FlagsZ)3, z4 = Z3, z6 = (FlagsZ)6, z8 = (FlagsZ)8;
NotFlag nf2 = (NotFlag)2, nf5 = (NotFlag)5; Negative ng = M1, ng5 = (Negative)5; MultiFlag mf7 = (MultiFlag)7, mf6 = FM_6, mf9 = (MultiFlag)9;
One on0 = (One)0, on3 = (One)3; ZeroOnly zo = ZERO, zo1 = (ZeroOnly)1; Empty em = (Empty)0; Big top = TOP, big3 = (Big)3; unnamed_enum une = UN2;
ns::E2 e2 = ns::E2::Y; ns::E3 e3 = ns::Q; ns::Outer::K ok = ns::Outer::KB;

ns::Vec vec = {1, 2, 3}; ns::Pair<float> pf = {1, 2}; ns::Pair<ns::Pair<int>> ppi = {{1, 2}, {3, 4}}; ns::Outer out = {{4}, ns::Outer::KA}; ns::Hidden hid = {6}; ns::Inl inl = {7};
Der der = {{1}, {2, 3, 4}, 5}; OnlyBase ob = {{1}}; Nothing no; DerNothing dno = {{}, 4}; Cls cls = {8};
Bits bits = {5, -3, 1234567, true, GREEN, -9}; BitsTwo bits2 = {-1, 0xabcde, 0x12345};
Uni un = {0x41424344}; Anon an = {1, {2}, {3, 4}}; Node node = {3, (Node *)0x7f0000200000};
Str str = {"abc", 4}; Str strfull = {{'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'}, 1}; Unnamed unn = {{9}}; unnamed_struct uns = {3};
Deep deep = {{{{{{1, 2}, {3, 4}}}}}};

int arr[4] = {1, 2, 3, 4}; int arr2[2][3] = {{1, 2, 3}, {4, 5, 6}}; int rep9[9] = {1}; int rep10[10] = {}; int rep11[11] = {}; int rep20[20] = {};
int mixed[30] = {0, 1, 2, 3, 4, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29};
int zeros300[300] = {}; short many[250] = {1, 2, 3, 1, 2, 3}; int nested[2][11] = {}; int nested2[12][2] = {}; const int carr[2] = {1, 2};
ns::Pair<int> ps[12] = {}; bool vb[3] = {true, false, true}; double fa[12] = {.5, .5, .5, .5, .5, .5, .5, .5, .5, .5, .5, .5};
unsigned distinct[201] = {
#define T(n) n, n + 1, n + 2, n + 3, n + 4, n + 5, n + 6, n + 7, n + 8, n + 9
  T(0), T(10), T(20), T(30), T(40), T(50), T(60), T(70), T(80), T(90), T(100), T(110), T(120), T(130), T(140), T(150), T(160), T(170), T(180), T(190), 200};

char s1[6] = "hello", s2[10] = "hi", s3[4] = {'a', 'b', 'c', 'd'}, s4[4] = {}, s5[8] = {'a', 0, 'b', 0, 0, 0, 0, 0}, s6[30] = "aaaaaaaaaaaaaaaaaaaaaaaaa", s7[40] = "xyaaaaaaaaaaaaaaaaaaaaaz", s8[8] = "q\"\\\n\t\001", s9[8] = "\0019\033[a", s13[5] = "\303\251", s14[3] = {(char)0xff, 'a', 0}, s16[20] = {'a', 'b', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 'x'}, s17[1] = {'a'}, s18[1] = {0}, s19[12] = "aaaaaaaaaaa", s20[14] = "aaaaaaaaaaab", s21[30] = "aaaaaaaaaaaabbbbbbbbbbbbb";
char s250[250] = "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghi";
char s200[200] = "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklmnopq";
char s0_250[250] = {}; unsigned char ub[4] = {1, 2, 3, 4}; byte ub20[20] = {}; signed char sbs[3] = {65, 66, 67}; char s2d[2][4] = {"ab", "cd"};
char16_t s16a[4] = u"abc"; char32_t s32a[5] = U"abc"; wchar_t wca[4] = L"abc"; wchar_t wcz[3] = {}; char8_t c8a[3] = u8"ab"; wchar_t wce[6] = L"a\x1234\u00e9\nz"; wchar_t wrep[16] = {};

float4 v4 = {1, 2, 3, 4}; float3 v3 = {1, 2, 3}; char4 cv4 = {65, -66, 67, 68}; uchar2 ucv = {200, 1}; int16 vi = 0; float4 v4a[2] = {{1, 2, 3, 4}, {5, 6, 7, 8}};
_Complex float cf = {1.5f, -2.0f};

int *ip = (int *)0x1234; void *vp = 0; const char *cp = 0; callback fp = 0; callback fpp = (callback)0x1234; int M::*mp = &M::n; int M::*mp0 = 0;
const int *cip = 0; int *const ipc = 0; const int *const volatile cipcv = 0; int (*parr)[4] = 0; int *aptr[3] = {}; int **ipp = 0; void (*vfn)() = 0; int (*fparr[2])(int) = {}; const volatile int cvi = 3;
int *__restrict rp = 0; const Node *cnp = 0; int (*(*ffp)(int))(float) = 0; float4 *v4p = 0; void (*pv)(int, ...) = 0; int *const *icp = 0; int *const cpa[2] = {}; const float4 *cv4p = 0; Node *(*nodes)[2] = 0; Shade *shp = 0; ns::Pair<ns::Vec> *pvp = 0; const Node *const *const cncc = 0; void **vpp = 0; byte *byp = 0; const byte (*cbp)[3] = 0; void (*vcb)(callback, Node *) = 0;

extern "C" int main() { return i + (cip == ipc) + (int)(long)cncc + carr[1] + cvi + (int)(long)cipcv + (int)(long)cpa[0]; }
