"""Requests as no client would send them: signed here, with whatever a test makes wrong."""

import hashlib
import hmac
import http.client
import re
import ssl
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from urllib.parse import quote, urlsplit

EMPTY = hashlib.sha256(b"").hexdigest()
UNSIGNED = "UNSIGNED-PAYLOAD"
CHUNKS = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD"
CHUNKS_WITH_TRAILER = CHUNKS + "-TRAILER"
UNSIGNED_WITH_TRAILER = "STREAMING-UNSIGNED-PAYLOAD-TRAILER"


def now():
    return datetime.now(timezone.utc)


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def encode(text):
    return quote(text, safe="-_.~")


def query_text(pairs):
    return "&".join(f"{encode(name)}={encode(value)}" for name, value in sorted(pairs))


@dataclass
class Answer:
    status: int
    headers: dict
    body: bytes

    @property
    def code(self):
        found = re.search(rb"<Code>([^<]*)</Code>", self.body)
        return found and found[1].decode()

    def text(self, element):
        found = re.search(rf"<{element}>([^<]*)</{element}>".encode(), self.body)
        return found and found[1].decode()


@dataclass
class Wire:
    endpoint: str
    key_id: str
    secret: str
    region: str
    ca: str | None = None
    host: str = field(init=False)

    def __post_init__(self):
        self.host = urlsplit(self.endpoint).netloc

    def connect(self):
        url = urlsplit(self.endpoint)
        if url.scheme == "http":
            return http.client.HTTPConnection(url.hostname, url.port, timeout=30)
        context = ssl.create_default_context(cafile=self.ca)
        return http.client.HTTPSConnection(url.hostname, url.port, timeout=30, context=context)

    def scope(self, at, service="s3"):
        return f"{at:%Y%m%d}/{self.region}/{service}/aws4_request"

    def signature(self, at, text):
        key = f"AWS4{self.secret}".encode()
        for step in self.scope(at).split("/"):
            key = hmac.digest(key, step.encode(), "sha256")
        return hmac.new(key, text.encode(), "sha256").hexdigest()

    def _canonical(self, method, path, query, headers, signed, payload):
        lines = "".join(f"{name}:{' '.join(headers[name].split())}\n" for name in signed)
        text = "\n".join([method, path, query, lines, ";".join(signed), payload])
        return sha256(text.encode())

    def authorize(self, method, path, query, headers, payload, at, unsigned=()):
        """The Authorization header, and its signature, which the first chunk's is made from."""
        lower = {name.lower(): value for name, value in headers.items()}
        signed = sorted(set(lower) - set(unsigned) - {"content-length"})
        canonical = self._canonical(method, path, query, lower, signed, payload)
        text = f"AWS4-HMAC-SHA256\n{at:%Y%m%dT%H%M%SZ}\n{self.scope(at)}\n{canonical}"
        signature = self.signature(at, text)
        credential = f"{self.key_id}/{self.scope(at)}"
        return f"AWS4-HMAC-SHA256 Credential={credential}, SignedHeaders={';'.join(signed)}, Signature={signature}", signature

    def signed_headers(self, method, path, query=(), headers=None, body=b"", *, payload=None, at=None, unsigned=(), late=None):
        """The headers of a signed request; `late` are added after it was signed."""
        at = at or now()
        payload = sha256(body) if payload is None else payload
        all_headers = {"Host": self.host, "x-amz-date": f"{at:%Y%m%dT%H%M%SZ}", "x-amz-content-sha256": payload}
        all_headers |= headers or {}
        authorization, _ = self.authorize(method, path, query_text(query), all_headers, payload, at, unsigned)
        return all_headers | {"Authorization": authorization} | (late or {})

    def presigned(self, method, path, expires=60, *, at=None, query=(), headers=None):
        """The query of a presigned address."""
        at = at or now()
        headers = {"host": self.host} | {name.lower(): value for name, value in (headers or {}).items()}
        pairs = list(query) + [
            ("X-Amz-Algorithm", "AWS4-HMAC-SHA256"),
            ("X-Amz-Credential", f"{self.key_id}/{self.scope(at)}"),
            ("X-Amz-Date", f"{at:%Y%m%dT%H%M%SZ}"),
            ("X-Amz-Expires", str(expires)),
            ("X-Amz-SignedHeaders", ";".join(sorted(headers))),
        ]
        text = query_text(pairs)
        canonical = self._canonical(method, path, text, headers, sorted(headers), UNSIGNED)
        signature = self.signature(at, f"AWS4-HMAC-SHA256\n{at:%Y%m%dT%H%M%SZ}\n{self.scope(at)}\n{canonical}")
        return f"{text}&X-Amz-Signature={signature}"

    def send(self, method, target, headers=None, body=b"", *, length=None, half_close=False):
        """Sends exactly this; with `length`, announces another one than the body has."""
        connection = self.connect()
        try:
            connection.putrequest(method, target, skip_host=True, skip_accept_encoding=True)
            headers = {"Host": self.host} | (headers or {})
            if not {"content-length", "transfer-encoding"} & {name.lower() for name in headers}:
                headers["Content-Length"] = str(len(body) if length is None else length)
            for name, value in headers.items():
                connection.putheader(name, value.encode() if isinstance(value, str) else value)
            connection.endheaders()
            try:
                connection.send(body)
                if half_close:
                    connection.sock.shutdown(1)
            except OSError:
                # Refused before it was read; the answer tells.
                pass
            answer = connection.getresponse()
            return Answer(answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read())
        finally:
            connection.close()

    def request(self, method, path, query=(), headers=None, body=b"", **options):
        """A request that is signed as it should be, but for the options of `signed_headers`."""
        sent = {name: options.pop(name) for name in ("length", "half_close") if name in options}
        headers = self.signed_headers(method, path, query, headers, body, **options)
        text = query_text(query)
        return self.send(method, f"{path}?{text}" if text else path, headers, body, **sent)

    def chunked(self, path, chunks, *, trailer=None, declared=None, payload=CHUNKS, headers=None, length=None, spoil=None):
        """A PUT in signed chunks; `spoil(number, signature)` answers another signature for a chunk."""
        at = now()
        size = sum(map(len, chunks)) if length is None else length
        all_headers = {
            "Host": self.host,
            "x-amz-date": f"{at:%Y%m%dT%H%M%SZ}",
            "x-amz-content-sha256": payload,
            "x-amz-decoded-content-length": str(size),
            "Content-Encoding": "aws-chunked",
        } | (headers or {})
        if trailer or declared:
            all_headers["x-amz-trailer"] = declared or trailer[0]
        authorization, last = self.authorize("PUT", path, "", all_headers, payload, at)
        body = b""
        for number, chunk in enumerate([*chunks, b""]):
            mark = ""
            if payload != UNSIGNED_WITH_TRAILER:
                text = f"AWS4-HMAC-SHA256-PAYLOAD\n{at:%Y%m%dT%H%M%SZ}\n{self.scope(at)}\n{last}\n{EMPTY}\n{sha256(chunk)}"
                last = self.signature(at, text)
                mark = f";chunk-signature={spoil(number, last) if spoil else last}"
            body += f"{len(chunk):x}{mark}\r\n".encode() + (chunk + b"\r\n" if chunk else b"")
        if trailer:
            line = f"{trailer[0]}:{trailer[1]}"
            body += f"{line}\r\n".encode()
            trailing = sha256(f"{line}\n".encode())
            if payload != UNSIGNED_WITH_TRAILER:
                text = f"AWS4-HMAC-SHA256-TRAILER\n{at:%Y%m%dT%H%M%SZ}\n{self.scope(at)}\n{last}\n{trailing}"
                signature = self.signature(at, text)
                body += f"x-amz-trailer-signature:{spoil(-1, signature) if spoil else signature}\r\n".encode()
        body += b"\r\n"
        return self.send("PUT", path, all_headers | {"Authorization": authorization}, body)


def expired(seconds):
    return now() - timedelta(seconds=seconds)
