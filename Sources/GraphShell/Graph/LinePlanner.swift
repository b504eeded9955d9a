import GraphJSON
import GraphModel

/// Turns lines of JSON into transactions, batch by batch. A line can refer by label to objects of its own batch, in any
/// order, and to objects of earlier batches, of which only the labels are kept.
struct LinePlanner {
  /// One batch, which can be committed if it has no mistake.
  struct Batch {
    var changes = [Change]()
    /// The source line of each change.
    var lines = [Source]()
    var mistakes = [InvalidLine]()

    struct Source {
      var number: Int
      var label: String?
    }
  }

  /// A mistake in a line.
  struct InvalidLine {
    var line: Int
    var reason: String
  }

  private struct PendingInsert {
    let line: Int
    let entity: Entity
    let label: String?
    let members: [JSON.Member]
    let id: ObjectID
  }

  private let model: Model
  /// The entity of lines that do not name one.
  private let entity: Entity
  /// Labels of committed objects.
  private var labels = [ByteKey: ObjectID]()
  /// Properties by name, cached because there are many lines.
  private var properties = [EntityNumber: [ByteKey: Property]]()

  init(model: Model, entity: Entity) {
    self.model = model
    self.entity = entity
  }

  /// Reads a batch. All mistakes of all lines are collected; if there is one, violations of the other lines too.
  mutating func plan(_ lines: [InputLine]) -> Batch {
    var batch = Batch()
    var fresh = [ByteKey: (id: ObjectID, line: Int)]()
    var drafts = [PendingInsert]()
    for line in lines {
      do throws(InvalidInputError) {
        let draft = try draft(line, number: drafts.count + 1)
        if let label = draft.label {
          if labels[label] != nil { throw InvalidInputError("the label \"\(label)\" is used by an earlier line") }
          if let other = fresh[label] {
            throw InvalidInputError("the label \"\(label)\" is used by line \(other.line)")
          }
          fresh[label] = (draft.id, line.number)
        }
        drafts.append(draft)
      } catch {
        batch.mistakes.append(InvalidLine(line: line.number, reason: error.description))
      }
    }
    for draft in drafts {
      let edits = edits(draft, fresh, &batch.mistakes)
      batch.changes.append(Change(.insert, draft.id, edits: edits))
      batch.lines.append(Batch.Source(number: draft.line, label: draft.label))
    }
    assert(batch.changes.count == batch.lines.count, "each change has its line")
    if !batch.mistakes.isEmpty { addViolations(to: &batch) }
    batch.mistakes.sort { $0.line < $1.line }
    return batch
  }

  /// Adds the violations of valid lines, which are not sent because of the mistakes.
  private func addViolations(to batch: inout Batch) {
    let unread = Set(batch.mistakes.map(\.line))
    let lines = Dictionary(
      zip(batch.changes, batch.lines).map { ($0.id, $1.number) }, uniquingKeysWith: { first, _ in first })
    for violation in StandaloneLineValidator(model: model).violations(of: batch.changes) {
      guard let line = lines[violation.id], !unread.contains(line) else { continue }
      batch.mistakes.append(InvalidLine(line: line, reason: violation.message))
    }
  }

  /// Maps the labels of a committed batch to permanent ids.
  mutating func resolveLabels(_ identities: [CommitResult.IDAssignment], of batch: Batch) {
    assert(batch.mistakes.isEmpty, "only a batch without mistakes is committed")
    let permanent = Dictionary(identities.map { ($0.temporary, $0.permanent) }, uniquingKeysWith: { $1 })
    for (change, source) in zip(batch.changes, batch.lines) {
      if let label = source.label { labels[label] = permanent[change.id] }
    }
  }

  private func draft(_ line: InputLine, number: Int) throws(InvalidInputError) -> PendingInsert {
    let members = try line.members()
    let json = JSON.object(members)
    var entity = self.entity
    if let name = json["$entity"] {
      guard let named = name.stringValue.flatMap({ model.entity(named: $0) }) else {
        guard let word = name.stringValue else {
          throw InvalidInputError("$entity takes a string, and not \(name.text.excerpt)")
        }
        let more = Suggestion.sentence(for: word, among: model.entities.map(\.name), otherwise: "")
        throw InvalidInputError("there is no entity \(name.text)\(more)")
      }
      entity = named
    }
    if entity.isAbstract { throw InvalidInputError(model.abstractSentence(entity)) }
    let label = json["$id"]
    if let label, label.stringValue == nil { throw InvalidInputError("$id takes a string, and not \(label.text)") }
    return PendingInsert(
      line: line.number, entity: entity, label: label?.stringValue,
      members: members.filter { $0.name != "$id" && $0.name != "$entity" },
      id: .temporary(UInt64(number), entity: entity.number))
  }

  private mutating func edits(
    _ draft: PendingInsert, _ fresh: [ByteKey: (id: ObjectID, line: Int)], _ mistakes: inout [InvalidLine]
  ) -> [Edit] {
    let names = table(of: draft.entity)
    var edits = [Edit]()
    edits.reserveCapacity(draft.members.count)
    for member in draft.members {
      do {
        let property: Property
        if let known = names[member.name] {
          property = known
        } else {
          property = try PropertyInput.property(member.name, of: draft.entity)
        }
        let input = try PropertyInput(property, member.value, entity: draft.entity)
        edits.append(
          try input.edit { name, destination throws(InvalidInputError) in try resolve(name, fresh, destination) })
      } catch {
        mistakes.append(InvalidLine(line: draft.line, reason: error.description))
      }
    }
    return edits
  }

  private func resolve(
    _ name: ObjectSpecifier, _ fresh: [ByteKey: (id: ObjectID, line: Int)], _ destination: EntityNumber
  ) throws(InvalidInputError) -> ObjectID {
    let text: String
    switch name {
    case .label(let label): text = label
    case .text(let label): text = label
    }
    if let known = fresh[text]?.id ?? labels[text] { return known }
    if case .text = name, let key = UniqueID(text) { return ObjectID(key: key, entity: destination) }
    if case .text = name {
      throw InvalidInputError("\"\(text)\" is neither an id nor the label of a line up to the end of this batch")
    }
    throw InvalidInputError("\"\(text)\" is not the label of a line up to the end of this batch")
  }

  private mutating func table(of entity: Entity) -> [ByteKey: Property] {
    if let table = properties[entity.number] { return table }
    let table = Dictionary(entity.properties.map { (ByteKey($0.name), $0) }, uniquingKeysWith: { $1 })
    properties[entity.number] = table
    return table
  }
}
