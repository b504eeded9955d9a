/// Compares the edits of a transaction with the commits since their base revision, at which their author read the
/// object. It rebases edits that can be merged and finds conflicts; the planner applies the merge policy.
struct EditMerger {
  let reader: any PlannerReader
  let model: Model
  /// The replica whose transaction is planned. Its own commits are ordered and never conflict with it.
  let replica: UniqueID
  /// Properties that the author's version of the model does not have.
  let unseen: Set<PropertyNumber>

  init(_ transaction: Transaction, _ reader: any PlannerReader) {
    self.reader = reader
    model = reader.model
    replica = transaction.id.replica
    unseen = transaction.unseen
  }

  // MARK: - The past

  /// The object's changes after `revision`, oldest first, as far as the author's version of the model shows them.
  func past(of id: ObjectID, after revision: Revision) throws -> [PastChange] {
    let past = try reader.history(of: id, after: revision)
    assert(zip(past, past.dropFirst()).allSatisfy { $0.revision <= $1.revision }, "history is in order")
    return unseen.isEmpty ? past : past.compactMap { $0.seen(without: unseen) }
  }

  /// The refusal of an edit whose base is pruned. A splice needs the changes since the base for its position, and an
  /// overwrite needs the text that its author saw; a guess could silently damage the text.
  func unknownPast(of stored: ObjectImage, _ property: Property?, _ pruned: PastChange) -> Refusal {
    let entity = model.entityName(of: stored.id)
    let what = property.map { "\(entity).\($0.name) of \(stored.id)" } ?? "the \(entity) \(stored.id)"
    return Refusal(
      .pruned,
      "\(what) was edited in an old state, and its history up to revision \(pruned.revision) was pruned: "
        + "read it again and repeat the edit")
  }

  /// The refusal of splices whose offsets refer to a text of a past that the store has lost.
  private func unknownText(of stored: ObjectImage, _ property: Property) -> Refusal {
    Refusal(
      .pruned,
      "\(model.entityName(of: stored.id)).\(property.name) of \(stored.id) was edited in a state that this store does "
        + "not have: read it again and repeat the edit")
  }

  /// The insert of the object by another replica after the base; nil for none.
  ///
  /// The object could not be read at such a base, and yet the client has read it: in a past that the store has lost.
  /// After a restore from a backup, clients state the oldest base for what they can't compare themselves. The values of
  /// the insert are no conflict with an edit, because every reader has seen them or later ones.
  func foreignInsert(in past: [PastChange]) -> PastChange? {
    guard let first = past.first, first.kind == .inserted, !first.isRevival, first.replica != replica else {
      return nil
    }
    return first
  }

  // MARK: - Comparing

  /// The result of comparing an edit with others' changes of the same property.
  enum EditMergeResult {
    /// The edit, possibly rebased, can be applied.
    case merged(Edit)
    /// Both sides set the same value.
    case unchanged
    /// The value that the transaction wants, and the conflicting change.
    case conflicting(wanted: Value, last: PastChange)
  }

  func compare(_ edit: Edit, with stored: ObjectImage, past: [PastChange]) throws -> EditMergeResult {
    // Derived attributes can't be edited; the edit is refused later, without a conflict.
    guard let property = model.property(edit.property), property.attribute?.isDerived != true else {
      return .merged(edit)
    }
    if case .splice = edit.action, foreignInsert(in: past) != nil { throw unknownText(of: stored, property) }
    let all = past.filter { $0.mayTouch(edit.property) }
    guard let last = conflictingChange(property, all) else {
      guard case .splice(let splices) = edit.action else { return .merged(edit) }
      // The offsets of its splices still refer to the base.
      return .merged(Edit(edit.property, .splice(rebase(splices, over: all, property: edit.property) ?? splices)))
    }
    switch edit.action {
    // Neither conflicts: additions and moves are kept, in the server's order.
    case .members, .place: return .merged(edit)
    case .splice(let splices):
      if let pruned = all.first(where: \.isPruned) { throw unknownPast(of: stored, property, pruned) }
      if let rebased = rebase(splices, over: all, property: edit.property) {
        return .merged(Edit(edit.property, .splice(rebased)))
      }
      let base = value(of: property, in: stored, before: past, keepsOwn: false)
      return .conflicting(wanted: edit.applied(to: base).orNull, last: last)
    case .set(var value):
      if case .objects(let ids) = value, property.relationship?.isOrdered == false { value = .objects(ids.sorted()) }
      return stored[property] == value ? .unchanged : .conflicting(wanted: value, last: last)
    }
  }

