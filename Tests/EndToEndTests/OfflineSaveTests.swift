import Foundation
import GraphClient
import GraphModel
import GraphTesting
import StickiesKit
import Testing

/// Saves without a server: valid ones wait for it, and a violation is reported at once.
@Suite struct OfflineSaveTests {
  @Test @MainActor func violationIsReportedOfflineAndRestIsCommittedOnce() async throws {
    let daemon = try Daemon()
    try daemon.start()
    try daemon.run("add", "Call Ann")
    let client = try await Stickies.connect(to: daemon.socket, author: "ann@test", reconnects: true)
    let note = try #require(try await client.fetch(Note.self).first)
    let color = try #require(note.entity.property(named: "color")).number
    let text = try #require(note.entity.property(named: "text")).number
    await withCheckedContinuation { lost in
      client.stateDidChange = { state in
        guard case .reconnecting = state else { return }
        client.stateDidChange = nil
        lost.resume()
      }
      daemon.kill()
    }

    note.setValue(.string("mauve"), for: color)
    note.setValue(.string("Call Bob"), for: text)
    let refusal = await #expect(throws: Refusal.self) { try await client.save() }
    #expect(refusal?.code == .invalid)
    #expect(refusal?.violations.map(\.property) == [color], "\(String(describing: refusal))")
    #expect(client.context.hasChanges, "the edits are there to be mended")
    let reported = await withCheckedContinuation { answer in
      let isAnswered = client.save { answer.resume(returning: $0) }
      #expect(isAnswered, "a save with a closure is answered as well")
    }
    guard case .failure(let same) = reported else { return #expect(Bool(false), "\(reported)") }
    #expect(same == refusal)

    note.setValue(.string("pink"), for: color)
    let saved = Task { try await client.save() }
    try daemon.start()
    let revision = try #require(try await saved.value?.committed.revision)
    #expect(note.value(color) == .string("pink") && note.value(text) == .string("Call Bob"))
    await client.close()
    #expect(try daemon.run("status", "--json").json()["revision"]?.integerValue == Int64(revision))
    #expect(daemon.stop() == 0)
    try daemon.expectSound()
  }
}
