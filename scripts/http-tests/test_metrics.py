"""/metrics says what `stickies status --json` says, in a form that Prometheus reads, and counts what clients do."""

import json
import re
import unittest

import httpx

from stage import Stage

SAMPLE = re.compile(r'^([a-z_]+)(?:\{([a-z_]+="(?:[^"\\\n]|\\["\\n])*",?)+\})? (-?[0-9]+)$')


class MetricsTests(unittest.TestCase):
    def setUp(self):
        self.stage = Stage(options=["--metrics", "127.0.0.1:0"])
        self.addCleanup(self.stage.close)

    def samples(self):
        answer = httpx.get(self.stage.metrics)
        self.assertEqual(answer.status_code, 200)
        self.assertEqual(answer.headers["Content-Type"], "text/plain; version=0.0.4; charset=utf-8")
        samples = {}
        for line in answer.text.splitlines():
            if not line.startswith("#"):
                self.assertRegex(line, SAMPLE)
                name, value = line.rsplit(" ", 1)
                samples[name] = int(value)
        return samples

    def test_metrics_agree_with_the_status(self):
        self.stage.board()
        self.stage.client.get("/v1/objects/Nothing")
        status = json.loads(self.stage.shell("status", "--json"))
        samples = self.samples()
        for name, member in {
            "stickiesd_revision": "revision", "stickiesd_oldest_revision": "oldest",
            "stickiesd_live_queries": "registrations",
        }.items():
            self.assertEqual(samples[name], status[member], name)
        self.assertGreater(samples["stickiesd_store_bytes"], 0)
        self.assertEqual(samples["stickiesd_accepts_commits"], 1)
        info = next(name for name in samples if name.startswith("stickiesd_info"))
        for text in (status["store"], status["server"], status["data"], str(status["process"])):
            self.assertIn(f'="{text}"', info)
        self.assertEqual(samples['stickiesd_http_requests_total{method="POST",code="201"}'], 1)
        self.assertEqual(samples['stickiesd_http_requests_total{method="GET",code="404"}'], 1)
        self.assertEqual(samples["stickiesd_http_streams"], 0)

    def test_streams_are_counted(self):
        with self.stage.client.stream("GET", "/v1/live", params={"entity": "Note"}) as answer:
            # Kept, because the end of the iterator ends the stream.
            lines = answer.iter_lines()
            self.assertEqual(next(lines), "event: snapshot")
            samples = self.samples()
            self.assertEqual(samples["stickiesd_http_streams"], 1)
            self.assertEqual(samples["stickiesd_live_queries"], 1)
            self.assertGreater(samples["stickiesd_http_streamed_bytes_total"], 0)

    def test_nothing_else_is_served(self):
        root = self.stage.metrics.removesuffix("/metrics")
        self.assertEqual(httpx.get(root + "/v1/objects/Note").status_code, 404)
        self.assertEqual(httpx.post(self.stage.metrics).status_code, 405)
        self.assertEqual(httpx.get(self.stage.metrics, headers={"Host": "evil.example"}).status_code, 421)


if __name__ == "__main__":
    unittest.main()
