import Foundation
import GraphModel
import GraphTesting
import GraphWire
import StickiesKit
import Testing

/// The small commits of a lone client take a fast path; they never overtake commits on the usual path.
@Suite struct SingleClientFastPathTests {
  @Test func smallCommitDoesNotOvertakeEarlierLargeOne() async throws {
    let scene = try await DaemonFixture()
    let writer = try await scene.client()
    let other = try await scene.client()
    var random = SeededGenerator(seed: 5)
    var number = 0
    func tags(_ count: Int) throws -> Transaction {
      try writer.transaction(
        (0..<count).map { place in
          number += 1
          return try scene.insertion(
            [("name", .string("tag \(number)"))], of: "Tag", temporary: UInt64(place + 1))
        })
    }
    var last: Revision = 0
    for _ in 0..<60 {
      // After consecutive commits the server knows that the client is alone.
      for _ in 0..<9 { _ = try await writer.reply(to: writer.send(.commit(tags(1)))) }
      let large = try await writer.send(.commit(tags(9)))
      // Some of the time the small commit arrives at the very moment when the large one ends: the client makes so many
      // round trips without a commit in between.
      for _ in 0..<Int.random(in: 0...20, using: &random) { _ = try await other.reply(to: other.send(.ping)) }
      let small = try await writer.send(.commit(tags(1)))
      let first = try #require(try await writer.reply(to: large).revision)
      let second = try #require(try await writer.reply(to: small).revision)
      #expect(second == first + 1)
      #expect(writer.unasked.isEmpty, "the small one was answered first")
      writer.dropUnasked()
      last = second
    }
    // The hub has the store's revision: a client that connects now receives it.
    guard case .pong(let token) = try await writer.reply(to: writer.send(.ping)) else {
      Issue.record("a ping has another answer")
      return
    }
    #expect(token.revision == last)
    let late = try await scene.client()
    let (_, objects, at) = try await late.follow(try #require(scene.model.entity(named: "Tag")).number)
    #expect(objects.count == number)
    #expect(at.revision == last)
    try await scene.expectUndisturbed()
    try scene.end()
  }
}
