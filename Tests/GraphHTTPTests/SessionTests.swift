import GraphModel
import GraphTesting
import Testing

@testable import GraphHTTP

/// Who the client is, for the web application.
@Suite(.timeLimit(.minutes(1))) struct SessionTests {
  @Test func withoutAccountsAPageActsForTheDaemonsUser() async throws {
    try await ServedHTTP.serve { (served) async throws in
      let answer = try await served.get("/v1/session")
      #expect(answer.status == 200)
      #expect(answer.json["user"] == .string("ann") && answer.json["role"] == .string("owner"))
      #expect(answer.json["accounts"] == .bool(false) && answer.json["build"] == .null)
      #expect(answer.json["store"]?.stringValue?.count == 36)
      #expect(answer.fields["cache-control"] == "no-store")
    }
  }
}
