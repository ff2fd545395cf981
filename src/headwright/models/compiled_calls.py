"""The calls of scaled_dot_product_attention in code that torch.compile traces.

A call is followed by an operator in the same graph, `headwright::see_attention`, that hands
queries, keys and mask on when the graph runs. So a compiled model stays compiled.

Traced code has no stack of calls that says which module called. So each module that may call
attention has two hooks while it is watched: one says where the call is, the other where it was
before. The hooks are traced with the module. A place is a tensor that holds the module's
number, and so an input of the graph and no constant of it: layers that share one graph have
places of their own. The hooks of a module, and their keys, are the same in every block, so that
what was compiled in one block is used in the next.
"""

from __future__ import annotations

import itertools
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary, WeakValueDictionary

import torch
from torch import Tensor, nn

# Of the hooks.
KEY: Any = "headwright"
RUN_KEY: Any = "headwright run"
NO_MODULE = -1

# What a graph hands on: the module, or None if its place is not known, and the arguments of its call by their names.
GraphVisitor = Callable[[nn.Module | None, Mapping[str, Any]], None]


class CallPlace(threading.local):
    """Where a thread is in its models, and who is told of the calls in graphs that it runs."""

    def __init__(self) -> None:
        """Outside of all modules."""
        self.place = torch.tensor(NO_MODULE)
        self.around: list[Tensor] = []
        self.taken = False  # whether this call is handed on already
        self.visitors: list[GraphVisitor] = []


call_place = CallPlace()


class EnterModule:
    """A hook before a module is called. A copy of it does nothing."""

    def __init__(self, number: int) -> None:
        """For the module of this number."""
        self.place = torch.tensor(number)

    def __call__(self, module: nn.Module, arguments: Any) -> None:
        """From now on, the call is in this module."""
        del module, arguments
        call_place.around.append(call_place.place)
        call_place.place = self.place

    def __reduce__(self) -> tuple[Any, ...]:
        """For copies and files: a function that does nothing."""
        return getattr, (nullcontext(), "__exit__")


class LeaveModule:
    """A hook after a module was called. A copy of it does nothing."""

    def __call__(self, module: nn.Module, arguments: Any, output: Any) -> None:
        """The call is where it was before."""
        del module, arguments, output
        if call_place.around:
            call_place.place = call_place.around.pop()

    def __reduce__(self) -> tuple[Any, ...]:
        """For copies and files: a function that does nothing."""
        return getattr, (nullcontext(), "__exit__")


class RunHook:
    """A hook where a run of a model begins, or ends. A copy of it does nothing."""

    def __init__(self, number: int, place: Tensor, begins: bool) -> None:
        """For the model of this number, which its place holds too."""
        self.number, self.place, self.begins = number, place, begins

    def __call__(self, *_: Any) -> None:
        """Whoever watches the model is told: at once, or in a graph when it runs."""
        if torch.compiler.is_exporting():
            return
        if torch.compiler.is_compiling():
            see_run(self.begins, self.place)
        else:
            _tell_of_run(self.begins, self.number)

    def __reduce__(self) -> tuple[Any, ...]:
        """For copies and files: a function that does nothing."""
        return getattr, (nullcontext(), "__exit__")


@dataclass(frozen=True)
class ModuleHooks:
    """The hooks of one module."""

    number: int
    enter: EnterModule
    leave: LeaveModule
    begin: RunHook
    end: RunHook

    @classmethod
    def of(cls, number: int) -> ModuleHooks:
        """For the module of this number."""
        enter = EnterModule(number)
        begin = RunHook(number, enter.place, True)
        end = RunHook(number, enter.place, False)
        return cls(number, enter, LeaveModule(), begin, end)


_numbers = itertools.count()
_hooks: WeakKeyDictionary[nn.Module, ModuleHooks] = WeakKeyDictionary()
_modules: WeakValueDictionary[int, nn.Module] = WeakValueDictionary()
_blocks: Counter[int] = Counter()  # by the module's number, how many need its hooks
_lock = threading.Lock()


@contextmanager
def places_known(model: nn.Module) -> Iterator[None]:
    """While it lasts, the modules of a model say where a call is."""
    modules = [
        module
        for module in model.modules()
        if module is model or _may_call_attention(module)
    ]
    for module in modules:
        _add_hooks(module)
    try:
        yield
    finally:
        for module in modules:
            _remove_hooks(module)
        if not _blocks:  # calls that ended by an error have left places behind
            call_place.around.clear()
            call_place.place = torch.tensor(NO_MODULE)


def _may_call_attention(module: nn.Module) -> bool:
    """Not torch's own layers that hold no module: Linear, LayerNorm, Dropout."""
    is_of_torch = type(module).__module__.startswith("torch.nn.")
    return not is_of_torch or any(True for _ in module.children())


