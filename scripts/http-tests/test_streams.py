"""Programs of others, a browser among them, follow 1,000 commits, directly and through proxies, while the daemon is
killed among them, and see what `stickies watch` sees."""

import json
import shutil
import subprocess
import sys
import threading
import time
import unittest
import uuid

import httpx
import httpx_sse
import sseclient

import proxies
from stage import PATIENCE, PROGRAMS, ROOT, Stage

COMMITS = 1_000
# For all of them, on a machine that does other work.
PATIENCE_WITH_COMMITS = 120
LAST = "the last one"


class Follower(threading.Thread):
    """Follows the notes in a thread of its own, and connects again until it has read the last commit."""

    def __init__(self, stage, url=None):
        super().__init__(daemon=True)
        self.stage, self.url = stage, url or stage.url
        self.commits, self.starts, self.error = [], [], None
        self.last_id = None
        self.has_begun, self.is_done = threading.Event(), False
        self.start()

    @property
    def headers(self):
        headers = {"Last-Event-ID": self.last_id} if self.last_id else {}
        # A proxy finds its configuration by the host.
        return headers if self.url == self.stage.url else headers | {"Host": proxies.HOST}

    def run(self):
        deadline = time.monotonic() + PATIENCE_WITH_COMMITS
        try:
            while not self.is_done and time.monotonic() < deadline:
                if not self.follow():
                    # The daemon does not listen yet; a client waits as long before it connects again.
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
                    client, "GET", self.url + "/v1/live", params={"entity": "Note"},
                    headers=self.headers) as source:
                if source.response.status_code in (502, 503):
                    # A proxy answers for a daemon that does not listen.
                    return False
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
                    "GET", self.url + "/v1/live", params={"entity": "Note"}, headers=self.headers) as answer:
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
            ["curl", "-sN", f"{self.url}/v1/live?entity=Note", *fields], stdout=subprocess.PIPE, text=True)
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


class ChromiumFollower(Follower):
    """EventSource of a browser, which connects again by itself."""

    SCRIPT = """() => {
        window.received = [];
        window.isDone = false;
        const source = new EventSource("/v1/live?entity=Note");
        for (const name of ["snapshot", "resumed", "commit", "heartbeat", "end"])
            source.addEventListener(name, event => {
                received.push([name, event.lastEventId, event.data]);
                if (name === "commit" && event.data.includes("the last one")) {
                    source.close();
                    isDone = true;
                }
            });
    }"""

    def follow(self):
        # Only a machine with a browser has the library.
        from playwright.sync_api import sync_playwright
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
            page = browser.new_page()
            # Any page of the daemon: a page of another site cannot follow.
            page.goto(f"{self.url}/healthz")
            page.evaluate(self.SCRIPT)
            page.wait_for_function("received.length > 0", timeout=PATIENCE * 1_000)
            self.has_begun.set()
            page.wait_for_function("isDone", timeout=PATIENCE_WITH_COMMITS * 1_000, polling=100)
            received = page.evaluate("received")
            browser.close()
        for event, identifier, data in received:
            self.receive(event, identifier, data)
        return True


