"""Records the attention calls of any PyTorch model: a layer is a module that makes them.

Layers are numbered in the order in which they first call attention, and have the names of
their modules. A run is a call of the model. If a module calls attention more than once in
a run, the second call is a layer of its own, `NAME (call 2)`.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from dataclasses import dataclass, field

from torch import nn

from headwright.models.attention_calls import AttentionCall
from headwright.models.sdpa_calls import SdpaMode, of_four_axes
from headwright.statistics.attention_rows import AttentionRows
from headwright.watching.attention_modules import CROSS, is_attention
from headwright.watching.memory import check_memory
from headwright.watching.recorded import RecordedStack, Recording, Run

MODEL = "model"  # the only part
WRAPPERS = (
    "_orig_mod",
    "_fsdp_wrapped_module",
    "_checkpoint_wrapped_module",
)  # that are left out of names


@dataclass(eq=False)
class CurrentRun:
    """What a thread has called since the model was called last."""

    run: Run | None = None  # once attention has been called
    calls: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    within_model: bool = False  # and not a part of it on its own


class ModuleRecorder:
    """Visits the calls of one model; their statistics come to be in `seen`."""

    def __init__(
        self, model: nn.Module, seen: Recording, free: int | None = None
    ) -> None:
        """For a model; `free` bytes may be used."""
        self.seen, self.queue, self.free = seen, seen.queue, free
        self.names: dict[nn.Module, str] = {}
        for path, module in model.named_modules():
            self.names[module] = readable_name(path)
        self.attention = [
            path for module, path in self.names.items() if is_attention(module)
        ]
        self.local = threading.local()
        self.mode = SdpaMode(model, self.record)
        self.ran = False
        self.compiled_ran = False  # what torch.compile made of the model
        self.callers: set[str] = set()  # names of modules that called attention
        self.layer_numbers: dict[str, int] = {}

    def before(self) -> None:
        """Called before the model runs: a run begins. In another thread, its calls are seen from now on."""
        self.ran = True
        self.local.current = CurrentRun(within_model=True)
        depth = getattr(self.local, "depth", 0)
        if depth == 0 and not getattr(self.local, "has_mode", False):
            self._see_this_thread()
        self.local.depth = depth + 1

    def after(self) -> None:
        """Called after the model has run, also if it has raised an error."""
        self.local.depth -= 1
        if self.local.depth == 0:
            self.local.current = CurrentRun()
            if not getattr(self.local, "has_mode", False):
                self._leave()

    def before_compiled(self) -> None:
        """Called before compiled code of the model runs, from outside of it."""
        self.compiled_ran = True

    def watch_this_thread(self) -> None:
        """From now on, the calls of this thread are seen, also outside of the model's own call."""
        self.local.has_mode = True
        self._see_this_thread()

    def leave_this_thread(self) -> None:
        """The end of `watch_this_thread`."""
        self._leave()
        self.local.has_mode = False

    def _see_this_thread(self) -> None:
        self.mode.__enter__()

    def _leave(self) -> None:
        self.mode.__exit__(None, None, None)

    def record(self, call: AttentionCall) -> None:
        """Visit a call: its statistics are added. One of no rows or no keys has none."""
        if 0 in (call.queries.numel(), call.keys.numel()):
            return
        call = of_four_axes(call).to_last_key()
        path = self.names[call.module]
        with self.queue.lock:
            self.callers.add(path)
            name = self._layer_name(path)
            rows, keys = call.queries.shape[2], call.keys.shape[2]
            cross = self._is_cross(call, path)
            start = 0 if cross else keys - rows
            run = self._run_of(call, start)
            part = self._part_of(run)
            index = self.layer_numbers.setdefault(name, len(self.layer_numbers))
            part.names[index] = name
            attention = AttentionRows(
                call.queries,
                call.keys,
                call.scale,
                softcap=call.softcap,
                mask=call.mask,
                bias=call.bias,
                causal=call.causal,
                window=call.window,
                row_position=start,
                cross=cross,
            )
            self.queue.compute(part, run, index, attention, run, rows)

    def _layer_name(self, path: str) -> str:
        current = self._current()
        if not current.within_model and path in current.calls:
            # A part of the model that is called on its own, once more: a run begins.
            current = self.local.current = CurrentRun()
        current.calls[path] += 1
        number = current.calls[path]
        return path if number == 1 else f"{path} (call {number})"

    def _current(self) -> CurrentRun:
        if not hasattr(self.local, "current"):
            self.local.current = CurrentRun()
        current: CurrentRun = self.local.current
        return current

    def _is_cross(self, call: AttentionCall, path: str) -> bool:
        """Whether its keys are of another text, by the names, or since they are fewer than the rows."""
        named = any(word in path.lower() for word in CROSS)
        says_so = bool(getattr(call.module, "is_cross_attention", False))
        return named or says_so or call.queries.shape[2] > call.keys.shape[2]

    def _run_of(self, call: AttentionCall, start: int) -> Run:
        current = self._current()
        batch, _, rows, _ = call.queries.shape
        if current.run is None:
            current.run = Run(batch, start, start + rows)
            layers = max(1, len(self.attention), len(self.layer_numbers))
            check_memory(call, layers, self.seen, self.free)
        return current.run

    def _part_of(self, run: Run) -> RecordedStack:
        part = self.seen.computed.get(MODEL)
        if part is None:
            part = RecordedStack(
                MODEL, self.seen.wanted, self.seen.keep, self.seen.storage
            )
            self.seen.computed[MODEL] = part
        if part.at(run) < 0:
            part.open(run)
        return part

    def unseen(self) -> tuple[str, ...]:
        """The modules of attention that called no attention, and hold no module that did."""
        missing = []
        for path in self.attention:
            inside = path + "." if path else ""
            called = [
                name for name in self.callers if name == path or name.startswith(inside)
            ]
            if not called:
                missing.append(path)
        return tuple(missing)


def readable_name(path: str) -> str:
    """The name of a module without what is put around modules to compile or to shard them."""
    parts = [part for part in path.split(".") if part not in WRAPPERS]
    return ".".join(parts)
