import GraphModel
import GraphShell
import StickiesFiles
import StickiesKit

/// Converts notes between the server's form and that of files.
@MainActor
struct NoteFileConverter {
  let shell: CommandContext
  private let tagNames: [ObjectID: String]
  /// Keyed by bytes: canonically equivalent names are different tags.
  private let tagIDs: [ByteKey: ObjectID]
  /// The damaged tags. A note with one of them can't be read.
  private let tagDamage: DamageNotice

  /// Notes, and the ids of notes that exist but can't be read.
  struct ReadNotes {
    var notes = [NoteSnapshot]()
    var unreadable = Set<UniqueID>()
    /// The damaged notes and tags.
    var damage = DamageNotice()
  }

  /// Reads the tags, because notes refer to tags by id, and files by name.
  init(_ shell: CommandContext) async throws {
    self.shell = shell
    let name = TagProperties.name
    let (tags, damage) = try await shell.readableImages(of: TagProperties.entity)
    tagDamage = damage
    tagNames = Dictionary(tags.map { ($0.id, $0.text(of: name)) }, uniquingKeysWith: { one, _ in one })
    tagIDs = Dictionary(tags.map { (ByteKey($0.text(of: name)), $0.id) }, uniquingKeysWith: { one, _ in one })
  }

  // MARK: Reading

  func notes(of board: UniqueID) async throws -> ReadNotes {
    let board = ObjectID(key: board, entity: BoardProperties.entity.number)
    let isOnBoard = GraphPredicate.equal(NoteProperties.board, .object(board))
    var found = ReadNotes()
    add(try await shell.readableImages(of: NoteProperties.entity, where: isOnBoard), to: &found)
    return found
  }

  /// The notes with these ids, as far as they exist.
  func notes(_ ids: [UniqueID]) async throws -> ReadNotes {
    var found = ReadNotes()
    for start in stride(from: 0, to: ids.count, by: 1_000) {
      let part = ids[start..<min(start + 1_000, ids.count)]
        .map { ObjectID(key: $0, entity: NoteProperties.entity.number) }.sorted()
      do {
        let images = try await shell.images(of: NoteProperties.entity, where: .identifiers(part))
        add((images, DamageNotice()), to: &found)
      } catch let refusal as Refusal where refusal.code == .unavailable {
        // A fetch by ids is refused if one of the objects is damaged. A fetch of all notes reports the damaged ones
        // instead.
        let wanted = Set(part)
        var (images, damage) = try await shell.readableImages(of: NoteProperties.entity)
        images.removeAll { !wanted.contains($0.id) }
        damage.objects.removeAll { !wanted.contains($0) }
        add((images, damage), to: &found)
      }
    }
    return found
  }

  private func add(_ read: (images: [ObjectImage], damage: DamageNotice), to found: inout ReadNotes) {
    let damagedTags = Set(tagDamage.objects)
    for image in read.images {
      if image[NoteProperties.tags].objectIDs.contains(where: damagedTags.contains) {
        found.unreadable.insert(image.id.key)
        found.damage.formUnion(tagDamage)
      } else {
        found.notes.append(snapshot(image))
      }
    }
    found.unreadable.formUnion(read.damage.objects.map(\.key))
    found.damage.formUnion(read.damage)
  }

  /// The notes with these origins.
  func notes(origins: [String]) async throws -> [ByteKey: NoteSnapshot] {
    let origin = NoteProperties.origin
    var found = [ByteKey: NoteSnapshot]()
    for start in stride(from: 0, to: origins.count, by: 1_000) {
      let part = origins[start..<min(start + 1_000, origins.count)]
      for image in try await shell.images(of: NoteProperties.entity, where: .in(origin, part.map { .string($0) })) {
        if let key = image[origin].stringValue { found[key] = snapshot(image) }
      }
    }
    return found
  }

  /// The property for a field of a file.
  private static func property(_ field: NoteField) -> Property {
    guard let property = NoteProperties.entity.property(named: field.rawValue) else {
      preconditionFailure("the built-in model has no Note.\(field.rawValue)")
    }
    return property
  }

