import Foundation

/// The content of a file, and the time of its last write.
public struct FileState: Hashable {
  /// The content.
  public let bytes: Data
  /// The time of the last write.
  public let modified: Date

  /// The states of a store's database and WAL, by name.
  public static func of(_ directory: TemporaryDirectory) throws -> [String: FileState] {
    var states = [String: FileState]()
    for name in ["graph.sqlite", "graph.sqlite-wal"] {
      let path = directory.path + "/" + name
      guard let bytes = FileManager.default.contents(atPath: path),
        let modified = try FileManager.default.attributesOfItem(atPath: path)[.modificationDate] as? Date
      else { continue }
      states[name] = FileState(bytes: bytes, modified: modified)
    }
    return states
  }
}
