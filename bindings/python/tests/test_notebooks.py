"""The example notebooks run from beginning to end; the progress bar shows."""
from pathlib import Path

import pytest

import callsign

EXAMPLES = sorted((Path(__file__).resolve().parents[1] / "examples").glob("*.ipynb"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_notebook(path):
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    for package in ("pyarrow", "pandas", "polars", "duckdb"):
        pytest.importorskip(package)
    notebook = nbformat.read(path, as_version=4)
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(path.parent)}}).execute()
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    assert not [output for output in outputs if output.output_type == "error"]
    assert any("text/html" in output.get("data", {}) for output in outputs)


def test_notebooks_are_stored_without_output():
    import json
    for path in EXAMPLES:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        assert not [cell for cell in cells if cell.get("outputs") or cell.get("execution_count")]


def test_progress_bar(program, tmp_path, capsys):
    pytest.importorskip("tqdm")
    callsign.convert(program, tmp_path / "index", progress=True)
    assert "B" in capsys.readouterr().err
