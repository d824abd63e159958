#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
__device__ int lock;
__global__ void flag_spin(volatile int *flag, int *out) { while (*flag == 0) {} *out = 1; }
__global__ void sleep_spin(int *flag, int *out) { while (__atomic_load_n(flag, __ATOMIC_ACQUIRE) != 7) __builtin_amdgcn_s_sleep(1); *out = 1; }
__global__ void lock_spin(int *out) { while (__atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE)) {} *out += 1; __atomic_store_n(&lock, 0, __ATOMIC_RELEASE); }
__global__ void cas_spin(int *l, int *out) { int e; do { e = 0; } while (!__atomic_compare_exchange_n(l, &e, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)); *out += 1; }
__global__ void lds_spin(int *out) { __shared__ volatile int f; if (__builtin_amdgcn_workitem_id_x() == 0) f = 0; while (f == 0) {} *out = f; }
__global__ void lane_spin(volatile int *flags, int *out) { int i = __builtin_amdgcn_workitem_id_x(); while (flags[i] == 0) {} out[i] = 1; }
__global__ void endless(int *out) { for (;;) { __builtin_amdgcn_s_sleep(1); } }
__global__ void endless2(volatile int *out) { for (;;) { *out = *out + 1; } }
// healthy
__global__ void sum(const int *a, const int *n, int *out) { int s = 0; for (int k = 0; k < *n; k++) s += a[k]; *out = s; }
__global__ void vsum(volatile const int *a, volatile const int *n, int *out) { int s = 0; for (int k = 0; k < *n; k++) s += a[k]; *out = s; }
struct node { node *next; int v; };
__global__ void chase(node *p, int *out) { int s = 0; while (p) { s += p->v; p = p->next; } *out = s; }
__global__ void search(const int *a, int *out) { int i = 0; while (a[i] != 7) i++; *out = i; }
__global__ void newton(const float *x, float *out) { float v = *x, e; do { e = (v*v - *x) / (2*v); v -= e; } while (e > 1e-6f); *out = v; }
__global__ void casadd(int *p) { int old = __atomic_load_n(p, __ATOMIC_RELAXED); while (!__atomic_compare_exchange_n(p, &old, old * 3, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {} }
__global__ void drain(volatile int *a) { int i = __builtin_amdgcn_workitem_id_x(); while (a[i] > 0) a[i] = a[i] - 1; }
__global__ void tries(volatile int *flag, int *out) { int t = 0; while (*flag == 0 && t < 1000) t++; *out = t; }
// several exits
#define LOAD(p) __atomic_load_n(p, __ATOMIC_RELAXED)
#define FIRST if (__builtin_amdgcn_workitem_id_x() != 0) return;
__global__ void two_flags(int *flag, int *abort, int *out) { FIRST while (LOAD(flag) == 0 && LOAD(abort) == 0) {} *out = 1; }
__global__ void two_limits(int *flag, int *other, int n, int *out) { FIRST while (LOAD(flag) < n || LOAD(other) < n) __builtin_amdgcn_s_sleep(1); *out = 1; }
__global__ void back_off(int *flag, int *out) { FIRST int b = 1; while (LOAD(flag) == 0) { for (int k = 0; k < b; k++) __builtin_amdgcn_s_sleep(1); b = b < 64 ? b * 2 : b; } *out = 1; }
__global__ void look_back(int *flags, int n, int *out) { FIRST int p = n; while (p >= 0) { int s; do { s = LOAD(flags + p); } while (s == 0); if (s == 2) break; p--; } *out = p; }
// healthy, several exits
__global__ void queue(int *next, int *items, int n, int *out) { FIRST for (;;) { int i = __atomic_fetch_add(next, 1, __ATOMIC_RELAXED); if (i >= n) break; if (LOAD(items + i) == 3) continue; if (LOAD(items) == 7) break; out[i] = 1; } }
__global__ void probe(const int *table, int key, int *out) { int h = key; for (;;) { int s = LOAD(table + (h & 1023)); if (s == 0) break; if (s == key) { *out = h; break; } h++; } }
__global__ void halves(const int *a, int n, int *out) { int low = 0, high = n; while (low < high) { int m = (low + high) / 2, v = a[m]; if (v == 42) break; if (v < 42) low = m + 1; else high = m; } *out = low; }
__global__ void states(const int *next, int *out) { int s = 0; while (s != 3) { int v = next[s]; if (v == 1) s = 1; else if (v == 2) s = 2; else s = 3; } *out = s; }
__global__ void tries2(int *flag, int *abort, int n, int *out) { FIRST for (int t = 0; t < n; t++) { if (LOAD(flag) == 1) break; if (LOAD(abort)) { *out = -1; return; } __builtin_amdgcn_s_sleep(2); } }
__global__ void collatz(int *flag, int x, int *out) { FIRST while (x > 1) { if (LOAD(flag) == 8) break; x = x & 1 ? 3 * x + 1 : x / 2; } *out = x; }
__global__ void bits(int *flag, unsigned m, int *out) { FIRST while (m) { if (LOAD(flag) == 8) break; out[__builtin_ctz(m)] = 1; m &= m - 1; } }
// healthy: an exchange fails only if another thread succeeded
__global__ void casreload(int *p, int n) { int old; do { old = LOAD(p); } while (!__atomic_compare_exchange_n(p, &old, old + n, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)); }
struct item { item *next; int v; };
__global__ void push(item **top, item *mine) { FIRST item *old; do { old = LOAD(top); mine->next = old; } while (!__atomic_compare_exchange_n(top, &old, mine, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED)); }
__global__ void pop(item **top, item **out) { FIRST item *old; do { old = LOAD(top); if (!old) break; } while (!__atomic_compare_exchange_n(top, &old, old->next, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)); *out = old; }
// healthy: the loop changes the value that it tests by an atomic whose result does not end it
#define RELAXED __ATOMIC_RELAXED
__global__ void take(int *c, int *out, int n) { FIRST int s = 0; while (LOAD(c) < n) s += __atomic_fetch_add(c, 1, RELAXED); *out = s; }
__global__ void swap(int *c, int *out, int n) { FIRST int s = 0, x = 0; while (LOAD(c) != n) { x += 3; s ^= __atomic_exchange_n(c, x, RELAXED); } *out = s; }
__global__ void more_bits(unsigned *m, int *out) { FIRST unsigned b = 1; int s = 0; while (LOAD(m) != ~0u) { s += __atomic_fetch_or(m, b, RELAXED) & 1; b = b * 2 + 1; } *out = s; }
__global__ void unused(int *c, int n) { FIRST while (LOAD(c) < n) __atomic_fetch_sub(c, -1, RELAXED); }
__global__ void unused_lds(int *out, int n) { __shared__ int c; FIRST c = 0; while (LOAD(&c) < n) __atomic_fetch_add(&c, 1, RELAXED); *out = c; }
// polls: a lock that is tested before it is taken
__global__ void test_spin(int *l, int *out) { FIRST for (;;) { while (LOAD(l)) {} if (!__atomic_exchange_n(l, 1, __ATOMIC_ACQUIRE)) break; } *out += 1; }
