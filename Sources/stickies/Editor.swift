import Dispatch
import FoundationEssentials
import Glibc
import GraphModel

/// `$VISUAL`, else `$EDITOR`, else vi, on a temporary file. The file stays until what was written in it is safe.
struct Editor {
  let text: String
  private let directory: String

  /// The file of an editor that is open, or that has ended with a text which nobody has taken care of.
  @MainActor static var openFile: String? { openDirectory.map(file) }
  @MainActor private static var openDirectory: String?
  /// What it was opened with.
  @MainActor private static var openText = ""

  /// What is saved in the editor that is open; nil for none, and for what can't be read.
  @MainActor static var savedText: String? {
    openFile.flatMap { try? contents(of: $0, opened: openText) }
  }

  private static func contents(of file: String, opened text: String) throws -> String {
    guard let bytes = FileManager.default.contents(atPath: file) else {
      throw Refusal(.unavailable, "\(file) can't be read; the note is as it was")
    }
    guard var edited = String(validating: bytes, as: UTF8.self) else {
      throw Refusal(.invalid, "the text in \(file) is not UTF-8; the note is as it was")
    }
    // Editors end a file with a newline that nobody typed.
    if edited.hasSuffix("\n"), !text.hasSuffix("\n") { edited.removeLast() }
    return edited
  }

  /// Where the text is, should it be needed once more.
  var file: String { Self.file(in: directory) }

  private static func file(in directory: String) -> String { directory + "/note.md" }

  /// Lets a person edit `text`. The editor has the terminal; the connection is kept alive meanwhile, for the main actor
  /// goes on.
  @MainActor
  static func edit(_ text: String) async throws -> Editor {
    let environment = ProcessInfo.processInfo.environment
    let editor = environment["VISUAL"] ?? environment["EDITOR"] ?? "vi"
    let directory = try directory(in: FileManager.default.temporaryDirectory.path)
    let file = file(in: directory)
    guard FileManager.default.createFile(atPath: file, contents: Data(text.utf8)) else {
      throw Refusal(.unavailable, "\(file) can't be written")
    }
    // The variable may hold arguments; the file's name is quoted. `system` leaves the editor in our process group, or the
    // terminal would stop it.
    let quoted = "'" + file.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    (openDirectory, openText) = (directory, text)
    let status = await withCheckedContinuation { continuation in
      DispatchQueue(label: "editor").async { continuation.resume(returning: system("\(editor) \(quoted)")) }
    }
    guard status == 0 else {
      openDirectory = nil
      throw Refusal(
        .unavailable, "what you wrote is in \(file); the editor (\(editor)) failed, and the note is as it was")
    }
    return Editor(text: try contents(of: file, opened: text), directory: directory)
  }

  /// A new one that nobody else can look into. Its name is short: on a narrow terminal it is to be read whole.
  private static func directory(in parent: String) throws -> String {
    var template = Array("\(parent)/stickies-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw Refusal(.unavailable, "\(parent) can't be written") }
    return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// The text is on the daemon's disk.
  @MainActor
  func discard() { Self.discard(directory) }

  /// The same of the text of the last editor.
  @MainActor
  static func discardLast() {
    if let openDirectory { discard(openDirectory) }
  }

  @MainActor
  private static func discard(_ directory: String) {
    if openDirectory == directory { openDirectory = nil }
    try? FileManager.default.removeItem(atPath: directory)
  }
}
