"""Ask a server of pages."""

import http.client


def ask(server, path, method="GET", **headers):
    """Status, headers and body of an answer; ``path`` begins after the token."""
    return ask_whole(server, f"/{server.token}/{path}", method, **headers)


def ask_whole(server, path, method="GET", **headers):
    connection = http.client.HTTPConnection("127.0.0.1", server.server_address[1], timeout=20)
    try:
        connection.request(method, path, headers=headers)
        answer = connection.getresponse()
        return answer.status, dict(answer.getheaders()), answer.read()
    finally:
        connection.close()
