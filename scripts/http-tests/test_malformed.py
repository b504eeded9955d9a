"""Requests that are malformed, too large or meant to confuse: each gets a status with problem details, or the end of
its connection, and none changes anything that it should not."""

import contextlib
import json
import unittest

from stage import Stage

JSON_TYPE = "Content-Type: application/json"
TRACKED = "/v1/objects/Tag"


class MalformedTests(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.stage = Stage()
        cls.addClassCleanup(cls.stage.close)

    def setUp(self):
        self.before = self.revision()

    def tearDown(self):
        self.assertEqual(self.revision(), self.before, "a refused request has committed")

    def revision(self):
        return self.stage.client.get(TRACKED).json()["revision"]

    def post(self, body, *fields, target=TRACKED):
        with self.stage.connect() as connection:
            return connection.exchange("POST", target, *(fields or [JSON_TYPE]), body=body)

    def raw(self, data):
        """Everything that a connection answers to some bytes."""
        with self.stage.connect() as connection:
            connection.send(data)
            connection.finish()
            return connection.read_to_end()

    # Bodies

    def test_body_that_is_not_json_is_refused_with_its_place(self):
        cases = [
            (b"", ""), (b"{", ""), (b'{"name":"a"} x', ""), (b'{"name":"a","name":"b"}', "/name"),
            (b'{"name":"\xff"}', ""), (b'{"name":"\\ud800"}', "/name"),
            (b'{"name":1e999}', "/name"), (b'{"name":NaN}', "/name"), (b'{"name":01}', "/name"),
            (b'{"name":"\x00"}', "/name"), (b'{"other":"a"}', "/other"), (b'{"name":7}', "/name"), (b"[]", ""),
        ]
        for body, pointer in cases:
            with self.subTest(body=body):
                answer = self.post(body)
                self.assertEqual(answer.status, 400, answer)
                self.assertTrue(answer.problem.get("pointer", "").startswith(pointer), answer)

    def test_deep_body_is_refused(self):
        for depth in (129, 10_000, 1_000_000):
            with self.subTest(depth=depth):
                answer = self.post(b'{"name":' + b"[" * depth + b"]" * depth + b"}")
                self.assertEqual(answer.status, 400, answer)
                self.assertIn("pointer", answer.problem)

    def test_huge_body_is_refused_before_it_is_read(self):
        with self.stage.connect() as connection:
            answer = connection.exchange("POST", TRACKED, JSON_TYPE, "Content-Length: 17000000")
            self.assertEqual(answer.status, 413, answer)
            self.assertEqual(answer.problem["code"], "limit")

    def test_huge_chunked_body_is_refused(self):
        with self.stage.connect() as connection:
            connection.send(connection.request("POST", TRACKED, JSON_TYPE, "Transfer-Encoding: chunked"))
            chunk = b"100000\r\n" + b" " * 0x100000 + b"\r\n"
            for _ in range(17):
                connection.send(chunk)
            answer = connection.answer()
            self.assertEqual(answer.status, 413, answer)

    def test_body_that_is_cut_changes_nothing(self):
        body = json.dumps({"name": "cut"}).encode()
        for length in range(len(body)):
            head = b"POST %s HTTP/1.1\r\nHost: localhost\r\n%s\r\nContent-Length: %d\r\n\r\n" % (
                TRACKED.encode(), JSON_TYPE.encode(), len(body))
            self.assertNotIn(b" 201 ", self.raw(head + body[:length]))
        chunked = b"POST %s HTTP/1.1\r\nHost: localhost\r\n%s\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n" % (
            TRACKED.encode(), JSON_TYPE.encode(), len(body), body)
        self.assertNotIn(b" 201 ", self.raw(chunked))

    def test_other_types_and_encodings_are_refused(self):
        for fields in (
            ["Content-Type: text/plain"], ["Content-Type: application/x-www-form-urlencoded"],
            ["Content-Type: application/json; charset=latin1"], [JSON_TYPE, "Content-Encoding: gzip"],
            ["X-Nothing: here"],
        ):
            with self.subTest(fields=fields):
                self.assertEqual(self.post(b'{"name":"a"}', *fields).problem["status"], 415)

    def test_get_with_a_body_is_refused(self):
        with self.stage.connect() as connection:
            self.assertEqual(connection.exchange("GET", TRACKED, body=b"x").problem["status"], 400)

    # Heads

    def test_headers_of_100_kib_are_refused_with_problem_details(self):
        large = {
            "one field": ["X-Large: " + "a" * 102_400],
            "many fields": [f"X-{number}: " + "a" * 1_000 for number in range(100)],
            "many small fields": [f"X-{number}: a" for number in range(1_000)],
            "a long name": ["X" * 102_400 + ": a"],
        }
        for name, fields in large.items():
            with self.subTest(name), self.stage.connect() as connection:
                answer = connection.exchange("GET", TRACKED, *fields)
                self.assertIsNotNone(answer, "the answer was lost")
                self.assertEqual(answer.problem["status"], 431, answer)
                self.assertEqual(answer.fields["connection"], "close")
                self.assertEqual(connection.read_to_end(), b"")

    def test_target_of_100_kib_is_refused(self):
        with self.stage.connect() as connection:
            answer = connection.exchange("GET", f"{TRACKED}?where=" + "a" * 102_400)
            self.assertIn(answer.problem["status"], (400, 431), answer)

    def test_malformed_heads_are_refused_with_problem_details(self):
        host = b"Host: localhost\r\n"
        cases = {
            "no request": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
            "no version": b"GET /healthz\r\n\r\n",
            "another version": b"GET /healthz HTTP/9.9\r\n" + host + b"\r\n",
            "a space in the target": b"GET /health z HTTP/1.1\r\n" + host + b"\r\n",
            "a space before the colon": b"GET /healthz HTTP/1.1\r\nHost : localhost\r\n\r\n",
            "no colon": b"GET /healthz HTTP/1.1\r\n" + host + b"Nothing\r\n\r\n",
            "a zero byte": b"GET /healthz HTTP/1.1\r\n" + host + b"X: a\x00b\r\n\r\n",
            "a bare carriage return": b"GET /healthz HTTP/1.1\r\n" + host + b"X: a\rb: c\r\n\r\n",
            "a folded field": b"GET /healthz HTTP/1.1\r\n" + host + b"X: a\r\n b\r\n\r\n",
            "no host": b"GET /healthz HTTP/1.1\r\n\r\n",
            "two hosts": b"GET /healthz HTTP/1.1\r\n" + host + b"Host: 127.0.0.1\r\n\r\n",
            "an unknown method": b"BREW /healthz HTTP/1.1\r\n" + host + b"\r\n",
        }
        for name, data in cases.items():
            with self.subTest(name), self.stage.connect() as connection:
                connection.send(data)
                answer = connection.answer()
                self.assertIsNotNone(answer, "no answer")
                self.assertIn(answer.problem["status"], (400, 405), answer)

    def test_malformed_head_after_a_request_is_refused_in_its_turn(self):
        with self.stage.connect() as connection:
            connection.send(connection.request("GET", "/healthz") + b"\x00\r\n\r\n")
            self.assertEqual(connection.answer().status, 200)
            self.assertEqual(connection.answer().status, 400)
            self.assertEqual(connection.read_to_end(), b"")

    # Two servers that disagree about the end of a request

    def test_requests_whose_length_is_ambiguous_are_refused(self):
        smuggled = b"POST %s HTTP/1.1\r\nHost: localhost\r\n%s\r\nContent-Length: 19\r\n\r\n{\"name\":\"smuggled\"}" % (
            TRACKED.encode(), JSON_TYPE.encode())
        length = b"Content-Length: %d\r\n" % (len(smuggled) + 5)
        chunked = b"Transfer-Encoding: chunked\r\n"
        cases = {
            "both lengths": length + chunked,
            "both lengths, in the other order": chunked + length,
            "two lengths": b"Content-Length: 5\r\n" + length,
            "a list of lengths": b"Content-Length: 5, %d\r\n" % (len(smuggled) + 5),
            "a length with a sign": b"Content-Length: +5\r\n",
            "a negative length": b"Content-Length: -1\r\n",
            "a length in hexadecimal": b"Content-Length: 0x5\r\n",
            "a length beyond 64 bits": b"Content-Length: 18446744073709551621\r\n",
            "an unknown coding": b"Transfer-Encoding: xchunked\r\n",
            "a coding after chunked": b"Transfer-Encoding: chunked, identity\r\n",
            "a coding before chunked": b"Transfer-Encoding: gzip, chunked\r\n",
            "chunked twice": chunked + chunked,
            "a space before the colon": b"Transfer-Encoding : chunked\r\n",
            "a tab before the value's end": b"Transfer-Encoding: \x0bchunked\r\n",
        }
        for name, fields in cases.items():
            with self.subTest(name):
                head = b"POST %s HTTP/1.1\r\nHost: localhost\r\n%s\r\n%s\r\n" % (
                    TRACKED.encode(), JSON_TYPE.encode(), fields)
                received = self.raw(head + b"0\r\n\r\n" + smuggled)
                self.assertNotIn(b" 201 ", received)
                self.assertEqual(received.count(b"HTTP/1.1 "), 1, received)

    def test_malformed_chunks_are_refused(self):
        head = b"POST %s HTTP/1.1\r\nHost: localhost\r\n%s\r\nTransfer-Encoding: chunked\r\n\r\n" % (
            TRACKED.encode(), JSON_TYPE.encode())
        body = b'{"name":"chunked"}'
        for name, chunks in {
            "no number": b"zz\r\n" + body + b"\r\n0\r\n\r\n",
            "a negative size": b"-12\r\n" + body + b"\r\n0\r\n\r\n",
            "a size beyond 64 bits": b"fffffffffffffffff\r\n" + body,
            "a size that is too small": b"2\r\n" + body + b"\r\n0\r\n\r\n",
            "a size that is too large": b"ff\r\n" + body + b"\r\n0\r\n\r\n",
        }.items():
            with self.subTest(name):
                self.assertNotIn(b" 201 ", self.raw(head + chunks))

    def test_absolute_target_is_its_path(self):
        with self.stage.connect() as connection:
            self.assertEqual(connection.exchange("GET", f"{self.stage.url}/healthz").status, 200)

    # Pages of other sites

    def test_other_hosts_are_misdirected(self):
        for host in ("evil.example", "localhost.evil.example", "127.0.0.1.evil.example"):
            with self.subTest(host), self.stage.connect() as connection:
                self.assertEqual(connection.exchange("GET", TRACKED, f"Host: {host}").problem["status"], 421)

    def test_pages_of_other_sites_can_neither_write_nor_follow(self):
        for field in (
            "Origin: https://evil.example", "Origin: null", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Site: same-site",
            f"Origin: https://127.0.0.1:{self.stage.port + 1}",
        ):
            with self.subTest(field):
                self.assertEqual(self.post(b'{"name":"a"}', JSON_TYPE, field).problem["status"], 403)
                with self.stage.connect() as connection:
                    answer = connection.exchange("GET", "/v1/live?entity=Tag", field)
                    self.assertEqual(answer.problem["status"], 403)
        answer = self.stage.client.get(TRACKED, headers={"Origin": "https://evil.example"})
        self.assertFalse([name for name in answer.headers if name.startswith("access-control")])

    # Methods

    def test_other_methods_are_refused_with_those_that_are_allowed(self):
        for target, allowed in {
            "/healthz": "GET, HEAD", TRACKED: "GET, HEAD, POST", "/v1/commits": "POST", "/v1/live": "GET, HEAD",
        }.items():
            for method in ("TRACE", "OPTIONS", "PUT"):
                with self.subTest(method=method, target=target), self.stage.connect() as connection:
                    answer = connection.exchange(method, target)
                    self.assertEqual(answer.problem["status"], 405)
                    self.assertEqual(answer.fields["allow"], allowed)

    def test_connect_is_refused(self):
        with self.stage.connect() as connection:
            answer = connection.exchange("CONNECT", "evil.example:80")
            self.assertIn(answer.problem["status"], (400, 405, 421), answer)

    def test_offer_of_another_protocol_is_declined_with_the_last_answer(self):
        offer = ["Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABkAAQAAP__"]
        with self.stage.connect() as connection:
            answer = connection.exchange("GET", "/healthz", *offer)
            self.assertEqual((answer.status, answer.fields["connection"]), (200, "close"))
            self.assertEqual(connection.read_to_end(), b"")

    def test_answer_to_a_client_that_goes_on_sending_arrives(self):
        with self.stage.connect() as connection:
            connection.send(connection.request("POST", TRACKED, JSON_TYPE, "Content-Length: 17000000"))
            for _ in range(17):
                connection.send(b" " * 1_000_000)
            self.assertEqual(connection.answer().problem["status"], 413)
            self.assertEqual(connection.read_to_end(), b"")

    # Many connections

    def test_500_idle_connections_leave_the_daemon_free(self):
        with contextlib.ExitStack() as connections:
            idle = [connections.enter_context(self.stage.connect()) for _ in range(500)]
            self.assertEqual(idle[250].exchange("GET", TRACKED).status, 200)
            with self.stage.connect(patience=5) as connection:
                self.assertEqual(connection.exchange("GET", TRACKED).status, 200)
            # Some have sent a part of a head.
            for connection in idle[:100]:
                connection.send(b"GET /healthz HTTP/1.1\r\n")
            self.assertEqual(idle[499].exchange("GET", TRACKED).status, 200)

    def test_pipelined_requests_are_answered_in_order(self):
        with self.stage.connect() as connection:
            targets = ["/healthz", TRACKED, "/v1/nothing", "/openapi.json", "/healthz"] * 20
            connection.send(b"".join(connection.request("GET", target) for target in targets))
            statuses = [connection.answer().status for _ in targets]
            self.assertEqual(statuses, [200, 200, 404, 200, 200] * 20)


if __name__ == "__main__":
    unittest.main()
