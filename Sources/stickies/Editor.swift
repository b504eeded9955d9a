import Foundation
import GraphModel

/// `$VISUAL`, else `$EDITOR`, else vi, on a temporary file.
enum Editor {
  static func edit(_ text: String) throws -> String {
    let environment = ProcessInfo.processInfo.environment
    let editor = environment["VISUAL"] ?? environment["EDITOR"] ?? "vi"
    let directory = FileManager.default.temporaryDirectory.appendingPathComponent("stickies-\(UUID().uuidString)")
    try FileManager.default.createDirectory(
      at: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    defer { try? FileManager.default.removeItem(at: directory) }
    let file = directory.appendingPathComponent("note.md")
    try Data(text.utf8).write(to: file)
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    // The variable may hold arguments; the file's name travels as one word.
    process.arguments = ["-c", "exec \(editor) \"$1\"", "sh", file.path]
    try process.run()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      throw Refusal(
        .unavailable, "the editor (\(editor)) ended with \(process.terminationStatus); the note is as it was")
    }
    guard var edited = String(validating: try Data(contentsOf: file), as: UTF8.self) else {
      throw Refusal(.invalid, "the edited text is not UTF-8; the note is as it was")
    }
    // Editors end a file with a newline that nobody typed.
    if edited.hasSuffix("\n"), !text.hasSuffix("\n") { edited.removeLast() }
    return edited
  }
}
