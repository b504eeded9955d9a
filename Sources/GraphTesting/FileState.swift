import Foundation
import GraphTesting

/// What a file is: its bytes, and when it was last written.
struct FileState: Hashable {
  let bytes: Data
  let modified: Date

  /// The files of a store that are no memory and no lock, by name.
  static func of(_ directory: TemporaryDirectory) throws -> [String: FileState] {
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
