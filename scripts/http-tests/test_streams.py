"""Programs of others follow 300 commits, while the daemon is killed among them, and see what `stickies watch` sees."""

import json
import subprocess
import sys
import threading
import time
import unittest
import uuid

import httpx
import httpx_sse
import sseclient

from stage import PATIENCE, PROGRAMS, ROOT, Stage

COMMITS = 300
LAST = "the last one"


class Follower(threading.Thread):
    """Follows the notes in a thread of its own, and connects again until it has read the last commit."""

    def __init__(self, stage):
        super().__init__(daemon=True)
        self.stage = stage
        self.commits, self.starts, self.error = [], [], None
        self.last_id = None
        self.has_begun, self.is_done = threading.Event(), False
        self.start()

    @property
    def headers(self):
        return {"Last-Event-ID": self.last_id} if self.last_id else {}

    def run(self):
        deadline = time.monotonic() + 90
        try:
            while not self.is_done and time.monotonic() < deadline:
                if not self.follow():
                    # The daemon does not listen yet.
                    time.sleep(0.05)
        except Exception as error:  # The test's thread reports it.
            self.error = error

    def receive(self, event, identifier, data):
        self.last_id = identifier or self.last_id
        if event in ("snapshot", "resumed"):
            self.starts.append(event)
            self.has_begun.set()
        elif event == "commit":
            self.commits.append(data)
            self.is_done = LAST in data
        else:
            assert event in ("heartbeat", "end"), event


class HTTPXFollower(Follower):
    def follow(self):
        try:
            with httpx.Client(timeout=PATIENCE) as client, httpx_sse.connect_sse(
                    client, "GET", self.stage.url + "/v1/live", params={"entity": "Note"},
                    headers=self.headers) as source:
                for event in source.iter_sse():
                    self.receive(event.event, event.id, event.data)
                    if self.is_done:
                        break
            return True
        except httpx.TransportError:
            return False


class SSEClientFollower(Follower):
    def follow(self):
        try:
            with httpx.Client(timeout=PATIENCE) as client, client.stream(
                    "GET", self.stage.url + "/v1/live", params={"entity": "Note"}, headers=self.headers) as answer:
                for event in sseclient.SSEClient(answer.iter_bytes()).events():
                    self.receive(event.event, event.id, event.data)
                    if self.is_done:
                        break
            return True
        except httpx.TransportError:
            return False


class CurlFollower(Follower):
    def follow(self):
        fields = [part for name, value in self.headers.items() for part in ("-H", f"{name}: {value}")]
        curl = subprocess.Popen(
            ["curl", "-sN", f"{self.stage.url}/v1/live?entity=Note", *fields], stdout=subprocess.PIPE, text=True)
        event = {}
        for line in curl.stdout:
            if line == "\n":
                self.receive(event["event"], event.get("id"), event["data"])
                event = {}
                if self.is_done:
                    break
            elif line.endswith("\n"):
                name, value = line[:-1].split(": ", 1)
                event[name] = value
        curl.kill()
        curl.stdout.close()
        return curl.wait() == 0


class Watch(Follower):
    """`stickies watch --json`, which connects again by itself."""

    def follow(self):
        watch = subprocess.Popen(
            [f"{PROGRAMS}/stickies", "watch", "--json", "--since", str(self.stage.revision)],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=self.stage.environment, text=True)
        # The first line is the revision after which it begins.
        begin = json.loads(watch.stdout.readline())
        assert begin["since"] == self.stage.revision, begin
        self.has_begun.set()
        for line in watch.stdout:
            self.receive("commit", None, line.rstrip("\n"))
            if self.is_done:
                break
        watch.kill()
        watch.stdout.close()
        watch.wait()
        return True


class ExampleFollower(Follower):
    """docs/examples/follow.py, which prints what it receives."""

    def follow(self):
        example = subprocess.Popen(
            [sys.executable, f"{ROOT}/docs/examples/follow.py", self.stage.url, "Note"], stdout=subprocess.PIPE,
            text=True)
        for line in example.stdout:
            self.receive("snapshot" if line.startswith('{"snapshot"') else "commit", None, line.rstrip("\n"))
            if self.is_done:
                break
        example.kill()
        example.stdout.close()
        example.wait()
        return True


