"""Writing the sheets: one XLSX file per rater, never over one that may have been filled."""

from __future__ import annotations

from pathlib import Path

from ehrbench import built, paths
from ehrbench.audit import sheets as layout
from ehrbench.errors import EhrbenchError
from ehrbench.folders import replace_folder
from ehrbench.progress import Progress


def sample(target: str, out: Path | None, raters: int, allow_credentialed: bool) -> list[Path]:
    """Write the sheets of `raters` raters and return their paths.

    Raises EhrbenchError for credentialed data without the flag, and where the folder holds other
    files or sheets that differ from these, as filled ones do.
    """
    from ehrbench.audit import workbook

    folder = out or paths.project_root() / "build" / target / "audit"
    connection = built.connect_marts(
        paths.database(target), target, allow_credentialed, "an audit sheet"
    )
    files: dict[str, bytes] = {}
    with connection, Progress("sheets", raters, "raters") as progress:
        release = built.release_id(connection)
        for rater in range(1, raters + 1):
            read = layout.read(connection, rater)
            files[f"rater-{rater}.xlsx"] = workbook.write(read, layout.sample_id(read), release)
            progress.advance(1)
    if folder.is_dir() and any(folder.iterdir()):
        _check_same(folder, files)
    else:
        with replace_folder(folder, "rater-1.xlsx") as part:
            for name, content in files.items():
                (part / name).write_bytes(content)
    return [folder / name for name in files]


def _check_same(folder: Path, files: dict[str, bytes]) -> None:
    found = {path.name for path in folder.iterdir()}
    same = found == set(files) and all(
        (folder / name).read_bytes() == content for name, content in files.items()
    )
    if not same:
        raise EhrbenchError(
            f"{folder} holds other files, maybe filled sheets, which are not written over: name "
            "another folder with --out, or move them away"
        )
