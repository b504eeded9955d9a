#!/usr/bin/env python3
"""The sentences of docs/protocol.md that a client is easily wrong about, tried with docs/examples/client.py.

    python3 sentences.py unix:///PATH

on an empty server of the model in Schema/Company: a line for each heading, exit 1 with the sentence that did not hold.
"""
import pathlib, signal, sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "docs/examples"))
from client import DELETE, ID, INSERT, UPDATE, Client, check

ERROR, STORE_TRUMP, OBJECT_TRUMP, OVERWRITE, ROLLBACK = range(5)
CHANGED, DELETED = range(2)
COUNT, ROWS = 2, 3


class Reader(Client):
    """Keeps every message in `received`, without following a query of its own."""

    def __init__(self, address, author):
        self.received, self.sequence = [], 0
        super().__init__(address, author)
        self.property = {(name, property["name"]): property["number"] for name, number in self.numbers.items()
                         for property in self.properties[number]}

    def follow(self, request, kind, body):
        self.received.append((request, kind, body))

    def edit(self, entity, property, **action):
        return {"property": self.property[entity, property], **action}

    def save(self, *changes, policy=ERROR):
        self.sequence += 1
        id = {"replica": self.replica, "sequence": self.sequence}
        return self.ask("commit", {"transaction": {"id": id, "policy": policy, "changes": changes}})

    def insert(self, entity, **values):
        reply = self.save(self.change(INSERT, ID(0, 1, self.numbers[entity]), **values))
        return reply["result"]["identities"][0]["permanent"]

    def head(self):
        return self.ask("ping", {})["head"]["revision"]

    def update(self, id, entity, base, policy=ERROR, **values):
        edits = [self.edit(entity, name, set=value) for name, value in values.items()]
        return self.save({"kind": UPDATE, "id": id, "base": base, "edits": edits}, policy=policy)

    def value(self, id, entity, name):
        found = [object for object in self.fetch(entity) if object["id"] == id]
        return found[0]["values"][name]

    def rows(self, entity, properties, predicate="", **more):
        number = self.send("fetch", {"entity": self.numbers[entity], "predicate": predicate, "properties": properties,
                                     "result": ROWS, **more})
        return [tuple(row["values"]) for row in self.answer(number)["rows"]]

    def count(self, entity, predicate="", **more):
        number = self.send("fetch", {"entity": self.numbers[entity], "predicate": predicate, "result": COUNT, **more})
        return self.answer(number).get("count", 0)

    def batch(self, entity, **operation):
        self.sequence += 1
        number = self.send("batch", {"id": {"replica": self.replica, "sequence": self.sequence},
                                     "entity": self.numbers[entity], **operation})
        while "result" not in (body := self.answer(number)):
            pass
        return body


def code(action, *arguments, **more):
    """The code of a refusal, or None."""
    try:
        action(*arguments, **more)
    except RuntimeError as refusal:
        return str(refusal).split(":")[0]


def text(string):
    return {"string": string}



def edits(ann, bob, address):
    client = Reader(address, "cut")
    department = ann.insert("Department", code=text("ENG"))
    nothing = {"kind": UPDATE, "id": department, "base": 1, "edits": [client.edit("Department", "code")]}
    check("an edit without an action", code(client.save, nothing), "malformed")
    check("ends the connection", client.socket.recv(1), b"")

    project = ann.insert("Project", title=text("Bridge"), department={"object": department})
    title = [ann.edit("Project", "title", set=text(word)) for word in ("one", "two")]
    twice = [{"kind": UPDATE, "id": project, "base": 2, "edits": [edit]} for edit in title]
    ann.save(*twice)
    check("two updates of one property: the last set wins", ann.value(project, "Project", "title"), text("two"))
    splices = [{"splices": [{"offset": at, "insertion": word}]} for at, word in ((0, "ab"), (1, "X"))]
    plan = [ann.edit("Project", "plan", splice=splice) for splice in splices]
    ann.save({"kind": UPDATE, "id": project, "base": 3, "edits": plan})
    check("a splice applies to the text as previous edits left it", ann.value(project, "Project", "plan"), text("aXb"))
    temporary = ID(0, 9, ann.numbers["Project"])
    check("a delete of a temporary id", code(ann.save, {"kind": DELETE, "id": temporary}), "malformed")
    insert = ann.change(INSERT, temporary, base=99, title=text("New"), department={"object": department})
    check("the base of an insert is ignored", ann.save(insert)["result"]["identities"][0]["temporary"], temporary)
    return department, project