class Writer:
    """Makes commits; each is repeated with the same key until it has an answer."""

    def __init__(self, stage):
        self.stage, self.notes = stage, []
        self.board = stage.board()

    def send(self, method, path, body=None):
        key = {"Idempotency-Key": str(uuid.uuid4())}
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                answer = self.stage.client.request(method, path, json=body, headers=key)
                if answer.status_code != 503:
                    return answer
            except httpx.TransportError:
                pass
            assert time.monotonic() < deadline, "the daemon does not answer"
            time.sleep(0.02)

    def commit(self, number):
        if number == COMMITS - 1:
            note = {"text": LAST, "board": self.board}
            answer = self.send("POST", "/v1/objects/Note", note)
        elif number % 5 == 3 and len(self.notes) > 2:
            answer = self.send("DELETE", f"/v1/objects/Note/{self.notes.pop(0)}")
            # A repeated deletion finds no object.
            assert answer.status_code in (200, 404), answer.text
            return
        elif number % 2 == 1:
            change = {"text": f"changed in {number}: äöü 🌍", "x": number / 3, "color": "green"}
            answer = self.send("PATCH", f"/v1/objects/Note/{self.notes[-1]}", change)
        else:
            note = {"text": f"note {number}\nand \u2028 more", "board": self.board, "pinned": number % 4 == 0}
            answer = self.send("POST", "/v1/objects/Note", note)
        assert answer.status_code in (200, 201), answer.text
        if answer.status_code == 201:
            self.notes.append(answer.json()["id"])


class StreamTests(unittest.TestCase):
    def setUp(self):
        self.stage = Stage()
        self.addCleanup(self.stage.close)

    def test_all_clients_read_the_history_across_a_killed_daemon(self):
        writer = Writer(self.stage)
        self.stage.revision = self.stage.client.get("/v1/objects/Board").json()["revision"]
        followers = {
            follower.__name__: follower(self.stage)
            for follower in (HTTPXFollower, SSEClientFollower, CurlFollower, ExampleFollower, Watch)
        }
        for name, follower in followers.items():
            self.assertTrue(follower.has_begun.wait(PATIENCE), f"{name} did not begin: {follower.error}")
        killed = threading.Event()

        def restart():
            killed.wait()
            self.stage.kill()
            self.stage.start()

        restarting = threading.Thread(target=restart)
        restarting.start()
        for number in range(COMMITS):
            if number == COMMITS // 2:
                killed.set()
            writer.commit(number)
        restarting.join()
        history = self.stage.client.get(
            "/v1/history", params={"entity": "Note", "order": "oldest", "limit": 1000, "changes": 100}).json()
        self.assertEqual(len(history), COMMITS, "each request is one commit")
        for name, follower in followers.items():
            with self.subTest(name):
                follower.join(PATIENCE)
                self.assertIsNone(follower.error)
                self.assertTrue(follower.is_done, f"{len(follower.commits)} commits")
                commits = [json.loads(commit) for commit in follower.commits]
                self.assertEqual([commit["revision"] for commit in commits], [entry["revision"] for entry in history])
                self.assertEqual([commit["author"] for commit in commits], [entry["author"] for entry in history])
        reference = [json.loads(commit) for commit in followers["Watch"].commits]
        for name in ("HTTPXFollower", "SSEClientFollower", "CurlFollower", "ExampleFollower"):
            with self.subTest(name):
                self.assertEqual([json.loads(commit) for commit in followers[name].commits], reference)
        for name in ("HTTPXFollower", "SSEClientFollower", "CurlFollower"):
            with self.subTest(name):
                self.assertEqual(followers[name].starts[0], "snapshot")
                self.assertEqual(set(followers[name].starts[1:]), {"resumed"})

    def test_limit_and_timeout_end_a_stream(self):
        for parameters, events in (({"limit": 1}, 1), ({"timeout": 1}, 1)):
            with self.subTest(parameters), httpx_sse.connect_sse(
                    self.stage.client, "GET", "/v1/live", params={"entity": "Note", **parameters}) as source:
                self.assertEqual(len(list(source.iter_sse())), events)

    def test_last_event_id_of_another_query_begins_again(self):
        self.stage.board()

        def first(parameters, last=None):
            headers = {"Last-Event-ID": last} if last else {}
            with httpx_sse.connect_sse(
                    self.stage.client, "GET", "/v1/live", params={"limit": 1, **parameters}, headers=headers) as source:
                return next(source.iter_sse())

        begin = first({"entity": "Board"})
        self.assertEqual(first({"entity": "Board"}, begin.id).event, "resumed")
        for parameters, last in (
            ({"entity": "Board", "where": 'name == "x"'}, begin.id), ({"entity": "Note"}, begin.id),
            ({"entity": "Board"}, "nothing"), ({"entity": "Board"}, begin.id[:-1] + "x"),
        ):
            with self.subTest(parameters=parameters, last=last):
                again = first(parameters, last)
                self.assertEqual(again.event, "snapshot")
                snapshot = json.loads(again.data)
                self.assertTrue(snapshot["reset"] and snapshot["reason"])


if __name__ == "__main__":
    unittest.main()
