import ArgumentParser
import GraphModel

/// The history of any model's graph: what `log`, `undo` and `redo` are to the notes.
extension GraphCommand {
  struct Log: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "List commits, the newest first.")

    @OptionGroup var options: Options
    @Option(parsing: .unconditional, help: "At most this many, 1 to 100000.")
    var limit = 20

    func validate() throws {
      if limit < 1 || limit > 100_000 { throw ValidationError("--limit takes a number from 1 to 100000") }
    }

    @MainActor
    func run() async throws {
      try await options.withGraph { shell in try await shell.showLog(limit: limit) }
    }
  }

  struct Undo: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Take back your newest commit that is not undone, or a given one.")

    @OptionGroup var options: Options
    @Argument(help: "One of your own commits, as log shows it.")
    var revision: Revision?

    func validate() throws {
      if let revision, revision < 1 { throw ValidationError("a revision is a number from 1") }
    }

    @MainActor
    func run() async throws {
      try await options.withGraph { shell in try await shell.undo(revision) }
    }
  }

  struct Redo: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Do again what your newest undo took back, unless you have changed something since.")

    @OptionGroup var options: Options

    @MainActor
    func run() async throws {
      try await options.withGraph { shell in try await shell.showTaken(shell.client.redo()) }
    }
  }
}