def _add_hooks(module: nn.Module) -> None:
    with _lock:
        hooks = _hooks.get(module)
        if hooks is None:
            hooks = _hooks[module] = ModuleHooks.of(next(_numbers))
            _modules[hooks.number] = module
        _blocks[hooks.number] += 1
        module._forward_pre_hooks[KEY] = hooks.enter
        module._forward_hooks[KEY] = hooks.leave


def _remove_hooks(module: nn.Module) -> None:
    with _lock:
        number = _hooks[module].number
        _blocks[number] -= 1
        if not _blocks[number]:
            del _blocks[number]
            module._forward_pre_hooks.pop(KEY, None)
            module._forward_hooks.pop(KEY, None)


@contextmanager
def run_hooks(
    model: nn.Module, begin: Callable[[], None], end: Callable[[], None]
) -> Iterator[None]:
    """While it lasts, these are called where a run of the model begins and ends, also by an error."""
    with places_known(model):
        hooks = _hooks[model]
        watchers = _watchers.setdefault(hooks.number, [])
        watchers.append((begin, end))
        model._forward_pre_hooks[RUN_KEY] = hooks.begin
        model._forward_hooks[RUN_KEY] = hooks.end
        model._forward_hooks_always_called[RUN_KEY] = True
        try:
            yield
        finally:
            watchers.remove((begin, end))
            if not watchers:
                del _watchers[hooks.number]
                model._forward_pre_hooks.pop(RUN_KEY, None)
                model._forward_hooks.pop(RUN_KEY, None)
                model._forward_hooks_always_called.pop(RUN_KEY, None)


@contextmanager
def compiled_runs(model: nn.Module, tell: Callable[[], None]) -> Iterator[None]:
    """While it lasts, this is called before what torch.compile made of a model runs.

    It is called outside of the compiled code, which may have left out all that is within it.
    """

    def told(*_: Any) -> None:
        if not torch.compiler.is_compiling():
            tell()

    if type(model).__name__ == "OptimizedModule":
        handle = model.register_forward_pre_hook(told)
        try:
            yield
        finally:
            handle.remove()
        return
    compiled: Any = model._compiled_call_impl
    if compiled is None:
        yield
        return

    def call(*args: Any, **kwargs: Any) -> Any:
        told()
        return compiled(*args, **kwargs)

    model._compiled_call_impl = call
    try:
        yield
    finally:
        if model._compiled_call_impl is call:
            model._compiled_call_impl = compiled


class _Uncompiled:
    """How many blocks ask that compiled code runs as plain Python, and what ends that."""

    def __init__(self) -> None:
        self.blocks = 0
        self.stance = ExitStack()


_uncompiled = _Uncompiled()


@contextmanager
def run_uncompiled() -> Iterator[None]:
    """While it lasts, compiled models run as plain Python, in all threads; blocks may end in any order."""
    with _lock:
        if not _uncompiled.blocks:
            stance = torch.compiler.set_stance("force_eager")
            _uncompiled.stance.enter_context(stance)
        _uncompiled.blocks += 1
    try:
        yield
    finally:
        with _lock:
            _uncompiled.blocks -= 1
            if not _uncompiled.blocks:
                _uncompiled.stance.close()


# By the number of a model, whom to tell where a run begins and where it ends.
_watchers: dict[int, list[tuple[Callable[[], None], Callable[[], None]]]] = {}


def _tell_of_run(begins: bool, number: int) -> None:
    for begin, end in tuple(_watchers.get(number, ())):
        if begins:
            begin()
        else:
            end()


@torch.library.custom_op("headwright::see_run", mutates_args=("place",))
def see_run(begins: bool, place: Tensor) -> None:
    """A run begins or ends, in a graph."""
    if call_place.visitors:  # there are none in the graphs of other threads
        _tell_of_run(begins, int(place))


@see_run.register_fake
def _(begins: bool, place: Tensor) -> None:
    """It has no result."""


@torch.library.custom_op("headwright::see_attention", mutates_args=("place",))
def see_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None,
    dropout: float,
    causal: bool,
    scale: float | None,
    place: Tensor,
) -> None:
    """Hand a call on. It says that it changes `place`, so that no compiler leaves it out."""
    arguments = {
        "query": query,
        "key": key,
        "value": value,
        "attn_mask": mask,
        "dropout_p": dropout,
        "is_causal": causal,
        "scale": scale,
    }
    hand_on(arguments, place)


def hand_on(arguments: Mapping[str, Any], place: Tensor) -> None:
    """A call in the module of this place, to all who are told in this thread."""
    module = _modules.get(int(place))
    for visit in tuple(call_place.visitors):
        visit(module, arguments)


@see_attention.register_fake
def _(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None,
    dropout: float,
    causal: bool,
    scale: float | None,
    place: Tensor,
) -> None:
    """It has no result."""


def detached(tensor: Tensor | None) -> Tensor | None:
    """Without its gradient: nothing is computed backwards."""
    return None if tensor is None else tensor.detach()
