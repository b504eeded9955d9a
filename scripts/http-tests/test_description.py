"""/openapi.json is a valid description, and the daemon answers as it says, by schemathesis, for two models."""

import os
import subprocess
import sys
import tempfile
import unittest

import openapi_spec_validator

from stage import ROOT, Stage

# Facts that a description cannot state: texts that are judged when they are read, and the graph itself.
CONFIGURATION = """
[[operations]]
include-method = "GET"
# 400: `where` and `sort` have a language of their own, `after` is a cursor of an earlier answer, `fields` and `include`
# are lists of names, and `at` may be beyond the newest revision.
checks.positive_data_acceptance.expected-statuses = ["2xx", "400", "401", "403", "404"]

[[operations]]
include-method = ["PATCH", "DELETE"]
# 400: `base` may be beyond the newest revision. 412: `If-Match` names a tag. 422: values may break rules of the model.
checks.positive_data_acceptance.expected-statuses = ["2xx", "400", "401", "403", "404", "409", "412", "422"]
# 412: the object is read before the values are, because it may be of a subentity, and `If-Match` is judged with it.
checks.negative_data_rejection.expected-statuses = [
  "400", "401", "403", "404", "405", "406", "409", "412", "415", "422", "428", "429", "5xx"]

[[operations]]
include-path = "/v1/commits"
# 400: a label may be given twice, and `base` may be beyond the newest revision. 422: as above.
checks.positive_data_acceptance.expected-statuses = ["2xx", "400", "401", "403", "404", "409", "422"]

[[operations]]
include-path-regex = "^/v1/objects/[A-Za-z]+$"
include-method = "POST"
# 400: a decimal has at most 38 digits, and dates end with the year 9999. 422: values may break rules of the model, such
# as its predicates, which JSON Schema cannot express.
checks.positive_data_acceptance.expected-statuses = ["2xx", "400", "401", "403", "404", "409", "422"]

[[operations]]
include-path = "/v1/login"
# 400: a text of 1,024 letters may have more bytes than a secret. 422: a daemon without accounts has no logins.
checks.positive_data_acceptance.expected-statuses = ["2xx", "400", "401", "403", "404", "422"]
"""


class DescriptionTests(unittest.TestCase):
    def check(self, schema, entities, phases):
        stage = Stage(schema)
        self.addCleanup(stage.close)
        description = stage.client.get("/openapi.json").json()
        openapi_spec_validator.validate(description)
        for entity in entities:
            self.assertIn(f"/v1/objects/{entity}/{{id}}", description["paths"])
        with tempfile.NamedTemporaryFile("w", suffix=".toml") as configuration:
            configuration.write(CONFIGURATION)
            configuration.flush()
            done = subprocess.run(
                [os.path.join(os.path.dirname(sys.executable), "schemathesis"), "--config-file", configuration.name,
                 "--no-color", "run", f"{stage.url}/openapi.json", "--checks", "all", "--phases", phases,
                 "--max-examples", "3", "--seed", "1", "--request-timeout", "10", "--continue-on-failure"],
                capture_output=True, text=True, timeout=150, cwd=stage.home)
        self.assertEqual(done.returncode, 0, done.stdout[-20000:] + done.stderr[-2000:])

    def test_notes(self):
        self.check(None, ["Board", "Note", "Tag", "Link"], "coverage,fuzzing,stateful")

    def test_company(self):
        # Without the phase that tries each limit of each value, which takes longest.
        self.check("Schema/Company", ["Person", "Project"], "fuzzing,stateful")


if __name__ == "__main__":
    unittest.main()
