"""`ehrbench fetch`: the open demos from PhysioNet, resumable, every file checked.

Only files that a dbt source reads are fetched. What they must be is said by the data set's own
SHA256SUMS.txt, whose checksum the package pins (open_demos.csv), so a mirror or a proxy cannot
change a byte unseen.
"""

from __future__ import annotations

import contextlib
import csv
import fcntl
import hashlib
import importlib.resources
import re
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import IO
from urllib.parse import quote, urlsplit

import requests
import urllib3

from ehrbench import __version__, doctor, paths
from ehrbench.convert.common import space_in
from ehrbench.errors import EhrbenchError, one_line
from ehrbench.progress import Progress, say, size

BASE_URL = "https://physionet.org/files"
SUMS = "SHA256SUMS.txt"
PART = ".part"
# Seconds before each further try after a break; a try that brought bytes does not count.
WAITS_S = (1.0, 2.0, 4.0, 8.0)
# A server's word on when to come back is heeded up to here.
WAIT_AT_MOST_S = 60.0
TIMEOUT_S = (15.0, 60.0)
TRANSIENT = (408, 425, 429, 500, 502, 503, 504)
BLOCK = 2**16
# Left free beside the files (bytes).
SPARE = 2**26
# A list of checksums is read up to here (bytes); the demos' have a few kB.
LIST_AT_MOST = 2**22
LIST_LINE = re.compile(r"([0-9a-fA-F]{64})[ \t]+\*?(\S.*)")


@dataclass(frozen=True)
class Demo:
    """An open data set: where it lies, the checksum of its list of checksums, and its limit.

    No file that is read has more than `largest_bytes`.
    """

    dataset: str
    source: str
    folder: str
    version: str
    path: str
    files_in: str
    sums_sha256: str
    largest_bytes: str
    licence: str


@dataclass(frozen=True)
class Item:
    """A file to fetch: its name below the folder, its address and checksum; sizes in bytes.

    `size` is what the server says, None where it says nothing.
    """

    name: str
    url: str
    sha256: str
    largest: int
    size: int | None = None

    @property
    def at_most(self) -> int:
        """What the file cannot have more of."""
        return min(self.size or self.largest, self.largest)


class TooLong(EhrbenchError):
    """More came than a file can have."""


class Broken(Exception):
    """A transfer that broke off and is worth another try; `wait_s` as the server asks."""

    def __init__(self, why: str, wait_s: float = 0.0):
        super().__init__(why)
        self.wait_s = wait_s


def demos() -> dict[str, Demo]:
    """The data sets that can be fetched, by name."""
    table = importlib.resources.files("ehrbench").joinpath("open_demos.csv")
    with table.open("r", encoding="utf-8", newline="") as handle:
        rows = list(csv.DictReader(handle))
    return {
        row["dataset"]: Demo(**{name: row[name] for name in Demo.__dataclass_fields__})
        for row in rows
    }


def fetch(
    dataset: str,
    out: Path | None = None,
    base_url: str = BASE_URL,
    sleep: Callable[[float], None] = time.sleep,
) -> Path:
    """Bring a demo into `out`/<its folder>; returns that folder.

    What is there already is checked and not fetched again; a file appears whole and right or not
    at all. Raises EhrbenchError without a connection, for a wrong checksum, for a web page instead
    of a file, for a file that does not end and for a full disk.
    """
    demo = demos()[dataset]
    folder = (out or paths.fetched_dir()) / demo.folder
    with space_in(folder), _lock(folder), requests.Session() as session:
        # Bytes as they lie there: their checksum is of these.
        session.headers["Accept-Encoding"] = "identity"
        session.headers["User-Agent"] = f"ehrbench/{__version__}"
        client = Client(session, base_url, sleep)
        sums = _sums(demo, folder, client)
        wanted = _wanted(demo, sums, base_url)
        missing = [item for item in wanted if not _have(folder / item.name, item)]
        if missing:
            _fetch_all(demo, missing, folder, client)
        whole = "were there already" if not missing else f"of them {len(missing)} new"
        say(
            f"{dataset} {demo.version}: {len(wanted)} files in {doctor.shown(folder)}, {whole}; "
            f"checksums as published ({demo.licence})"
        )
    say(next_step(demo, folder))
    return folder


