#!/usr/bin/env python3
"""A client of the protocol in docs/protocol.md, in Python's standard library only.

    python3 client.py unix:///PATH | tcp://HOST:PORT

tries it on a running server (and leaves an empty board there): a line for each step, exit 1 with what differed. The
client reads only while it waits for something, so a program that pauses for long has to `ping`; and it follows one
query at a time: who follows several has to show revisions whole, at the advances.
"""
import re, secrets, socket, struct, sys, time
from dataclasses import dataclass, field
from urllib.parse import urlsplit

# ---- Protobuf. The messages of Schema/Wire/graph.proto that are used here: name:type=number. `*` is repeated; `?` is a
# member of a oneof, which is absent unless it was sent. Enumerations are uint.

MESSAGES = """
ObjectID high:fixed64=1 low:fixed64=2 entity:uint=3
ObjectIDs ids:ObjectID*=1
Value bool:bool?=1 integer:sint?=2 double:double?=3 decimal:bytes?=4 string:string?=5 date:sint?=6 uuid:bytes?=7
  data:bytes?=8 object:ObjectID?=9 objects:ObjectIDs?=10
Object id:ObjectID=1 revision:int=2 values:Value*=3
TextSplice offset:uint=1 length:uint=2 insertion:string=3
Splices splice:TextSplice*=1
Members added:ObjectID*=1 removed:ObjectID*=2
Edit property:uint=1 set:Value?=2 splice:Splices?=3 members:Members?=4
TransactionID replica:bytes=1 sequence:uint=2
Change kind:uint=1 id:ObjectID=2 base:int=3 edits:Edit*=4
Transaction id:TransactionID=1 policy:uint=2 changes:Change*=4
Identity temporary:ObjectID=1 permanent:ObjectID=2
Committed revision:int=1 fingerprint:fixed64=2 identities:Identity*=3
Refusal code:string=1 message:string=2
Token store:bytes=1 revision:int=2 fingerprint:fixed64=3
ToServer request:uint=1 hello:Hello?=2 fetch:Fetch?=4 commit:Commit?=5 subscribe:Subscribe?=7 more:More?=9 ping:Ping?=12
  close:Close?=13
Hello protocol:uint=1 replica:bytes=3 author:string=4 program:string=5
Fetch entity:uint=1 predicate:string=2 sort:string=3 limit:uint=4 offset:uint=5
Commit transaction:Transaction=1
Subscribe entity:uint=2 predicate:string=3 resume:bool=5 since:Token=6
More of:uint=1
Ping
Close code:string=1 message:string=2
ToClient request:uint=1 welcome:Welcome?=2 refused:Refusal?=3 chunk:Chunk?=5 committed:CommitReply?=6
  subscribed:Subscribed?=7 delta:Delta?=9 advance:Advance?=10 reset:Reset?=11 pong:Pong?=14 close:Close?=15
Welcome protocol:uint=1 head:Token=3 server:string=5 entities:EntityEntry*=7 heartbeat_milliseconds:uint=9
EntityEntry number:uint=1 name:string=2 properties:PropertyEntry*=3
PropertyEntry number:uint=1 name:string=2 type:string=3 stored:bool=4
Chunk objects:Object*=1 last:bool=2 at:Token=3 count:uint=4
CommitReply committed:Committed=1 objects:Object*=2 complete:bool=3
Subscribed query:uint=1 resumed:bool=2
Delta query:uint=1 revision:int=2 author:string=4 fingerprint:fixed64=5 changes:DeltaChange*=6
DeltaChange kind:uint=1 object:Object=2 id:ObjectID=3 previous:int=4 edits:Edit*=5 deleted:bool=6
Advance revision:int=1 fingerprint:fixed64=2
Reset query:uint=1 reason:string=2
Pong
"""
SCHEMA = {}  # message: {field: (type, mark, number)}
for word in MESSAGES.split():
    if ":" not in word:
        fields = SCHEMA[word] = {}
    else:
        name, kind, mark, number = re.fullmatch(r"(\w+):(\w+)([*?]?)=(\d+)", word).groups()
        fields[name] = (kind, mark, int(number))
