import ArgumentParser
import GraphModel

/// `stickies graph`: commands for any entity of whatever a daemon serves. They need no schema file: the daemon is asked
/// for its model.
struct GraphCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "graph", abstract: "Read and change objects of any model that a daemon serves.",
    discussion: """
      ENTITY is a name of the daemon's model; stickies graph entities lists them. An object is named by the beginning of \
      its id. A value is written name=value, by the attribute's type, or name:=JSON.
      """,
    subcommands: [
      Entities.self, Fetch.self, Show.self, Insert.self, Update.self, Delete.self, Watch.self, WaitForObjects.self,
      LogCommand.self,
      stickies.Undo.self, stickies.Redo.self, stickies.Restore.self, stickies.Why.self, stickies.Diff.self,
      stickies.Follow.self, ExportGraph.self, ImportGraph.self,
    ])
}

/// By the names that docs/protocol.md has, in this language's spelling.
extension MergePolicy: ExpressibleByArgument {
  public init?(argument: String) {
    guard let policy = Self.allCases.first(where: { "\($0)" == argument }) else { return nil }
    self = policy
  }

  public static var allValueStrings: [String] { allCases.map { "\($0)" } }

  public var defaultValueDescription: String { "\(self)" }
}
