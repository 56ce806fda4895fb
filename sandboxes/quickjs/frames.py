"""The wire between Forja and its engine child: frames of a kind, a run's number, and bytes."""

from __future__ import annotations

import json
import math
import struct
from typing import IO, Any

from sandboxes.base import MAX_TOOL_RESULT_BYTES, MIB
from sandboxes.quickjs.answers import Answer
from sandboxes.quickjs.order import (
    END_KINDS,
    MAX_MESSAGE_BYTES,
    MAX_REPORT_BYTES,
    OP_CALL,
    OP_OUTPUT,
    OP_PROGRESS,
    End,
    Order,
)

# To the child
JOB, SETTLE, STOP = 11, 12, 13
# To Forja; a script's own messages travel under their op
READY, FAILED, ENDED = 21, 22, 23

_HEADER = struct.Struct("<BII")
_LENGTHS = struct.Struct("<III")
_SETTLE = struct.Struct("<I?d")
_META = struct.Struct("<I")

MAX_META_BYTES = 64 * 1024
MAX_FROM_CHILD = {
    OP_CALL: MAX_MESSAGE_BYTES[OP_CALL],
    # A batch joins output: the first message of a batch may be as large as one may be, and then some.
    OP_OUTPUT: MAX_MESSAGE_BYTES[OP_OUTPUT] + MIB,
    OP_PROGRESS: MAX_MESSAGE_BYTES[OP_PROGRESS],
    READY: 0,
    FAILED: 4096,
    ENDED: MAX_REPORT_BYTES + MAX_META_BYTES + _META.size,
}
MAX_TO_CHILD = {JOB: 1024 * MIB, SETTLE: MAX_TOOL_RESULT_BYTES + MIB, STOP: 64}

_METRICS = frozenset(
    ("startupMs", "durationMs", "cpuMs", "peakMemoryBytes", "droppedStdoutBytes", "droppedStderrBytes")
)

Frame = tuple[int, int, bytes]


class BadFrame(ValueError):
    """The other side does not speak the protocol."""


def pack(kind: int, run: int, payload: bytes = b"") -> bytes:
    return _HEADER.pack(kind, run, len(payload)) + payload


def read(stream: IO[bytes], *, most: dict[int, int]) -> Frame | None:
    """Read one frame; None at the end of the stream. Raises BadFrame before it takes in what is too large."""
    header = _exactly(stream, _HEADER.size)
    if header is None:
        return None
    kind, run, length = _HEADER.unpack(header)
    if length > most.get(kind, -1):
        raise BadFrame(f"a frame of kind {kind} with {length} bytes")
    payload = _exactly(stream, length)
    return None if payload is None else (kind, run, payload)


def must_read(stream: IO[bytes], *, most: dict[int, int]) -> Frame:
    """Read one frame; EOFError at the end of the stream."""
    frame = read(stream, most=most)
    if frame is None:
        raise EOFError
    return frame


def _exactly(stream: IO[bytes], length: int) -> bytes | None:
    data = stream.read(length) if length else b""
    if len(data) == length:
        return data
    parts = [data]
    while data and (length := length - len(data)):
        parts.append(data := stream.read(length))
    return b"".join(parts) if not length else None


def pack_order(order: Order) -> bytes:
    numbers = {
        "heap_bytes": order.heap_bytes,
        "stack_bytes": order.stack_bytes,
        "timeout_ms": order.timeout_ms,
        "clock_ms": order.clock_ms,
        "max_calls": order.max_calls,
    }
    meta = json.dumps(numbers).encode()
    return _LENGTHS.pack(len(meta), len(order.code), len(order.init)) + meta + order.code + order.init


def read_order(payload: bytes) -> Order:
    meta, code, init = _LENGTHS.unpack_from(payload)
    at = _LENGTHS.size
    numbers = json.loads(payload[at : at + meta])
    at += meta
    return Order(code=payload[at : at + code], init=payload[at + code : at + code + init], **numbers)


def pack_settle(*, call_id: int, ok: bool, payload: bytes, clock_ms: int) -> bytes:
    return _SETTLE.pack(call_id, ok, float(clock_ms)) + payload


def read_settle(payload: bytes) -> Answer:
    call_id, ok, clock_ms = _SETTLE.unpack_from(payload)
    return Answer(call_id, ok, payload[_SETTLE.size :], int(clock_ms))


def pack_end(end: End) -> bytes:
    meta = json.dumps({"kind": end.kind, "detail": end.detail[:1000], "metrics": end.metrics}).encode()
    return _META.pack(len(meta)) + meta + end.report


def read_end(payload: bytes) -> End:
    """Read how the child says its run ended; raises BadFrame on anything it could not have written."""
    if len(payload) < _META.size:
        raise BadFrame("an end without its description")
    (length,) = _META.unpack_from(payload)
    if length > MAX_META_BYTES:
        raise BadFrame("an end with too long a description")
    try:
        meta = json.loads(payload[_META.size : _META.size + length])
    except (ValueError, RecursionError) as error:
        raise BadFrame("an end whose description cannot be read") from error
    if not isinstance(meta, dict) or meta.get("kind") not in END_KINDS:
        raise BadFrame("an end of no known kind")
    return End(
        kind=END_KINDS[meta["kind"]],
        report=payload[_META.size + length :],
        detail=str(meta.get("detail"))[:1000],
        metrics=_metrics(meta.get("metrics")),
    )


def _metrics(told: Any) -> dict[str, float]:
    if not isinstance(told, dict):
        return {}
    known = {name: value for name, value in told.items() if name in _METRICS and type(value) in (int, float)}
    return {name: float(value) for name, value in known.items() if 0 <= value < 2**53 and math.isfinite(value)}
