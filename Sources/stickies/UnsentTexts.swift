import FoundationEssentials
import GraphModel
import StickiesKit

/// Texts that no server took, in a file of their own: nobody shall have written them for nothing.
enum UnsentTexts {
  /// Writes them, one behind the other.
  /// - Returns: the file's path; nil when it can't be written.
  static func keep(_ texts: [String]) -> String? {
    let folder = ProcessEnvironment.current.stateDirectory
    let time = Dates.text(Int64(Date().timeIntervalSince1970 * 1_000_000)).filter { $0.isNumber || $0 == "T" }
    let file = "\(folder)/unsent-\(time).md"
    do {
      try FileManager.default.createDirectory(
        atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
      guard
        FileManager.default.createFile(
          atPath: file, contents: Data(texts.joined(separator: "\n\n---\n\n").utf8),
          attributes: [.posixPermissions: 0o600])
      else { return nil }
      return file
    } catch {
      return nil
    }
  }
}
