"""Endpoints that lie about lengths, compress without end, drip, redirect, babble: no crash, no loss, no second bill."""

from __future__ import annotations

import asyncio
import gzip
import json
import struct
import subprocess
import sys
import zlib
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from goldgate.generation.limits import EndpointLimits
from goldgate.generation.transport import MAX_BODY, MAX_LARGE_BODIES, read_body
from tests.cases import cases
from tests.generation.conftest import MakeData
from tests.generation.raw import Raw, Reply, completion, http
from tests.generation.test_generation_commands import ENVIRONMENT, command

ANSWER = '{"events": []}'
WHOLE = completion(ANSWER)


def raw_body(text: str) -> bytes:
    """An answer whose text stands in the body as it is given here, escapes and all."""
    return WHOLE.replace(json.dumps(ANSWER).encode(), f'"{text}"'.encode())


def chunked(*pieces: bytes, end: bool = True) -> bytes:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    return head + b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces) + (b"0\r\n\r\n" if end else b"")


def events(*pieces: dict[str, Any], done: bool = True) -> bytes:
    lines = [": working on it", *(f"data: {json.dumps(piece)}" for piece in pieces)]
    return "\n\n".join([*lines, *(["data: [DONE]"] if done else [])]).encode()


def delta(text: str, finish: str | None = None) -> dict[str, Any]:
    return {"model": "m", "choices": [{"index": 0, "delta": {"content": text}, "finish_reason": finish}]}


def with_tokens(written: bytes) -> bytes:
    return http(WHOLE.replace(b'"prompt_tokens": 5', b'"prompt_tokens": ' + written))


def packed(body: bytes) -> bytes:
    return http(body, "Content-Encoding: gzip")


STREAM = [delta(ANSWER[:5]), delta(ANSWER[5:], "stop"), {"choices": [], "usage": {"prompt_tokens": 5}}]

PAID: dict[str, tuple[Reply, str]] = {
    "half a surrogate pair": (http(raw_body("x\\ud83d")), "x\ufffd"),
    "both halves": (http(raw_body("\\ud83d\\ude00")), "😀"),
    "NaN in logprobs": (http(WHOLE.replace(b'"index": 0', b'"logprobs": [NaN, -Infinity, 1e999]')), ANSWER),
    "a byte order mark": (http(b"\xef\xbb\xbf" + WHOLE), ANSWER),
    "UTF-16": (http(WHOLE.decode().encode("utf-16")), ANSWER),
    "bytes that are no UTF-8": (http(WHOLE.replace(b'"model": "m"', b'"model": "\xff"')), ANSWER),
    "a bare line end in a string": (http(raw_body("a\nb")), "a\nb"),
    "keys twice": (http(WHOLE[:-1] + b', "choices": []}'), ANSWER),
    "an integer of 5000 digits": (http(WHOLE[:-1] + b', "created": ' + b"9" * 5000 + b"}"), ANSWER),
    "tokens over 64 bits": (with_tokens(b"18446744073709551616"), ANSWER),
    "tokens of 64 bits": (with_tokens(b"18446744073709551615"), ANSWER),
    "tokens below zero": (with_tokens(b"-5"), ANSWER),
    "tokens that are text": (with_tokens(b'"5"'), ANSWER),
    "more after the end": (http(WHOLE + b"\n\ndata: [DONE]"), ANSWER),
    "an object for a text": (http(WHOLE.replace(json.dumps(ANSWER).encode(), b'{"a": "\\ud83d"}')), '{"a": "\ufffd"}'),
    "a length that is too long": (http(WHOLE, length=len(WHOLE) + 7), ANSWER),
    "chunks without an end": (chunked(WHOLE, end=False), ANSWER),
    "chunks, then garbage": ([chunked(WHOLE[:9], WHOLE[9:], end=False), b"zz\r\n\xff\r\n"], ANSWER),
    "gzip": (packed(gzip.compress(WHOLE)), ANSWER),
    "two members of gzip": (packed(gzip.compress(WHOLE[:9]) + gzip.compress(WHOLE[9:])), ANSWER),
    "gzip without its end": (packed(gzip.compress(WHOLE)[:-8]), ANSWER),
    "gzip with garbage after it": (packed(gzip.compress(WHOLE) + b"garbage"), ANSWER),
    "zlib": (http(zlib.compress(WHOLE), "Content-Encoding: deflate"), ANSWER),
    "deflate without a header": (http(zlib.compress(WHOLE)[2:-4], "Content-Encoding: deflate"), ANSWER),
    "gzip that is none": (http(WHOLE, "Content-Encoding: gzip"), ANSWER),
    "a stream": (http(events(*STREAM)), ANSWER),
    "another 2xx": (http(WHOLE, status="201 Created"), ANSWER),
    "an error beside the answer": (http(WHOLE[:-1] + b', "error": {"message": "late", "code": 500}}'), ANSWER),
    "unicode in headers": (http(WHOLE, "X-Note: 质押\udcff", "Retry-After: ５"), ANSWER),
    "HTML for a content type": (http(WHOLE).replace(b"application/json", b"text/html; charset=none"), ANSWER),
}


