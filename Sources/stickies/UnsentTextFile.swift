import GraphModel
import StickiesKit
import StickiesModel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Saves texts that the server did not accept in a file, so that they are not lost.
enum UnsentTextFile {
  /// Writes the texts, one after the other.
  /// - Returns: the file's path; nil if it can't be written.
  static func keep(_ texts: [String]) -> String? {
    let folder = ProcessEnvironment.current.stateDirectory
    let time = RFC3339.text(Int64(Date().timeIntervalSince1970 * 1_000_000)).filter { $0.isNumber || $0 == "T" }
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
