// Tests: KeepTests.swift
import GraphModel
import StickiesFiles
import StickiesKit

extension Importer {
  /// The batch with origins of Keep's notes that do not depend on the order of its files.
  ///
  /// Files of several folders can have the same name and creation time. The first one that is imported gets an origin
  /// without the fingerprint of its text, so in another order another file would take it: that file would count as
  /// imported, and the first one would be imported again.
  func withStoredKeepOrigins(_ batch: ImportBatch) async throws -> ImportBatch {
    var groups = [ByteKey: [Int]]()
    for (index, note) in batch.notes.enumerated() {
      guard let keep = note.keep else { continue }
      groups[ByteKey(KeepOrigins.origin(of: keep, file: note.place)), default: []].append(index)
    }
    var batch = batch
    for (_, indexes) in groups where Set(indexes.map { ByteKey(batch.notes[$0].origin) }).count > 1 {
      try await settle(indexes, in: &batch)
    }
    return batch
  }

  /// Sets the origins of notes with the same file name and creation time, of which at least two have different texts.
  private func settle(_ indexes: [Int], in batch: inout ImportBatch) async throws {
    let notes = indexes.compactMap { index in batch.notes[index].keep.map { (index: index, keep: $0) } }
    guard let first = notes.first else { preconditionFailure("a group has a note") }
    let base = KeepOrigins.origin(of: first.keep, file: batch.notes[first.index].place)
    func own(_ note: KeepNote) -> String { base + ":" + KeepOrigins.fingerprint(note.text) }
    let (origin, text) = (NoteProperties.origin, NoteProperties.text)
    let names = ([base] + notes.map { own($0.keep) }).map { Value.string($0) }
    var stored = [String: String]()
    for image in try await shell.images(of: NoteProperties.entity, where: .in(origin, names)) {
      if let key = image[origin].stringValue { stored[key] = image.text(of: text) }
    }
    let rest = notes.filter { stored[own($0.keep)] == nil }
    let same = rest.first { note in stored[base].map { UTF8Comparison.equal($0, note.keep.text) } == true }
    let holder = if let same { same } else { rest.first }
    for note in notes {
      // Copies of a file have one origin.
      let isHolder = holder.map { UTF8Comparison.equal($0.keep.text, note.keep.text) } == true
      batch.notes[note.index].origin = isHolder ? base : own(note.keep)
    }
  }
}
