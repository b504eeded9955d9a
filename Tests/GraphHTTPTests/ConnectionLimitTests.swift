import GraphModel
import GraphTesting
import Testing

@testable import GraphHTTP

/// Connections above the limit of the interface.
@Suite(.timeLimit(.minutes(1))) struct ConnectionLimitTests {
  /// Whether a new connection is served; otherwise it must receive the answer for refused connections.
  private func isServed(_ served: ServedHTTP) async throws -> Bool {
    let client = try served.connect()
    defer { client.close() }
    client.send(RawHTTPClient.request("GET", "/healthz", port: served.port))
    let answer = try await client.answer()
    if answer.status == 200 { return true }
    #expect(answer.status == 503 && answer.fields["retry-after"] == "5", "\(answer)")
    #expect(answer.fields["connection"] == "close" && answer.json["code"]?.stringValue == "limit")
    try await client.waitForEnd()
    return false
  }

  @Test func connectionAboveTheLimitGetsAnAnswerUntilAnotherOneEnds() async throws {
    try await ServedHTTP.serve(maximumConnections: 2) { (served) async throws in
      let clients = [try served.connect(), try served.connect()]
      for client in clients {
        // An answer proves that the connection is counted.
        client.send(RawHTTPClient.request("GET", "/healthz", port: served.port))
        #expect(try await client.answer().status == 200)
      }
      #expect(try await !isServed(served))
      // One that sends nothing gets the same answer.
      let silent = try served.connect()
      #expect(try await silent.answer().status == 503)
      try await silent.waitForEnd()
      silent.close()
      clients[0].close()
      // Each attempt waits for its answer; the server soon sees that the connection has ended.
      var attempts = 0
      while try await !isServed(served) { attempts += 1 }
      #expect(attempts < 1_000)
      let metrics = try await served.metrics()
      let line = metrics.text.split(separator: "\n").first { $0.hasPrefix("stickiesd_http_refused_connections_total ") }
      #expect(line == "stickiesd_http_refused_connections_total \(attempts + 2)")
      clients[1].close()
    }
  }

  /// The store, its readers and the socket keep their descriptors, however many connections are refused.
  @Test(arguments: [(4_352, 4_096, 256), (4_351, 4_095, 256), (96, 84, 12), (8, 7, 1), (7, 7, 0), (1, 1, 0)])
  func refusedConnectionsComeOutOfTheShareOfTheInterface(available: Int, served: Int, refused: Int) {
    let share = ConnectionShare(maximum: 4_096, available: available)
    #expect(share.served == served && share.refused == refused, "\(share)")
    #expect(share.served + share.refused <= available)
  }
}
