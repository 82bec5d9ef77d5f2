"""A stock pycrdt client of one page, driven by lines of JSON: it connects again with a new ticket whenever it must."""

import asyncio
import json
import sys
from urllib.parse import urlencode

import httpx
from httpx_ws import WebSocketDisconnect, aconnect_ws
from pycrdt import Awareness, Doc, Provider, Text, YMessageType, create_awareness_message, read_message
from pycrdt.websocket.websocket import HttpxWebsocket

BASE, COLLAB, TOKEN = sys.argv[1:4]
ENDS = {4400, 4404, 4409, 4413}


class Channel(HttpxWebsocket):
    """What the provider sends and hears; awareness is taken out of it, which the provider doesn't handle."""

    def __init__(self, websocket, path, awareness):
        super().__init__(websocket, path)
        self.awareness = awareness
        self.code = None
        self.closed = asyncio.Event()

    async def __anext__(self):
        while True:
            try:
                message = await self.recv()
            except Exception as error:
                self.code = error.code if isinstance(error, WebSocketDisconnect) else None
                self.closed.set()
                raise StopAsyncIteration from None
            if message[0] != YMessageType.AWARENESS:
                return message
            self.awareness.apply_awareness_update(read_message(message[1:]), self)


class Peer:
    def __init__(self):
        self.doc = Doc()
        self.text = self.doc.get("markdown", type=Text)
        self.awareness = Awareness(self.doc)
        self.awareness.observe(self.tell)
        self.epoch = None
        self.channel = None
        self.provider = None
        self.ended = None
        self.may_connect = asyncio.Event()
        self.may_connect.set()
        self.sending = set()

    async def collab(self, client):
        answer = await client.get(COLLAB + "?ticket=1", headers={"Authorization": f"Bearer {TOKEN}"})
        answer.raise_for_status()
        return answer.json()

    async def run(self):
        async with httpx.AsyncClient(base_url=BASE) as client:
            while self.ended is None:
                await self.may_connect.wait()
                try:
                    await self.connect(client)
                except httpx.HTTPStatusError as error:
                    if error.response.status_code < 500:
                        self.ended = error.response.status_code
                except Exception as error:  # The network; the next try tells.
                    print(f"peer: {error!r}", file=sys.stderr)
                self.channel = self.provider = None
                await asyncio.sleep(0.2)

    async def connect(self, client):
        page = await self.collab(client)
        if self.epoch is not None and page["epoch"] != self.epoch:
            self.ended = 4409
            return
        query = {"ticket": page["socket"]["ticket"]} | ({"epoch": self.epoch} if self.epoch else {})
        address = f"{page['socket']['url']}?{urlencode(query)}"
        # A server that is gone without a word is noticed by its silence.
        pings = {"keepalive_ping_interval_seconds": 1.0, "keepalive_ping_timeout_seconds": 3.0}
        async with aconnect_ws(address, client, **pings) as websocket:
            self.channel = Channel(websocket, COLLAB, self.awareness)
            self.provider = Provider(self.doc, self.channel)
            running = asyncio.create_task(self.provider.start())
            closed = asyncio.create_task(self.channel.closed.wait())
            synced = asyncio.create_task(self.provider.synced.wait())
            try:
                await asyncio.wait([synced, closed, running], return_when=asyncio.FIRST_COMPLETED)
                if self.provider.synced.is_set():
                    # Who is the first to open a page makes its document, and learns now which it is.
                    self.epoch = self.epoch or (await self.collab(client))["epoch"]
                    # Said anew, for others pass over what they have heard before.
                    self.awareness.set_local_state(self.awareness.get_local_state())
                await asyncio.wait([closed, running], return_when=asyncio.FIRST_COMPLETED)
            finally:
                for task in (synced, closed, running):
                    task.cancel()
                await asyncio.gather(synced, closed, running, return_exceptions=True)
                if self.channel.code in ENDS:
                    self.ended = self.channel.code
                # Whoever was seen over this connection is seen again over the next.
                others = [client_id for client_id in self.awareness.states if client_id != self.doc.client_id]
                self.awareness.remove_awareness_states(others, self)

    def tell(self, kind, event):
        if kind == "update" and event[1] == "local":
            self.say()

    def say(self):
        if self.channel is not None and self.awareness.get_local_state() is not None:
            update = self.awareness.encode_awareness_update([self.doc.client_id])
            task = asyncio.ensure_future(self.channel.send(create_awareness_message(update)))
            self.sending.add(task)
            task.add_done_callback(self.sending.discard)

    async def do(self, command):
        match command["do"]:
            case "append":
                self.text += command["text"]
            case "insert":
                self.text.insert(command["at"], command["text"])
            case "user":
                self.awareness.set_local_state({"user": {"name": command["name"]}})
            case "offline":
                self.may_connect.clear()
                if self.channel is not None:
                    self.channel.closed.set()
            case "online":
                self.may_connect.set()
        users = [state.get("user", {}).get("name") for state in self.awareness.states.values() if state]
        synced = self.provider is not None and self.provider.synced.is_set()
        return {"text": str(self.text), "users": sorted(filter(None, users)), "synced": synced, "ended": self.ended}


async def main():
    peer = Peer()
    running = [asyncio.create_task(peer.run()), asyncio.create_task(peer.awareness.start())]
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while line := await reader.readline():
        print(json.dumps(await peer.do(json.loads(line))), flush=True)
    for task in running:
        task.cancel()


asyncio.run(main())
