"""What all scripted servers share: HTTP/1.1 on a free port of loopback, in a thread of its own, while in `with`."""

from __future__ import annotations

import socket
import socketserver
import ssl
import struct
import threading
from http.server import BaseHTTPRequestHandler
from types import TracebackType
from typing import Self

POLL_SECONDS = 0.01


class LoopbackServer(socketserver.ThreadingTCPServer):
    """`connections` is how many were made. With `tls` it speaks HTTPS."""

    allow_reuse_address = True
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(self, handler: type[BaseHTTPRequestHandler], *, host: str = "127.0.0.1", tls: ssl.SSLContext | None = None) -> None:
        super().__init__((host, 0), handler)
        self._scheme = "https" if tls else "http"
        if tls:
            self.socket = tls.wrap_socket(self.socket, server_side=True)
        self.connections = 0
        self._thread = threading.Thread(target=self.serve_forever, args=(POLL_SECONDS,), daemon=True)

    @property
    def port(self) -> int:
        return int(self.socket.getsockname()[1])

    @property
    def origin(self) -> str:
        """Scheme, host and port."""
        return f"{self._scheme}://{self.socket.getsockname()[0]}:{self.port}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.shutdown()
        self.server_close()
        self._thread.join()

    def verify_request(self, request: object, client_address: object) -> bool:  # noqa: ARG002 - the signature is the library's
        self.connections += 1
        return True

    def shutdown_request(self, request: socket.socket | tuple[bytes, socket.socket]) -> None:
        """Close at once: with a farewell first, no connection would ever be reset."""
        self.close_request(request)

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that hangs up is no fault of the server."""


class LoopbackHandler(BaseHTTPRequestHandler):
    """`timeout`: a client that is silent for so many seconds is hung up on."""

    protocol_version = "HTTP/1.1"
    timeout = 10.0
    disable_nagle_algorithm = True

    @property
    def given(self) -> dict[str, str]:
        """The headers of the request by lower-case names."""
        return {name.lower(): value for name, value in self.headers.items()}

    def reset(self) -> None:
        """Let the connection end with a reset once the request is done with."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the signature is the library's
        """Tests are silent."""
