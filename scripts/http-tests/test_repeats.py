"""A request whose answer is lost and that is repeated with its Idempotency-Key is carried out once."""

import json
import socket
import struct
import unittest

from stage import Stage

JSON_TYPE = "Content-Type: application/json"


class RepeatTests(unittest.TestCase):
    def setUp(self):
        self.stage = Stage()
        self.addCleanup(self.stage.close)
        self.names = []

    def request(self, connection):
        """A request for a tag of its own."""
        self.names.append(f"tag {len(self.names):04}")
        return connection.request(
            "POST", "/v1/objects/Tag", JSON_TYPE, f"Idempotency-Key: {self.names[-1]}",
            body=json.dumps({"name": self.names[-1]}).encode())

    def cut(self, connection):
        """Ends a connection at once, with a reset."""
        connection.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.socket.close()

    def repeat(self, request):
        with self.stage.connect() as connection:
            connection.send(request)
            answer = connection.answer()
        self.assertEqual(answer.status, 201, answer)
        self.assertEqual(json.loads(answer.body)["name"], self.names[-1])

    def check(self):
        tags = self.stage.client.get("/v1/objects/Tag", params={"sort": "name", "limit": 10000}).json()["objects"]
        self.assertEqual([tag["name"] for tag in tags], self.names)
        self.assertEqual({tag["revision"] for tag in tags}, set(range(1, len(tags) + 1)), "one commit for each")

    def test_answer_that_is_cut_anywhere(self):
        with self.stage.connect() as connection:
            connection.send(self.request(connection))
            connection.answer()
        # An answer has somewhat more bytes than its body; beyond its end it is complete.
        for length in range(0, 600, 5):
            connection = self.stage.connect()
            request = self.request(connection)
            connection.send(request)
            left = length
            while left > 0 and (data := connection.socket.recv(left)):
                left -= len(data)
                if b"}\n" in data:
                    break
            self.cut(connection)
            self.repeat(request)
        self.check()

    def test_request_that_is_cut_anywhere(self):
        with self.stage.connect() as connection:
            length = len(self.request(connection))
            self.names.pop()
        for sent in range(1, length + 1, 3):
            connection = self.stage.connect()
            request = self.request(connection)
            connection.send(request[:sent])
            self.cut(connection)
            self.repeat(request)
        self.check()

    def test_two_requests_with_one_key_at_the_same_time(self):
        for _ in range(50):
            with self.stage.connect() as first, self.stage.connect() as second:
                request = self.request(first)
                first.send(request)
                second.send(request)
                answers = [first.answer(), second.answer()]
            self.assertEqual([answer.status for answer in answers], [201, 201], answers)
            self.assertEqual(json.loads(answers[0].body)["id"], json.loads(answers[1].body)["id"])
        self.check()


if __name__ == "__main__":
    unittest.main()
