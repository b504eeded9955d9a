import ArgumentParser
import GraphModel
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

struct SyncFolder: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sync-folder",
    abstract: "Send your edits of an exported folder to the daemon, and write the board's changes into it.",
    discussion:
      "Each file is a note, and a new .md file becomes a note. Edits of a text merge with those of others. If another "
      + "value was changed in the file and on the server, nothing is sent: the file keeps its value and gets a line "
      + "with the server's value. The files of damaged notes stay as they are; the exit code is then 1.")

  @OptionGroup var options: CommonOptions
  @Argument(help: ArgumentHelp("A folder that export --to has written.", valueName: "DIR"))
  var folder: String
  @Flag(help: "Also delete the notes whose files you deleted; undo restores them.")
  var delete = false

  @MainActor
  func run() async throws {
    let folder = try NoteFolder(folder)
    try await options.withShell { shell in
      let progress = ProgressLine(isShown: isatty(2) == 1 && !options.json, interrupted: Interruption.runAgain)
      let result = try await FolderSync(shell: shell, folder: folder, progress: progress).synchronize(deletes: delete)
      progress.end()
      FolderReport.show(result, on: shell.output)
      try IncompleteResult.check(result.damage, shell.model)
    }
  }
}

/// Prints the result of a run over a folder.
@MainActor
enum FolderReport {
  static func show(_ result: FolderSyncResult, isExport: Bool = false, on output: Output) {
    if output.json { return output.print(json(result)) }
    for conflict in result.conflicts { output.print(line(conflict)) }
    for file in result.compared {
      output.print(
        "compared \(shown(file)): the history of its note was pruned, or the note was deleted and restored; its "
          + "edits were merged with the present note")
    }
    for file in result.missing { output.print("missing \(shown(file)): its note stays; --delete deletes it") }
    for file in result.unsent { output.print("unsent \(shown(file)): it was edited; sync-folder sends the edits") }
    for skip in result.skipped { output.print("skipped \(shown(skip.file)): \(shown(skip.reason))") }
    let written = "written \(result.written.written), removed \(result.written.removed)"
    guard !isExport else { return output.print(written) }
    output.print("edited \(result.edited), added \(result.added), deleted \(result.deleted), \(written)")
  }

  /// File names are untrusted text and are escaped.
  private static func shown(_ text: String) -> String { TextTable.visible(text) }

  private static func line(_ conflict: FolderChanges.Conflict) -> String {
    guard let values = conflict.values else {
      return "conflict \(shown(conflict.file)): its note has been deleted; delete the file, or remove its id to make "
        + "a new note"
    }
    let name = values.field.rawValue
    return
      "conflict \(shown(conflict.file)): \(name) is \(values.mine.json.text) here and \(values.theirs.json.text) on "
      + "the server; keep one as \(name), and delete the line server-\(name)"
  }

  private static func json(_ result: FolderSyncResult) -> JSON {
    func count(_ name: String, _ number: Int) -> JSON.Member { .init(name, .integer(Int64(number))) }
    let conflicts = result.conflicts.map { conflict in
      JSON.object([
        .init("file", .string(conflict.file)),
        .init("property", conflict.values.map { .string($0.field.rawValue) } ?? .null),
        .init("mine", conflict.values?.mine.json ?? .null), .init("theirs", conflict.values?.theirs.json ?? .null),
      ])
    }
    let skipped = result.skipped.map { skip in
      JSON.object([.init("file", .string(skip.file)), .init("reason", .string(skip.reason))])
    }
    return .object([
      count("edited", result.edited), count("added", result.added), count("deleted", result.deleted),
      count("written", result.written.written), count("removed", result.written.removed),
      .init("conflicts", .array(conflicts)), .init("compared", .array(result.compared.map(JSON.string))),
      .init("missing", .array(result.missing.map(JSON.string))),
      .init("unsent", .array(result.unsent.map(JSON.string))), .init("skipped", .array(skipped)),
    ])
  }
}
