import GraphModel
import GraphReplica
import GraphShell
import StickiesKit

/// Turns a batch into one transaction, or into several that are one undo step. Notes are identified by their origins,
/// boards and tags by their names. Existing objects do not change; unique keys ensure this even for concurrent
/// imports.
@MainActor
struct Importer {
  let shell: CommandContext
  let progress: ProgressLine

  func run(_ batch: ImportBatch) async throws -> ImportResult {
    let batch = try await withStoredKeepOrigins(batch.withinRules())
    var result = ImportResult()
    result.skipped = batch.skipped
    progress.show("comparing \(batch.notes.count) notes")
    let known = try await knownNotes(batch)
    let new = firsts(of: batch.notes, &result).filter { known[$0.origin] == nil }
    result.unchanged = batch.notes.count - new.count - (result.skipped.count - batch.skipped.count)
    result.imported = new.count
    let transaction = try await changes(placed(new, batch), batch, known, &result)
    guard !transaction.isEmpty else { return result }
    progress.show("writing \(new.count) notes")
    try await commit(ImportTransactions(transaction, largest: Self.largestPart, keeping: LinkProperties.entity.number))
    return result
  }

  /// The notes without duplicates of an origin. A later note with the same origin and equal contents, as in two copies
  /// of a file, is dropped; one with other contents is skipped and reported.
  private func firsts(of notes: [ImportBatch.Note], _ result: inout ImportResult) -> [ImportBatch.Note] {
    var places = [ByteKey: Int]()
    var firsts = [ImportBatch.Note]()
    for note in notes {
      guard let place = places[note.origin] else {
        places[note.origin] = firsts.count
        firsts.append(note)
        continue
      }
      guard !firsts[place].hasContents(of: note) else { continue }
      result.skipped.append(
        .init(
          file: note.place,
          reason: "\(firsts[place].place) is the same note with other contents, so this one was left out"))
    }
    return firsts
  }

  /// Half the maximum size of a frame.
  private static let largestPart = 8 << 20

  private func commit(_ parts: ImportTransactions) async throws {
    guard parts.count > 1 else {
      for part in parts { try await shell.client.commit(part, policy: .storeTrump) }
      return
    }
    let undo = UndoGroup(scope: shell.client.context.replica.id, group: 1, name: "Import")
    var permanent = [ObjectID: ObjectID]()
    for (index, part) in parts.enumerated() {
      progress.show("writing part \(index + 1) of \(parts.count)")
      do {
        let changes = part.map { ImportTransactions.naming($0, permanent) }
        let saved = try await shell.client.commit(changes, policy: .storeTrump, undo: undo)
        for identity in saved.committed.identities { permanent[identity.temporary] = identity.permanent }
      } catch let refusal as Refusal where index > 0 {
        var explained = await RefusalExplainer(shell).explained(refusal)
        explained.done =
          "\(index) of \(parts.count) parts are imported; run the import again for the rest, or undo it"
        throw explained
      }
    }
  }

  private func changes(
    _ notes: [ImportBatch.Note], _ batch: ImportBatch, _ known: [ByteKey: ObjectID], _ result: inout ImportResult
  ) async throws -> [Change] {
    var inserts = ImportInserts()
    let boards = try await identify(
      batch.boards, of: notes.map(\.board), all: batch.notes.map(\.board), BoardProperties.entity, BoardProperties.name,
      &inserts)
    let tags = try await identify(
      batch.tags, of: notes.flatMap(\.tags), all: batch.notes.flatMap(\.tags), TagProperties.entity, TagProperties.name,
      &inserts)
    var ids = [ByteKey: ObjectID]()
    for note in batch.notes { if let id = note.id { ids[id] = known[note.origin] } }
    inserts.insert(notes, boards: boards, tags: tags, links: batch.links, &ids)
    for link in batch.links where ids[link.from] == nil || ids[link.to] == nil {
      result.skipped.append(.init(file: link.place, reason: "the file does not hold both notes of the link"))
    }
    return inserts.changes
  }

  /// Finds or inserts the boards or the tags of a batch.
  ///
  /// Those exported from this store are identified by id, even if renamed. Those that a new note needs are inserted,
  /// and unique keys merge them with existing ones. Those that no note of the file uses are inserted if the name does
  /// not exist. Others are not inserted: their notes exist here, so they have been renamed or deleted since.
  /// - Parameters:
  ///   - listed: the boards or tags that the file lists.
  ///   - new: the names that new notes use.
  ///   - all: the names that all notes of the batch use.
  ///   - name: the property with the name.
  /// - Returns: their ids, by their names in the file.
  private func identify(
    _ listed: [ImportBatch.NamedObject], of new: [String], all: [String], _ entity: Entity, _ name: Property,
    _ inserts: inout ImportInserts
  ) async throws -> [ByteKey: ObjectID] {
    let (new, all) = (Set(new.map(ByteKey.init)), Set(all.map(ByteKey.init)))
    let unlisted = new.subtracting(listed.map { ByteKey($0.name) }).sorted()
      .map { ImportBatch.NamedObject(name: $0.text) }
    guard !listed.isEmpty || !unlisted.isEmpty else { return [:] }
    let stored = try await shell.images(of: entity)
    let names = Set(stored.compactMap { $0[name].stringValue.map(ByteKey.init) })
    let byID = Dictionary(stored.map { ($0.id.description, $0.id) }, uniquingKeysWith: { $1 })
    var ids = [ByteKey: ObjectID]()
    for named in listed + unlisted {
      let key = ByteKey(named.name)
      if let id = named.id.flatMap({ byID[$0] }) {
        ids[key] = id
      } else if new.contains(key) || !(all.contains(key) || names.contains(key)) {
        ids[key] = inserts.insert(entity, named.values.merging([name.name: .string(named.name)]) { $1 })
      }
    }
    return ids
  }
}
