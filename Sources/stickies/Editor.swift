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

  /// Files of editors that returned at once; what they save later stays there.
  @MainActor private(set) static var leftFiles = [String]()

  /// An editor that returns sooner, and has not written the file, has handed it to a window that is still open.
  static let briefestUse = Duration.seconds(2)

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
    let editor = command(ProcessInfo.processInfo.environment)
    let directory = try directory(in: FileManager.default.temporaryDirectory.path)
    let file = file(in: directory)
    guard FileManager.default.createFile(atPath: file, contents: Data(text.utf8)) else {
      throw Refusal(.unavailable, "\(file) can't be written")
    }
    // The variable may hold arguments; the file's name is quoted. `system` leaves the editor in our process group, or the
    // terminal would stop it.
    let quoted = "'" + file.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    (openDirectory, openText) = (directory, text)
    let (state, start) = (FileState(file), ContinuousClock.now)
    let status = await withCheckedContinuation { continuation in
      DispatchQueue(label: "editor").async { continuation.resume(returning: system("\(editor) \(quoted)")) }
    }
    guard status == 0 else {
      openDirectory = nil
      throw Refusal(
        .unavailable, "what you wrote is in \(file); the editor (\(editor)) failed, and the note is as it was")
    }
    if ContinuousClock.now - start < briefestUse, FileState(file) == state {
      openDirectory = nil
      leftFiles.append(file)
      throw Refusal(
        .unavailable,
        "what you save later stays in \(file); the editor (\(editor)) returned at once, and the note is as it was: "
          + "set VISUAL to an editor that waits, such as \(waiting(editor))")
    }
    return Editor(text: try contents(of: file, opened: text), directory: directory)
  }

  /// The editor's command: `$VISUAL`, else `$EDITOR`, else vi. A blank variable counts as unset.
  private static func command(_ environment: [String: String]) -> String {
    ["VISUAL", "EDITOR"].compactMap { environment[$0] }.first { !$0.allSatisfy(\.isWhitespace) } ?? "vi"
  }

  /// The same editor with the option that makes it wait, or one that is known to have it.
  private static func waiting(_ editor: String) -> String {
    let name = editor.split(separator: " ").first?.split(separator: "/").last.map(String.init) ?? ""
    switch name {
    case "code", "codium", "code-insiders", "cursor", "subl", "gedit", "xed", "zed": return "\"\(name) --wait\""
    case "gvim": return "\"gvim --nofork\""
    case "kate", "kwrite": return "\"\(name) --block\""
    default: return "\"code --wait\""
    }
  }

  /// What tells whether a file was written: an editor may write it in place or put another one there.
  private struct FileState: Equatable {
    let inode: ino_t
    let size: off_t
    let seconds: Int
    let nanoseconds: Int

    /// - Returns: nil for a file that is gone.
    init?(_ file: String) {
      var status = stat()
      guard stat(file, &status) == 0 else { return nil }
      (inode, size) = (status.st_ino, status.st_size)
      (seconds, nanoseconds) = (status.st_mtim.tv_sec, status.st_mtim.tv_nsec)
    }
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
