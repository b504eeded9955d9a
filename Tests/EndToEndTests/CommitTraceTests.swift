import Foundation
import GraphModel
import GraphWire
import StickiesKit
import Testing

/// The system calls of a commit: its entry is written to the log and synced, then the commit is answered.
@Suite struct CommitTraceTests {
  private static func client(_ daemon: Daemon) async throws -> RawClient {
    let client = try RawClient(daemon.socket)
    try await client.hello(model: StickiesModel.model.hash)
    return client
  }

  private static func tag(_ name: String) throws -> Change {
    let tag = try #require(StickiesModel.model.entity(named: "Tag"))
    let property = try #require(tag.property(named: "name"))
    return Change(.insert, .temporary(1, entity: tag.number), edits: [Edit(property.number, .set(.string(name)))])
  }

  @Test func commitIsAnsweredAfterOneWriteAndOneSyncOfLog() async throws {
    let daemon = try Daemon()
    let trace = try SystemTrace(starting: daemon, calls: SystemTrace.inputAndOutput)
    let client = try await Self.client(daemon)
    let tags = Fetch(entity: try Self.tag("").id.entity)
    var interrupted = 0
    for number in 0..<10 {
      // A read commits in SQLite what has gathered, so that this work does not fall between request and answer.
      _ = try await client.fetch(tags)
      let position = try trace.position()
      #expect(try await client.commit([Self.tag("\(number)")]).revision != nil)
      // The thread that writes answers begins another call, so the calls before it are in the trace.
      _ = try await client.reply(to: client.send(.ping))
      let calls = try trace.calls(after: position)
      let writes = calls.filter { $0.isOfSegment && !$0.isSync }
      let syncs = calls.filter { $0.isOfSegment && $0.isSync }
      try #require(writes.count == 1 && syncs.count == 1, "\(writes.count) writes and \(syncs.count) syncs of the log")
      let request = try #require(calls.last { $0.isRequest && $0.end < writes[0].begin })
      let answer = try #require(calls.first { $0.isAnswer && $0.file == request.file && $0.begin > request.end })
      #expect(writes[0].name == "pwrite64" && syncs[0].name == "fdatasync")
      #expect(syncs[0].begin > writes[0].end)
      #expect(answer.begin > syncs[0].end, "the commit was answered before its sync")
      let others = calls.filter { $0.begin > request.end && ($0.isOfDatabase || $0.isSync) && !$0.isOfSegment }
      #expect(!others.contains { $0.begin < syncs[0].end }, "\(others)")
      if others.contains(where: { $0.begin < answer.begin }) { interrupted += 1 }
    }
    // On a busy machine the answer may wait until the quiet moment after which SQLite commits.
    #expect(interrupted <= 2, "\(interrupted) of 10 answers have waited for SQLite")
    #expect(daemon.stop() == 0)
    try daemon.expectSound()
  }

  @Test func commitsThatWaitTogetherShareOneSync() async throws {
    let daemon = try Daemon()
    // Requests arrive while the first sync is delayed, for a tenth of a second.
    let trace = try SystemTrace(
      starting: daemon, calls: SystemTrace.inputAndOutput, ["-e", "inject=fdatasync:delay_enter=100000"])
    var clients = [RawClient]()
    for _ in 0..<4 { clients.append(try await Self.client(daemon)) }
    let position = try trace.position()
    var requests = [(client: RawClient, number: UInt64)]()
    for round in 0..<5 {
      for (place, client) in clients.enumerated() {
        let transaction = client.transaction([try Self.tag("\(place)-\(round)")])
        requests.append((client, try await client.send(.commit(transaction))))
      }
    }
    for request in requests { #expect(try await request.client.reply(to: request.number).revision != nil) }
    _ = try await clients[0].reply(to: clients[0].send(.ping))

    let calls = try trace.calls(after: position)
    let writes = calls.filter { $0.isOfSegment && !$0.isSync }
    let syncs = calls.filter { $0.isOfSegment && $0.isSync }
    try #require(syncs.count == writes.count && !syncs.isEmpty)
    for (write, sync) in zip(writes, syncs) { #expect(write.end < sync.begin) }
    for (sync, next) in zip(syncs, writes.dropFirst()) { #expect(sync.end < next.begin) }
    #expect(syncs.count <= 10, "20 commits of 4 clients made \(syncs.count) syncs")

    let ping = try #require(calls.last { $0.isRequest })
    let answers = calls.filter { $0.isAnswer && $0.begin > writes[0].begin && $0.begin < ping.begin }
    #expect(!answers.contains { $0.begin < syncs[0].end }, "a commit was answered before its sync")
    let answered = zip(syncs.map(\.end), syncs.dropFirst().map(\.end) + [ping.begin]).map { begin, end in
      Set(answers.filter { $0.begin > begin && $0.begin < end }.map(\.file)).count
    }
    #expect(answered.contains { $0 > 1 }, "between two syncs, so many clients were answered: \(answered)")
    #expect(daemon.stop() == 0)
    try daemon.expectSound()
  }
}
