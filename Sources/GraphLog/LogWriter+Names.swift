// Tests: MovedLogTests.swift
import GraphModel

/// The identities of a log's folder and segments, compared with the files that their names refer to now.
///
/// A segment is written through its descriptor, which still works when its name is gone or refers to another file. The
/// next start then does not find the records. So `verify` compares the names after an append and before the answer.
/// A comparison takes one `stat` for each name, about 1.7 µs. Usually these are two: the folder, because older segments
/// are lost with it even if the present one is put into another folder, and the present segment. An older segment is
/// compared only while it holds records that are not forgotten (of a busy store's default log, up to three), and a
/// spare once it is the present segment. A sync takes about 130 µs.
struct LogFileIdentities {
  let folder: FileIdentity
  private var segments = [UInt64: FileIdentity]()

  init(_ disk: any LogDisk) throws {
    guard let folder = disk.folderIdentity() else { throw LogFailure.missing(disk.folder) }
    self.folder = folder
  }

  /// Records the identity of the first segment of a log that begins.
  mutating func begin(with identity: FileIdentity, of number: UInt64) { segments = [number: identity] }

  /// Records the identity of a segment file.
  mutating func record(_ identity: FileIdentity, of number: UInt64) { segments[number] = identity }

  /// Removes a segment whose file was removed or has another name.
  mutating func remove(_ number: UInt64) { segments[number] = nil }

  /// Compares the folder and some segments.
  /// - Throws: `StoreFailure(.moved)` for the first name that refers to another file.
  func verify(_ used: [Segment], _ disk: any LogDisk) throws {
    for segment in used {
      let opened = try invariant(segments[segment.header.number], "the identity of a segment in use is recorded")
      let present = disk.identity(of: segment.name)
      if present == opened { continue }
      try verifyFolder(disk)
      throw LogFailure.moved(segment: disk.path(segment.name), isThere: present != nil)
    }
    try verifyFolder(disk)
  }

  private func verifyFolder(_ disk: any LogDisk) throws {
    let present = disk.folderIdentity()
    if present != folder { throw LogFailure.moved(folder: disk.folder, isThere: present != nil) }
  }
}

extension LogWriter {
  /// Compares the files with unforgotten records to the files that the next start would find.
  /// - Throws: `StoreFailure(.moved)`; the log accepts no group before `restart`.
  mutating func verify() throws {
    guard !needsRestart else { throw LogRefusal.needsRestart }
    let used = segments.dropLast().filter { $0.last > forgotten } + segments.suffix(1)
    do {
      try names.verify(used, disk)
    } catch {
      needsRestart = true
      throw error
    }
  }

  /// Prepares the folder of a log that begins again: creates it if it was moved away or removed.
  ///
  /// Segments in a folder that took its place may belong to another store. They are renamed, because the next start
  /// would read them. They are not removed, because this log did not write them.
  mutating func replaceMovedFolder() throws {
    if disk.folderIdentity() == names.folder { return }
    try disk.makeFolder()
    let moved = try LogFileIdentities(disk)
    guard let found = try disk.names() else { throw LogFailure.missing(disk.folder) }
    for name in found where Segment.number(in: name) != nil { try disk.rename(name, to: name + ".orphan") }
    names = moved
  }

  /// Removes the oldest segment from the log, after its file was removed or renamed.
  mutating func dropOldest() { names.remove(segments.removeFirst().header.number) }
}
