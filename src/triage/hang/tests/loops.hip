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