def next_step(demo: Demo, folder: Path) -> str:
    """What makes target demo read the folder."""
    reads = paths.source_dir(demo.source, "demo")
    # A source of sites is read from the folder above them.
    if reads and folder.resolve() in (reads.resolve(), reads.resolve() / demo.folder):
        return "target demo reads it: now run ehrbench run --target demo"
    return f"now set {paths.variable(demo.source)}={folder.resolve()}"


@contextlib.contextmanager
def _lock(folder: Path) -> Iterator[None]:
    """One writer per folder; the lock ends with the process."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("a", encoding="utf-8") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise EhrbenchError(
                f"another ehrbench fetch writes {doctor.shown(folder)}: wait for it, or end it"
            ) from error
        yield


# ------------------------------------------------------------------------------------- what


def _sums(demo: Demo, folder: Path, client: Client) -> dict[str, str]:
    """The published checksums, name -> sha256, from the folder or from the server."""
    file, url = folder / SUMS, _url(client.base_url, demo, SUMS)
    if not (file.is_file() and paths.sha256(file) == demo.sums_sha256):
        if file.is_file():
            raise EhrbenchError(
                f"{doctor.shown(file)} is not the list of {demo.dataset} {demo.version}: move the "
                "folder away, or name another one with --out"
            )
        content = client.whole(url, LIST_AT_MOST)
        if hashlib.sha256(content).hexdigest() != demo.sums_sha256:
            raise EhrbenchError(
                f"{url} is not the list of checksums of {demo.dataset} {demo.version} "
                f"({len(content)} bytes came): check --base-url"
            )
        part = file.with_name(SUMS + PART)
        part.write_bytes(content)
        part.replace(file)
    return _listed(file.read_text(encoding="utf-8"), url)


def _listed(text: str, where: str) -> dict[str, str]:
    """The lines of a list of checksums, name -> sha256. Raises EhrbenchError for other lines."""
    sums = {}
    for number, line in enumerate(text.splitlines(), 1):
        found = LIST_LINE.fullmatch(line.strip())
        if found:
            sums[found[2]] = found[1].lower()
        elif line.strip():
            raise EhrbenchError(
                f"{where}, line {number} is no checksum and name of a file: this is not a list "
                "as sha256sum writes it"
            )
    return sums


def _wanted(demo: Demo, sums: dict[str, str], base_url: str) -> list[Item]:
    """The files of a data set that its dbt source reads, in the order of the list."""
    prefix = f"{demo.files_in}/" if demo.files_in else ""
    tables = doctor.declared_sources(paths.project_root())[demo.source]
    read = {file.lower() for table in tables for file in table.files}
    return [
        Item(below, _url(base_url, demo, name), digest, int(demo.largest_bytes))
        for name, digest in sums.items()
        if name.startswith(prefix) and (below := name.removeprefix(prefix)).lower() in read
    ]


def _url(base_url: str, demo: Demo, name: str) -> str:
    return f"{base_url.rstrip('/')}/{demo.path}/{quote(name)}"


def _have(file: Path, item: Item) -> bool:
    """Whether a file is there and right. Raises EhrbenchError for another one of that name."""
    if not file.exists():
        return False
    if not file.is_file() or paths.sha256(file) != item.sha256:
        raise EhrbenchError(
            f"{doctor.shown(file)} is there but is not the published file (its checksum differs): "
            "remove it and run again"
        )
    return True


# -------------------------------------------------------------------------------------- how


class Client:
    """Requests to one server: breaks are tried again, the first contact only once."""

    def __init__(self, session: requests.Session, base_url: str, sleep: Callable[[float], None]):
        self.session, self.base_url, self.sleep = session, base_url, sleep
        self.host = urlsplit(base_url).netloc or base_url
        self.has_answered = False

    def whole(self, url: str, at_most: int) -> bytes:
        """The content of a small file. Raises TooLong past `at_most` bytes."""

        def once() -> bytes:
            with self.opened("GET", url) as response:
                return b"".join(_blocks(response, at_most))

        return self.tried(once)

    def size(self, url: str) -> int | None:
        """Size of a file in bytes, None where the server does not say."""

        def once(method: str) -> int | None:
            fine = (403, 405, 501) if method == "HEAD" else ()
            with self.opened(method, url, fine=fine) as response:
                length = response.headers.get("Content-Length", "")
                return int(length) or None if response.ok and length.isdigit() else None

        # Some servers refuse HEAD, or answer it with a length of nothing.
        return self.tried(lambda: once("HEAD")) or self.tried(lambda: once("GET"))

    @contextlib.contextmanager
    def opened(
        self, method: str, url: str, offset: int = 0, fine: tuple[int, ...] = ()
    ) -> Iterator[requests.Response]:
        """An answer whose content is not read yet; `fine` are further codes to accept.

        Raises Broken for what is worth another try, EhrbenchError for the rest.
        """
        headers = {"Range": f"bytes={offset}-"} if offset else {}
        try:
            response = self.session.request(
                method, url, headers=headers, stream=True, timeout=TIMEOUT_S, allow_redirects=True
            )
        except requests.exceptions.SSLError as error:
            raise EhrbenchError(
                f"no safe connection to {self.host}: its certificate is not trusted here; check "
                "this machine's clock and certificates (REQUESTS_CA_BUNDLE names a file of them)"
            ) from error
        except (requests.ConnectionError, requests.Timeout) as error:
            raise Broken(self._sent_on(error.request) + _reason(error)) from error
        except requests.RequestException as error:
            raise EhrbenchError(f"{url} cannot be asked for: {one_line(error, 120)}") from error
        self.has_answered = True
        with response:
            code = response.status_code
            if code in TRANSIENT:
                asked = response.headers.get("Retry-After", "")
                wait = float(asked) if asked.isdigit() else 0.0
                raise Broken(f"the server answers {code}", min(wait, WAIT_AT_MOST_S))
            if code >= 400 and code not in fine:
                why = "is not there" if code in (404, 410) else "is refused"
                raise EhrbenchError(
                    f"{url} {why} ({self._sent_on(response)}the server answers {code}): "
                    "check --base-url, or try later"
                )
            yield response

    def tried(self, once: Callable[[], object], brought: Callable[[], int] = lambda: 0):
        """What `once` returns; tries count anew while `brought`, the bytes so far, grows."""
        tries, most = 0, brought()
        while True:
            try:
                return once()
            except Broken as error:
                tries, most = (0 if brought() > most else tries), max(brought(), most)
                waits = WAITS_S if self.has_answered else WAITS_S[:1]
                if tries >= len(waits):
                    raise EhrbenchError(self._given_up(error)) from error
                self.sleep(max(waits[tries], error.wait_s))
                tries += 1

    def _sent_on(self, last: requests.PreparedRequest | requests.Response | None) -> str:
        """Says so where another server than the one asked is at the end of redirects."""
        host = urlsplit(last.url or "").netloc if last is not None else self.host
        return "" if host == self.host else f"{self.host} sends on to {host}: "

    def _given_up(self, error: Broken) -> str:
        if not self.has_answered:
            return (
                f"no connection to {self.host}: {error}; connect this machine, or fetch where "
                "there is a connection and copy the folder"
            )
        return f"{self.host} stopped sending: {error}; run it again later: it goes on from there"


def _reason(error: Exception) -> str:
    """Why a connection failed, in a few plain words."""
    text = str(error)
    if isinstance(error, requests.exceptions.ProxyError):
        return "the proxy does not let it through"
    if isinstance(error, requests.Timeout) or "timed out" in text:
        return "no answer in time"
    for sign, words in (
        ("NameResolution", "its name cannot be resolved"),
        ("refused", "the connection is refused"),
        ("unreachable", "the network is unreachable"),
        ("reset", "the connection was reset"),
    ):
        if sign in text:
            return words
    return "the connection broke off"


def _blocks(response: requests.Response, at_most: int, offset: int = 0) -> Iterator[bytes]:
    """The content as sent, nothing unpacked; `offset` bytes of the file are there.

    Raises TooLong before a byte past `at_most` is handed out, EhrbenchError for a web page.
    """
    is_page = "html" in response.headers.get("Content-Type", "").lower()
    # Where redirects led, without what may be a signature.
    url = response.url.partition("?")[0]
    try:
        for block in response.raw.stream(BLOCK, decode_content=False):
            # No file of the data sets begins like this.
            if is_page or (not offset and block.lstrip(b"\xef\xbb\xbf \r\n\t").startswith(b"<")):
                raise EhrbenchError(
                    f"{url} is answered with a web page, not with the file: a login or a "
                    "proxy is in between; open the address in a browser, or check --base-url"
                )
            offset += len(block)
            if offset > at_most:
                raise TooLong(
                    f"{url} sends more than the {size(at_most)} that the file can have: "
                    "cut off and thrown away; check --base-url"
                )
            yield block
    except urllib3.exceptions.HTTPError as error:
        raise Broken(_reason(error)) from error


def _fetch_all(demo: Demo, missing: list[Item], folder: Path, client: Client) -> None:
    """Fetch files one by one, with one bar over their bytes."""
    missing = [replace(item, size=client.size(item.url)) for item in missing]
    todo = sum(max((item.size or 0) - _part_size(folder / item.name), 0) for item in missing)
    free = shutil.disk_usage(folder).free
    if free < todo + SPARE:
        raise EhrbenchError(
            f"no space left in {folder}: {size(todo + SPARE)} are needed and {size(free)} free: "
            "free some and run again; what is finished is kept"
        )
    with Progress(f"{demo.dataset} {demo.version}", todo, unit="bytes") as progress:
        for item in missing:
            _fetch_one(item, folder, client, progress)


def _part_size(file: Path) -> int:
    part = file.with_name(file.name + PART)
    return part.stat().st_size if part.is_file() else 0


def _fetch_one(item: Item, folder: Path, client: Client, progress: Progress) -> None:
    """Fetch one file, going on where a part of it ends, check it and give it its name."""
    file = folder / item.name
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_name(file.name + PART)
    is_resumed = _part_size(file) > 0
    while True:
        try:
            with part.open("ab") as handle:
                client.tried(lambda: _go_on(item, handle, client, progress), handle.tell)
        except TooLong:
            part.unlink()
            raise
        if paths.sha256(part) == item.sha256:
            part.replace(file)
            return
        part.unlink()
        if not is_resumed:
            raise EhrbenchError(
                f"{item.name} came with a wrong checksum and was thrown away: run it again; if it "
                f"stays so, {client.host} does not hold the published file"
            )
        # The part may have been of another file: once more from its beginning.
        is_resumed = False
        progress.total += item.size or 0


def _go_on(item: Item, handle: IO[bytes], client: Client, progress: Progress) -> None:
    """Append what is missing to a part; begins anew where the server sends the whole.

    What a part was of, the checksum of the whole tells in the end.
    """
    handle.flush()
    offset = handle.seek(0, 2)
    if offset and offset == item.size:
        return
    with client.opened("GET", item.url, offset, fine=(416,) if offset else ()) as response:
        if response.status_code == 416:
            _begin_anew(handle, offset, item, progress)
            raise Broken("the file there is shorter than the part here")
        is_rest = response.status_code == 206
        blocks = _blocks(response, item.at_most, offset if is_rest else 0)
        # A web page is seen by its first block, before the part is given up for it.
        first = next(blocks, b"")
        if offset and not is_rest:
            _begin_anew(handle, offset, item, progress)
        for block in chain([first], blocks):
            handle.write(block)
            if item.size is None:
                progress.total += len(block)
            progress.advance(len(block))
    handle.flush()


def _begin_anew(handle: IO[bytes], offset: int, item: Item, progress: Progress) -> None:
    """Empty a part; what was there has to come again."""
    handle.truncate(0)
    handle.seek(0)
    progress.total += min(offset, item.size or 0)
