"""A server of files for tests that answers requests for ranges of bytes, and counts them."""

import re
import threading
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class RangeServer:
    """Serves byte strings by name while the context lasts.

    Parameters
    ----------
    files : dict of str to bytes
    ranges : bool
        Whether to answer requests for ranges with them; else each answer is the whole file.

    Attributes
    ----------
    sent : list of int
        Bytes of each answer.
    tells_size : bool
        Whether HEAD has a Content-Length.
    endless : bool or str
        Whether each answer goes on with zeros, without end, in spite of what HEAD says; or the name
        of the file whose answers do.
    """

    def __init__(self, files, ranges=True):
        self.files, self.ranges, self.sent = files, ranges, []
        self.tag = '"1"'
        self.tells_size, self.endless = True, False
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())

    def url(self, name):
        """Return the address of a file."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/{name}"

    @contextmanager
    def running(self):
        """Serve in a thread."""
        thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self._server.shutdown()
            self._server.server_close()
            thread.join()

    def _handler(self):
        owner = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_HEAD(self):
                data = owner.files.get(self.path.lstrip("/"))
                self.send_response(404 if data is None else 200)
                if owner.tells_size and data is not None:
                    self.send_header("Content-Length", str(len(data)))
                self.send_header("ETag", owner.tag)
                self.end_headers()

            def do_GET(self):
                data = owner.files.get(self.path.lstrip("/"))
                if data is None:
                    self.send_error(404)
                    return
                asked = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
                if not (asked and owner.ranges):
                    self._answer(200, data)
                elif int(asked[1]) >= len(data):
                    self._answer(416, b"")
                else:
                    first, last = int(asked[1]), min(int(asked[2]), len(data) - 1)
                    place = f"bytes {first}-{last}/{len(data)}"
                    self._answer(206, data[first : last + 1], {"Content-Range": place})

            def _answer(self, status, data, more=()):
                self.send_response(status)
                for name, value in {"ETag": owner.tag, **dict(more)}.items():
                    self.send_header(name, value)
                endless = owner.endless in (True, self.path.lstrip("/"))
                if not endless and owner.tells_size:
                    self.send_header("Content-Length", str(len(data)))
                else:
                    self.send_header("Connection", "close")
                self.end_headers()
                owner.sent.append(len(data))
                self.wfile.write(data)
                with suppress(OSError):
                    while endless:
                        self.wfile.write(bytes(1 << 20))
                        owner.sent[-1] += 1 << 20

            def log_message(self, *_):
                pass

        return Handler
