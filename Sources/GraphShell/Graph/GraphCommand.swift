import ArgumentParser
import GraphModel

/// `graph`: commands for any entity of any model. They need no schema file, because they request the model from the
/// daemon.
struct GraphCommand: AsyncParsableCommand {
  static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: "graph", abstract: "Read and change objects of any model that a daemon serves.",
      discussion: """
        <entity> is an entity of the daemon's model; \(RunningProgram.current.name) graph entities lists them. <id> is \
        the beginning of an object's id, as graph fetch prints it. Write a value as name=value, in the form of the \
        attribute's type, or as name:=JSON.
        """,
      subcommands: [
        GraphEntities.self, GraphFetch.self, GraphShow.self, GraphInsert.self, GraphUpdate.self, GraphDelete.self,
        GraphWatch.self, GraphWait.self, LogCommand.self, Undo.self, Redo.self, Restore.self, Why.self, Diff.self,
        Follow.self, GraphExport.self, GraphImport.self,
      ])
  }

  /// The name of a command of both the program and its `graph`, as it was typed.
  static func path(_ command: String) -> String {
    let first = CommandLine.arguments.dropFirst().first { $0 != "help" }
    return "\(RunningProgram.current.name) \(first == configuration.commandName ? "graph " : "")\(command)"
  }
}

/// Merge policies under the names of docs/protocol.md, with this language's spelling. A type of its own, because the
/// library prints a default value by its description, which of a `MergePolicy` is a number.
package enum PolicyName: String, CaseIterable, ExpressibleByArgument {
  case error, storeTrump, objectTrump, overwrite, rollback

  /// The policy of this name.
  package var policy: MergePolicy {
    switch self {
    case .error: .error
    case .storeTrump: .storeTrump
    case .objectTrump: .objectTrump
    case .overwrite: .overwrite
    case .rollback: .rollback
    }
  }
}
