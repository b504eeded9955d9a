import GraphModel
import StickiesFiles
import StickiesKit

extension Importer {
  /// The number of notes that are looked up at once.
  private static let lookupSize = 1_000

  /// The notes of the batch that exist in the store, by the batch's origins.
  ///
  /// A note is identified by its origin; by its id, if it was exported from this store; and by the id in its origin,
  /// if another store imported it from here and exported it again.
  func knownNotes(_ batch: ImportBatch) async throws -> [ByteKey: ObjectID] {
    var known = [ByteKey: ObjectID]()
    let origin = NoteProperties.origin
    let entity = NoteProperties.entity.number
    for start in stride(from: 0, to: batch.notes.count, by: Self.lookupSize) {
      let part = batch.notes[start..<min(start + Self.lookupSize, batch.notes.count)]
      for image in try await shell.images(
        of: NoteProperties.entity, where: .in(origin, part.map { .string($0.origin) }))
      {
        if let key = image[origin].stringValue { known[key] = image.id }
      }
      var origins = [ObjectID: String]()
      for note in part {
        // Its own id comes last: it identifies the note itself, not the note that it was made from.
        for name in [ImportBatch.exportedID(note.origin), note.id] {
          if let id = name.flatMap({ UniqueID($0) }) { origins[ObjectID(key: id, entity: entity)] = note.origin }
        }
      }
      guard !origins.isEmpty else { continue }
      for image in try await shell.images(of: NoteProperties.entity, where: .identifiers(origins.keys.sorted())) {
        if let key = origins[image.id] { known[key] = image.id }
      }
    }
    try await addKeepNotes(batch, &known)
    return known
  }

  /// Finds Keep notes that other releases imported, or that had another file name.
  private func addKeepNotes(_ batch: ImportBatch, _ known: inout [ByteKey: ObjectID]) async throws {
    let unknown = batch.notes.filter { $0.keep != nil && known[$0.origin] == nil }
    /// Each note of the store belongs to one file.
    var taken = Set(known.values)
    let (origin, text) = (NoteProperties.origin, NoteProperties.text)
    let (created, updated) = (NoteProperties.created, NoteProperties.updated)
    for start in stride(from: 0, to: unknown.count, by: Self.lookupSize) {
      let part = unknown[start..<min(start + Self.lookupSize, unknown.count)]
      let times = Set(part.compactMap(\.keep?.created)).sorted()
      var stored = [KeepOrigins.Stored]()
      // Earlier releases imported invalid times unchanged, so origins identify more notes than times do.
      let origins = part.compactMap(\.keep).map { Value.string(KeepOrigins.earlier($0)) }
      let isOfThem = GraphPredicate.or([.in(created, times.map { .date($0) }), .in(origin, origins)])
      for image in try await shell.images(of: NoteProperties.entity, where: isOfThem) {
        guard let key = image[origin].stringValue, key.hasPrefix("keep:"), !taken.contains(image.id) else { continue }
        var time: Timestamp?
        if case .date(let value) = image[updated] { time = value }
        stored.append(.init(id: image.id, origin: key, text: image.text(of: text), updated: time))
      }
      guard !stored.isEmpty else { continue }
      let notes = Array(part)
      for (index, id) in KeepOrigins.claims(notes.compactMap(\.keep), stored) {
        known[notes[index].origin] = id
        taken.insert(id)
      }
    }
  }
}
