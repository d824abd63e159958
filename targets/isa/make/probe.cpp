// Access to LLVM's AMDGPU decoder, printer and tables for scripts/make-isa. Linked with the static archives of llvm-22-dev.
#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCDisassembler/MCDisassembler.h"
#include "llvm/MC/MCExpr.h"
#include "llvm/MC/MCInst.h"
#include "llvm/MC/MCInstPrinter.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/MCTargetOptions.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include <cstring>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
using namespace llvm;
namespace llvm::AMDGPU {
enum class OpName : unsigned short;
int16_t getNamedOperandIdx(uint16_t Opcode, OpName Name);
}
namespace llvm {
class AMDGPUInstPrinter {
public:
  static const char *getRegisterName(MCRegister Reg);
};
}

struct Target_ {
  Triple triple{"amdgcn-amd-amdhsa"};
  MCTargetOptions options;
  std::unique_ptr<MCRegisterInfo> regs;
  std::unique_ptr<MCAsmInfo> info;
  std::unique_ptr<MCInstrInfo> instrs;
  std::unique_ptr<MCSubtargetInfo> sub;
  std::unique_ptr<MCContext> context;
  std::unique_ptr<MCDisassembler> dis;
  std::unique_ptr<MCInstPrinter> printer;
};

static sigjmp_buf escape;
static void on_crash(int) { siglongjmp(escape, 1); }
#define GUARD(ret) \
  signal(SIGSEGV, on_crash); signal(SIGABRT, on_crash); signal(SIGILL, on_crash); signal(SIGFPE, on_crash); \
  if (sigsetjmp(escape, 1)) return ret;

