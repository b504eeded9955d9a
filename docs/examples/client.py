#!/usr/bin/env python3
"""A client of the protocol in docs/protocol.md, with Python's standard library only.

    python3 client.py unix:///PATH | tcp://HOST:PORT

runs an example on a server of the notes' model. It prints a line for each step, and exits with 1 and the difference
if a step fails; it leaves only history. The client reads while it waits, and follows one query, with whole objects, so
that it needs no edits of deltas. The caller decides when to reconnect, with growing pauses.
"""
import collections, json, pathlib, re, secrets, select, signal, socket, struct, sys, urllib.parse

# ---- Protobuf. A message is a dictionary {field: value}; which fields there are is read from graph.proto.
PROTO = pathlib.Path(__file__).resolve().parents[2] / "Schema/Wire/graph.proto"
MESSAGES, FIXED = {}, {"fixed64": "<Q", "double": "<d"}
READ = {"string": bytes.decode, "double": lambda data: struct.unpack("<d", data)[0],
        "sint64": lambda n: n >> 1 ^ -(n & 1), "fixed64": lambda data: int.from_bytes(data, "little")}
ID = collections.namedtuple("ID", "high low entity", defaults=[0, 0, 0])  # ObjectID: a key, no dictionary
for message, repeated, kind, name, number in re.findall(
        r"message (\w+)|(repeated )?(\w+) (\w+) = (\d+);", re.sub("//.*", "", PROTO.read_text())):
    if message:
        fields = MESSAGES[message] = {}
    else:
        fields[name] = fields[int(number)] = (int(number), name, kind, bool(repeated))


def varint(number):
    return bytes([number]) if number < 128 else bytes([number & 127 | 128]) + varint(number >> 7)


def read_varint(data, at):
    number = shift = 0
    while data[at] > 127:
        number, shift, at = number | (data[at] & 127) << shift, shift + 7, at + 1
    return number | data[at] << shift, at + 1


def encode(message, values):
    out = b""  # None is left out
    for name, value in (values._asdict() if message == "ObjectID" else values).items():
        number, _, kind, repeated = MESSAGES[message][name]
        for item in value if repeated else [] if value is None else [value]:
            if kind in FIXED:
                out += varint(number << 3 | 1) + struct.pack(FIXED[kind], item)
            elif kind in MESSAGES or kind in ("string", "bytes"):
                data = encode(kind, item) if kind in MESSAGES else item.encode() if kind == "string" else item
                out += varint(number << 3 | 2) + varint(len(data)) + data
            else:
                out += varint(number << 3) + varint(item << 1 ^ item >> 63 if kind == "sint64" else item)
    return out


def decode(message, data):
    """Decodes a message. A field that was not sent is missing, except for lists."""
    fields, at = MESSAGES[message], 0
    values = {name: [] for _, name, _, repeated in fields.values() if repeated}
    while at < len(data):
        tag, at = read_varint(data, at)
        if tag & 7 == 0:
            item, at = read_varint(data, at)
        else:
            size, at = read_varint(data, at) if tag & 7 == 2 else ({1: 8, 5: 4}[tag & 7], at)
            item, at = data[at:at + size], at + size
        if tag >> 3 not in fields:
            continue  # the server may be newer
        _, name, kind, repeated = fields[tag >> 3]
        item = decode(kind, item) if kind in MESSAGES else READ[kind](item) if kind in READ else item
        values[name] = values[name] + [item] if repeated else item
    return ID(**values) if message == "ObjectID" else values


# ---- The client. Objects have values by name, in the form of the wire: {"string": "Hello"}, {} for null.
INSERT, UPDATE, DELETE = 0, 1, 2


