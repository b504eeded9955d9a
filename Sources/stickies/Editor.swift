import Dispatch
import GraphModel
import GraphShell

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Opens a temporary file in `$VISUAL`, `$EDITOR` or vi, whichever is found first. The file is kept until its text is
/// saved.
struct Editor {
  let text: String
  /// Whether the editor has written the file; see `wasWritten(_:since:isBrief:opened:)`. Otherwise the user ended it
  /// without a change, or the editor returned while its window is still open; then the file is kept for a text that is
  /// saved later.
  let wasWritten: Bool
  private let directory: String

  /// The file of an open editor, or of an editor that has ended with a text that is not saved yet.
  @MainActor static var openFile: String? { openDirectory.map(file) }
  @MainActor private static var openDirectory: String?
  /// The text that the editor was opened with.
  @MainActor private static var openText = ""

  /// Files of editors that returned without writing them. Texts that are saved in them later are only in these files.
  @MainActor private(set) static var leftFiles = [String]()

  /// The minimum duration of a session. An editor that returns sooner without another text in the file has probably
  /// opened it in a window that is still open; the command fails.
  static let briefestUse = Duration.seconds(2)

  /// The status of `system` for a command that the shell does not find, with exit code 127.
  private static let commandNotFound: Int32 = 127 << 8

  /// The text last saved in the open editor; nil if there is none, or if it is unreadable.
  @MainActor static var savedText: String? {
    openFile.flatMap { try? contents(of: $0, opened: openText) }
  }

  private static func contents(of file: String, opened text: String) throws -> String {
    guard let bytes = FileManager.default.contents(atPath: file) else {
      throw Refusal(.unavailable, "\(file) can't be read; the note is unchanged")
    }
    guard var edited = String(validating: bytes, as: UTF8.self) else {
      throw Refusal(.invalid, "the text in \(file) is not UTF-8; the note is unchanged")
    }
    // Editors end a file with a newline, and some begin it with a mark, that the user did not type.
    if !text.endsLine { edited.removeLineEnding() }
    if text.unicodeScalars.first != "\u{FEFF}" { edited.removeByteOrderMark() }
    return edited
  }

  /// The file with the text.
  var file: String { Self.file(in: directory) }

  private static func file(in directory: String) -> String { directory + "/note.md" }

  /// Opens `text` in the editor, which uses the terminal. The main actor is not blocked, so the connection stays alive.
  @MainActor
  static func edit(_ text: String) async throws -> Editor {
    let editor = command(ProcessInfo.processInfo.environment)
    let directory = try directory(in: FileManager.default.temporaryDirectory.path)
    let file = file(in: directory)
    guard FileManager.default.createFile(atPath: file, contents: Data(text.utf8)) else {
      throw Refusal(.unavailable, "\(file) can't be written")
    }
    // The variable may contain arguments; the file's name is quoted. `system` leaves the editor in our process group,
    // because otherwise the terminal would stop it.
    let quoted = "'" + file.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    (openDirectory, openText) = (directory, text)
    let (state, start) = (FileState(file), ContinuousClock.now)
    let status = await withCheckedContinuation { continuation in
      DispatchQueue(label: "editor").async { continuation.resume(returning: system("\(editor) \(quoted)")) }
    }
    // The file comes first in both messages: the board cuts its status line at the edge of the screen.
    if status == commandNotFound, FileState(file) == state {
      discard(directory)
      throw Refusal(
        .unavailable,
        "there is no editor \(editor), and the note is unchanged: set VISUAL or EDITOR to the command of your editor")
    }
    guard status == 0 else {
      openDirectory = nil
      throw Refusal(
        .unavailable, "your text is in \(file); the editor (\(editor)) failed, and the note is unchanged")
    }
    let isBrief = ContinuousClock.now - start < briefestUse
    let wasWritten = try wasWritten(file, since: state, isBrief: isBrief, opened: text)
    if !wasWritten {
      openDirectory = nil
      leftFiles.append(file)
    }
    if !wasWritten, isBrief {
      throw Refusal(
        .unavailable,
        "text saved later stays in \(file); the editor (\(editor)) returned at once, and the note is unchanged: set VISUAL "
          + "to an editor that waits, such as \(waiting(editor))")
    }
    return Editor(text: try contents(of: file, opened: text), wasWritten: wasWritten, directory: directory)
  }

  /// Whether the editor has written the file.
  ///
  /// After a brief session only another text counts: an editor with its own window may touch the file, or write the
  /// same text again, when it opens the file. A program such as `sed -i` saves its text as fast, and that text is
  /// complete. After a longer session the user has probably saved the text without changing it.
  private static func wasWritten(
    _ file: String, since state: FileState?, isBrief: Bool, opened text: String
  ) throws -> Bool {
    guard FileState(file) != state else { return false }
    guard isBrief else { return true }
    let saved = try contents(of: file, opened: text)
    return !UTF8Comparison.equal(saved, text)
  }

  /// The editor's command: `$VISUAL`, or else `$EDITOR`, or else vi. A blank variable counts as unset.
  private static func command(_ environment: [String: String]) -> String {
    let chosen = ["VISUAL", "EDITOR"].compactMap { environment[$0] }.first { !$0.allSatisfy(\.isWhitespace) }
    return if let chosen { chosen } else { "vi" }
  }

  /// The same editor with the option that makes it wait, or one that is known to have such an option.
  private static func waiting(_ editor: String) -> String {
    let other = "\"code --wait\""
    guard let name = editor.split(separator: " ").first?.split(separator: "/").last else { return other }
    switch name {
    case "code", "codium", "code-insiders", "cursor", "subl", "gedit", "xed", "zed": return "\"\(name) --wait\""
    case "gvim": return "\"gvim --nofork\""
    case "kate", "kwrite": return "\"\(name) --block\""
    default: return other
    }
  }

  /// Detects whether a file was written or touched: an editor may write it in place or replace it.
  private struct FileState: Equatable {
    let inode: ino_t
    let size: off_t
    let seconds: Int
    let nanoseconds: Int

    /// - Returns: nil if the file does not exist.
    init?(_ file: String) {
      var status = stat()
      guard stat(file, &status) == 0 else { return nil }
      (inode, size) = (status.st_ino, status.st_size)
      #if canImport(Darwin)
        let time = status.st_mtimespec
      #else
        let time = status.st_mtim
      #endif
      (seconds, nanoseconds) = (time.tv_sec, time.tv_nsec)
    }
  }

  /// Creates a private temporary directory. Its name is short so that it fits on a narrow terminal.
  private static func directory(in parent: String) throws -> String {
    var template = Array("\(parent)/stickies-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw Refusal(.unavailable, "\(parent) can't be written") }
    return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// Removes the file after its text was committed. A file that the editor has not written stays.
  @MainActor
  func discard() { if wasWritten { Self.discard(directory) } }

  /// Removes the file of the last editor.
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
