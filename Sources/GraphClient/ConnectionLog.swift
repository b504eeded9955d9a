// Tests: ClientLifetimeTests.swift
import GraphModel
import GraphWire
import Logging

/// Writes the events of a connection, and ignored edits, to the program's log. They contain no values of objects.
struct ConnectionLog: Sendable {
  private let logger: Logger

  init(_ options: GraphClient.Options, address: ServerAddress) {
    var logger = options.logger
    logger[metadataKey: "graph.address"] = "\(address)"
    logger[metadataKey: "graph.author"] = "\(options.author)"
    self.logger = logger
  }

  /// Logs a change of the state.
  /// - Parameter ending: why the client is closed.
  func record(_ state: GraphClient.State, welcome: Welcome?, ending: Refusal?) {
    switch state {
    case .connecting: break
    case .connected:
      logger.info(
        "connected to the graph",
        metadata: welcome.map { ["graph.server": "\($0.server)", "graph.revision": "\($0.head.revision)"] })
    case .reconnecting(let attempt):
      logger.log(
        level: attempt == 1 ? .warning : .debug, "the connection to the graph is lost; connecting again",
        metadata: ["graph.attempt": "\(attempt)"])
    case .closed:
      // The owner's own `close` has no reason yet.
      logger.log(
        level: ending == nil ? .info : .error, "the connection to the graph is closed",
        metadata: ending.map { ["graph.reason": "\($0)"] })
    }
  }

  /// Logs that the server has fallen silent, or sends again.
  func record(isSilent: Bool) {
    if isSilent {
      logger.warning("the server of the graph owes an answer and is silent")
    } else {
      logger.info("the server of the graph answers again")
    }
  }

  /// Logs that an edit of a deleted object was ignored.
  func recordIgnoredEdit(of object: ObjectID, _ property: Property) {
    logger.debug(
      "an edit of a deleted object was ignored",
      metadata: ["graph.object": "\(object)", "graph.property": "\(property.name)"])
  }
}
