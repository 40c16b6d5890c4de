"""A package index of the tests' own, over HTTP: small packages made on the spot, with dates at will.

What it does not hold it sends on to PyPI, so that build tools are the real ones.
"""

import hashlib
import io
import json
import tarfile
import threading
import zipfile
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Self

PYPI = "https://pypi.org"
_TYPE = "application/vnd.pypi.simple.v1+json"


def make_wheel(name: str, version: str, requires: tuple[str, ...] = (), body: str = "") -> bytes:
    """A pure wheel with one module."""
    info = f"{name}-{version}.dist-info"
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    metadata += "".join(f"Requires-Dist: {one}\n" for one in requires)
    files = {
        f"{name}.py": body or f"version = {version!r}\n",
        f"{info}/METADATA": metadata,
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(f"{path},,\n" for path in [*files, f"{info}/RECORD"])
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for path, text in {**files, f"{info}/RECORD": record}.items():
            archive.writestr(zipfile.ZipInfo(path), text)
    return content.getvalue()


def make_sdist(name: str, version: str, files: dict[str, str]) -> bytes:
    """A source distribution of these files."""
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w:gz") as archive:
        for path, text in files.items():
            member = tarfile.TarInfo(f"{name}-{version}/{path}")
            member.size = len(text.encode())
            archive.addfile(member, io.BytesIO(text.encode()))
    return content.getvalue()


class PackageIndex:
    """A running index; a context manager."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.listed: dict[str, list[dict[str, object]]] = {}
        self.asked: list[str] = []
        self.headers: list[dict[str, str]] = []
        self.dates = True
        self.json = True
        self.failures = 0
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/simple"

    def add(self, filename: str, content: bytes, uploaded: str | datetime) -> str:
        """Offer a file; its SHA-256."""
        sha256 = hashlib.sha256(content).hexdigest()
        name = filename.split("-")[0].replace("_", "-").lower()
        told = uploaded if isinstance(uploaded, str) else uploaded.isoformat()
        entry = {"filename": filename, "url": f"/files/{filename}", "hashes": {"sha256": sha256}}
        self.listed.setdefault(name, []).append({**entry, "upload-time": told, "yanked": False})
        self.files[filename] = content
        return sha256

    def wheel(self, name: str, version: str, uploaded: str, *requires: str) -> str:
        content = make_wheel(name, version, requires)
        return self.add(f"{name}-{version}-py3-none-any.whl", content, uploaded)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def _handler(index) -> type[BaseHTTPRequestHandler]:  # noqa: N805
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                index.asked.append(self.path)
                index.headers.append(dict(self.headers))
                kind, _, name = self.path.strip("/").partition("/")
                if index.failures:
                    index.failures -= 1
                    self._send(503, b"", "text/plain")
                elif kind == "files" and name in index.files:
                    self._send(200, index.files[name], "application/octet-stream")
                elif kind == "simple" and name in index.listed:
                    self._list(name)
                elif kind == "simple":
                    self.send_response(302)
                    self.send_header("Location", f"{PYPI}/simple/{name}/")
                    self.send_header("Content-Length", "0")
                    self.end_headers()
                else:
                    self._send(404, b"", "text/plain")

            def do_HEAD(self) -> None:
                self.do_GET()

            def _list(self, name: str) -> None:
                files = index.listed[name]
                if not index.json:
                    links = "".join(f'<a href="{f["url"]}">{f["filename"]}</a>' for f in files)
                    self._send(200, links.encode(), "text/html")
                    return
                if not index.dates:
                    files = [{k: v for k, v in f.items() if k != "upload-time"} for f in files]
                told = {"meta": {"api-version": "1.1"}, "name": name, "files": files}
                self._send(200, json.dumps(told).encode(), _TYPE)

            def _send(self, status: int, body: bytes, kind: str) -> None:
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                if self.command == "GET":
                    self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        return Handler
