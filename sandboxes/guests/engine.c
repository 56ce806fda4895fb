/* QuickJS-NG in one piece with the one question that its public API cannot answer:
   which promises settle because this one does?

   The end-of-run rule for calls in flight (js/run.js) needs the true answer. A script may replace
   Promise.prototype.then, and `await` never goes through it, so nothing seen from JavaScript is reliable;
   the reactions kept inside the engine are. They are read here, never changed. */
#include "quickjs.c"

static int fj_add_target(JSContext *ctx, JSValueConst list, uint32_t *count, JSValueConst function) {
  if (JS_VALUE_GET_TAG(function) != JS_TAG_OBJECT) return 0;
  JSObject *object = JS_VALUE_GET_OBJ(function);
  switch (object->class_id) {
  case JS_CLASS_ASYNC_FUNCTION_RESOLVE: /* an async function waits here: its own promise depends on it */
  case JS_CLASS_ASYNC_FUNCTION_REJECT:
    if (!object->u.async_function_data) return 0;
    return fj_add_target(ctx, list, count, object->u.async_function_data->resolving_funcs[0]);
  case JS_CLASS_PROMISE_RESOLVE_FUNCTION: /* then(), an adopted promise, Promise.all and the like */
  case JS_CLASS_PROMISE_REJECT_FUNCTION:
    if (!object->u.promise_function_data) return 0;
    return JS_DefinePropertyValueUint32(ctx, list, (*count)++,
                                        JS_DupValue(ctx, object->u.promise_function_data->promise), JS_PROP_C_W_E);
  default:
    return 0;
  }
}

/* dependents(promise) -> array of promises waiting for it; empty for anything else and once it has settled. */
JSValue fj_dependents(JSContext *ctx, JSValueConst this_value, int argc, JSValueConst *argv) {
  uint32_t count = 0;
  JSValue list = JS_NewArray(ctx);
  (void)this_value;
  if (JS_IsException(list) || argc < 1) return list;
  JSPromiseData *promise = JS_GetOpaque(argv[0], JS_CLASS_PROMISE);
  if (!promise || promise->promise_state != JS_PROMISE_PENDING) return list;
  for (int side = 0; side < 2; side++) {
    struct list_head *link;
    list_for_each(link, &promise->promise_reactions[side]) {
      JSPromiseReactionData *reaction = list_entry(link, JSPromiseReactionData, link);
      if (fj_add_target(ctx, list, &count, reaction->handler) < 0 ||
          fj_add_target(ctx, list, &count, reaction->resolving_funcs[0]) < 0) {
        JS_FreeValue(ctx, list);
        return JS_EXCEPTION;
      }
    }
  }
  return list;
}
