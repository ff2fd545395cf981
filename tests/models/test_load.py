"""From names to models: what is loaded, what is refused, and that nothing in a checkpoint is ever run."""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file

from headwright.errors import InputError
from headwright.models import load_model
from tests.models.tiny import eager, saved, some_tokens


@pytest.fixture
def llama(tmp_path: Path) -> Path:
    return saved("llama", tmp_path / "llama")


def test_weights_that_are_not_finite_are_refused_by_the_name_of_their_tensor(
    llama: Path,
) -> None:
    weights = load_file(llama / "model.safetensors")
    (name,) = [
        name for name in weights if name.endswith("layers.1.self_attn.q_proj.weight")
    ]
    weights[name][2, 3] = float("nan")
    save_file(weights, llama / "model.safetensors", {"format": "pt"})
    with pytest.raises(
        InputError,
        match=r"layers\.1\.self_attn\.q_proj\.weight holds 1 numbers that are not finite",
    ):
        load_model(llama)


def _queries(name: str | Path) -> np.ndarray:
    return np.asarray(list(load_model(name).run(some_tokens()))[1].queries)


def test_a_file_beside_its_config_is_the_model_of_its_folder(llama: Path) -> None:
    renamed = llama / "step-100.safetensors"
    (llama / "model.safetensors").rename(renamed)
    model = load_model(renamed)
    assert model.digest == hashlib.sha256(renamed.read_bytes()).hexdigest()
    (llama / "model.safetensors").symlink_to(renamed)
    np.testing.assert_array_equal(_queries(renamed), _queries(llama))


def test_a_folder_of_shards_is_one_model(llama: Path) -> None:
    whole = _queries(llama)
    eager(llama).save_pretrained(llama / "shards", max_shard_size="10KB")
    assert len(list((llama / "shards").glob("model-*.safetensors"))) > 1
    np.testing.assert_array_equal(_queries(llama / "shards"), whole)
    next((llama / "shards").glob("model-*.safetensors")).unlink()
    with pytest.raises(
        InputError, match=r"which model.safetensors.index.json names, is not there"
    ):
        load_model(llama / "shards")


def test_a_pickled_checkpoint_of_tensors_is_read(llama: Path) -> None:
    whole = _queries(llama)
    torch.save(load_file(llama / "model.safetensors"), llama / "pytorch_model.bin")
    (llama / "model.safetensors").unlink()
    np.testing.assert_array_equal(_queries(llama), whole)


class _Trap:
    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return Path.touch, (self.mark,)


def test_a_pickle_that_would_run_code_is_refused_and_not_run(
    llama: Path, tmp_path: Path
) -> None:
    mark = tmp_path / "it-ran"
    torch.save({"embed_tokens.weight": _Trap(mark)}, llama / "pytorch_model.bin")
    (llama / "model.safetensors").unlink()
    with pytest.raises(
        InputError, match="cannot be loaded: its pickle holds more than plain tensors"
    ):
        load_model(llama)
    (llama / "pytorch_model.bin").write_bytes(pickle.dumps(_Trap(mark), protocol=2))
    with pytest.raises(
        InputError, match="cannot be loaded: its pickle holds more than plain tensors"
    ):
        load_model(llama)
    assert not mark.exists()


def test_code_that_comes_with_a_checkpoint_is_refused_and_not_run(
    llama: Path, tmp_path: Path
) -> None:
    mark = tmp_path / "it-ran"
    config = json.loads((llama / "config.json").read_text())
    config |= {
        "model_type": "mine",
        "auto_map": {"AutoConfig": "mine.Config", "AutoModel": "mine.Model"},
    }
    (llama / "config.json").write_text(json.dumps(config))
    (llama / "mine.py").write_text(
        f"import pathlib\npathlib.Path({str(mark)!r}).touch()\n"
    )
    with pytest.raises(InputError, match="brings code of its own, which is never run"):
        load_model(llama)
    assert not mark.exists()


def test_a_file_that_lacks_parameters_is_refused_rather_than_filled_at_random(
    llama: Path,
) -> None:
    parameters = load_file(llama / "model.safetensors")
    del parameters["layers.1.self_attn.k_proj.weight"]
    save_file(parameters, llama / "model.safetensors", {"format": "pt"})
    with pytest.raises(
        InputError, match=r"lack 1 of the parameters .*layers.1.self_attn.k_proj.weight"
    ):
        load_model(llama)


