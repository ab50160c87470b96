"""Folders that a command writes whole or not at all, and never over files of somebody else."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ehrbench.errors import EhrbenchError


@contextmanager
def replace_folder(folder: Path, marker_name: str) -> Iterator[Path]:
    """An empty folder to fill, which takes the place of `folder` when the block ends.

    The block must write a file `marker_name` into it: a later call replaces only a folder that
    has one. After an error in the block `folder` is as it was before; what a killed call has left
    is put right and removed by the next one.

    Raises EhrbenchError before the block where `folder` is a file or holds files of another kind,
    or while another process fills it.
    """
    # Names that nobody else uses.
    part, old = (folder.with_name(f".ehrbench-{end}-{folder.name}") for end in ("part", "old"))
    if part.is_dir():
        os.close(_locked(part, folder))
    if old.is_dir() and not folder.exists():
        # Killed between the two steps of the swap.
        os.replace(old, folder)
    if folder.exists() and not folder.is_dir():
        raise EhrbenchError(f"{folder} is a file: name a folder with --out")
    if folder.is_dir() and any(folder.iterdir()) and not (folder / marker_name).is_file():
        raise EhrbenchError(f"{folder} holds other files: name an empty folder with --out")
    for leftover in (part, old):
        shutil.rmtree(leftover, ignore_errors=True)
    part.mkdir(parents=True)
    lock = _locked(part, folder)
    try:
        yield part
        if not (part / marker_name).is_file():
            raise ValueError(f"no {marker_name} was written")
        if folder.exists():
            os.replace(folder, old)
        os.replace(part, folder)
    finally:
        shutil.rmtree(part, ignore_errors=True)
        if old.exists() and not folder.exists():
            os.replace(old, folder)
        shutil.rmtree(old, ignore_errors=True)
        os.close(lock)


def _locked(part: Path, folder: Path) -> int:
    """A descriptor that holds the lock of a part; the lock ends with it or with the process."""
    descriptor = os.open(part, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(descriptor)
        raise EhrbenchError(
            f"another ehrbench writes {folder}: wait for it, or end it"
        ) from error
    return descriptor