  /// The newest change of a property by others that conflicts with the transaction; nil if there is none.
  ///
  /// A replica's own commits are ordered, so it has no conflict with itself: when it replaced others' values, it had
  /// read them, regardless of the base that it states now. This does not hold for texts and to-manys, which merge.
  func conflictingChange(_ property: Property, _ past: [PastChange]) -> PastChange? {
    let all = past.filter { $0.mayTouch(property.number) }
    let merges = property.attribute?.kind == .text || property.relationship?.isToMany == true
    if !merges, all.last?.replica == replica { return nil }
    return all.last { $0.replica != replica }
  }

  /// The value of a property before `past`, calculated back from the present value.
  /// - Parameter keepsOwn: whether to stop at a commit of the transaction's own replica, because the replica sees its
  ///   value.
  func value(
    of property: Property, in stored: ObjectImage, before past: [PastChange], keepsOwn: Bool
  ) -> Value {
    var value = stored[property]
    for change in past.reversed() {
      for reversal in change.reversals.reversed() where reversal.property == property.number {
        if keepsOwn, change.replica == replica { return value }
        value = reversal.applied(to: value) ?? value
      }
    }
    return value
  }

  /// The splices rebased over `past`. Nil if another change replaced the complete text, so that offsets have lost
  /// their meaning.
  func rebase(_ splices: [TextSplice], over past: [PastChange], property: PropertyNumber) -> [TextSplice]? {
    var splices = splices
    for change in past {
      for (index, edit) in change.edits.enumerated() where edit.property == property {
        switch edit.action {
        case .splice(let earlier): splices = TextSplice.rebase(splices, over: earlier)
        case .set(.string(let text))
        where change.reversals.indices.contains(index)
          && change.reversals[index].action == .set(.null):
          // Null counts as empty, so that the first text does not replace another client's.
          splices = TextSplice.rebase(splices, over: [TextSplice(offset: 0, length: 0, insertion: text)])
        default: return nil
        }
      }
    }
    return splices
  }
}

extension PastChange {
  /// The change without the edits of some properties; nil for an update that has no others.
  func seen(without unseen: Set<PropertyNumber>) -> PastChange? {
    var change = self
    change.edits.removeAll { unseen.contains($0.property) }
    change.reversals.removeAll { unseen.contains($0.property) }
    return change.kind == .updated && change.edits.isEmpty && !edits.isEmpty ? nil : change
  }

  /// Whether a client made the change. The rules alone make other updates, when an object at the other end of a
  /// relationship is added or removed; these never conflict.
  public func isUserEdit(in model: Model) -> Bool {
    guard kind == .updated, !edits.isEmpty else { return true }
    return edits.contains { edit in
      guard let attribute = model.property(edit.property)?.attribute else { return true }
      if spacing.contains(edit.property) { return false }
      return [nil, .position].contains(attribute.assignment) && !attribute.isDerived
    }
  }
}

extension ObjectImage {
  /// Whether the object has changed since `base`. A base in the future means the present object: after the store was
  /// restored from a backup, a client may have read revisions that the store no longer has, and its edits must not be
  /// lost.
  func hasChanged(since base: Revision) -> Bool { revision > base }
}

extension MergePolicy {
  /// Whether the transaction's value wins a conflict.
  var prefersTransaction: Bool { self == .objectTrump || self == .overwrite }
}
