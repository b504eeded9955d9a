import GraphModel
import GraphReplica
import StickiesKit

/// Turns a batch into one transaction. Notes are known again by their origin, boards and tags by their names: what is
/// there stays as it is, and the unique keys see to it even when two imports run at once.
@MainActor
struct Importer {
  let shell: Shell
  let progress: Progress

  func run(_ batch: ImportBatch) async throws -> ImportResult {
    var result = ImportResult()
    result.skipped = batch.skipped
    progress.show("comparing \(batch.notes.count) notes")
    let known = try await knownNotes(batch)
    var seen = Set<String>()
    let new = batch.notes.filter { known[$0.origin] == nil && seen.insert($0.origin).inserted }
    result.unchanged = batch.notes.count - new.count
    result.imported = new.count
    let transaction = changes(new, batch, known)
    guard !transaction.isEmpty else { return result }
    progress.show("writing \(new.count) notes")
    _ = try await shell.client.commit(transaction, policy: .storeTrump)
    return result
  }

  /// The notes of the batch that are there, by origin. A note that was exported from this very store is known by its id.
  private func knownNotes(_ batch: ImportBatch) async throws -> [String: ObjectID] {
    var known = [String: ObjectID]()
    let origin = shell.property("Note", "origin")
    let note = shell.entity("Note").number
    for start in stride(from: 0, to: batch.notes.count, by: 1_000) {
      let part = batch.notes[start..<min(start + 1_000, batch.notes.count)]
      for image in try await shell.images("Note", where: .in(origin, part.map { .string($0.origin) })) {
        if let key = image[origin].stringValue { known[key] = image.id }
      }
      var byID = [ObjectID: String]()
      for note_ in part {
        if let id = note_.id.flatMap({ UniqueID($0) }) { byID[ObjectID(key: id, entity: note)] = note_.origin }
      }
      guard !byID.isEmpty else { continue }
      for image in try await shell.images("Note", where: .identifiers(byID.keys.sorted())) {
        if let key = byID[image.id] { known[key] = image.id }
      }
    }
    return known
  }

  private func changes(_ notes: [ImportBatch.Note], _ batch: ImportBatch, _ known: [String: ObjectID]) -> [Change] {
    var changes = [Change]()
    var next: UInt64 = 0
    func temporary(_ entity: String) -> ObjectID {
      next += 1
      return .temporary(next, entity: shell.entity(entity).number)
    }
    func insert(_ entity: String, _ values: [(String, Value)]) -> ObjectID {
      let id = temporary(entity)
      let edits = values.map { shell.edit(shell.property(entity, $0.0), $0.1) }
      changes.append(Change(.insert, id, edits: edits))
      return id
    }
    // With every note there already, their boards and tags are, too.
    guard !notes.isEmpty || batch.notes.isEmpty else { return [] }
    var boards = [String: ObjectID]()
    for board in batch.boards {
      var values = [("name", Value.string(board.name))]
      if let color = board.color { values.append(("color", .string(color))) }
      if let created = board.created { values.append(("created", .date(created))) }
      boards[board.name] = insert("Board", values)
    }
    var tags = [String: ObjectID]()
    for tag in batch.tags + notes.flatMap(\.tags) where tags[tag] == nil {
      tags[tag] = insert("Tag", [("name", .string(tag))])
    }
    var made = [String: ObjectID]()
    for note in notes {
      var values: [(String, Value)] = [
        ("text", .string(note.text)), ("color", .string(note.color.rawValue)), ("pinned", .bool(note.isPinned)),
        ("origin", .string(note.origin)),
      ]
      if let created = note.created { values.append(("created", .date(created))) }
      if let updated = note.updated { values.append(("updated", .date(updated))) }
      if let board = boards[note.board] { values.append(("board", .object(board))) }
      let worn = Set(note.tags.compactMap { tags[$0] }).sorted()
      if !worn.isEmpty { values.append(("tags", .objects(worn))) }
      for (name, value) in note.attributes.sorted(by: { $0.key < $1.key }) { values.append((name, value)) }
      let id = insert("Note", values)
      if let name = note.id { made[name] = id }
    }
    // A link comes with its notes; between notes that are there already, it is there as well.
    for link in batch.links {
      guard made[link.from] != nil || made[link.to] != nil,
        let from = made[link.from] ?? existing(link.from, batch, known),
        let to = made[link.to] ?? existing(link.to, batch, known)
      else { continue }
      _ = insert("Link", [("label", .string(link.label)), ("from", .object(from)), ("to", .object(to))])
    }
    return changes
  }

  private func existing(_ id: String, _ batch: ImportBatch, _ known: [String: ObjectID]) -> ObjectID? {
    batch.notes.first { $0.id == id }.flatMap { known[$0.origin] }
  }
}