WIRE = {"uint": 0, "int": 0, "sint": 0, "bool": 0, "fixed64": 1, "double": 1}  # all else: a length and bytes
ZERO = {"uint": 0, "int": 0, "sint": 0, "bool": False, "fixed64": 0, "double": 0.0, "string": "", "bytes": b""}


@dataclass(frozen=True, order=True)
class ID:
    high: int
    low: int
    entity: int = field(compare=False)  # the 128 bits alone are the identity

    def __str__(self):  # the text form, for predicates
        bits = (self.low << 64 | self.high) << 1
        digits = (bits >> shift & 31 for shift in range(120, -1, -5))
        return "abcdefghjkmnpqrs"[bits >> 125] + "".join("0123456789abcdefghjkmnpqrstvwxyz"[d] for d in digits)


def varint(n):
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    return bytes(out) + bytes([n])


def read_varint(data, at):
    n = shift = 0
    while True:
        n |= (data[at] & 127) << shift
        at, shift = at + 1, shift + 7
        if data[at - 1] < 128:
            return n, at


def encode(message, values):
    """Writes what is given, zeros too: in a oneof (a Value that is 0 or false) they say which member it is."""
    out = b""
    for name, value in (vars(values) if isinstance(values, ID) else values).items():
        kind, mark, number = SCHEMA[message][name]
        for item in value if mark == "*" else [value]:
            wire = WIRE.get(kind, 2)
            out += varint(number << 3 | wire)
            if wire == 0:
                out += varint((item << 1 ^ item >> 63 if kind == "sint" else int(item)) & (1 << 64) - 1)
            elif wire == 1:
                out += struct.pack("<d" if kind == "double" else "<Q", item)
            else:
                data = encode(kind, item) if kind in SCHEMA else item.encode() if kind == "string" else item
                out += varint(len(data)) + data
    return out


def decode(message, data):
    values = {name: [] if mark == "*" else ZERO.get(kind)
              for name, (kind, mark, _) in SCHEMA[message].items() if mark != "?"}
    names, at = {number: name for name, (_, _, number) in SCHEMA[message].items()}, 0
    while at < len(data):
        tag, at = read_varint(data, at)
        if tag & 7 == 0:
            item, at = read_varint(data, at)
        else:
            size, at = read_varint(data, at) if tag & 7 == 2 else ({1: 8, 5: 4}[tag & 7], at)
            item, at = data[at:at + size], at + size
        if tag >> 3 not in names:
            continue  # unknown fields are ignored: the server may be newer
        name = names[tag >> 3]
        kind, mark, _ = SCHEMA[message][name]
        if kind in SCHEMA:
            item = decode(kind, item)
        elif kind == "string":
            item = item.decode()
        elif kind == "sint":
            item = item >> 1 ^ -(item & 1)
        elif kind == "int":
            item -= (item >> 63) << 64
        elif kind == "bool":
            item = bool(item)
        elif WIRE.get(kind) == 1:
            item = struct.unpack("<d" if kind == "double" else "<Q", item)[0]
        if mark == "*":
            values[name].append(item)
        else:
            values[name] = item
    return ID(**values) if message == "ObjectID" else values


# ---- The graph

INSERT, UPDATE, DELETE = 0, 1, 2
VALUE_FIELDS = {"text": "string", "uri": "string", "enumeration": "string", "json": "string", "toOne": "object"}


@dataclass
class Object:
    """As stored at a revision. Dates are microseconds since 1970, decimals the bytes of the wire."""
    id: ID
    revision: int
    values: dict


@dataclass
class Change:
    """What a query's followers are told. `object` is the object as it is now; none once it has left the result."""
    kind: int
    id: ID
    revision: int = 0  # 0: found by comparing a new first result with the old one
    author: str = ""
    object: Object = None


class Query:
    """A live query: `objects` is its result, `changes` what has happened to it since the first one."""

    def __init__(self, entity, predicate):
        self.entity, self.predicate = entity, predicate
        self.objects, self.changes = {}, []
        self.token = None  # up to where `objects` is complete: what to resume from
        self.stop()

    def stop(self):  # numbers and whatever was under way end with the connection
        self.number = self.request = self.refusal = self.loading = None
        self.resumed = self.current = False


