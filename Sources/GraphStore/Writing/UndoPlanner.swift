import GRDBSQLite
import GraphModel

/// Makes the transaction that takes a commit back: each property that still has the value the commit gave it is set
/// back, and those that don't are named. Nothing but history is read, so undo survives everything that history does.
struct UndoPlanner {
  let history: HistoryReader
  let objects: ObjectReader

  struct Undo {
    var transaction: Transaction
    var revision: Revision
    /// What someone else has changed since, and what therefore stays.
    var skipped: [Conflict]
  }

  func plan(_ id: TransactionID, author: String, revision wanted: Revision?) throws -> Undo {
    let commit = try self.commit(wanted, author: author)
    var changes = [Change]()
    var skipped = [Conflict]()
    var returns = [Return]()
    let own = Set(commit.changes.map(\.id))
    let revived = Set(commit.changes.filter { $0.kind == .deleted }.map(\.id))
    for change in commit.changes {
      switch change.kind {
      case .inserted: try undoInsert(change, of: commit, own, &changes, &skipped)
      case .updated: try undoUpdate(change, of: commit, revived, &changes, &skipped, &returns)
      case .deleted: try undoDelete(change, revived, &changes)
      }
    }
    changes += self.changes(for: returns)
    guard !changes.isEmpty else {
      throw Refusal(
        .conflict, "everything that revision \(commit.revision) changed has been changed again since",
        conflicts: skipped)
    }
    // Revivals first: what comes back may be named by the updates.
    let ordered = changes.filter { $0.kind == .revive } + changes.filter { $0.kind != .revive }
    return Undo(
      transaction: Transaction(id: id, policy: .overwrite, changes: ordered), revision: commit.revision,
      skipped: skipped)
  }

  private func commit(_ wanted: Revision?, author: String) throws -> HistoryReader.Commit {
    if let wanted {
      guard let commit = try history.commit(wanted) else { throw Refusal(.notFound, "there is no revision \(wanted)") }
      guard commit.author == author else {
        throw Refusal(.notAllowed, "revision \(wanted) was made by \(commit.author); one undoes one's own commits")
      }
      let undone = try objects.connection.statement(
        "SELECT 1 FROM _commit AS u WHERE u.undoes = ? AND NOT EXISTS (SELECT 1 FROM _commit AS v WHERE v.undoes = u.revision)"
      )
      undone.bind(1, wanted)
      defer { sqlite3_reset(undone.statement) }
      if try objects.connection.step(undone) { throw Refusal(.conflict, "revision \(wanted) is undone already") }
      return commit
    }
    let row = try objects.connection.statement(
      """
      SELECT revision FROM _commit AS c WHERE author = (SELECT number FROM _author WHERE name = ?) \
      AND undoes IS NULL AND length(changes) > 0 \
      AND NOT EXISTS (SELECT 1 FROM _commit AS u WHERE u.undoes = c.revision) ORDER BY revision DESC LIMIT 1
      """)
    row.bind(1, author)
    defer { sqlite3_reset(row.statement) }
    guard try objects.connection.step(row), let commit = try history.commit(row.integer(0)) else {
      throw Refusal(.notFound, "\(author) has nothing to undo")
    }
    return commit
  }

  private func undoInsert(
    _ change: HistoryChange, of commit: HistoryReader.Commit, _ own: Set<ObjectID>, _ changes: inout [Change],
    _ skipped: inout [Conflict]
  ) throws {
    guard let image = try objects.readImage(of: change.id) else { return }
    let later = try history.past(of: image.id, newest: image.revision, after: commit.revision)
    let edited = later.last { $0.author != commit.author && $0.isSomebodysEdit(in: objects.model) }
    if let other = try edited ?? othersBelow(image, commit, own) {
      skipped.append(Conflict(kind: .changed, id: image.id, author: other.author, revision: other.revision))
    } else {
      changes.append(Change(.delete, image.id))
    }
  }