@pytest.mark.parametrize("name", PAID)
def test_an_answer_that_was_paid_for_is_kept(make_data: MakeData, name: str) -> None:
    reply, said = PAID[name]
    data = make_data(2)
    with Raw(lambda *_: reply, pause=0.05) as server:
        outcome, _ = data.generate(server.url, limits=EndpointLimits(concurrency=1), timeout=0.6)
        assert len(server.heads) == 2
    assert outcome.summaries[0].complete
    assert [line["response"] for line in data.journal("answer")] == [said] * 2
    json.loads((data.out / "generation.json").read_bytes())


def test_a_wrong_length_does_not_give_one_question_the_answer_to_another(make_data: MakeData) -> None:
    data = make_data(6)

    def reply(number: int, _: bytes, body: bytes) -> Reply:
        text = json.loads(body)["messages"][-1]["content"]
        right = http(completion(text), keep=True)
        return right + http(completion("the answer to something else"), keep=True)  # one reply too many

    with Raw(reply, close=False) as server:
        outcome, _ = data.generate(server.url, limits=EndpointLimits(concurrency=2))
    assert outcome.summaries[0].complete
    for line in data.journal("answer"):
        number = line["id"][1:]
        assert f"Union {number} went" in line["response"]


def bomb(size: int) -> bytes:
    """So many blanks in gzip. One megabyte is compressed, and the others are copies of it."""
    blanks, packer, checksum = b" " * 2**20, zlib.compressobj(9, wbits=-15), 0
    megabyte = packer.compress(blanks) + packer.flush(zlib.Z_FULL_FLUSH)
    for _ in range(size // 2**20):
        checksum = zlib.crc32(blanks, checksum)
    head, end = b"\x1f\x8b\x08" + bytes(6) + b"\xff", struct.pack("<II", checksum, size)
    return head + megabyte * (size // 2**20) + packer.flush() + end


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is measured as Linux tells it")
def test_a_body_that_grows_without_end_takes_bounded_memory(make_data: MakeData) -> None:
    data = make_data(8)
    small = bomb(400 * 2**20)
    assert len(small) < 2**20
    measured = (
        "import sys; from goldgate.cli.main import main\n"
        "try: main()\n"
        "finally:\n"
        "    lines = open('/proc/self/status').read().splitlines()\n"
        "    print([line.split()[1] for line in lines if line.startswith('VmHWM')][0], file=sys.stderr)"
    )
    with Raw(lambda *_: http(small, "Content-Encoding: gzip")) as server:
        arguments = command(data, server.url, "--attempts", "2", program="generate")[3:]
        done = subprocess.run(
            [sys.executable, "-c", measured, *arguments], capture_output=True, text=True, env=ENVIRONMENT, timeout=120
        )
        assert len(server.heads) == 8  # a body that is too large is not asked for again
    assert done.returncode == 2
    assert "too_large 8" in done.stdout
    assert int(done.stderr.split()[-1]) < 200_000  # kB; one such body alone took more than 400,000


def endless() -> Iterator[bytes]:
    yield b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    for _ in range(4 * MAX_BODY // 2**16):
        yield b"10000\r\n" + b" " * 2**16 + b"\r\n"


def many_headers() -> Iterator[bytes]:
    yield b"HTTP/1.1 200 OK\r\n"
    for number in range(20_000):
        yield b"X-%d: %s\r\n" % (number, b"y" * 100)


def empty_members() -> Iterator[bytes]:
    yield b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\n\r\n"
    for _ in range(2 * MAX_BODY // 2**16):
        yield gzip.compress(b"") * (2**16 // 20)


REPEATED: dict[str, tuple[Callable[[], Reply], str]] = {
    "an endless body": (lambda: endless(), "too_large"),
    "endless headers": (lambda: many_headers(), "bad_http"),
    "endless compressed nothing": (lambda: empty_members(), "half_answer"),
    "a header line of 1 MB": (lambda: b"HTTP/1.1 200 OK\r\nX: " + b"y" * 2**20 + b"\r\n\r\n", "bad_http"),
    "chunked garbage": (lambda: chunked(end=False) + b"zz\r\n" + b"\xff" * 99, "bad_http"),
    "no HTTP at all": (lambda: b"\x16\x03\x01 SSH-2.0\r\n\r\n", "bad_http"),
    "a status of 99999": (lambda: b"HTTP/1.1 99999 X\r\n\r\n", "bad_http"),
    "HTML": (lambda: http(b"<html>Please log in</html>").replace(b"application/json", b"text/html"), "not_json"),
    "nothing": (lambda: b"", "reset"),
    "an empty body": (lambda: http(b""), "not_json"),
    "brackets": (lambda: http(b"[" * 100_000), "not_json"),
    "no choices": (lambda: http(b'{"choices": []}'), "no_answer"),
    "null": (lambda: http(b"null"), "no_answer"),
    "no message": (lambda: http(b'{"choices": [{"message": {}}]}'), "no_answer"),
    "a number for a text": (lambda: http(b'{"choices": [{"message": {"content": 5}}]}'), "no_answer"),
    "half of gzip": (lambda: http(gzip.compress(WHOLE * 9)[:40], "Content-Encoding: gzip"), "not_json"),
    "brotli": (lambda: http(b"\x0b\x02\x80hello\x03", "Content-Encoding: br"), "encoding"),
    "a stream that breaks off": (lambda: http(events(STREAM[0], done=False)), "not_json"),
    "an error in a stream": (lambda: http(events({"error": {"message": "no", "code": 503}})), "http_503"),
    "no stream": (lambda: http(b"data: 5\n\ndata: {"), "not_json"),
    "a redirect": (lambda: http(b"", "Location: http://127.0.0.1:9/", status="307 Temporary Redirect"), "http_307"),
    "a long error": (lambda: http(b'{"error": {"message": "%s"}}' % (b"*" * 2**20), status="410 No"), "http_410"),
    "an error code of 5000 digits": (lambda: http(b'{"error": {"code": ' + b"9" * 5000 + b"}}"), "http_500"),
    "an error code in a text": (lambda: http(b'{"error": {"code": "' + b"5" * 5000 + b'"}}'), "http_500"),
}  # fmt: skip


@pytest.mark.parametrize("name", REPEATED)
def test_what_is_no_answer_has_a_cause(make_data: MakeData, name: str) -> None:
    make, cause = REPEATED[name]
    data = make_data(2)
    with Raw(lambda *_: make()) as server:
        outcome, _ = data.generate(server.url, limits=EndpointLimits(concurrency=1, attempts=2), timeout=20.0)
        assert len(server.heads) <= 2 * 2 * 3  # documents, attempts, formats
    assert set(outcome.summaries[0].missing) <= {cause, "not_asked"}
    assert outcome.summaries[0].missing[cause] >= 1


def test_a_body_that_drips_ends_at_the_timeout(make_data: MakeData) -> None:
    data = make_data(1)
    drops = [http(WHOLE, length=10_000)[:-20], *([b" "] * 100)]
    with Raw(lambda *_: drops, pause=0.05) as server:
        outcome, _ = data.generate(server.url, limits=EndpointLimits(attempts=1), timeout=0.5)
    assert dict(outcome.summaries[0].missing) == {"timeout": 1}


PART = 64 * 1024  # what is decompressed at a time
WINDOWS = {"gzip": zlib.MAX_WBITS | 16, "deflate": zlib.MAX_WBITS, "raw deflate": -zlib.MAX_WBITS}


def read(packed: bytes, encoding: str, step: int) -> bytes:
    async def pieces() -> AsyncIterator[bytes]:
        for at in range(0, len(packed), step):
            yield packed[at : at + step]

    async def whole() -> bytes:
        body = await read_body(pieces(), encoding, asyncio.Semaphore(MAX_LARGE_BODIES))
        assert body.problem is None
        return body.content

    return asyncio.run(whole())


@cases("kind", WINDOWS)
@cases("step", [1, 7, 10_000])
@cases("flush", [zlib.Z_FINISH, zlib.Z_SYNC_FLUSH])
def test_nothing_is_left_inside_zlib(kind: str, step: int, flush: int) -> None:
    """With Z_SYNC_FLUSH the stream has no end, as some servers send it: zlib does not say that more is to come."""
    for size in (0, 1, PART - 1, PART, PART + 1, PART + 257, 2 * PART, 3 * PART + 100):
        content = b"a" * size  # one match of 258 bytes after the other: any of them may lie across two parts
        packer = zlib.compressobj(9, zlib.DEFLATED, WINDOWS[kind])
        packed = packer.compress(content) + packer.flush(flush)
        assert read(packed, kind.split()[-1], step) == content
