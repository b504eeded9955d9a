import GraphHub
import GraphModel
import GraphStore
import GraphTesting
import GraphWire
import Synchronization
import Testing

@testable import GraphServer

/// The transactions that history names to a user.
@Suite struct UnknownTransactionTests {
  private let store: TestStore
  private let board: ObjectID

  init() throws {
    store = try TestStore(try ScopedGraph.model())
    board = try store.insert("Board", ["title": .string("shared")])
    for name in ["ann", "bob"] {
      _ = try store.by(name) { try store.insert("Note", ["text": .string(name), "board": .object(board)]) }
    }
  }

  /// The answer to a message of ann.
  private func answer(to message: ToServer.Body, _ visibility: Visibility?) throws -> ToClient.Body {
    let result = Mutex(Result<ReadCompletion, Refusal>?.none)
    let stream = ReadStream(directory: store.directory.path) { output in
      if case .finished(let end) = output { result.withLock { $0 = end } }
    }
    var request = ReadRequest.message(message, author: Principal(author: "ann"))
    if let visibility { request = .reduced(request, to: visibility) }
    StoreReadRunner(store: store.store, searchLimit: .seconds(60)).run(request, 1, into: stream)
    let end = try #require(try result.withLock { $0 }?.get())
    var reader = BinaryReader(Array(end.lastFrame.dropFirst(ProtocolLimits.headerSize)))
    return try ToClient(from: &reader).body
  }

  /// A replica is a random part of the fingerprint of each of its commits, also of those that a user does not see.
  @Test func userWhoDoesNotSeeEverythingLearnsNoReplicaOfOthers() throws {
    let visibility = try #require(
      Visibility(Rights(user: "u9", grants: [Grant(.reader, on: board.key)]), model: store.model))
    let note = try #require(try store.all("Note").last?.id)
    let text = try store.property("Note.text").number
    for seen in [visibility, nil] {
      guard case .log(let logged, _, _) = try answer(to: .log(LogRequest()), seen),
        case .why(let origin) = try answer(to: .why(note, text), seen)
      else {
        Issue.record("history is not answered")
        return
      }
      let known = logged.filter { $0.transaction.replica != .zero }.map(\.author)
      #expect(Set(known).subtracting(["ann"]).isEmpty == (seen != nil) && known.contains("ann"), "\(known)")
      #expect(origin.author == "bob" && (origin.transaction.replica == .zero) == (seen != nil))
    }
  }
}
