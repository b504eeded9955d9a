import GraphModel

/// What a save would come to, by the one engine of rules over what a context holds: what goes along with a delete, what
/// becomes of derived values and of the other ends of relationships, and which rules are broken.
///
/// The server decides over the whole graph, and over what others have done by then. So a forecast without violations is no
/// promise; one with some is what a form shows before anything is sent, and all there is to go by while there is no
/// server.
public struct SaveForecast: Sendable {
  /// What the objects become, as a commit would record it: those that go along with a delete and those that let go of one
  /// among them. New objects have their temporary ids, and number 1 where the server counts. Empty where a rule is broken.
  public var changes = [ObjectChange]()
  /// The rules that are broken as far as it is known here, all at once.
  public var violations = [Violation]()

  /// The objects that would go, those that go along among them, ascending.
  public var deleted: [ObjectID] { changes.filter { $0.kind == .deleted }.map(\.id).sorted() }

  /// Of the violations, those that no object can mend which is not held here.
  public var violationsOfValues: [Violation] { violations.filter { !Violation.rulesAboutOthers.contains($0.rule) } }
}

extension ObjectContext {
  /// What saving everything that is unsaved would come to, with what is on its way already, as far as it is known here. It
  /// changes nothing. In a child it speaks of the child's edits over those of its parent.
  /// - Parameters:
  ///   - policy: the save's.
  ///   - now: the time that a commit would have, in microseconds since 1970: what the server stamps has it.
  public func forecast(policy: MergePolicy = .error, now: Timestamp = 0) -> SaveForecast {
    forecast(pendingChanges { _ in true }, policy, now)
  }

  /// The refusal that a save would meet whatever the graph has become: values of what is unsaved break rules, and no object
  /// that is not held could mend it. While there is no server, nobody else says so.
  /// - Parameter policy: the save's.
  public func foreseenRefusal(policy: MergePolicy = .error) -> Refusal? {
    let changes = pendingChanges { $0.isInserted && $0.sent.isEmpty || !$0.edits.isEmpty }
    guard !changes.isEmpty else { return nil }
    let broken = forecast(changes, policy, 0).violationsOfValues
    return broken.isEmpty ? nil : Refusal(violations: broken)
  }

  private func forecast(_ changes: [Change], _ policy: MergePolicy, _ now: Timestamp) -> SaveForecast {
    let graph = HeldGraph(self)
    let transaction = Transaction(
      id: TransactionID(replica: replica.id, sequence: lastSequence + 1), policy: policy, changes: changes)
    var made: UInt64 = 0
    do {
      let plan = try TransactionPlanner.plan(
        transaction, reader: graph, revision: 1 + (changes.map(\.base).max() ?? 0), now: now
      ) { entity in
        made += 1
        return ObjectID(key: UniqueID(high: 0, low: made), entity: entity)
      }
      let temporary = Dictionary(plan.identities.map { ($0.permanent, $0.temporary) }) { first, _ in first }
      return SaveForecast(changes: plan.changes.map { $0.naming(temporary, model) })
    } catch {
      // The reader throws nothing, and what was read well can't be malformed.
      let broken = (error as? Refusal)?.violations ?? []
      return SaveForecast(violations: broken.filter { graph.knows($0) })
    }
  }

  /// What is unsaved or on its way of some objects, as one transaction against what is held.
  private func pendingChanges(where isMeant: (ObjectState) -> Bool) -> [Change] {
    var ids = Set<ObjectID>()
    var context: ObjectContext? = self
    while let next = context {
      ids.formUnion(next.dirty.keys)
      context = next.parent
    }
    var changes = [Change]()
    var moves = [Change]()
    for id in ids.sorted() {
      guard let state = stateOrFault(id), isMeant(state) else { continue }
      let locals = state.pending
      let base = state.bottom.stored?.revision ?? 0
      if state.isDeleted {
        // What was made and deleted again was never there.
        if state.bottom.stored != nil { changes.append(Change(.delete, id, base: base)) }
        continue
      }
      let placing = edits(locals.filter { isPlacedByMembers($0.key) })
      let others = edits(locals.filter { !isPlacedByMembers($0.key) })
      if id.isTemporary {
        changes.append(Change(.insert, id, edits: others))
      } else if state.bottom.stored == nil {
        // Of a fault nobody here knows what its other values are.
        continue
      } else if !others.isEmpty {
        changes.append(Change(.update, id, base: base, edits: others))
      }
      if !placing.isEmpty { moves.append(Change(.update, id, base: base, edits: placing)) }
    }
    return changes + moves
  }
}

extension ObjectState {
  /// The client's own state of the object, below all children.
  var bottom: ObjectState { under?.bottom ?? self }

  /// All that is on its way and unsaved, of the contexts below as well.
  var pending: [PropertyNumber: LocalValue] {
    var all = under?.pending ?? [:]
    for edits in sent.map(\.edits) + [edits] { all.merge(edits) { $0.merged(with: $1) } }
    return all
  }
}

extension ObjectChange {
  /// The change with other ids for some objects.
  fileprivate func naming(_ names: [ObjectID: ObjectID], _ model: Model) -> ObjectChange {
    guard !names.isEmpty else { return self }
    var change = self
    change.id = names[id] ?? id
    (change.before, change.after) = (before?.naming(names, model), after?.naming(names, model))
    change.edits = edits.map { $0.naming(names, model) }
    return change
  }
}

extension ObjectImage {
  fileprivate func naming(_ names: [ObjectID: ObjectID], _ model: Model) -> ObjectImage {
    var image = self
    image.id = names[id] ?? id
    for property in model.entity(id.entity)?.storedProperties ?? [] {
      image[property] = image[property].naming(names, property)
    }
    return image
  }
}

extension Edit {
  fileprivate func naming(_ names: [ObjectID: ObjectID], _ model: Model) -> Edit {
    func named(_ ids: [ObjectID]) -> [ObjectID] { ids.map { names[$0] ?? $0 } }
    switch action {
    case .set(let value):
      return model.property(property).map { Edit(property, .set(value.naming(names, $0))) } ?? self
    case .members(let added, let removed):
      return Edit(property, .members(added: named(added).sorted(), removed: named(removed).sorted()))
    case .place(let ids, let anchor): return Edit(property, .place(named(ids), after: anchor.map { names[$0] ?? $0 }))
    case .splice: return self
    }
  }
}

extension Value {
  /// Members without an order come in that of their ids.
  fileprivate func naming(_ names: [ObjectID: ObjectID], _ property: Property) -> Value {
    switch self {
    case .object(let id): return .object(names[id] ?? id)
    case .objects(let ids):
      let named = ids.map { names[$0] ?? $0 }
      return .objects(property.relationship?.isOrdered == true ? named : named.sorted())
    default: return self
    }
  }
}
