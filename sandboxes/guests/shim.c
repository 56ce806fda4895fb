/* The C side of the JavaScript sandbox: QuickJS-NG behind one imported function and a dozen exports.
 *
 * The guest reaches its host through forja.send(op, ptr, len) and nothing else. There is no file, no
 * network, no random source and no clock: time is a number the host sets, so that a run can be
 * replayed. The prelude (JavaScript) is evaluated once and kept as four functions.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <wasi/api.h>

#include "quickjs.h"

#define FIRST_COLLECTION_BYTES (1024 * 1024)
#define SPARE_BYTES (256 * 1024)
#define INBOX_BYTES 8192
#define JOBS_PER_PUMP 100000

#define EXPORT(name) __attribute__((export_name(#name))) name

__attribute__((import_module("forja"), import_name("send")))
extern int host_send(int op, const char *text, int length);

/* engine.c: dependents(promise) -> array of the promises that settle because of it */
extern JSValue fj_dependents(JSContext *c, JSValueConst self, int argc, JSValueConst *argv);

static JSRuntime *rt;
static JSContext *ctx;
static JSValue fn_run, fn_settle, fn_rejected, fn_finish, promise;
/* Where guest and host exchange texts without a call: fj_exchange tells the place, the same in every instance. */
static struct {
  char *text; /* the last result */
  uint32_t length;
  char inbox[INBOX_BYTES]; /* what comes in, when it is short; else the host asks fj_alloc for room */
} exchange;
static int64_t clock_us;

/* ── The clock ─────────────────────────────────────────────────────────────────────────────────
 * Defining these here keeps libc's own versions, and with them the WASI clock import, out of the link. */

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
  (void)zone;
  now->tv_sec = clock_us / 1000000;
  now->tv_usec = (suseconds_t)(clock_us % 1000000);
  return 0;
}

int clock_gettime(clockid_t which, struct timespec *now) {
  (void)which;
  now->tv_sec = clock_us / 1000000;
  now->tv_nsec = (long)(clock_us % 1000000) * 1000;
  return 0;
}

static void set_clock(double unix_ms) { clock_us = (int64_t)(unix_ms * 1000.0); }

/* ── Standard streams ──────────────────────────────────────────────────────────────────────────
 * libc's stdio is linked in for the engine's debug dumps, which nothing calls. With these four answering
 * "no such stream" the module imports no WASI function at all: forja.send is its whole world. */

int close(int fd) {
  (void)fd;
  return -1;
}

__wasi_errno_t __wasi_fd_fdstat_get(__wasi_fd_t fd, __wasi_fdstat_t *stat) {
  (void)fd, (void)stat;
  return __WASI_ERRNO_BADF;
}

__wasi_errno_t __wasi_fd_seek(__wasi_fd_t fd, __wasi_filedelta_t by, __wasi_whence_t from, __wasi_filesize_t *at) {
  (void)fd, (void)by, (void)from, (void)at;
  return __WASI_ERRNO_BADF;
}

__wasi_errno_t __wasi_fd_write(__wasi_fd_t fd, const __wasi_ciovec_t *texts, size_t count, __wasi_size_t *written) {
  (void)fd, (void)texts, (void)count, (void)written;
  return __WASI_ERRNO_BADF;
}

/* ── Text in and out ───────────────────────────────────────────────────────────────────────────*/

void *EXPORT(fj_alloc)(int length) { return malloc((size_t)length); }
void EXPORT(fj_free)(void *text) { free(text); }
void *EXPORT(fj_exchange)(void) { return &exchange; }

/* Keeps `value` as the UTF-8 text the host reads next; consumes it. */
static int keep(JSValue value) {
  size_t length = 0;
  const char *text = JS_ToCStringLen(ctx, &length, value);
  free(exchange.text);
  exchange.text = NULL;
  exchange.length = 0;
  if (text) {
    exchange.text = malloc(length + 1);
    if (exchange.text) {
      memcpy(exchange.text, text, length + 1);
      exchange.length = (uint32_t)length;
    }
    JS_FreeCString(ctx, text);
  } else {
    JS_FreeValue(ctx, JS_GetException(ctx));
  }
  JS_FreeValue(ctx, value);
  return exchange.text ? 0 : -1;
}

static int fail(void) {
  keep(JS_GetException(ctx));
  return -1;
}

/* ── What the prelude is given, and what it gives back ─────────────────────────────────────────*/

/* host(op, text) -> int */
static JSValue call_host(JSContext *c, JSValueConst self, int argc, JSValueConst *argv) {
  int op = 0, answer;
  size_t length;
  const char *text;
  (void)self;
  if (argc < 2 || JS_ToInt32(c, &op, argv[0])) return JS_EXCEPTION;
  text = JS_ToCStringLen(c, &length, argv[1]);
  if (!text) return JS_EXCEPTION;
  answer = host_send(op, text, (int)length);
  JS_FreeCString(c, text);
  return JS_NewInt32(c, answer);
}

static void track_rejection(JSContext *c, JSValueConst which, JSValueConst reason, bool handled, void *opaque) {
  JSValueConst arguments[3] = {which, reason, JS_NewBool(c, handled)};
  JSValue answer;
  (void)opaque;
  answer = JS_Call(c, fn_rejected, JS_UNDEFINED, 3, arguments);
  if (JS_IsException(answer)) JS_FreeValue(c, JS_GetException(c));
  else JS_FreeValue(c, answer);
}

static JSValue take(JSValue from, const char *name) { return JS_GetPropertyStr(ctx, from, name); }