  /// What somebody else has put where a delete would take it along.
  private func othersBelow(
    _ image: ObjectImage, _ commit: HistoryReader.Commit, _ own: Set<ObjectID>
  ) throws -> PastChange? {
    for property in objects.model.entity(image.id.entity)?.relationships ?? [] {
      guard let relationship = property.relationship, relationship.deleteRule == .cascade else { continue }
      var related = image[property].objectIDs
      if relationship.storage == .inverse, let inverse = objects.model.property(relationship.inverse) {
        related = try objects.readReferrers(to: image.id, through: inverse)
      }
      for id in related where !own.contains(id) {
        guard let other = try objects.readImage(of: id) else { continue }
        let past = try history.past(of: id, newest: other.revision, after: commit.revision)
        if let foreign = past.last(where: { $0.author != commit.author && $0.isSomebodysEdit(in: objects.model) }) {
          return foreign
        }
      }
    }
    return nil
  }

  private func undoUpdate(
    _ change: HistoryChange, of commit: HistoryReader.Commit, _ revived: Set<ObjectID>, _ changes: inout [Change],
    _ skipped: inout [Conflict], _ returns: inout [Return]
  ) throws {
    guard let image = try objects.readImage(of: change.id) else {
      skipped.append(Conflict(kind: .deleted, id: change.id))
      return
    }
    let later = try history.past(of: image.id, newest: image.revision, after: commit.revision)
    var edits = [Edit]()
    // To-ones of this change that stay as they are: so do the places beside them.
    var kept = Set<PropertyNumber?>()
    for edit in change.edits where !change.spacing.contains(edit.property) {
      guard let property = objects.model.property(edit.property),
        [nil, .position].contains(property.attribute?.assignment), property.attribute?.isDerived != true
      else { continue }
      let since = later.filter { !$0.spacing.contains(edit.property) }
        .flatMap { past in past.edits.filter { $0.property == edit.property }.map { (past, $0) } }
      switch edit.action {
      case .set(.objects(let old), .objects(let new)) where property.relationship?.isOrdered == true:
        edits += try undoList(property, from: old, to: new, in: image[property].objectIDs, revived)
      case .set where property.attribute?.assignment == .position && kept.contains(property.number): break
      case .set where property.attribute?.assignment == .position && since.isEmpty:
        if let back = try restore(edit, property, of: change, in: image, commit, &returns) { edits.append(back) }
      case .members(let added, let removed):
        let back = try removed.filter { try isThere(.object($0), revived) }
        edits.append(Edit(edit.property, .members(added: back, removed: added)))
      case .set(let old, let new):
        if image[property] == new {
          if try isThere(old, revived) {
            edits.append(edit.reversed)
            continue
          }
        } else if let last = since.last?.0 {
          skipped.append(
            Conflict(
              kind: .changed, id: image.id, property: property.number, mine: old, theirs: image[property],
              author: last.author, revision: last.revision))
        }
        kept.insert(property.relationship?.position)
      case .splice:
        guard case .splice(var splices) = edit.reversed.action else { continue }
        var isWhole = false
        for (_, other) in since {
          guard case .splice(let earlier) = other.action else {
            isWhole = true
            break
          }
          splices = TextSplice.rebase(splices, over: earlier)
        }
        if isWhole, let last = since.last?.0 {
          // The text was replaced as a whole since: no place in it means anything any more.
          skipped.append(
            Conflict(
              kind: .changed, id: image.id, property: property.number, theirs: image[property], author: last.author,
              revision: last.revision))
        } else {
          edits.append(Edit(edit.property, .splice(splices)))
        }
      }
    }
    if !edits.isEmpty { changes.append(Change(.update, image.id, base: .max, edits: edits)) }
  }

  private func undoDelete(_ change: HistoryChange, _ revived: Set<ObjectID>, _ changes: inout [Change]) throws {
    guard try objects.readImage(of: change.id) == nil, let entity = objects.model.entity(change.id.entity) else {
      return
    }
    var edits = [Edit]()
    for property in entity.storedProperties where property.attribute?.isDerived != true {
      guard let slot = property.slot, slot < change.values.count, !change.values[slot].isNull else { continue }
      var value = change.values[slot]
      if case .objects(let ids) = value {
        value = .objects(try ids.filter { try isThere(.object($0), revived) })
      } else if try !isThere(value, revived) {
        continue
      }
      edits.append(Edit(property.number, .set(value)))
    }
    changes.append(Change(.revive, change.id, edits: edits))
  }

  /// Whether what a value refers to is there or comes back with this undo.
  private func isThere(_ value: Value, _ revived: Set<ObjectID>) throws -> Bool {
    guard case .object(let id) = value else { return true }
    return try revived.contains(id) || objects.find(id) != nil
  }
}
