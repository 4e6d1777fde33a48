"""S3 on loopback, by moto's server in a process of its own: it needs a package with the name of a folder of ours."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

BUCKET = "results"
SECRET_KEY = "a-secret-key-that-nobody-may-see"

_SERVER = """
import sys
from moto.server import ThreadedMotoServer
server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
print(server.get_host_and_port()[1], flush=True)
sys.stdin.read()
server.stop()
"""


@contextmanager
def s3_server(environment: Any) -> Iterator[Any]:
    """An empty store and a client of it; `environment` gets the address and the credentials."""
    with subprocess.Popen(
        [sys.executable, "-P", "-c", _SERVER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as server:
        assert server.stdout is not None
        assert server.stdin is not None
        try:
            for name, value in {
                "AWS_ENDPOINT_URL": f"http://127.0.0.1:{int(server.stdout.readline())}",
                "AWS_ACCESS_KEY_ID": "someone",
                "AWS_SECRET_ACCESS_KEY": SECRET_KEY,
                "AWS_DEFAULT_REGION": "us-east-1",
            }.items():
                environment.setenv(name, value)
            import boto3

            client = boto3.client("s3")
            client.create_bucket(Bucket=BUCKET)
            yield client
        finally:
            server.stdin.close()
            server.terminate()