def test_a_config_of_other_sizes_is_refused(llama: Path) -> None:
    config = json.loads((llama / "config.json").read_text())
    (llama / "config.json").write_text(json.dumps(config | {"intermediate_size": 48}))
    with pytest.raises(InputError, match=r"cannot be loaded|lack|has the shape"):
        load_model(llama)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"num_attention_heads": 0}, "num_attention_heads 0: expected 1"),
        ({"num_hidden_layers": 10**9}, "num_hidden_layers 1000000000: expected 1 to"),
    ],
)
def test_sizes_that_no_model_has_are_refused_before_it_is_made(
    llama: Path, change: dict[str, int], words: str
) -> None:
    config = json.loads((llama / "config.json").read_text())
    (llama / "config.json").write_text(json.dumps(config | change))
    with pytest.raises(InputError, match=words):
        load_model(llama)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"vocab_size": 2**26}, "asks for 21474[0-9]* parameters, and its files have"),
        ({"intermediate_size": 2**40}, "parameters, and its files have"),
        (
            {"hidden_size": 2**24, "num_attention_heads": 2**16},
            "parameters, and its files have",
        ),
        ({"num_hidden_layers": 4000}, "asks for 4000 layers, and its files have"),
        ({"head_dim": 2**26}, "parameters, and its files have"),
    ],
)
def test_more_than_the_files_hold_is_refused_before_it_is_made(
    llama: Path, change: dict[str, int], words: str
) -> None:
    config = json.loads((llama / "config.json").read_text())
    (llama / "config.json").write_text(json.dumps(config | change))
    with pytest.raises(InputError, match=words):
        load_model(llama)


@pytest.mark.parametrize("places", [2**24, 2**40])
def test_positions_that_no_file_holds_are_refused_before_they_are_made(
    tmp_path: Path, places: int
) -> None:
    made = transformers.BertConfig(
        vocab_size=40,
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=8,
        max_position_embeddings=16,
    )
    transformers.BertModel(made).save_pretrained(tmp_path)  # type: ignore[no-untyped-call]
    config = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(
        json.dumps(config | {"max_position_embeddings": places})
    )
    with pytest.raises(InputError, match="parameters, and its files have"):
        load_model(tmp_path)


def test_experts_that_no_file_holds_are_refused_before_they_are_made(
    tmp_path: Path,
) -> None:
    config = transformers.MixtralConfig(
        vocab_size=40,
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=1,
        intermediate_size=8,
        num_local_experts=2,
    )
    transformers.MixtralModel(config).save_pretrained(tmp_path)
    given = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(
        json.dumps(given | {"num_local_experts": 2**16})
    )
    with pytest.raises(InputError, match="parameters, and its files have"):
        load_model(tmp_path)


def test_a_parameter_of_another_shape_is_named_with_both(llama: Path) -> None:
    read = load_file(llama / "model.safetensors")
    name = next(
        each for each in read if each.endswith("layers.0.self_attn.q_proj.weight")
    )
    rows, columns = read[name].shape
    save_file(
        read | {name: read[name][: rows // 2].clone()},
        llama / "model.safetensors",
        {"format": "pt"},
    )
    with pytest.raises(
        InputError,
        match=rf"q_proj.weight has the shape \({rows // 2}, {columns}\) in its files",
    ):
        load_model(llama)


def test_an_encoder_saved_alone_is_refused_for_what_it_does(tmp_path: Path) -> None:
    config = transformers.T5Config(
        vocab_size=40, d_model=16, d_kv=4, d_ff=32, num_layers=2, num_heads=4
    )
    transformers.T5EncoderModel(config).save_pretrained(tmp_path)
    with pytest.raises(InputError) as refused:
        load_model(tmp_path)
    assert "lack" not in str(refused.value) and "bias" in str(refused.value)


def test_a_tokenizer_of_special_tokens_alone_is_not_used(tmp_path: Path) -> None:
    config = transformers.BertConfig(
        vocab_size=5,
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=8,
    )
    transformers.BertModel(config).save_pretrained(tmp_path)  # type: ignore[no-untyped-call]
    model = load_model(tmp_path)
    assert (
        len(model.regular_tokens()) == 5 and len(list(model.run(np.array([1, 2])))) == 1
    )


def test_a_model_without_a_tokenizer_reads_tokens_and_says_so(llama: Path) -> None:
    model = load_model(llama)
    assert len(model.regular_tokens()) == 50
    assert model.token_strings(np.array([7])) == ["#7"]
    assert len(model.bos_tokens()) == 0
    with pytest.raises(InputError, match="has no tokenizer that can be read"):
        model.encode("text")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("no/such/folder", "there is no model"),
        ("nothing-here", "there is no model nothing-here: expected a folder"),
        ("builtin:deduction", "expected builtin:induction"),
        ("missing.gguf", "there is no model missing.gguf"),
    ],
)
def test_a_name_that_leads_nowhere_is_told_so(name: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        load_model(name)


def test_a_hub_id_without_a_network_gets_its_sentence(tmp_path: Path) -> None:
    code = (
        "from headwright.models import load_model\nfrom headwright.errors import InputError\n"
        "try:\n    load_model('some-owner/some-model')\nexcept InputError as error:\n    print(error)"
    )
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path)}
    ran = subprocess.run(
        [sys.executable, "-c", code], text=True, capture_output=True, env=environment
    )
    assert (
        "there is no model some-owner/some-model: no such path, not in the local cache"
        in ran.stdout
    ), ran.stderr


