"""A server of files for tests that answers requests for ranges of bytes, and counts them."""

import re
import threading
from contextlib import contextmanager
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
    """

    def __init__(self, files, ranges=True):
        self.files, self.ranges, self.sent = files, ranges, []
        self.tag = '"1"'
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
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                owner.sent.append(len(data))
                self.wfile.write(data)

            def log_message(self, *_):
                pass

        return Handler
