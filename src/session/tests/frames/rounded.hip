// Functions that round their frame up: the number in a name is the alignment. An own object, arguments on the stack, an object
// of variable size.
#include "device.h"

#define CALLED __device__ __attribute__((noinline))
// 31 registers.
#define REGISTERS int4 a, int4 b, int4 c, int4 d, int4 h, int4 i, int4 j, int e, int f, int g
#define SUM (a.x * b.y + c.z * d.w + h.x * i.y + j.z + e * f + g)
#define PASSED v[0], v[1], v[2], v[3], v[4], v[5], v[6], o[1], o[2], o[3]

typedef int int4 __attribute__((ext_vector_type(4)));

CALLED void sink(volatile int *p, volatile int *q) { *p = *q + 1; }

CALLED int round_32(int x) {
  alignas(32) int m[8];
  int n[4];
  sink(&m[x & 7], &n[x & 3]);
  return m[x & 7] + n[1];
}

CALLED int round_64(REGISTERS, int stack_0, int stack_4, int stack_8) {
  alignas(64) int m[16];
  m[e & 15] = stack_4;
  sink(&m[f & 15], &m[3]);
  int sum = SUM;
  if (sum > stack_8) {
    sink(&m[stack_8 & 15], &m[5]);
    sum += stack_0;
  }
  return m[sum & 15] + stack_4;
}

CALLED int round_64_variable(int x) {
  alignas(64) int m[16];
  int *p = (int *)__builtin_alloca(((x & 7) + 1) * sizeof(int));
  sink(&m[x & 15], &p[x & 7]);
  sink(&p[1], &m[3]);
  return m[x & 15] + p[x & 7];
}

extern "C" __global__ void caller(int *o) {
  int4 *v = (int4 *)o;
  o[0] = round_32(o[1]) + round_64(PASSED, o[4], o[5], o[7]) + round_64_variable(o[6]);
}
