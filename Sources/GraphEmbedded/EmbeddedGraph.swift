import Foundation
import GraphModel

/// A graph that a program opens itself, without a daemon: the settings of its store, and folders for tests.
///
/// The process that opens a graph runs the parts of a daemon: the same hub, writer, commit log and rules. Its clients
/// connect through a pair of sockets. All clients of one folder in a process share one open store; it closes with the
/// last of them. Other processes can't open the folder meanwhile.
public enum EmbeddedGraph {
  /// The settings of a store. The options of the client that opens a graph apply while the graph is open.
  public struct Options: Sendable {
    /// Earlier versions of the model, oldest first. A store that has one of them is migrated when it is opened, and a
    /// copy is kept beside it. A store of any other version is refused.
    public var earlierModels = [Model]()
    /// The history to keep; nil keeps all of it.
    public var history: HistoryPolicy?

    /// Creates the settings of the daemon.
    public init() {}
  }

  /// Runs a body with an empty folder that only this user can read, and removes it with all its contents at the end.
  ///
  /// Clients that the body has opened must be closed when it returns.
  /// - Throws: `CocoaError` if the folder can't be created, and any error of the body.
  @discardableResult
  public nonisolated(nonsending) static func withTemporaryFolder<Result>(
    _ body: nonisolated(nonsending) (_ folder: URL) async throws -> Result
  ) async throws -> Result {
    let folder = FileManager.default.temporaryDirectory.appending(path: "graph-\(UUID().uuidString)")
    try FileManager.default.createDirectory(
      at: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    // The system clears this place if the removal fails.
    defer { try? FileManager.default.removeItem(at: folder) }
    return try await body(folder)
  }
}
