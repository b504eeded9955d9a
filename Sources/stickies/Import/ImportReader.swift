import FoundationEssentials
import GraphModel
import StickiesKit

/// Reads files into a batch. What can't be taken is reported with its reason, never a reason to stop.
@MainActor
enum ImportReader {
  /// A file of an import has at most this many bytes.
  static let maximumFileSize = 64 << 20

  static func read(_ path: String, into batch: inout ImportBatch, _ progress: Progress) throws {
    var isDirectory = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) else {
      throw Refusal(.notFound, "there is no file \(path)")
    }
    let name = path.split(separator: "/").last.map(String.init) ?? path
    guard isDirectory else { return readFile(path, name: name, into: &batch) }
    if MacNotes.isPackage(name) { return MacNotes(packageAt: path, into: &batch).read(path, name: name, into: &batch) }
    let names = try FileManager.default.contentsOfDirectory(atPath: path).sorted()
    let packages = names.contains(where: MacNotes.isPackage) ? MacNotes(folder: path, into: &batch) : nil
    for (index, name) in names.enumerated() {
      progress.show("reading \(index + 1) of \(names.count)")
      if let packages, MacNotes.isPackage(name) {
        packages.read(path + "/" + name, name: name, into: &batch)
      } else if name.hasSuffix(".json") || name.hasSuffix(".jsonl") || name == MacNotes.database {
        readFile(path + "/" + name, name: name, into: &batch)
      }
    }
  }

  private static func readFile(_ path: String, name: String, into batch: inout ImportBatch) {
    func skip(_ reason: String) { batch.skip(name, reason) }
    if name == MacNotes.database { return skip(MacNotes.databaseReason) }
    guard let bytes = FileManager.default.contents(atPath: path) else { return skip("the file can't be read") }
    guard bytes.count <= maximumFileSize else {
      return skip("the file has \(bytes.count) bytes; at most \(maximumFileSize) are taken")
    }
    if name.hasSuffix(".jsonl") { return GraphLines.read(Array(bytes), file: name, into: &batch) }
    let json: JSON
    var replaced = 0
    do {
      json = try JSON(repairing: Array(bytes), replaced: &replaced)
    } catch {
      return skip("this is no JSON: \(error)")
    }
    do {
      try batch.keep(KeepNote(json), file: name)
    } catch {
      return skip("\(error)")
    }
    batch.skip(name, replaced: replaced)
  }
}
