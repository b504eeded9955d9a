import GraphModel
import GraphShell
import StickiesFiles
import StickiesKit

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

/// Reads files into a batch. Anything that can't be imported is reported with its reason and does not stop the
/// import.
@MainActor
enum ImportReader {
  /// Maximum size of a file, in bytes.
  static let maximumFileSize = 64 << 20

  static func read(_ path: String, into batch: inout ImportBatch, _ progress: ProgressLine) throws {
    var isDirectory = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) else {
      if let reason = unreachable(path) { return batch.skip(path, reason) }
      throw Refusal(.notFound, "there is no file or folder \(path)")
    }
    let name = path.split(separator: "/").last.map(String.init) ?? path
    guard isDirectory else { return readFile(path, name: name, into: &batch) }
    if MacNotes.isPackage(name) { return MacNotes(packageAt: path, into: &batch).read(path, name: name, into: &batch) }
    let names: [String]
    do {
      names = try FileManager.default.contentsOfDirectory(atPath: path).sorted()
    } catch {
      return batch.skip(path, unreachable(path + "/.", otherwise: "its files can't be listed"))
    }
    let packages = names.contains(where: MacNotes.isPackage) ? MacNotes(folder: path, into: &batch) : nil
    var isEmpty = true
    for (index, name) in names.enumerated() where name != FolderManifest.name {
      progress.show("reading \(index + 1) of \(names.count)")
      if let packages, MacNotes.isPackage(name) {
        packages.read(path + "/" + name, name: name, into: &batch)
      } else if ImportFile(name: name).isOfAFolder || name == MacNotes.database {
        readFile(path + "/" + name, name: name, into: &batch)
      } else {
        continue
      }
      isEmpty = false
    }
    if isEmpty { batch.skip(path, emptyFolderReason(path, names)) }
  }

  /// The reason why an existing path can't be read; nil if it does not exist.
  private static func unreachable(_ path: String) -> String? {
    guard access(path, R_OK) != 0 else { return nil }
    switch errno {
    case EACCES: return "it can't be read: you have no permission to read it, or a folder above it"
    case ENOENT, ENOTDIR: return nil
    case let code: return "it can't be read: \(String(cString: strerror(code)))"
    }
  }

  /// The reason why a path can't be read, or `other` if the system gives no reason.
  private static func unreachable(_ path: String, otherwise other: String) -> String {
    if let reason = unreachable(path) { reason } else { other }
  }

  /// The advice for a folder without anything to import.
  private static func emptyFolderReason(_ path: String, _ names: [String]) -> String {
    if names.contains(FolderManifest.name) {
      return "stickies export has written this folder; send its edits with: stickies sync-folder \(path)"
    }
    let nothing = "nothing in this folder can be imported: no .json, .jsonl or .rtfd"
    let folders = ["Keep", "Takeout/Keep", "Takeout", "Stickies"].filter { folder in
      var isDirectory = false
      return FileManager.default.fileExists(atPath: "\(path)/\(folder)", isDirectory: &isDirectory) && isDirectory
    }
    if let folder = folders.first { return "\(nothing); import \(path)/\(folder)" }
    if let archive = names.first(where: { ImportFile(name: $0).isArchive }) {
      return "\(nothing); unpack \(archive), and import the folder of the notes in it"
    }
    return "\(nothing); name the folder that holds the notes, such as Takeout/Keep: folders in it are not searched"
  }

  private static func readFile(_ path: String, name: String, into batch: inout ImportBatch) {
    func skip(_ reason: String) { batch.skip(name, reason) }
    if name == MacNotes.database { return skip(MacNotes.databaseReason) }
    func isTooLarge(_ size: Int) -> Bool {
      guard size > maximumFileSize else { return false }
      if let reason = ImportFile.archive(name) {
        skip(reason)
      } else {
        skip("the file has \(size) bytes; at most \(maximumFileSize) are allowed")
      }
      return true
    }
    // A file whose size is unknown is read: the error or the number of its bytes decides.
    let size = (try? FileManager.default.attributesOfItem(atPath: path))?[.size] as? Int
    if let size, isTooLarge(size) { return }
    guard let contents = FileManager.default.contents(atPath: path) else {
      return skip(unreachable(path, otherwise: "it can't be read: it is not a regular file"))
    }
    let bytes = Array(contents)
    if isTooLarge(bytes.count) { return }
    if let reason = ImportFile.reason(against: bytes) { return skip(reason) }
    if ImportFile(name: name).isLines { return NoteLinesReader.read(bytes, file: name, into: &batch) }
    let json: JSON
    var replaced = 0
    do {
      json = try JSON(repairing: bytes, replaced: &replaced)
    } catch {
      return skip("this is not JSON: \(error)")
    }
    do {
      try batch.addKeepNote(KeepNote(json), file: name)
    } catch {
      return skip("\(error)")
    }
    batch.skip(name, replaced: replaced)
  }
}