class Refused(Exception):
    def __init__(self, refusal):
        self.code = refusal["code"]
        super().__init__(self.code + ": " + refusal["message"])


class Closed(ConnectionError):
    """The server said `close`; only after `unavailable` is it of use to connect again."""


class Client:
    def __init__(self, address, author):
        self.address, self.author = address, author
        self.replica, self.sequence = secrets.token_bytes(16), 0  # together a transaction's id: never one twice
        self.temporaries, self.query, self.unanswered, self.outcome = 0, None, None, None
        self.connect()

    # -- The connection

    def connect(self):
        """Also after a loss: says hello, sends an unanswered transaction again and resumes the query."""
        for attempt in range(8):
            try:
                url = urlsplit(self.address)
                if url.scheme == "unix":
                    self.socket = socket.socket(socket.AF_UNIX)
                    self.socket.connect(url.path)
                else:
                    self.socket = socket.create_connection((url.hostname, url.port))
                break
            except OSError:
                if attempt == 7:
                    raise
                time.sleep(min(5, 0.05 * 2 ** attempt) * (0.5 + secrets.randbelow(500) / 1000))
        self.buffer, self.requests, self.heartbeat = b"", 0, 15
        _, welcome = self.ask("hello", {"protocol": 1, "replica": self.replica, "author": self.author,
                                        "program": "client.py 1"})
        self.store, self.heartbeat = welcome["head"]["store"], welcome["heartbeat_milliseconds"] / 1000
        self.entities = {e["number"]: e for e in welcome["entities"]}
        self.numbers = {e["name"]: e["number"] for e in welcome["entities"]}
        if self.query:
            self.query.stop()
        if self.unanswered:
            self.send_transaction()
        if self.query:
            self.start(self.query)

    def drop(self):
        """Hangs up without a word, as a broken network does."""
        self.socket.close()

    def send(self, kind, body):
        self.requests += 1
        frame = encode("ToServer", {"request": self.requests, kind: body})
        self.socket.sendall(struct.pack(">I", len(frame)) + frame)
        return self.requests

    def receive(self, until=None):
        """The next message: request, kind, body. None when `until` (of time.monotonic) has passed."""
        silences = 0
        while len(self.buffer) < 4 or len(self.buffer) < 4 + int.from_bytes(self.buffer[:4], "big"):
            left = self.heartbeat if until is None else min(self.heartbeat, until - time.monotonic())
            if left <= 0:
                return None
            self.socket.settimeout(left)
            try:
                data = self.socket.recv(65536)
            except socket.timeout:
                if left == self.heartbeat:
                    silences += 1
                    if silences == 3:
                        raise ConnectionError("the server is silent")
                    self.send("ping", {})
                continue
            if not data:
                raise ConnectionError("the stream ended")
            self.buffer, silences = self.buffer + data, 0
        end = 4 + int.from_bytes(self.buffer[:4], "big")
        message, self.buffer = decode("ToClient", self.buffer[4:end]), self.buffer[end:]
        request = message.pop("request")
        (kind, body), = message.items() or [("unknown", None)]
        if kind == "close":
            raise Closed(body["code"] + ": " + body["message"])
        return request, kind, body

    def answers(self, number):
        """The answers to a request. Whatever else comes in between is taken in on the way."""
        while True:
            request, kind, body = self.receive()
            if request != number:
                self.take(request, kind, body)
            elif kind == "refused":
                raise Refused(body)
            else:
                yield kind, body

    def ask(self, kind, body):
        return next(self.answers(self.send(kind, body)))

    def wait(self, condition, seconds=20):
        """Takes in what comes until the condition holds; says whether it does."""
        until = time.monotonic() + seconds
        while not condition():
            message = self.receive(until)
            if message is None:
                return False
            self.take(*message)
        return True

    # -- Reading and writing

    def properties(self, id):
        return self.entities[id.entity]["properties"]

    def value(self, wire):
        """A Value's one field, or None. Only lists of ids have a message around them."""
        value = next(iter(wire.values()), None)
        return value["ids"] if "objects" in wire else value

    def object(self, wire):
        slots = [p["name"] for p in self.properties(wire["id"]) if p["stored"]]
        return Object(wire["id"], wire["revision"], dict(zip(slots, map(self.value, wire["values"]))))

    def fetch(self, entity, predicate="", sort="", limit=0):
        number = self.send("fetch", {"entity": self.numbers[entity], "predicate": predicate, "sort": sort,
                                     "limit": limit})
        objects = []
        for _, chunk in self.answers(number):
            objects += map(self.object, chunk["objects"])
            if chunk["last"]:
                return objects
            self.send("more", {"of": number})  # one taken, one more: the server sends only two ahead

    def temporary(self, entity):
        """An id for an object of the next commit to insert. The server answers with the one that stays."""
        self.temporaries += 1
        return ID(0, self.temporaries, self.numbers[entity])

    def edits(self, id, values):
        for property in self.properties(id):
            if property["name"] in values:
                value, kind = values[property["name"]], property["type"]
                wire = {} if value is None else {"objects": {"ids": sorted(value)}} if kind == "toMany" \
                    else {VALUE_FIELDS.get(kind, kind): value}
                yield {"property": property["number"], "set": wire}

    def insert(self, temporary, **values):
        return {"kind": INSERT, "id": temporary, "edits": list(self.edits(temporary, values))}

    def update(self, object, **values):
        return {"kind": UPDATE, "id": object.id, "base": object.revision,
                "edits": list(self.edits(object.id, values))}

    def delete(self, object):
        return {"kind": DELETE, "id": object.id, "base": object.revision}

    def commit(self, *changes):
        """All changes or none. Answers with the revision and with what became of each temporary id."""
        self.sequence += 1
        self.unanswered = {"transaction": {"id": {"replica": self.replica, "sequence": self.sequence},
                                           "changes": changes}}
        try:
            self.send_transaction()
        except Closed:
            raise
        except ConnectionError:  # committed or not? The same id again tells, and never commits twice
            self.connect()
        if isinstance(self.outcome, Refused):
            raise self.outcome
        committed = self.outcome["committed"]
        return committed["revision"], {i["temporary"]: i["permanent"] for i in committed["identities"]}

    def send_transaction(self):
        try:
            _, self.outcome = self.ask("commit", self.unanswered)
        except Refused as refusal:
            self.outcome = refusal
        self.unanswered = None

    # -- Live queries

    def subscribe(self, entity, predicate):
        """The query with its first result. No path over a relationship: the object alone has to decide."""
        assert self.query is None, "one query at a time"
        self.query = Query(entity, predicate)
        self.start(self.query)
        return self.query

    def start(self, query):
        """Begins or resumes; returns at the advance that closes the first result or what was missed."""
        body = {"entity": self.numbers[query.entity], "predicate": query.predicate}
        if query.token:
            body.update(resume=True, since=query.token)
        query.request = self.send("subscribe", body)
        if not self.wait(lambda: query.current or query.refusal):
            raise ConnectionError("the subscription takes too long")
        if query.refusal:
            self.query = None
            raise query.refusal

    def take(self, request, kind, body):
        """What was not asked for, and all that comes under the number of a subscribe."""
        query = self.query
        if query is None:
            return
        if kind == "delta" and body["query"] == query.number:
            for change in body["changes"]:
                self.apply(query, body, change)
            self.move(query, body)
        elif kind == "advance":
            query.current |= query.number is not None and query.loading is None
            if query.current:
                self.move(query, body)
        elif request == 0 or request != query.request:
            pass  # a reset, after which the query is `subscribed` again; pong; what was given up
        elif kind == "subscribed":
            query.number, query.resumed = body["query"], body["resumed"]
            query.loading = None if query.resumed else []
        elif kind == "refused":
            query.refusal = Refused(body)
        elif kind == "chunk":
            query.loading += map(self.object, body["objects"])
            if body["last"]:
                self.replace(query, body["at"])
            else:
                self.send("more", {"of": request})

    def move(self, query, to):
        if to["revision"] > query.token["revision"]:  # advances may name what was shown long ago
            query.token = {"store": self.store, "revision": to["revision"], "fingerprint": to["fingerprint"]}

    def replace(self, query, at):
        """Shows a first result; after one that was not resumed, the difference is the client's to find."""
        old, query.objects = query.objects, {o.id: o for o in query.loading}
        if query.token:
            query.changes += [Change(DELETE, id) for id in old if id not in query.objects]
            query.changes += [Change(UPDATE if id in old else INSERT, id, object=o)
                              for id, o in query.objects.items() if id not in old or old[id] != o]
        query.token, query.loading = at, None

    def apply(self, query, delta, change):
        id, object = change["object"]["id"] if change["object"] else change["id"], None
        if change["kind"] == DELETE:
            query.objects.pop(id, None)
        elif change["kind"] == INSERT:
            object = query.objects[id] = self.object(change["object"])
        else:
            old = query.objects[id]
            object = query.objects[id] = Object(id, delta["revision"], dict(old.values))
            for edit in change["edits"]:
                name = next(p["name"] for p in self.properties(id) if p["number"] == edit["property"])
                object.values[name] = self.edited(old.values[name], edit)
        query.changes.append(Change(change["kind"], id, delta["revision"], delta["author"], object))

    def edited(self, value, edit):
        if "splice" in edit:  # in bytes of the text before; from the end, so that offsets stay right
            data = (value or "").encode()
            for s in reversed(edit["splice"]["splice"]):
                data = data[:s["offset"]] + s["insertion"].encode() + data[s["offset"] + s["length"]:]
            return data.decode()
        if "members" in edit:
            return sorted(set(value) - set(edit["members"]["removed"]) | set(edit["members"]["added"]))
        return self.value(edit.get("set", {}))


