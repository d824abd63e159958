// Functions with what scope chains are made of: inlined calls in inlined calls, blocks in blocks with shadowed names,
// methods, namespaces, static variables, parameters that were optimised away, and location lists.
#define DEVICE __attribute__((device))
#define GLOBAL __attribute__((global))
#define SHARED __attribute__((shared))

namespace ns {
struct Vec {
  float x, y;
  static int made;
  DEVICE __attribute__((always_inline)) float dot(const Vec &other) const {
    float sum = x * other.x;
    sum += y * other.y;
    return sum;
  }
};
namespace {
DEVICE __attribute__((always_inline)) int clamp(int value, int low, int high) {
  const int unused = 42;
  if (value < low) {
    int below = low - value;
    return low + below % 3;
  }
  return value > high ? high : value;
}
}
template <typename T, int N> DEVICE __attribute__((noinline)) T scale(T *data, int count) {
  static int calls = 7;
  T total = 0;
  for (int index = 0; index < count; ++index) {
    T total_here = data[index] * N;
    total += total_here;
    calls += clamp(index, 1, 9);
  }
  return total + calls;
}
}

DEVICE int counter = 5;
DEVICE const float table[4] = {1, 2, 3, 4};

extern "C" DEVICE __attribute__((noinline)) int leaf(int a, int b) {
  int a2 = a * a;
  {
    int a = b + 1;
    {
      long a = a2;
      counter += (int)a;
    }
    counter += a;
  }
  return a2 - b;
}

GLOBAL void kernel(float *out, const ns::Vec *in, int n, long long wide, char small) {
  SHARED float tile[64];
  int lane = __builtin_amdgcn_workitem_id_x();
  ns::Vec mine = in[lane];
  tile[lane & 63] = mine.dot(in[lane + 1]);
  __builtin_amdgcn_s_barrier();
  double big = tile[(lane + 1) & 63] * 2.0;
  if (n > 3) {
    int extra = ns::clamp(n, lane, 100);
    out[lane] = (float)big + extra + small;
    for (int k = 0; k < n; ++k)
      out[lane + k] += leaf(k, extra) + table[k & 3];
  } else {
    out[lane] = ns::scale<float, 3>(out, n) + (float)wide + counter;
  }
}

GLOBAL void other(int *out) { out[0] = leaf(out[1], ns::clamp(out[2], 0, 5)); }