def conflicts(ann, bob, department, project):
    base = ann.head()
    bob.update(project, "Project", base, title=text("Bob's"), weight={"double": 2.0})
    check("error refuses", code(ann.update, project, "Project", base, title=text("Ann's")), "conflict")
    reply = ann.update(project, "Project", base, OVERWRITE, title=text("Ann's"))
    found = [(conflict["property"], conflict.get("collateral", False), conflict["author"], conflict["revision"])
             for conflict in reply["result"]["conflicts"]]
    check("collateral under OVERWRITE", sorted(found, key=lambda conflict: conflict[1]), [
        (ann.property["Project", "title"], False, "bob", base + 1),
        (ann.property["Project", "weight"], True, "bob", base + 1)])

    base = ann.head()
    bob.update(project, "Project", base, title=text("Again"))
    reply = ann.update(project, "Project", base, ROLLBACK, title=text("Mine"), weight={"double": 3.0})
    found = [(conflict["property"], conflict.get("collateral", False), conflict["revision"])
             for conflict in reply["result"]["conflicts"]]
    check("collateral under ROLLBACK", sorted(found, key=lambda conflict: conflict[1]), [
        (ann.property["Project", "title"], False, base + 1), (ann.property["Project", "weight"], True, base + 1)])

    person = [ann.insert("Person", name=text(name), department={"object": department}, hired={"date": 1577836800000000},
                         vacationDays={"integer": 25}) for name in ("Cy", "Di")]
    base = ann.head()
    added, removed = {"added": person}, {"removed": [person[0]]}
    update = {"kind": UPDATE, "id": project, "base": base}
    bob.save({**update, "edits": [bob.edit("Project", "members", members=added)]})
    reply = ann.save({**update, "edits": [ann.edit("Project", "members", members=removed)]})
    check("a member in removed is removed even if another added it after base",
          (reply["result"]["conflicts"], ann.count("Project", "members.@count == 1")), ([], 1))

    base = ann.head()
    bob.save({"kind": DELETE, "id": person[1], "base": 0})
    manager = {"manager": {"object": person[1]}}
    check("a reference to a deleted object", code(ann.update, person[0], "Person", base, **manager), "conflict")
    reply = ann.update(person[0], "Person", base, STORE_TRUMP, name=text("Cyd"), **manager)
    found = [(conflict["kind"], conflict["id"], conflict["author"], conflict["revision"])
             for conflict in reply["result"]["conflicts"]]
    check("is reported by the delete, and dropped", found, [(DELETED, person[1], "bob", base + 1)])
    check("the rest is committed", ann.value(person[0], "Person", "name"), text("Cyd"))

    base = ann.head()
    bob.update(person[0], "Person", base, vacationDays={"integer": 26})
    guarded = {"kind": UPDATE, "id": person[0], "base": base, "precondition": {"revision": base},
               "edits": [ann.edit("Person", "vacationDays", set={"integer": 26})]}
    check("a precondition holds under every policy", code(ann.save, guarded, policy=OVERWRITE), "conflict")
    other = {"revision": base, "properties": [{"number": ann.property["Person", "name"]}]}
    check("or for the named properties only", code(ann.save, {**guarded, "precondition": other}), None)
    return person[0]


def batches(ann):
    source = [{"property": ann.property["Person", "vacationDays"], "expression": "vacationDays + 1"}]
    reply = ann.batch("Person", update={"assignments": source})
    check("the answer of a batch has its objects", (len(reply["objects"]), reply["complete"]), (1, True))


