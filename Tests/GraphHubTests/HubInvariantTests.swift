import GraphModel
import GraphTesting
import GraphWire
import Testing

@testable import GraphHub

/// Faults of the hub itself, as they are handled in a release build: the session ends, and the others continue.
@Suite struct HubInvariantTests {
  @Test func sessionWithoutAuthorIsClosedWithoutCommit() throws {
    var transcript = try HubTranscript()
    try transcript.open(1)
    try transcript.open(2)
    transcript.hub.sessions[1]?.principal = nil
    let lines = try Invariants.$areFatal.withValue(false) { try transcript.save(1, sequence: 1) }
    #expect(lines.first == "report of 1: a session that sends requests has an author")
    #expect(lines.last == "close 1")
    #expect(!lines.contains { $0.hasPrefix("commit") })
    #expect(try transcript.save(2, sequence: 1) == ["commit #1"])
  }
}