// Hooks: an int3 at the entry of each printer. The handler writes a mark in place of the printer's output and returns to the caller.
struct Hook { uint8_t *at; char name[40]; int form; uint8_t old; };
static Hook hooks[200];
static int hook_count;
static std::string *out_text;
static void on_trap(int, siginfo_t *, void *c) {
  auto *g = ((ucontext_t *)c)->uc_mcontext.gregs;
  uint8_t *at = (uint8_t *)g[REG_RIP] - 1;
  uint64_t *sp = (uint64_t *)g[REG_RSP];
  for (int i = 0; i < hook_count; i++) {
    if (hooks[i].at != at) continue;
    char t[200]; std::string extra;
    auto str = [](uint64_t p, uint64_t n) { return std::string((const char *)p, n); };
    if (hooks[i].form == 1) extra = str(g[REG_R8], g[REG_R9]);                       // printNamedBit
    if (hooks[i].form == 2) extra = str(sp[1], sp[2]) + ":" + (g[REG_R9] & 255 ? "x" : "d") + (sp[3] & 255 ? "a" : "n"); // printNamedInt
    if (hooks[i].form == 3) extra = str(g[REG_R8], g[REG_R9]) + "|" + str(sp[1], sp[2]); // printIfSet
    if (hooks[i].form == 4) extra = std::string(1, (char)g[REG_R8]);
    snprintf(t, sizeof t, "\x01%s\x03%u\x03", hooks[i].name, hooks[i].form == 9 ? (unsigned)(g[REG_RSI] & 255) : (unsigned)g[hooks[i].form == 5 ? REG_RCX : REG_RDX]);
    *out_text += t; *out_text += extra; *out_text += "\x02";
    g[REG_RIP] = sp[0]; g[REG_RSP] += 8;
    return;
  }
  _exit(9);
}
extern "C" {
void hook_add(uint64_t at, const char *name, int form) {
  Hook &h = hooks[hook_count++];
  h.at = (uint8_t *)at; strncpy(h.name, name, 39); h.form = form; h.old = *h.at;
}
void hooks_set(int on) {
  struct sigaction a = {}; a.sa_sigaction = on_trap; a.sa_flags = SA_SIGINFO; sigaction(SIGTRAP, &a, nullptr);
  for (int i = 0; i < hook_count; i++) {
    mprotect((void *)((uint64_t)hooks[i].at & ~4095ull), 8192, PROT_READ | PROT_WRITE | PROT_EXEC);
    *hooks[i].at = on ? 0xcc : hooks[i].old;
  }
}
void hooks_clear() { hooks_set(0); hook_count = 0; }

void *target(const char *cpu, const char *features) {
  LLVMInitializeAMDGPUTargetInfo(); LLVMInitializeAMDGPUTargetMC(); LLVMInitializeAMDGPUDisassembler();
  auto *t = new Target_; std::string e;
  const Target *g = TargetRegistry::lookupTarget(t->triple, e);
  t->regs.reset(g->createMCRegInfo(t->triple));
  t->info.reset(g->createMCAsmInfo(*t->regs, t->triple, t->options));
  t->instrs.reset(g->createMCInstrInfo());
  t->sub.reset(g->createMCSubtargetInfo(t->triple, cpu, features));
  t->context = std::make_unique<MCContext>(t->triple, t->info.get(), t->regs.get(), t->sub.get());
  t->dis.reset(g->createMCDisassembler(*t->sub, *t->context));
  t->printer.reset(g->createMCInstPrinter(t->triple, 0, *t->info, *t->instrs, *t->regs));
  return t;
}
struct Decoded { int32_t status, op, size, n; struct { int64_t kind, value; } ops[40]; };
static void fill(MCInst &i, Decoded *d) {
  d->op = i.getOpcode(); d->n = std::min<unsigned>(40, i.getNumOperands());
  for (int k = 0; k < d->n; k++) {
    auto &o = i.getOperand(k);
    d->ops[k].kind = o.isReg() ? 1 : o.isImm() ? 2 : o.isExpr() ? 4 : 3;
    d->ops[k].value = o.isReg() ? (int64_t)o.getReg().id() : o.isImm() ? o.getImm() : 0;
    if (o.isExpr()) { int64_t v; if (o.getExpr()->evaluateAsAbsolute(v)) d->ops[k].value = v; }
  }
}
// Status: 0 invalid, 1 soft failure, 3 valid, -1 crash.
int decode(void *p, const uint8_t *b, int n, Decoded *d, char *text, int cap) {
  auto *t = (Target_ *)p; MCInst i; uint64_t size = 0;
  d->status = -1; d->n = 0; d->op = -1;
  GUARD(-1)
  auto s = t->dis->getInstruction(i, size, ArrayRef<uint8_t>(b, n), 0, nulls());
  d->size = size; d->status = s;
  if (s == MCDisassembler::Fail) return 0;
  fill(i, d);
  if (cap) {
    std::string s2; raw_string_ostream os(s2);
    t->printer->printInst(&i, 0, "", *t->sub, os);
    strncpy(text, s2.c_str(), cap - 1); text[cap - 1] = 0;
  }
  return (int)s;
}
const char *op_name(void *p, unsigned op) { return ((Target_ *)p)->instrs->getName(op).data(); }
const char *reg_name(void *p, unsigned r) { return ((Target_ *)p)->regs->getName(r); }
unsigned reg_encoding(void *p, unsigned r) { return ((Target_ *)p)->regs->getEncodingValue(r); }
// Dwords of a register, by its classes; the encoded form of some registers has none, but parts.
unsigned reg_dwords(void *p, unsigned r) {
  auto &regs = *((Target_ *)p)->regs; unsigned n = 1, parts = 0;
  for (auto &c : regs.regclasses()) if (c.contains(r)) n = std::max(n, c.getSizeInBits() / 32);
  for (auto part : regs.subregs(r)) parts += !StringRef(regs.getName(part)).ends_with("16");
  return std::max(n, parts);
}
unsigned reg_count(void *p) { return ((Target_ *)p)->regs->getNumRegs(); }
int op_named(unsigned op, unsigned name) { return AMDGPU::getNamedOperandIdx(op, (AMDGPU::OpName)name); }
const char *op_mnemonic(void *p, unsigned op) { MCInst i; i.setOpcode(op); return ((Target_ *)p)->printer->getMnemonic(i).first; }
const char *reg_text(unsigned r) { return AMDGPUInstPrinter::getRegisterName(r); }
// operands, definitions, size, flags, TSFlags, implicit uses, implicit definitions; then four of each operand, uses, definitions.
int op_desc(void *p, unsigned op, int64_t *o) {
  auto *t = (Target_ *)p; const MCInstrDesc &d = t->instrs->get(op); int k = 0;
  o[k++] = d.getNumOperands(); o[k++] = d.getNumDefs(); o[k++] = d.getSize(); o[k++] = d.getFlags(); o[k++] = d.TSFlags;
  o[k++] = d.implicit_uses().size(); o[k++] = d.implicit_defs().size();
  for (auto &x : d.operands()) { o[k++] = x.RegClass; o[k++] = x.Flags; o[k++] = x.OperandType; o[k++] = x.Constraints; }
  for (auto r : d.implicit_uses()) o[k++] = r;
  for (auto r : d.implicit_defs()) o[k++] = r;
  return k;
}
// Text of an instruction of given operands (pairs of kind and value), with marks of the hooks.
int print(void *p, unsigned op, int n, const int64_t *o, char *text, int cap) {
  auto *t = (Target_ *)p; MCInst i; i.setOpcode(op);
  GUARD(-1)
  for (int k = 0; k < n; k++)
    i.addOperand(o[2 * k] == 1 ? MCOperand::createReg(o[2 * k + 1]) : MCOperand::createImm(o[2 * k + 1]));
  std::string s2; raw_string_ostream os(s2); os.SetUnbuffered(); out_text = &s2;
  t->printer->printInst(&i, 0, "", *t->sub, os);
  strncpy(text, s2.c_str(), cap - 1); text[cap - 1] = 0;
  return (int)s2.size();
}
typedef unsigned __int128 u128;
static int try_decode(Target_ *t, u128 w, int width, const uint8_t *tail, Decoded *d) {
  uint8_t b[36]; memcpy(b, &w, 16); memcpy(b + width / 8, tail, 20);
  return decode(t, b, width / 8 + 20, d, nullptr, 0);
}
// Bits of the word on which each operand of the opcode depends: two words an operand; at the end the bits that can be flipped. With `any`, of each name of an operand whatever
// the opcode becomes, and registers count by their number alone: the bits of an image instruction change its opcode.
int learn(void *p, unsigned op, int any, int width, const uint64_t *mask, const uint64_t *bases, int count, const uint8_t *tail, uint64_t *masks) {
  auto *t = (Target_ *)p; u128 m = (u128)mask[1] << 64 | mask[0]; int used = 0; Decoded a, r;
  u128 dep[138] = {}, kept = 0;
  for (int c = 0; c < count; c++) {
    u128 w = (u128)bases[2 * c + 1] << 64 | bases[2 * c];
    if (try_decode(t, w, width, tail, &a) <= 0 || (!any && a.op != (int)op)) continue;
    used++;
    for (int b = 0; b < width; b++) {
      if (m >> b & 1) continue;
      if (try_decode(t, w ^ (u128)1 << b, width, tail, &r) <= 0 || (!any && r.op != (int)op)) continue;
      kept |= (u128)1 << b;
      for (int k = 0; k < (any ? 138 : a.n); k++) {
        int x = any ? op_named(a.op, k) : k, y = any ? op_named(r.op, k) : k;
        if (x < 0 || y < 0 || x >= a.n || y >= r.n) continue;
        auto value = [&](Decoded &d, int i) { return any && d.ops[i].kind == 1 ? reg_encoding(p, d.ops[i].value) : d.ops[i].value; };
        if (a.ops[x].kind != r.ops[y].kind || value(a, x) != value(r, y)) dep[k] |= (u128)1 << b;
      }
    }
  }
  for (int k = 0; k < 138; k++) { masks[2 * k] = dep[k]; masks[2 * k + 1] = dep[k] >> 64; }
  masks[276] = kept; masks[277] = kept >> 64;
  return used;
}
// The operand for each value of its bits: kind (0 invalid) and value, and the size.
void enumerate(void *p, unsigned op, int any, int width, const uint64_t *base, int bits, const uint8_t *at, const uint8_t *tail, int k, int64_t *out) {
  int name = k;
  auto *t = (Target_ *)p; u128 w = (u128)base[1] << 64 | base[0]; Decoded d;
  for (int i = 0; i < bits; i++) w &= ~((u128)1 << at[i]);
  for (int v = 0; v < 1 << bits; v++) {
    u128 x = w;
    for (int i = 0; i < bits; i++) if (v >> i & 1) x |= (u128)1 << at[i];
    int status = try_decode(t, x, width, tail, &d);
    if (any) k = status > 0 ? op_named(d.op, name) : 0;
    bool ok = status > 0 && k >= 0 && (any || d.op == (int)op) && k < d.n;
    out[3 * v] = ok ? d.ops[k].kind : d.status < 0 ? -1 : 0; out[3 * v + 1] = ok ? d.ops[k].value : 0; out[3 * v + 2] = ok ? d.size : 0;
  }
}
}