def queries(ann, bob, project):
    numbers = []
    for _ in range(2):
        request = ann.send("subscribe", {"entity": ann.numbers["Project"], "predicate": 'title != "x"'})
        numbers.append(ann.answer(request)["query"])
        while not ann.answer(request).get("last"):
            pass
    revision = bob.update(project, "Project", bob.head(), title=text("Live"))["result"]["revision"]
    while not any(kind == "advance" and body["revision"] >= revision for _, kind, body in ann.received):
        ann.receive()
    deltas = [body["query"] for _, kind, body in ann.received if kind == "delta"]
    check("equal queries of one connection have two numbers", (len(set(numbers)), sorted(deltas)), (2, sorted(numbers)))
    ann.ask("unsubscribe", {"query": numbers[0]})
    ann.received = []
    bob.update(project, "Project", bob.head(), title=text("Alone"))
    while not any(kind == "delta" for _, kind, _ in ann.received):
        ann.receive()
    check("each ends separately", [body["query"] for _, kind, body in ann.received if kind == "delta"], [numbers[1]])
    ann.ask("unsubscribe", {"query": numbers[1]})


def loading(ann, bob, project, department):
    """The example of the page: a first result of several chunks, during which another query advances."""
    ann.received = []
    request = ann.send("subscribe", {"entity": ann.numbers["Project"], "predicate": 'title != "x"'})
    small = ann.answer(request)["query"]
    while not ann.answer(request).get("last"):
        pass
    for number in range(5):
        bob.insert("Project", title=text(f"Large {number}"), plan=text("p" * 60_000), department={"object": department})
    request = ann.send("subscribe", {"entity": ann.numbers["Project"], "predicate": 'title BEGINSWITH "L"'})
    large, ann.received = ann.answer(request)["query"], []
    ann.answer(request), ann.answer(request)  # without `more` the server sends two chunks ahead
    revision = bob.update(project, "Project", bob.head(), title=text("Lately"))["result"]["revision"]
    while not any(kind == "advance" and body["revision"] >= revision for _, kind, body in ann.received):
        ann.receive()
    deltas = [body["query"] for _, kind, body in ann.received if kind == "delta" and body["revision"] == revision]
    check("an advance during a first result is for the other queries", deltas, [small])
    chunk = {}
    while not chunk.get("last"):
        ann.send("more", {"request": request})
        chunk = ann.answer(request)
    ann.received = []
    while not any(kind == "advance" for _, kind, _ in ann.received):
        ann.receive()
    missed = [(kind, body.get("query"), body["revision"]) for _, kind, body in ann.received]
    check("the missed deltas follow the last chunk, then one advance", (chunk["at"]["revision"] < revision, missed),
          (True, [("delta", large, revision), ("advance", None, revision)]))
    for query in (small, large):
        ann.ask("unsubscribe", {"query": query})


def resets(ann, bob, project):
    steps = [bob.change(INSERT, ID(0, number, bob.numbers["Step"]), title=text("s"), project={"object": project})
             for number in range(1, 1002)]
    bob.save(*steps)
    request = ann.send("subscribe", {"entity": ann.numbers["Person"], "predicate": 'manager.name == "nobody"'})
    query = ann.answer(request)["query"]
    while not ann.answer(request).get("last"):
        pass
    ann.received = []
    bob.batch("Step", update={"assignments": [{"property": bob.property["Step", "isDone"], "value": {"bool": 1}}]})
    while not any(kind == "chunk" and body.get("last") for _, kind, body in ann.received):
        ann.receive()
    found = [(number, kind) for number, kind, _ in ann.received if kind != "advance"]
    check("a large batch resets a query over a path", found,
          [(0, "reset"), (request, "subscribed"), (request, "chunk")])
    ann.ask("unsubscribe", {"query": query})