CHROMIUM = shutil.which("chromium")


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
            [sys.executable, f"{ROOT}/docs/examples/follow.py", self.url, "Note"], stdout=subprocess.PIPE,
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
            # The daemon is being started again; a client waits before it tries again, too.
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
        self.stage = Stage(options=["--public-url", f"https://{proxies.HOST}"])
        self.addCleanup(self.stage.close)

    def followers(self, running):
        """All followers, by name; each has begun."""
        kinds = [HTTPXFollower, SSEClientFollower, CurlFollower, ExampleFollower, Watch]
        if CHROMIUM is None:
            print("skipped: chromium is not installed; scripts/install proxies installs it", flush=True)
        else:
            kinds.append(ChromiumFollower)
        followers = {kind.__name__: kind(self.stage) for kind in kinds}
        for name, proxy in running.items():
            followers[name] = HTTPXFollower(self.stage, f"http://127.0.0.1:{proxy.port}")
        for name, follower in followers.items():
            begun = follower.has_begun.wait(PATIENCE * 2)
            self.assertTrue(begun, f"{name} did not begin: {follower.error}")
        return followers

    def test_all_clients_read_the_history_across_a_killed_daemon(self):
        writer = Writer(self.stage)
        self.stage.revision = self.stage.client.get("/v1/objects/Board").json()["revision"]
        with proxies.installed(self.stage, proxies.nginx, proxies.caddy, proxies.haproxy) as running:
            followers = self.followers(running)
            self.write(writer)
            for name, follower in followers.items():
                with self.subTest(name):
                    follower.join(PATIENCE_WITH_COMMITS)
                    self.assertIsNone(follower.error)
                    self.assertTrue(follower.is_done, f"{len(follower.commits)} commits")
        self.compare(followers)

    def write(self, writer):
        """Makes all commits; the daemon is killed and started again among them."""
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

    def compare(self, followers):
        history = self.stage.client.get(
            "/v1/history", params={"entity": "Note", "order": "oldest", "limit": 1000, "changes": 100}).json()
        self.assertEqual(len(history), COMMITS, "each request is one commit")
        reference = [json.loads(commit) for commit in followers.pop("Watch").commits]
        self.assertEqual([commit["revision"] for commit in reference], [entry["revision"] for entry in history])
        self.assertEqual([commit["author"] for commit in reference], [entry["author"] for entry in history])
        for name, follower in followers.items():
            with self.subTest(name):
                commits = [json.loads(commit) for commit in follower.commits]
                # Compared first, because a difference of a thousand commits is no message.
                self.assertEqual([commit["revision"] for commit in commits], [entry["revision"] for entry in history])
                self.assertTrue(commits == reference, "the commits have other contents")
                # The example prints snapshots and commits only.
                if name != "ExampleFollower":
                    self.assertEqual(follower.starts[0], "snapshot")
                    self.assertEqual(set(follower.starts[1:]), {"resumed"})

    def test_several_queries_share_a_stream_across_a_killed_daemon(self):
        """Each client that applies every event has the graph, even if it got some twice."""
        writer = Writer(self.stage)
        result, last, done = [{}, {}], None, threading.Event()

        def apply(event):
            data = json.loads(event.data)
            if event.event == "snapshot":
                if "reset" in data:
                    result[data["query"]].clear()
                result[data["query"]].update({entry["id"]: entry for entry in data["snapshot"]})
            for change in data.get("changes", []):
                if change["kind"] == "removed":
                    result[change["query"]].pop(change["object"]["id"], None)
                else:
                    result[change["query"]][change["object"]["id"]] = change["object"]

        def follow():
            nonlocal last
            parameters = {"query": ["Note where pinned == true", "Board"]}
            while not done.is_set():
                try:
                    with httpx.Client(timeout=PATIENCE) as client, httpx_sse.connect_sse(
                            client, "GET", self.stage.url + "/v1/live", params=parameters,
                            headers={"Last-Event-ID": last} if last else {}) as source:
                        for event in source.iter_sse():
                            apply(event)
                            last = event.id or last
                            if LAST in event.data and event.id:
                                return
                except httpx.TransportError:
                    # The daemon does not listen yet.
                    time.sleep(0.05)

        thread = threading.Thread(target=follow, daemon=True)
        thread.start()
        for number in range(60):
            if number == 30:
                self.stage.kill()
                self.stage.start()
            note = {"text": f"note {number}", "board": writer.board, "pinned": number % 2 == 0}
            answer = writer.send("POST", "/v1/objects/Note", note)
            self.assertEqual(answer.status_code, 201, answer.text)
            if number % 3 == 2:
                answer = writer.send("PATCH", "/v1/objects/" + answer.headers["Location"], {"pinned": True})
                self.assertEqual(answer.status_code, 200, answer.text)
        writer.send("POST", "/v1/objects/Board", {"name": LAST})
        thread.join(PATIENCE)
        done.set()
        self.assertFalse(thread.is_alive(), f"the stream ends at {last}")
        for query, (entity, predicate) in enumerate((("Note", "pinned == true"), ("Board", ""))):
            objects = self.stage.client.get(
                f"/v1/objects/{entity}", params={"where": predicate} if predicate else {}).json()["objects"]
            self.assertEqual(result[query], {entry["id"]: entry for entry in objects}, entity)

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
