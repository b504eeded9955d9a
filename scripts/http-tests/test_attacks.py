"""Rare forms of requests that HTTP allows: each is answered as the RFCs say, or refused, and none hides
another request, adds a field to an answer, or names a file."""

import gzip
import json
import time
import unittest

import httpx

from stage import Stage

JSON_TYPE = "Content-Type: application/json"
TAGS = "/v1/objects/Tag"


class AttackTests(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.stage = Stage()
        cls.addClassCleanup(cls.stage.close)

    def exchange(self, method, target, *fields, body=None):
        with self.stage.connect() as connection:
            return connection.exchange(method, target, *fields, body=body)

    def insert(self, name):
        answer = self.stage.client.post(TAGS, json={"name": name})
        self.assertEqual(answer.status_code, 201, answer.text)
        return answer.json()["id"]

    # Bodies that wait

    def test_client_that_expects_100_is_told_to_continue(self):
        body = b'{"name":"continued"}'
        with self.stage.connect(patience=5) as connection:
            head = connection.request("POST", TAGS, JSON_TYPE, "Expect: 100-continue", body=body)[:-len(body)]
            connection.send(head)
            while b"\r\n\r\n" not in connection.received:
                self.assertTrue(connection.read(), "the daemon waits for the body")
            first, connection.received = connection.received.split(b"\r\n\r\n", 1)
            self.assertTrue(first.startswith(b"HTTP/1.1 100 "), first)
            connection.send(body)
            self.assertEqual(connection.answer().status, 201)
            # The connection goes on.
            self.assertEqual(connection.exchange("GET", "/healthz").status, 200)

    def test_refused_head_gets_its_status_instead_of_100(self):
        for fields, status in (
            (["Content-Type: text/plain"], 415), ([JSON_TYPE, "Content-Encoding: gzip"], 415),
            ([JSON_TYPE, "Origin: https://evil.example"], 403),
        ):
            with self.subTest(fields), self.stage.connect() as connection:
                connection.send(connection.request(
                    "POST", TAGS, "Expect: 100-continue", "Content-Length: 20", *fields))
                self.assertEqual(connection.answer().status, status)

    # Methods and targets

    def test_head_is_get_without_a_body(self):
        self.insert("head")
        for target in (TAGS, "/healthz", "/openapi.json", "/v1/model", "/v1/history", "/v1/nothing"):
            with self.subTest(target), self.stage.connect() as connection:
                get = connection.exchange("GET", target)
                connection.send(connection.request("HEAD", target))
                while b"\r\n\r\n" not in connection.received:
                    self.assertTrue(connection.read())
                head, rest = connection.received.split(b"\r\n\r\n", 1)
                self.assertIn(f"Content-Length: {get.fields['content-length']}".encode().lower(), head.lower())
                self.assertEqual(rest, b"")
                # Nothing of a body follows: the next answer is read at once.
                connection.received = b""
                self.assertEqual(connection.exchange("GET", "/healthz").status, 200)

    def test_trace_does_not_repeat_the_request(self):
        answer = self.exchange("TRACE", TAGS, "Authorization: Bearer secret", "Cookie: secret=1")
        self.assertEqual(answer.status, 405)
        self.assertNotIn(b"secret", answer.body)
        self.assertNotIn("secret", str(answer.fields))

    def test_options_of_the_server_and_lower_case_methods_are_refused(self):
        for method, target in (("OPTIONS", "*"), ("get", TAGS), ("Post", TAGS), ("PRI", "*")):
            with self.subTest(method):
                self.assertIn(self.exchange(method, target).status, (400, 405))

    def test_host_of_an_absolute_target_opens_nothing(self):
        # The parser drops the authority of a target, so Host decides, which must be this server's in any case.
        for host, status in (("localhost", 200), ("evil.example", 421)):
            answer = self.exchange("GET", "http://evil.example/healthz", f"Host: {host}")
            self.assertEqual(answer.status, status, answer)
        answer = self.exchange("POST", f"http://localhost{TAGS}", "Host: evil.example", JSON_TYPE, body=b'{"name":"x"}')
        self.assertEqual(answer.status, 421)

    def test_names_in_paths_are_no_files_and_have_one_form(self):
        for target, status in {
            "/../../etc/passwd": 404, "/v1/../healthz": 404, "/%2e%2e/%2e%2e/etc/passwd": 404, "//healthz": 404,
            "/healthz/": 404, "/v1//model": 404, "/v1/objects/Tag%2F..": 404, "/v1/objects/T%61g": 200,
            "/v1/objects/Tag%00": 404, "/v1/objects/%C0%AFTag": 400, "/v1/objects/%ED%A0%80": 400,
            "/v1/objects/%": 400, "/v1/objects/%4": 400, "/v1/objects/%zz": 400, "/v1/objects/Tag;x=1": 404,
            "/v1/objects/tag": 404, "/healthz#fragment": 404, "/healthz?": 200, "/healthz?x": 400,
            f"{TAGS}?limit=%31": 200, f"{TAGS}?%6cimit=1": 200, f"{TAGS}?limit=1&%6Cimit=1": 400,
            f"{TAGS}?limit=+1": 400, f"{TAGS}?limit=1%00": 400, f"{TAGS}?": 200, f"{TAGS}?&&": 200, f"{TAGS}?=1": 400,
            f"{TAGS}?limit=99999999999999999999": 400, f"{TAGS}/%2e%2e": 404, f"{TAGS}?" + "&" * 8_000: 200,
        }.items():
            with self.subTest(target[:60]):
                answer = self.exchange("GET", target)
                self.assertEqual(answer.status, status, answer)
                self.assertNotIn(b"root:", answer.body)

    # Fields

    def test_values_of_a_request_add_no_field_to_its_answer(self):
        inserted = self.insert("fields\r\nX-Injected: 1")
        for method, target, fields in (
            ("GET", TAGS + "?where=%0d%0aX-Injected:%201", []), ("GET", "/v1/objects/%0d%0aX-Injected:%201", []),
            ("GET", f"{TAGS}/{inserted}", ['If-None-Match: "x\tX-Injected: 1"']),
            ("DELETE", f"{TAGS}/{inserted}", ['If-Match: "X-Injected: 1"']),
            ("GET", "/v1/live?entity=Tag&limit=1", ["Last-Event-ID: X-Injected: 1"]),
        ):
            with self.subTest(target), self.stage.connect() as connection:
                connection.send(connection.request(method, target, *fields, "Connection: close"))
                head = connection.read_to_end().split(b"\r\n\r\n", 1)[0]
                self.assertTrue(head.startswith(b"HTTP/1.1 "), head)
                self.assertNotIn(b"x-injected", head.lower())

    def test_range_of_an_object_is_ignored(self):
        # RFC 9110, 14.2: a server may ignore Range. A part of a document in JSON has no use.
        inserted = self.insert("range")
        for value in ("bytes=0-1", "bytes=-1", "bytes=0-0," * 1_000 + "1-1", "lines=1-2", "bytes=9-1"):
            with self.subTest(value[:20]):
                answer = self.exchange("GET", f"{TAGS}/{inserted}", f"Range: {value}")
                self.assertEqual(answer.status, 200)
                self.assertEqual(json.loads(answer.body)["name"], "range")
                self.assertNotIn("content-range", answer.fields)

    def test_compressed_bodies_are_refused_without_being_read(self):
        bomb = gzip.compress(b" " * 10_000_000)
        for encoding in ("gzip", "deflate", "br", "identity", "gzip, gzip"):
            with self.subTest(encoding):
                answer = self.exchange("POST", TAGS, JSON_TYPE, f"Content-Encoding: {encoding}", body=bomb)
                self.assertEqual(answer.problem["status"], 415)
        answer = self.exchange("GET", TAGS, "Accept-Encoding: gzip, br")
        self.assertNotIn("content-encoding", answer.fields)

    def test_answers_are_for_no_shared_cache(self):
        inserted = self.insert("cache")
        for target in (TAGS, f"{TAGS}/{inserted}", "/v1/history", "/v1/model", "/healthz", "/v1/nothing"):
            with self.subTest(target):
                answer = self.exchange("GET", target)
                self.assertEqual(answer.fields["cache-control"], "no-store")
                self.assertIn("Authorization", answer.fields["vary"])
                self.assertEqual(answer.fields["x-content-type-options"], "nosniff")

    def test_forwarded_addresses_and_hosts_count_for_nothing(self):
        for field in (
            "X-Forwarded-Host: evil.example", "Forwarded: host=evil.example;for=1.2.3.4", "X-Forwarded-For: 1.2.3.4",
            "X-Original-URL: /v1/model", "X-HTTP-Method-Override: DELETE", "X-Rewrite-URL: /v1/model",
        ):
            with self.subTest(field):
                answer = self.exchange("POST", TAGS, JSON_TYPE, field, body=json.dumps({"name": field}).encode())
                self.assertEqual(answer.status, 201)
                self.assertFalse(answer.fields["location"].startswith(("http", "/")), answer.fields["location"])

    # Several requests on a connection

    def test_pipelined_writes_are_carried_out_in_order(self):
        with self.stage.connect() as connection:
            names = [f"pipeline {number:02}" for number in range(30)]
            connection.send(b"".join(
                connection.request("POST", TAGS, JSON_TYPE, body=json.dumps({"name": name}).encode())
                for name in names))
            answers = [connection.answer() for _ in names]
        self.assertEqual([answer.status for answer in answers], [201] * len(names))
        self.assertEqual([json.loads(answer.body)["name"] for answer in answers], names)
        revisions = [json.loads(answer.body)["revision"] for answer in answers]
        self.assertEqual(revisions, sorted(set(revisions)))

    def test_refused_body_does_not_become_the_next_request(self):
        with self.stage.connect() as connection:
            second = connection.request("POST", TAGS, JSON_TYPE, body=b'{"name":"hidden"}')
        for target, fields in (
            ("/v1/nothing", [JSON_TYPE]), (TAGS, ["Content-Type: text/plain"]),
            (TAGS, [JSON_TYPE, "Content-Encoding: gzip"]), (TAGS, [JSON_TYPE, "Origin: https://evil.example"]),
            (TAGS, [JSON_TYPE, "Host: evil.example"]), ("/healthz", [JSON_TYPE]), ("/v1/live?entity=Tag", [JSON_TYPE]),
        ):
            with self.subTest(target=target, fields=fields), self.stage.connect() as connection:
                # The body is a complete request; behind it comes an honest one.
                connection.send(
                    connection.request("POST", target, *fields, body=second) + connection.request("GET", "/healthz"))
                self.assertGreaterEqual(connection.answer().status, 400)
                answer = connection.answer()
                self.assertTrue(answer is None or answer.status == 200, answer)
        for target in (TAGS, "/healthz", "/v1/live?entity=Tag"):
            with self.subTest(target), self.stage.connect() as connection:
                connection.send(
                    connection.request("GET", target, body=second)
                    + connection.request("GET", "/healthz", "Connection: close"))
                self.assertNotIn(b" 201 ", connection.read_to_end())
        tags = self.stage.client.get(TAGS, params={"where": 'name == "hidden"'}).json()["objects"]
        self.assertEqual(tags, [])

    def test_chunk_extensions_and_trailers_change_nothing(self):
        head = f"POST {TAGS} HTTP/1.1\r\nHost: localhost\r\n{JSON_TYPE}\r\nTransfer-Encoding: chunked\r\n\r\n".encode()
        body = b'{"name":"chunks"}'
        with self.stage.connect() as connection:
            connection.send(
                head + b"%x;a=b;c=\"d\"\r\n%s\r\n0\r\nX-Trailer: 5\r\nHost: evil.example\r\n\r\n" % (
                    len(body), body) + connection.request("GET", "/healthz"))
            self.assertEqual(connection.answer().status, 201)
            self.assertEqual(connection.answer().status, 200)
        # A length behind the body is refused, and ends the connection.
        with self.stage.connect() as connection:
            connection.send(
                head + b"%x\r\n%s\r\n0\r\nContent-Length: 5\r\n\r\n" % (len(body), body)
                + connection.request("GET", "/healthz"))
            self.assertEqual(connection.answer().status, 400)
            self.assertEqual(connection.read_to_end(), b"")

    # JSON

    def test_json_bombs_are_refused_quickly(self):
        bombs = {
            "depth": b"[" * 8_000_000, "objects": b'{"a":' * 2_000_000, "one long string": b'"' + b"a" * 1_000_000,
            "many members": b"{" + b",".join(b'"%d":1' % number for number in range(100_000)) + b"}",
            "the same member": b"{" + b",".join([b'"name":"a"'] * 100_000) + b"}",
            "a long number": b'{"name":' + b"9" * 1_000_000 + b"}",
            "a large exponent": b'{"name":1e' + b"9" * 1_000_000 + b"}",
            "escapes": b'{"name":"' + b"\\ud800" * 100_000 + b'"}', "blanks": b" " * 1_000_000,
        }
        for name, bomb in bombs.items():
            with self.subTest(name):
                begin = time.monotonic()
                answer = self.exchange("POST", TAGS, JSON_TYPE, body=bomb)
                self.assertEqual(answer.status, 400, answer)
                self.assertLess(time.monotonic() - begin, 10, name)

    def test_many_predicates_of_one_request_are_bounded(self):
        deep = "(" * 3_000 + "name == 1" + ")" * 3_000
        answer = self.exchange("GET", TAGS + "?where=" + deep.replace(" ", "+"))
        self.assertEqual(answer.problem["status"], 400)
        answer = self.stage.client.get(TAGS, params={"where": 'name MATCHES "(a*)*b"'})
        self.assertIn(answer.status_code, (200, 400))

    # Other protocols

    def test_other_protocols_get_an_answer_or_the_end(self):
        for data in (
            b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"GET /healthz\r\n", b"\r\n\r\n\r\nGET /healthz\r\n\r\n",
            b"SSH-2.0-OpenSSH_9.2\r\n", b"\x00" * 64, b"EHLO evil.example\r\n", b"*1\r\n$4\r\nPING\r\n",
        ):
            with self.subTest(data[:20]), self.stage.connect() as connection:
                connection.send(data + b"\r\n\r\n")
                self.assertNotIn(b" 200 ", connection.read_to_end())

    def test_client_of_http_1_0_gets_a_complete_answer(self):
        self.insert("version 1.0")
        with self.stage.connect() as connection:
            connection.send(b"GET /healthz HTTP/1.0\r\nHost: localhost\r\n\r\n")
            answer = connection.answer()
            self.assertEqual((answer.status, json.loads(answer.body)["status"]), (200, "ok"))

    def test_many_fields_of_one_name_are_bounded(self):
        self.assertEqual(self.exchange("GET", TAGS, *["Accept: text/plain"] * 101).status, 431)
        answer = self.exchange("GET", TAGS, "Authorization: Bearer a", "Authorization: Bearer b")
        self.assertEqual(answer.problem["status"], 401)

    def test_preconditions_of_lists_are_compared_bytewise(self):
        tag = self.stage.client.get(TAGS).headers["ETag"]
        for value, status in (
            (tag, 304), (f"W/{tag}", 304), (f'"x", {tag}', 304), ("*", 304), ('"x"', 200), (tag.lower(), 200),
            (tag.strip('"'), 200), ('"' + "a" * 8_000 + '"', 200),
        ):
            with self.subTest(value[:20]):
                self.assertEqual(self.stage.client.get(TAGS, headers={"If-None-Match": value}).status_code, status)

    def test_object_of_another_entity_is_not_found_under_this_one(self):
        board = self.stage.board()
        self.assertEqual(self.stage.client.get(f"{TAGS}/{board}").status_code, 404)
        self.assertEqual(self.stage.client.delete(f"{TAGS}/{board}").status_code, 404)
        self.assertEqual(self.stage.client.get(f"/v1/objects/Board/{board.upper()}").status_code, 404)
        self.assertEqual(httpx.get(f"{self.stage.url}/v1/objects/Board/{board}").status_code, 200)


if __name__ == "__main__":
    unittest.main()
