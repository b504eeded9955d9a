import Foundation
import GraphModel

/// `$VISUAL`, else `$EDITOR`, else vi, on a temporary file. The file stays until what was written in it is safe.
struct Editor {
  let text: String
  private let directory: URL

  /// Where the text is, should it be needed once more.
  var file: String { Self.file(in: directory).path }

  private static func file(in directory: URL) -> URL { directory.appendingPathComponent("note.md") }

  /// Lets a person edit `text`. The editor has the terminal; the connection is kept alive meanwhile, for the main actor
  /// goes on.
  @MainActor
  static func edit(_ text: String) async throws -> Editor {
    let environment = ProcessInfo.processInfo.environment
    let editor = environment["VISUAL"] ?? environment["EDITOR"] ?? "vi"
    let directory = FileManager.default.temporaryDirectory.appendingPathComponent("stickies-\(UUID().uuidString)")
    try FileManager.default.createDirectory(
      at: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    let file = file(in: directory)
    try Data(text.utf8).write(to: file)
    // The variable may hold arguments; the file's name is quoted. `system` leaves the editor in our process group, or the
    // terminal would stop it.
    let quoted =
      "'" + file.path.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    let status = await withCheckedContinuation { continuation in
      Thread.detachNewThread { continuation.resume(returning: system("\(editor) \(quoted)")) }
    }
    guard status == 0 else {
      throw Refusal(
        .unavailable, "the editor (\(editor)) failed; the note is as it was, and what you wrote is in \(file.path)")
    }
    guard var edited = String(validating: try Data(contentsOf: file), as: UTF8.self) else {
      throw Refusal(.invalid, "the text in \(file.path) is not UTF-8; the note is as it was")
    }
    // Editors end a file with a newline that nobody typed.
    if edited.hasSuffix("\n"), !text.hasSuffix("\n") { edited.removeLast() }
    return Editor(text: edited, directory: directory)
  }

  /// The text is on the daemon's disk.
  func discard() { try? FileManager.default.removeItem(at: directory) }
}
