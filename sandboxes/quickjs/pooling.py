"""Where an engine's instances live: a pool of two address ranges, made once.

Without it every VM begins with some seventy page faults, which take longer than a short script. With it wasmtime
puts back only the pages the last instance wrote to, from the module's own image, before the next one gets the range.
Only the bindings know the pool; where they lack it, instances are mapped one by one.
"""

from __future__ import annotations

import wasmtime

from sandboxes.base import MIB

try:
    from wasmtime import _bindings as raw

    _new, _delete = raw._wasmtime_pooling_allocation_config_new, raw._wasmtime_pooling_allocation_config_delete
    _use = raw._wasmtime_pooling_allocation_strategy_set
    _instances = raw._wasmtime_pooling_allocation_config_total_core_instances_set
    _memories = raw._wasmtime_pooling_allocation_config_total_memories_set
    _tables = raw._wasmtime_pooling_allocation_config_total_tables_set
    _memory_bytes = raw._wasmtime_pooling_allocation_config_max_memory_size_set
    _kept_bytes = raw._wasmtime_pooling_allocation_config_linear_memory_keep_resident_set
    _kept_table_bytes = raw._wasmtime_pooling_allocation_config_table_keep_resident_set
    HAS_POOL = True
except (ImportError, AttributeError):
    HAS_POOL = False

# One in use, and one whose run has just ended.
_RANGES = 2
# The largest heap there can be, and room above it.
_MOST_MEMORY_BYTES = 256 * MIB
# The module's whole image; what a script grows beyond it goes back to the system.
_KEPT_BYTES = 4 * MIB


def use_pool(config: wasmtime.Config) -> None:
    if not HAS_POOL:
        return
    pool = _new()
    for set_total in (_instances, _memories, _tables):
        set_total(pool, _RANGES)
    _memory_bytes(pool, _MOST_MEMORY_BYTES)
    _kept_bytes(pool, _KEPT_BYTES)
    _kept_table_bytes(pool, 64 * 1024)
    _use(config.ptr(), pool)
    _delete(pool)