  private func snapshot(_ image: ObjectImage) -> NoteSnapshot {
    func value(_ field: NoteField) -> Value { image[Self.property(field)] }
    var values = [NoteField: NoteValue]()
    for field in NoteField.allCases {
      switch (field.kind, value(field)) {
      case (.color, .string(let color)): values[field] = .word(color)
      case (.number, .double(let number)): values[field] = .number(number)
      case (.flag, .bool(let flag)): values[field] = .flag(flag)
      case (.words, let tags): values[field] = .words(of: tags.objectIDs.compactMap { tagNames[$0] })
      default: break
      }
    }
    var (number, created, updated) = (Int64(0), Timestamp(0), Timestamp(0))
    if case .integer(let value) = image[NoteProperties.number] { number = value }
    if case .date(let value) = image[NoteProperties.created] { created = value }
    if case .date(let value) = image[NoteProperties.updated] { updated = value }
    return NoteSnapshot(
      id: image.id.key, revision: image.revision, number: number, created: created, updated: updated, values: values,
      text: image.text(of: NoteProperties.text))
  }

  // MARK: Writing

  /// The changes of one transaction, and the state for numbering its temporary ids.
  struct Draft {
    var changes = [Change]()
    private var last: UInt64 = 0
    /// Tags that the transaction inserts, by name.
    fileprivate var tags = [ByteKey: ObjectID]()

    fileprivate mutating func temporary(_ entity: Entity) -> ObjectID {
      last += 1
      return .temporary(last, entity: entity.number)
    }
  }

  private func value(_ value: NoteValue) -> Value? {
    switch value {
    case .word(let word): .string(word)
    case .number(let number): .double(number)
    case .flag(let flag): .bool(flag)
    case .words: nil
    }
  }

  private func tags(_ names: [String], _ draft: inout Draft) -> [ObjectID] {
    names.map { name in
      let key = ByteKey(name)
      if let id = tagIDs[key] ?? draft.tags[key] { return id }
      let id = draft.temporary(TagProperties.entity)
      draft.changes.append(Change(.insert, id, edits: [.set(TagProperties.name, .string(name))]))
      draft.tags[key] = id
      return id
    }
  }

  /// Appends the changes of an edit. The text change is based on the revision that the file was written at, the other
  /// fields on the revision that they were compared with.
  func edit(_ edit: FolderChanges.Edit, _ draft: inout Draft) {
    let id = ObjectID(key: edit.theirs.id, entity: NoteProperties.entity.number)
    let merge = edit.merge
    if !merge.splices.isEmpty {
      let text = Edit(NoteProperties.text.number, .splice(merge.splices))
      draft.changes.append(Change(.update, id, base: merge.base, edits: [text]))
    }
    var edits = merge.edits.compactMap { edit in value(edit.value).map { Edit.set(Self.property(edit.field), $0) } }
    if !merge.addedTags.isEmpty || !merge.removedTags.isEmpty {
      let removed = merge.removedTags.compactMap { tagIDs[$0] }
      edits.append(
        Edit(
          NoteProperties.tags.number, .members(added: tags(merge.addedTags, &draft), removed: removed)))
    }
    if !edits.isEmpty { draft.changes.append(Change(.update, id, base: edit.theirs.revision, edits: edits)) }
  }

  func insert(_ new: FolderChanges.NewFile, on board: UniqueID, origin: String, _ draft: inout Draft) {
    var edits: [Edit] = [
      .set(NoteProperties.text, .string(new.note.text(over: ""))), .set(NoteProperties.origin, .string(origin)),
      .set(NoteProperties.board, .object(ObjectID(key: board, entity: BoardProperties.entity.number))),
    ]
    for field in NoteField.allCases {
      if let value = new.note.values[field].flatMap({ value($0) }) { edits.append(.set(Self.property(field), value)) }
    }
    if let created = new.note.created { edits.append(.set(NoteProperties.created, .date(created))) }
    if let updated = new.note.updated { edits.append(.set(NoteProperties.updated, .date(updated))) }
    if case .words(let names)? = new.note.values[.tags], !names.isEmpty {
      edits.append(Edit(NoteProperties.tags.number, .members(added: tags(names, &draft), removed: [])))
    }
    let id = draft.temporary(NoteProperties.entity)
    draft.changes.append(Change(.insert, id, edits: edits))
  }

  func delete(_ missing: FolderChanges.DeletedFile, _ draft: inout Draft) {
    let id = ObjectID(key: missing.theirs.id, entity: NoteProperties.entity.number)
    draft.changes.append(Change(.delete, id, base: missing.theirs.revision))
  }
}