def test_folders_and_files_that_are_no_models_are_told_apart(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"it has no config.json"):
        load_model(tmp_path)
    (tmp_path / "config.json").write_text('{"model_type": "llama"}')
    with pytest.raises(InputError, match=r"it holds no model.safetensors"):
        load_model(tmp_path)
    (tmp_path / "model.safetensors").write_bytes(b"nonsense")
    with pytest.raises(InputError, match="its files have 8 bytes"):
        load_model(tmp_path)
    (tmp_path / "text.txt").write_text("text")
    with pytest.raises(InputError, match="is not a model: expected"):
        load_model(tmp_path / "text.txt")
    (tmp_path / "nonsense.gguf").write_bytes(b"GGUF nonsense")
    with pytest.raises(InputError, match="cannot be loaded"):
        load_model(tmp_path / "nonsense.gguf")
    (tmp_path / "nonsense.gguf").write_bytes(
        b"GGUF" + bytes([3, 0, 0, 0]) + b"\xff" * 64
    )
    with pytest.raises(InputError, match="it is not a whole GGUF file"):
        load_model(tmp_path / "nonsense.gguf")


def test_devices_and_types_that_are_not_there_are_refused(llama: Path) -> None:
    with pytest.raises(InputError, match="device tpu: expected one of cpu, cuda"):
        load_model(llama, device="tpu")
    with pytest.raises(InputError, match="dtype int4: expected one of"):
        load_model(llama, dtype="int4")
    with pytest.raises(InputError, match="runs in NumPy"):
        load_model("builtin:induction", dtype="float32")
    if not torch.cuda.is_available():
        with pytest.raises(InputError, match="there is no GPU that torch can use"):
            load_model(llama, device="cuda")


def test_without_torch_the_extra_is_named(llama: Path) -> None:
    code = (
        "import sys; sys.modules['torch'] = None\nfrom headwright.models import load_model\n"
        "from headwright.errors import InputError\n"
        f"try:\n    load_model({str(llama)!r})\nexcept InputError as error:\n    print(error)"
    )
    ran = subprocess.run([sys.executable, "-c", code], text=True, capture_output=True)
    assert "pip install '.[audit]' in a clone of Headwright" in ran.stdout, ran.stderr


def test_loading_writes_nothing_on_the_screen(
    llama: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    capfd.readouterr()
    load_model(llama)
    assert capfd.readouterr() == ("", "")


def test_a_text_that_does_not_fit_in_memory_gets_its_sentence(llama: Path) -> None:
    code = (
        "import json, pathlib, resource, sys, numpy as np\n"
        "from headwright.models import load_model\nfrom headwright.errors import InputError\n"
        "model = load_model(sys.argv[1])\n"
        "used = int(pathlib.Path('/proc/self/statm').read_text().split()[0]) * resource.getpagesize()\n"
        "resource.setrlimit(resource.RLIMIT_AS, (used + 2**26, used + 2**26))\n"
        "try:\n    next(iter(model.run(np.full(4_000_000, 7))))\nexcept InputError as error:\n    print(error)"
    )
    config = json.loads((llama / "config.json").read_text())
    (llama / "config.json").write_text(
        json.dumps(config | {"max_position_embeddings": 10**7})
    )
    ran = subprocess.run(
        [sys.executable, "-c", code, str(llama)], text=True, capture_output=True
    )
    assert "out of memory on cpu for a text of 4000000 tokens" in ran.stdout, ran.stderr


@pytest.mark.slow
@pytest.mark.parametrize("family", ["llama", "gpt-oss", "deepseek-v3"])
def test_a_long_text_needs_no_square_of_its_length(family: str, tmp_path: Path) -> None:
    code = (
        "import resource, sys, numpy as np\nfrom headwright.models import load_model\n"
        "peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "model = load_model(sys.argv[1])\nlist(model.run(np.arange(50)))\nbefore = peak()\n"
        "for layer in model.run(np.arange(10_000) % 50):\n    del layer\nprint(peak() - before)"
    )
    folder = saved(family, tmp_path)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(
        json.dumps(config | {"max_position_embeddings": 10**5})
    )
    ran = subprocess.run(
        [sys.executable, "-c", code, str(folder)], text=True, capture_output=True
    )
    assert int(ran.stdout) < 600 * 1024, (
        ran.stderr
    )  # kB; one layer's patterns would be 1.6 GB