def values(ann, person):
    def value(expression):
        return ann.rows("Person", f"{expression} AS v")[0][0]

    for expression, expected in [
        ("round(-2.5 * (vacationDays - vacationDays + 1))", {"double": -3.0}),
        ("modulus(vacationDays * 0 - 7, 3)", {"integer": -1}),
        ("modulus(vacationDays * 0 + 7, -3)", {"integer": 1}), ("(vacationDays * 0 - 7) / 2", {"integer": -3}),
        ("vacationDays / 0", {}), ('string(decimal("2") / 3 + salary * 0)', {}),
        ("power(vacationDays, 0.5)", {}), ("sqrt(vacationDays * 0 - 1)", {}),
    ]:
        check(expression, value(expression), expected)
    ann.update(person, "Person", ann.head(), salary={"decimal": bytes.fromhex("0240010200")})
    check("a quotient of decimals", value('string(salary * 2 / 3)'), text("0." + "6" * 37 + "7"))

    for predicate, expected in [
        ("vacationDays => 1", None), ("vacationDays =< 99", None),
        ('name LIKE lowercase("A*")', None), ("name LIKE email", "malformed"),
        ('name MATCHES "(" ', "malformed"), ('name MATCHES uppercase("A")', None), ("name LIKE NULL", None),
        ("hired < now() + days(-1)", None), ("hired < now() - days(1)", None),
        ("hired < now() + -days(1)", "malformed"),
        ("hired - now() > 0", None), ("hired - now() > 5", "malformed"), ("hired < now() + days(1.5)", None),
        ('hired < now() + days(decimal("1"))', "malformed"), ("length(name, name) > 1", "malformed"),
        ('concat(name) == ""', "malformed"),
        ("now(1) > hired", "malformed"), ("sqrt(-1) > 0", "malformed"), ('oneOf(name, "a") == "a"', "malformed"),
        ("reports.@min.settings == NULL", "malformed"), ("reports.@max.remote == TRUE", "malformed"),
        ("reports.@max.name != NULL", None),
    ]:
        check(predicate, code(ann.count, "Person", predicate), expected)


def limits(ann):
    def fetch(**more):
        return code(lambda: ann.answer(ann.send("fetch", {"entity": ann.numbers["Person"], **more})))

    keys = [",".join(["name"] * count) for count in (16, 17)]
    check("16 sort keys", tuple(fetch(sort=key) for key in keys), (None, "malformed"))
    bracket = [f"name{'[a?b|c]' * count}" for count in (100, 101)]
    check("100 brackets behind a sort key", tuple(fetch(sort=key) for key in bracket), (None, "malformed"))
    path = [".".join(["manager"] * count + ["name"]) for count in (32, 33)]
    check("32 relationships of a path", tuple(fetch(sort=key) for key in path), (None, "malformed"))
    check("also in a predicate", tuple(fetch(predicate=f'{key} == "a"') for key in path), (None, "malformed"))
    column = [",".join(f"name AS c{number}" for number in range(count)) for count in (100, 101)]
    check("100 columns", tuple(fetch(properties=columns, result=ROWS) for columns in column), (None, "malformed"))
    name = [f'name AS "{"n" * count}"' for count in (200, 201)]
    check("200 bytes of a column's name", tuple(fetch(properties=columns, result=ROWS) for columns in name),
          (None, "malformed"))


def cancellations(ann):
    def cancel(number):
        ann.send("cancel", {"request": number})
        return code(ann.answer, number)

    head = ann.ask("status", {})["head"]
    waiting = ann.send("changes", {"follow": {"since": head, "wait": True}})
    check("cancel ends a wait", cancel(waiting), "cancelled")
    query = ann.send("subscribe", {"entity": ann.numbers["Project"], "predicate": 'title == "Lately"'})
    while not ann.answer(query).get("last"):
        pass
    check("cancel ends a query, even a complete one", cancel(query), "cancelled")
    for number in (query, 1 << 40):
        ann.send("cancel", {"request": number})
    check("cancel of an answered or unknown request is no error", code(ann.count, "Project"), None)


def main(address):
    signal.alarm(120)
    ann, bob = Reader(address, "ann"), Reader(address, "bob")
    department, project = edits(ann, bob, address)
    person = conflicts(ann, bob, department, project)
    batches(ann)
    queries(ann, bob, project)
    loading(ann, bob, project, department)
    resets(ann, bob, project)
    values(ann, person)
    limits(ann)
    cancellations(ann)
    print("ok  all")


if __name__ == "__main__":
    main(*sys.argv[1:])
