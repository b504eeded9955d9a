// Tests: ReplicaFolderTests.swift
import Foundation
import GraphModel
import GraphReplicaStore
import GraphStore

/// The folder with the replicas of one server: a folder for each store and principal, and a file that names the present
/// one.
///
/// The server behind an address may be replaced by one with another store, and the user may log in under another
/// account. Each pair has files of its own, so edits never reach a store or an account that they were not made for.
package struct ReplicaFolder: Sendable {
  /// The folder of the server's replicas.
  package let path: String

  /// - Parameter name: the address as a file name.
  package init(in folder: String, name: String) { path = folder + "/" + name }

  private var currentFile: String { path + "/current" }

  /// The folder of the replica that was used last; nil for none.
  package var current: String? {
    guard let bytes = FileManager.default.contents(atPath: currentFile),
      let name = String(data: bytes, encoding: .utf8)?.split(separator: "\n").first, !name.contains("/"),
      !name.hasPrefix(".")
    else { return nil }
    let folder = path + "/" + name
    return FileManager.default.fileExists(atPath: folder + "/" + UnsentFile.name) ? folder : nil
  }

  /// The folder of a store and a principal.
  package func folder(store: UniqueID, principal: String) -> String {
    let hash = Checksum.of(Array(principal.utf8))
    return path + "/\(store)-" + String(hash, radix: 16)
  }

  /// Makes a folder the present one, and creates it if it does not exist.
  package func use(_ folder: String) throws {
    try StoreFiles.prepare(directory: folder)
    let name = folder.split(separator: "/").last.map(String.init)
    let text = try invariant(name, "the folder of a replica has a name") + "\n"
    do {
      // Written beside it and renamed, so that a killed program leaves the earlier one.
      try Data(text.utf8).write(to: URL(fileURLWithPath: currentFile), options: .atomic)
    } catch {
      throw StoreFailure(
        .inputOutput, "\(currentFile) can't be written", cause: "\(error)", advice: "Check the disk and the path.")
    }
    try StoreFiles.synchronize(directory: path)
  }
}
