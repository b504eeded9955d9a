import ArgumentParser
import GraphClient
import GraphModel
import GraphWire

/// A program that offers the commands of GraphShell. The requirements are its name, its commands, its connections, and
/// texts about its own model. Only the first four have no default.
public protocol ShellProgram: Sendable {
  /// The program's name in messages and help.
  var name: String { get }

  /// The program's root command.
  var command: any ParsableCommand.Type { get }

  /// Connects to the daemon at an address, by default the user's own, and adopts the model that it serves.
  @MainActor
  func connect(to address: ServerAddress?, security: TransportSecurity, reconnects: Bool) async throws -> GraphClient

  /// The message that no daemon answers at an address.
  func sentence(forUnreachable address: ServerAddress) -> String

  /// Connects with the program's own model and classes; refused with `notAllowed` if the daemon's model differs.
  @MainActor
  func connectWithOwnModel(
    to address: ServerAddress?, security: TransportSecurity, reconnects: Bool
  ) async throws -> GraphClient

  /// The words of a command that only connects, for advice.
  var connectingCommand: String { get }

  /// The advice on a daemon that accepts a connection and does not answer, as the end of a message.
  var adviceOnSilentDaemon: String { get }

  /// The arguments as they are parsed.
  func prepared(_ arguments: [String]) -> [String]

  /// The commands whose arguments are texts, which may begin with a dash.
  var commandsWithText: Set<String> { get }

  /// Example lines for the help of a command; the key has the command's words.
  var examples: [String: [String]] { get }

  /// A sentence that the help of `graph insert` ends with; empty for none.
  var remarkOnInserts: String { get }

  /// The kinds of names that completion offers, for its help.
  var completedNames: String { get }

  /// The names of values that ``candidates(for:from:)`` completes.
  var completedValues: Set<String> { get }

  /// The candidates for a value with a name that help shows, such as `<object>`.
  @MainActor func candidates(for valueName: String, from client: GraphClient) async throws -> [CompletionCandidate]

  /// A line that identifies an object for users; nil for the general form.
  func line(_ image: ObjectImage, of entity: Entity, isColored: Bool) -> String?

  /// Adds values to inserted objects; nil if inserts are sent as they are.
  @MainActor func placement(in client: GraphClient, policy: MergePolicy) -> (any InsertPlacement)?
}

extension ShellProgram {
  /// The connection that adopts the daemon's model.
  @MainActor
  public func connectWithOwnModel(
    to address: ServerAddress?, security: TransportSecurity, reconnects: Bool
  ) async throws -> GraphClient {
    try await connect(to: address, security: security, reconnects: reconnects)
  }

  /// The list of the model's entities.
  public var connectingCommand: String { "graph entities" }

  /// No advice.
  public var adviceOnSilentDaemon: String { "" }
  /// The arguments themselves.
  public func prepared(_ arguments: [String]) -> [String] { arguments }
  /// None.
  public var commandsWithText: Set<String> { [] }
  /// None.
  public var examples: [String: [String]] { [:] }
  /// None.
  public var remarkOnInserts: String { "" }
  /// The general kinds.
  public var completedNames: String { "commands, options and objects" }
  /// None.
  public var completedValues: Set<String> { [] }

  /// None.
  @MainActor
  public func candidates(for valueName: String, from client: GraphClient) async throws -> [CompletionCandidate] { [] }

  /// The general form.
  public func line(_ image: ObjectImage, of entity: Entity, isColored: Bool) -> String? { nil }

  /// None.
  @MainActor
  public func placement(in client: GraphClient, policy: MergePolicy) -> (any InsertPlacement)? { nil }
}

/// Adds values to the objects that one command inserts, such as a free position on a plane.
@MainActor
public protocol InsertPlacement: AnyObject {
  /// Adds edits to the inserts of one commit.
  func place(_ changes: inout [Change]) async throws

  /// The properties that ``place(rows:of:)`` appends to rows with these properties; empty if it appends none.
  func appendedProperties(to properties: [Property], of entity: Entity) -> [Property]

  /// Appends values to rows of a batch.
  func place(rows: inout [[Value]], of properties: [Property]) async throws
}

/// The program whose command runs. The argument parser creates the commands, which therefore can't receive it as an
/// argument. It belongs to the task, so that tests can run several programs at a time.
package enum RunningProgram {
  @TaskLocal package static var value: (any ShellProgram)?

  package static var current: any ShellProgram {
    guard let value else { preconditionFailure("a command of the shell runs without a program") }
    return value
  }
}
