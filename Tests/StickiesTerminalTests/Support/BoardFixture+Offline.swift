import GraphClient
import GraphModel
import GraphReplica
import StickiesKit
import TerminalApplication
import TerminalCells
import Testing

@testable import GraphOffline
@testable import StickiesTerminal

/// Users whose computer has a copy of the notes.
extension BoardFixture {
  /// The replica of the user's computer.
  var replica: OfflineReplica { OfflineReplica(in: home.path + "/replicas", name: "server") }

  private func connectForReplica(
    _ author: String
  ) -> @Sendable (UniqueID?, isolated any Actor) async throws -> GraphClient {
    { [address] id, actor in
      var options = GraphClient.Options(author: author)
      options.keptReplica = id
      options.reconnects = false
      return try await GraphClient.connect(
        to: address, model: StickiesModel.model, classes: StickiesModel.classes, options: options, actor: actor)
    }
  }

  /// Makes the copy, as `stickies sync on` does.
  func turnOnSync(_ author: String = "ann@test") async throws {
    _ = try await replica.turnOn { id in
      var options = GraphClient.Options(author: author)
      options.keptReplica = id
      options.reconnects = false
      return try await GraphClient.connect(
        to: self.address, model: StickiesModel.model, classes: StickiesModel.classes, options: options)
    }
  }

  /// Opens the first board on the computer with the copy, as `stickies open` does.
  /// - Parameter isAway: whether no daemon answers.
  func openWithCopy(
    _ author: String = "ann@test", size: Size = Size(width: 120, height: 30), isAway: Bool,
    limit: Int = .max, configuration: ApplicationConfiguration = .board()
  ) async throws -> TestUser {
    let replica = replica.limited(toObjects: limit)
    let connect = connectForReplica(author)
    var options = GraphClient.Options(author: author)
    options.lastPauseMilliseconds = 100
    let client: GraphClient
    if isAway {
      client = try await replica.openMoving(
        model: StickiesModel.model, classes: StickiesModel.classes, options: options, connect: connect)
    } else {
      client = try await Self.connect(address, author)
      replica.keep(client, connect: connect)
    }
    let (session, terminal) = try await session(client, author, size, configuration, ApplicationLauncher())
    let end = Task { await session.run() }
    await terminal.expects(isAway ? "offline" : "connected")
    return TestUser(terminal: terminal, client: client, session: session, end: end)
  }
}