# ---- The trial

def check(step, found, expected):
    if found != expected:
        sys.exit(f"FAILED  {step}\n  found     {found!r}\n  expected  {expected!r}")
    print("ok  " + step)


def main(address):
    first, second = Client(address, "python-first"), Client(address, "python-second")
    print(f"ok  fetched the boards, {len(first.fetch('Board', sort='name'))}")

    name, text = "Python " + secrets.token_hex(4), "Grüße 🐍 from Python"
    board, note = first.temporary("Board"), first.temporary("Note")
    revision, ids = first.commit(first.insert(board, name=name), first.insert(note, text=text, board=board))
    board, note = ids[board], ids[note]
    found = first.fetch("Note", f'board.name == "{name}"')
    check(f"inserted {name} and a note, fetched the note by predicate",
          [(o.id, o.revision, o.values["text"], o.values["board"]) for o in found], [(note, revision, text, board)])

    query = first.subscribe("Note", f'board == "{board}"')
    check("subscribed to the board's notes", list(query.objects.values()), found)

    def told():  # the changes since the last time
        changes, query.changes = query.changes, []
        return [(c.kind, c.id, c.revision, c.author, c.object and c.object.values["text"]) for c in changes]

    def write(text):  # as another program does: read, then change what was read
        object, = second.fetch("Note", f'id == "{note}"')
        change = second.delete(object) if text is None else second.update(object, text=text)
        revision, _ = second.commit(change)
        return (DELETE if text is None else UPDATE, note, revision, "python-second", text)

    update = write(text + ", changed")
    first.wait(lambda: query.changes)
    check("the second connection's update came as a delta", told(), [update])

    first.drop()
    missed = [write("changed while nobody listened"), write(None)]
    first.connect()
    check("dropped, reconnected, resumed", query.resumed, True)
    check("exactly what was missed arrived: an update and a delete", told(), missed)
    check("the board has no notes", (query.objects, first.fetch("Note", f'board == "{board}"')), ({}, []))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    try:
        main(sys.argv[1])
    except (OSError, Refused) as error:
        sys.exit(f"FAILED  {type(error).__name__}: {error}")