int EXPORT(fj_init)(const char *prelude, int length) {
  JSValue maker, made, given[2];
  promise = fn_run = fn_settle = fn_rejected = fn_finish = JS_UNDEFINED;
  rt = JS_NewRuntime();
  if (!rt) return -2;
  ctx = JS_NewContext(rt);
  if (!ctx) return -3;
  maker = JS_Eval(ctx, prelude, (size_t)length, "<prelude>", JS_EVAL_TYPE_GLOBAL);
  if (JS_IsException(maker)) return fail();
  given[0] = JS_NewCFunction(ctx, call_host, "host", 2);
  given[1] = JS_NewCFunction(ctx, fj_dependents, "dependents", 1);
  made = JS_Call(ctx, maker, JS_UNDEFINED, 2, (JSValueConst *)given);
  JS_FreeValue(ctx, given[0]);
  JS_FreeValue(ctx, given[1]);
  JS_FreeValue(ctx, maker);
  if (JS_IsException(made)) return fail();
  fn_run = take(made, "run");
  fn_settle = take(made, "settle");
  fn_rejected = take(made, "rejected");
  fn_finish = take(made, "finish");
  JS_FreeValue(ctx, made);
  if (!JS_IsFunction(ctx, fn_run) || !JS_IsFunction(ctx, fn_settle)) return -4;
  if (!JS_IsFunction(ctx, fn_rejected) || !JS_IsFunction(ctx, fn_finish)) return -5;
  JS_SetHostPromiseRejectionTracker(rt, track_rejection, NULL);
  JS_RunGC(rt);
  /* The prelude alone is above the default threshold: every run would begin with a collection. */
  JS_SetGCThreshold(rt, FIRST_COLLECTION_BYTES);
  /* Leaves room at the top of the heap, so that a short run grows no memory. */
  free(malloc(SPARE_BYTES));
  return 0;
}

/* ── One run ───────────────────────────────────────────────────────────────────────────────────*/

/* Runs jobs until the run has its report: what a script left running in the background stops there.
 * 0 pending with nothing left to do, 1 fulfilled, 2 rejected, 3 more jobs wait, -1 a job threw */
int EXPORT(fj_pump)(void) {
  JSContext *which;
  int done, left = JOBS_PER_PUMP;
  for (;;) {
    switch (JS_PromiseState(ctx, promise)) {
      case JS_PROMISE_FULFILLED:
        keep(JS_PromiseResult(ctx, promise));
        return 1;
      case JS_PROMISE_REJECTED:
        keep(JS_PromiseResult(ctx, promise));
        return 2;
      default:
        break;
    }
    if (left-- <= 0) return 3;
    done = JS_ExecutePendingJob(rt, &which);
    if (done < 0) return fail();
    if (done == 0) return 0;
  }
}

/* Starts the script and pumps; -2 when it could not be started. */
int EXPORT(fj_run)(const char *code, int code_length, const char *init, int init_length, int heap_bytes,
                   int stack_bytes, double unix_ms) {
  JSValue arguments[2];
  JS_UpdateStackTop(rt);
  JS_SetMemoryLimit(rt, (size_t)heap_bytes);
  JS_SetMaxStackSize(rt, (size_t)stack_bytes);
  set_clock(unix_ms);
  arguments[0] = JS_NewStringLen(ctx, code, (size_t)code_length);
  arguments[1] = JS_NewStringLen(ctx, init, (size_t)init_length);
  if (JS_IsException(arguments[0]) || JS_IsException(arguments[1])) return fail() - 1;
  promise = JS_Call(ctx, fn_run, JS_UNDEFINED, 2, (JSValueConst *)arguments);
  JS_FreeValue(ctx, arguments[0]);
  JS_FreeValue(ctx, arguments[1]);
  return JS_IsException(promise) ? fail() - 1 : fj_pump();
}

/* Answers call `id` at this time of the guest's clock, and pumps; -2 when the answer could not be taken. */
int EXPORT(fj_settle)(int id, int ok, char *json, int length, double unix_ms) {
  JSValue arguments[3] = {JS_NewInt32(ctx, id), JS_NewBool(ctx, ok), JS_NewStringLen(ctx, json, (size_t)length)};
  JSValue answer;
  set_clock(unix_ms);
  if (json != exchange.inbox) free(json);
  if (JS_IsException(arguments[2])) return fail() - 1;
  answer = JS_Call(ctx, fn_settle, JS_UNDEFINED, 3, (JSValueConst *)arguments);
  JS_FreeValue(ctx, arguments[2]);
  if (JS_IsException(answer)) return fail() - 1;
  JS_FreeValue(ctx, answer);
  return fj_pump();
}

/* Asks the prelude for the report of a run that will not settle by itself; `why` is an error code. */
int EXPORT(fj_finish)(const char *why, int length) {
  JSValue argument = JS_NewStringLen(ctx, why, (size_t)length), report;
  if (JS_IsException(argument)) return fail();
  report = JS_Call(ctx, fn_finish, JS_UNDEFINED, 1, (JSValueConst *)&argument);
  JS_FreeValue(ctx, argument);
  return JS_IsException(report) ? fail() : keep(report);
}

/* Bytes of the JavaScript heap in use; walks the heap, so it is asked once, at the end. */
int EXPORT(fj_memory)(void) {
  JSMemoryUsage usage;
  JS_ComputeMemoryUsage(rt, &usage);
  return (int)usage.malloc_size;
}
