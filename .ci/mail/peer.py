"""Takes what leaves: peer.py FOLDER. Prints where it listens, puts each message and its envelope into FOLDER/taken, and stays."""

import asyncio
import json
import pathlib
import sys

from aiosmtpd.smtp import SMTP

taken = pathlib.Path(sys.argv[1]) / "taken"
taken.mkdir()


class Keeps:
    count = 0

    async def handle_DATA(self, server, session, envelope):
        self.count += 1
        (taken / f"{self.count}.eml").write_bytes(envelope.original_content)
        said = {"from": envelope.mail_from, "to": envelope.rcpt_tos}
        (taken / f"{self.count}.json").write_text(json.dumps(said))
        return "250 2.6.0 Taken"


async def serve():
    keeps = Keeps()
    server = await asyncio.get_running_loop().create_server(lambda: SMTP(keeps, enable_SMTPUTF8=True), "127.0.0.1", 0)
    host, port = server.sockets[0].getsockname()
    print(f"{host}:{port}", flush=True)
    await server.serve_forever()


asyncio.run(serve())