class Client:
    """`objects` is the result of the query, `changes` its changes by deltas, `token` their revision, to resume from."""

    def __init__(self, address, author):
        self.address, self.author = urllib.parse.urlsplit(address), author
        self.replica, self.token, self.objects, self.changes = secrets.token_bytes(16), None, {}, []
        self.connect()

    def connect(self):
        self.socket = socket.socket(socket.AF_UNIX if self.address.path else socket.AF_INET)
        self.socket.connect(self.address.path or (self.address.hostname, self.address.port))
        self.requests, self.subscription, self.query, self.heartbeat = 0, None, None, 15
        self.welcome = self.ask("hello", {"protocol": 1, "replica": self.replica, "author": self.author,
                                          "program": "client.py 1", "token": self.token})
        self.heartbeat = self.welcome["heartbeat_milliseconds"] / 1000
        self.numbers = {entity["name"]: entity["number"] for entity in self.welcome["entities"]}
        self.properties = {entity["number"]: entity["properties"] for entity in self.welcome["entities"]}

    def send(self, kind, body):
        self.requests += 1
        frame = encode("ToServer", {"request": self.requests, kind: body})
        self.socket.sendall(struct.pack(">I", len(frame)) + frame)
        return self.requests

    def receive(self):
        """Returns the next message: the number of its request, its kind and its body."""
        if not select.select([self.socket], [], [], self.heartbeat)[0]:
            self.send("ping", {})
            if not select.select([self.socket], [], [], 2 * self.heartbeat)[0]:
                raise ConnectionError("the server is silent")
        size = int.from_bytes(self.socket.recv(4, socket.MSG_WAITALL), "big")
        frame = self.socket.recv(size, socket.MSG_WAITALL)
        if not frame or len(frame) < size:
            raise ConnectionError("the stream ended")
        message = decode("ToClient", frame)
        request = message.pop("request", 0)
        (kind, body), = message.items()
        if kind == "refused" or kind == "close" and body["code"] != "unavailable":
            raise RuntimeError(body["code"] + ": " + body["message"])
        self.follow(request, kind, body)
        return request, kind, body

    def answer(self, number):
        while True:
            request, _, body = self.receive()
            if request == number:
                return body

    def ask(self, kind, body):
        return self.answer(self.send(kind, body))

    def object(self, wire):
        stored = [property for property in self.properties[wire["id"].entity] if property.get("stored")]
        return {**wire, "values": {slot["name"]: value for slot, value in zip(stored, wire["values"])}}

    def fetch(self, entity, predicate="", sort=""):
        number = self.send("fetch", {"entity": self.numbers[entity], "predicate": predicate, "sort": sort})
        chunk, objects = {}, []
        while not chunk.get("last"):
            chunk = self.answer(number)
            objects += map(self.object, chunk["objects"])
            self.send("more", {"request": number})  # only two are sent ahead; behind the last one it means nothing
        return objects

    def change(self, kind, id, base=0, **values):
        """An insert has a temporary id, ID(0, any number, entity). Otherwise `base` is the revision that was read."""
        edits = [{"property": property["number"], "set": values[property["name"]]}
                 for property in self.properties[id.entity] if property["name"] in values]
        return {"kind": kind, "id": id, "base": base, "edits": edits}

    def commit(self, sequence, *changes):
        """Commits all changes or none. A sequence that was already committed returns its first answer."""
        id = {"replica": self.replica, "sequence": sequence}
        return self.ask("commit", {"transaction": {"id": id, "changes": changes}})["result"]

    def subscribe(self, entity, predicate):
        """Subscribes, or resumes from the token; returns when `objects` is complete."""
        self.is_complete = False
        self.subscription = self.send("subscribe", {
            "entity": self.numbers[entity], "predicate": predicate, "whole_objects": True,
            "resume": self.token is not None, "since": self.token})
        while not self.is_complete:
            self.receive()

    def follow(self, request, kind, body):
        """Handles deltas, advances and the answers to `subscribe`, which come again after a reset."""
        if kind == "subscribed":
            self.query, self.resumed = body["query"], body.get("resumed", False)
            self.loading = None if self.resumed else {}
        elif kind == "chunk" and request == self.subscription:
            self.loading.update((wire["id"], self.object(wire)) for wire in body["objects"])
            self.send("more", {"request": request})
            if body.get("last"):
                self.objects, self.changes, self.token, self.loading = self.loading, [], body["at"], None
        elif kind == "delta" and body["query"] == self.query or (
                kind == "advance" and self.query and self.loading is None):
            for change in body.get("changes", []):
                object = self.object(change["object"])
                self.objects[object["id"]] = object
                if change.get("kind") == DELETE:
                    del self.objects[object["id"]]
                self.changes.append((change.get("kind", INSERT), object))
            self.is_complete |= kind == "advance"
            self.token = {**self.token, "revision": body["revision"], "fingerprint": body["fingerprint"]}


# ---- The example
def check(step, found, expected):
    assert found == expected, f"{step}\n  found     {found!r:.2000}\n  expected  {expected!r:.2000}"
    print("ok  " + step, flush=True)


def main(address):
    signal.alarm(60)  # a missing message fails the example
    first, second = Client(address, "python-first"), Client(address, "python-second")
    check("hello", (first.welcome["protocol"], first.welcome.get("resumed", False)), (1, False))
    model = json.loads(first.ask("model", {})["source"])
    check("model", sorted(entity["name"] for entity in model["entities"]), sorted(first.numbers))

    name = "Python " + secrets.token_hex(4)
    texts = [{"string": f"{n} {name} " + "Grüße 🐍 " * 6000} for n in range(4)]  # each is a chunk
    board, note = ID(0, 1, first.numbers["Board"]), ID(0, 2, first.numbers["Note"])
    inserts = [first.change(INSERT, note._replace(low=2 + n), text=text, board={"object": board})
               for n, text in enumerate(texts)] + [first.change(INSERT, board, name={"string": name})]
    check("commit, the second time without effect", first.commit(1, *inserts), first.commit(1, *inserts))
    notes = second.fetch("Note", f'board.name == "{name}"', "text")
    check("fetch", [note["values"]["text"] for note in notes], texts)

    query, changed = ("Note", f'text CONTAINS "{name}"'), {"string": name + ", changed"}
    first.subscribe(*query)
    check("subscribe", first.objects, {note["id"]: note for note in notes})
    second.commit(1, second.change(UPDATE, notes[0]["id"], notes[0]["revision"], text=changed))
    while not first.changes:
        first.receive()
    check("delta", [(kind, note["values"]["text"]) for kind, note in first.changes], [(UPDATE, changed)])

    first.socket.close()
    second.commit(2, second.change(UPDATE, notes[1]["id"], notes[1]["revision"], text=changed))
    second.commit(3, second.change(DELETE, notes[2]["id"], notes[2]["revision"]))
    first.connect()
    first.subscribe(*query)
    missed = [(kind, note["id"]) for kind, note in first.changes[1:]]
    check("resume", (first.welcome.get("resumed"), first.resumed, missed),
          (True, True, [(UPDATE, notes[1]["id"]), (DELETE, notes[2]["id"])]))
    check("objects", first.objects, {note["id"]: note for note in second.fetch(*query)})

    first.ask("unsubscribe", {"query": first.query})
    left = second.commit(4, second.change(DELETE, notes[0]["values"]["board"]["object"]))
    check("unsubscribe, ping", first.ask("ping", {})["head"]["revision"] >= left["revision"], True)
    check("silence", len(first.changes), 3)
    first.send("close", {"code": "done", "message": "Goodbye."})
    check("close", (first.receive()[2]["code"], first.socket.recv(1)), ("unavailable", b""))


if __name__ == "__main__":
    main(*sys.argv[1:])
