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
    let batch = batch.withinRules()
    var result = ImportResult()
    result.skipped = batch.skipped
    progress.show("comparing \(batch.notes.count) notes")
    let known = try await knownNotes(batch)
    var seen = Set<ByteKey>()
    let new = batch.notes.filter { known[$0.origin] == nil && seen.insert($0.origin).inserted }
    result.unchanged = batch.notes.count - new.count
    result.imported = new.count
    let transaction = try await changes(placed(new, batch), batch, known, &result)
    guard !transaction.isEmpty else { return result }
    progress.show("writing \(new.count) notes")
    try await commit(ImportTransactions(transaction, largest: Self.largestPart, keeping: LinkProperties.entity.number))
    return result
  }

  /// Half the maximum size of a frame.
  private static let largestPart = 8 << 20

  private func commit(_ parts: ImportTransactions) async throws {
    guard parts.count > 1 else {
      for part in parts { _ = try await shell.client.commit(part, policy: .storeTrump) }
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
    var changes = [Change]()
    func insert(_ entity: Entity, _ values: [String: Value]) -> ObjectID {
      let id = ObjectID.temporary(UInt64(changes.count + 1), entity: entity.number)
      let edits = values.sorted { $0.key < $1.key }.map { name, value in
        guard let property = entity.property(named: name) else {
          preconditionFailure("the built-in model has no \(entity.name).\(name)")
        }
        return Edit.set(property, value)
      }
      changes.append(Change(.insert, id, edits: edits))
      return id
    }
    /// The ids of the batch's boards or tags, by their names in the file. Those exported from this store are
    /// identified by id, even if renamed. Those that a new note needs are inserted, and unique keys merge them with
    /// existing ones. Those that no note of the file uses are inserted if the name does not exist. Others are not
    /// inserted: their notes exist here, so they have been renamed or deleted since.
    func settle(
      _ entity: Entity, _ name: Property, _ listed: [ImportBatch.NamedObject], of new: [String], all: [String]
    ) async throws -> [ByteKey: ObjectID] {
      let (new, all) = (Set(new.map(ByteKey.init)), Set(all.map(ByteKey.init)))
      let unlisted = new.subtracting(listed.map { ByteKey($0.name) }).sorted()
        .map { ImportBatch.NamedObject(name: $0.text) }
      guard !listed.isEmpty || !unlisted.isEmpty else { return [:] }
      let there = try await shell.images(of: entity)
      let names = Set(there.compactMap { $0[name].stringValue.map(ByteKey.init) })
      let byID = Dictionary(there.map { ($0.id.description, $0.id) }, uniquingKeysWith: { $1 })
      var ids = [ByteKey: ObjectID]()
      for named in listed + unlisted {
        let key = ByteKey(named.name)
        if let id = named.id.flatMap({ byID[$0] }) {
          ids[key] = id
        } else if new.contains(key) || !(all.contains(key) || names.contains(key)) {
          ids[key] = insert(entity, named.values.merging([name.name: .string(named.name)]) { $1 })
        }
      }
      return ids
    }
    let boards = try await settle(
      BoardProperties.entity, BoardProperties.name, batch.boards, of: notes.map(\.board), all: batch.notes.map(\.board))
    let tags = try await settle(
      TagProperties.entity, TagProperties.name, batch.tags, of: notes.flatMap(\.tags), all: batch.notes.flatMap(\.tags))
    var ids = [ByteKey: ObjectID]()
    for note in batch.notes { if let id = note.id { ids[id] = known[note.origin] } }
    // A link follows its second note, in the same transaction: later runs assume that links between existing notes
    // exist.
    var linksAt = [ByteKey: [ImportBatch.Link]]()
    for link in batch.links {
      for end in Set([ByteKey(link.from), ByteKey(link.to)]) { linksAt[end, default: []].append(link) }
    }
    for note in notes {
      var values = note.values
      values[NoteProperties.origin.name] = .string(note.origin)
      values[NoteProperties.board.name] = boards[note.board].map { .object($0) }
      let worn = Set(note.tags.compactMap { tags[$0] }).sorted()
      if !worn.isEmpty { values[NoteProperties.tags.name] = .objects(worn) }
      let id = insert(NoteProperties.entity, values)
      if let name = note.id {
        ids[name] = id
        for link in linksAt[ByteKey(name), default: []] {
          guard let from = ids[link.from], let to = ids[link.to] else { continue }
          let ends = [LinkProperties.from.name: Value.object(from), LinkProperties.to.name: .object(to)]
          _ = insert(LinkProperties.entity, link.values.merging(ends) { $1 })
        }
      }
    }
    for link in batch.links where ids[link.from] == nil || ids[link.to] == nil {
      result.skipped.append(.init(file: link.place, reason: "the file does not hold both notes of the link"))
    }
    return changes
  }
}
