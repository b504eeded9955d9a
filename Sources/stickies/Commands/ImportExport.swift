import ArgumentParser
import GraphClient
import GraphJSON
import GraphModel
import GraphReplica
import GraphShell
import StickiesFiles
import StickiesKit

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

struct ImportCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract: "Import notes from Google Keep, from Stickies of macOS, or from the output of export.",
    discussion: """
      Up to 8 MiB are one commit, and more are several commits, which one undo reverts. Existing notes stay \
      unchanged, so an interrupted import can be run again.
      """)

  @OptionGroup var options: CommonOptions
  @Argument(help: "Folders or files: Keep's .json files, .rtfd packages, .jsonl files of export.")
  var paths: [String]

  /// Maximum number of skipped files that are listed in text output.
  private static let maximumSkipLines = 100

  @MainActor
  func run() async throws {
    let progress = ProgressLine(isShown: isatty(2) == 1 && !options.json, interrupted: Interruption.runAgain)
    var batch = ImportBatch()
    for path in paths { try ImportReader.read(path, into: &batch, progress) }
    try await options.withShell { shell in
      let result = try await Importer(shell: shell, progress: progress).run(batch)
      progress.end()
      if shell.output.json {
        let skipped = result.skipped.map { skip in
          JSON.object([.init("file", .string(skip.file)), .init("reason", .string(skip.reason))])
        }
        shell.output.print(
          JSON.object([
            .init("imported", .integer(Int64(result.imported))), .init("unchanged", .integer(Int64(result.unchanged))),
            .init("skipped", .array(skipped)),
          ]))
      } else {
        for skip in result.skipped.prefix(Self.maximumSkipLines) {
          // File names, and what the files contain, are untrusted text.
          shell.output.print("skipped \(TextTable.visible(skip.file)): \(TextTable.visible(skip.reason))")
        }
        let more = result.skipped.count - Self.maximumSkipLines
        if more > 0 { shell.output.print("… and \(more) more; --json lists all of them") }
        shell.output.print(
          "imported \(result.imported), unchanged \(result.unchanged), skipped \(result.skipped.count)")
      }
    }
  }
}

struct Export: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Print the whole graph as JSON Lines, or write a board into a folder of Markdown files.",
    discussion: "JSON Lines have one object per line, referenced objects first. With --board and --to each note of a "
      + "board becomes a file; sync-folder sends your edits of the files.")

  @OptionGroup var options: CommonOptions
  @Option(parsing: .unconditional, help: "With --to: the board to write, by name or id.")
  var board: String?
  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("With --board: the folder to write into; created if it is missing.", valueName: "DIR"))
  var to: String?

  func validate() throws {
    if (board == nil) != (to == nil) { throw ValidationError("--board and --to go together") }
  }

  @MainActor
  func run() async throws {
    try await options.withShell { shell in
      if let board, let to {
        // Resolves the board before creating the folder, so that an unknown board leaves none behind.
        let board = try await NoteFinder(shell).board(board)
        let folder = try NoteFolder(to, creates: true)
        let progress = ProgressLine(isShown: isatty(2) == 1 && !options.json, interrupted: Interruption.runAgain)
        let result = try await FolderSync(shell: shell, folder: folder, progress: progress).export(board.id.key)
        progress.end()
        FolderReport.show(result, isExport: true, on: shell.output)
        return try IncompleteResult.check(result.damage, shell.model)
      }
      let entities = [
        BoardProperties.entity, TagProperties.entity, NoteProperties.entity, LinkProperties.entity,
      ]
      var damage = DamageNotice()
      for entity in entities {
        let objects = shell.client.images(of: entity)
        objects.omitsDamage = true
        for try await chunk in objects {
          for image in chunk { shell.output.print(ObjectJSON.object(image, shell.model)) }
        }
        damage.formUnion(objects.damage)
      }
      try IncompleteResult.check(damage, shell.model)
    }
  }
}
