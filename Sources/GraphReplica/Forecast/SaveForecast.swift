// Tests: ForecastTests.swift
import GraphModel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The expected result of a save, by the rule engine over the objects that a context holds. It covers cascaded
/// deletes, derived values, the other ends of relationships, and violated rules.
///
/// The server decides with the complete graph, including the commits of other clients until then. So a forecast without
/// violations is no promise. A form shows the violations of a forecast before a save. Without a server, the forecast is
/// the only available check.
public struct SaveForecast: Sendable {
  /// The resulting objects, as a commit would record them. They include cascaded deletes and objects that lose a
  /// reference. New objects have their temporary ids, and number 1 where the server counts. Empty if a rule is
  /// violated.
  public var changes = [ObjectChange]()
  /// All violated rules, as far as they can be evaluated here.
  public var violations = [Violation]()

  /// The objects that would be deleted, cascades included, ascending.
  public var deleted: [ObjectID] { changes.filter { $0.kind == .deleted }.map(\.id).sorted() }
}

extension ObjectContext {
  /// The maximum number of objects with unsaved or unanswered changes for which a save is checked before it is sent.
  public static let maximumForeseen = 1_000

  /// Forecasts a save of everything unsaved, together with unanswered saves. It is as exact as the held objects
  /// allow, and changes nothing. In a child it covers the child's edits over those of its parent.
  /// - Parameters:
  ///   - policy: the save's merge policy.
  ///   - now: the date of the commit, which the server stamps; if nil, rules that read such a date are not evaluated.
  public func forecast(policy: MergePolicy = .error, now: Date? = nil) -> SaveForecast {
    forecast(policy, now?.microseconds, ContextGraphReader(self))
  }

  /// Forecasts a save with the time of its commit, in microseconds since 1970.
  package func forecast(policy: MergePolicy = .error, now: Timestamp) -> SaveForecast {
    forecast(policy, now, ContextGraphReader(self))
  }

  /// The refusal that a save would get regardless of other commits. Unsaved values violate a rule regardless of other
  /// objects. Without a server this is the only check. Texts are left out, since they merge, and so are policies under
  /// which the server's values may win.
  /// - Parameter policy: the save's merge policy.
  public func foreseenRefusal(policy: MergePolicy = .error) -> Refusal? {
    guard dirty.count <= Self.maximumForeseen, policy != .storeTrump, policy != .rollback else { return nil }
    var own = [ObjectID: Set<PropertyNumber>]()
    for state in dirty.values where !state.isDeleted { own[state.id] = unsavedValues(of: state, policy) }
    guard own.contains(where: { !$0.value.isEmpty }) else { return nil }
    let graph = ContextGraphReader(self, checksKeys: false)
    let broken = forecast(policy, nil, graph).violations.filter { violation in
      guard let mine = own[violation.id] else { return false }
      if let rule = graph.rule(of: violation) { return rule.sources.isSubset(of: mine) }
      return mine.contains(violation.property) && violation.commonRule?.isAboutOthers != true
    }
    return broken.isEmpty ? nil : Refusal(violations: broken)
  }

  /// The attributes of an object that will have the values set here, or their defaults.
  private func unsavedValues(of state: ObjectState, _ policy: MergePolicy) -> Set<PropertyNumber> {
    let isNew = state.isInserted && state.sent.isEmpty
    // It may become the existing object with its key.
    if isNew, policy != .error, !state.entity.uniquenessConstraints.isEmpty { return [] }
    let settable = state.entity.attributes.filter { property in
      guard let attribute = property.attribute, attribute.assignment == nil, attribute.derivation == nil else {
        return false
      }
      return isNew || (state.edits[property.number] != nil && attribute.kind != .text)
    }
    return Set(settable.map(\.number))
  }

  func forecast(_ policy: MergePolicy, _ now: Timestamp?, _ graph: ContextGraphReader) -> SaveForecast {
    let changes = pendingChanges(graph)
    let transaction = Transaction(
      id: TransactionID(replica: replica.id, sequence: lastSequence + 1), policy: policy, changes: changes)
    var made: UInt64 = 0
    // Without a time, rules that read it are left out below.
    let time = if let now { now } else { Timestamp(0) }
    do {
      let plan = try TransactionPlanner.plan(
        transaction, reader: graph, revision: changes.reduce(1) { max($0, 1 + $1.base) }, now: time
      ) { entity in
        made += 1
        return ObjectID(key: UniqueID(high: 0, low: made), entity: entity)
      }
      let temporary = Dictionary(plan.identities.map { ($0.permanent, $0.temporary) }) { first, _ in first }
      return SaveForecast(changes: plan.changes.map { $0.replacingIDs(temporary, model) })
    } catch {
      // The reader never throws.
      guard let refusal = error as? Refusal else { return SaveForecast() }
      return SaveForecast(violations: refusal.violations.filter { graph.isCertain($0, isTimed: now != nil) })
    }
  }

  /// Everything unsaved or unanswered, as one transaction against the held objects.
  private func pendingChanges(_ graph: ContextGraphReader) -> [Change] {
    var ids = Set<ObjectID>()
    var context: ObjectContext? = self
    while let next = context {
      ids.formUnion(next.dirty.keys)
      context = next.parent
    }
    let states = ids.sorted().compactMap { stateOrFault($0) }
    // Objects that were inserted and deleted again do not exist for a forecast.
    let gone = states.filter { $0.id.isTemporary && $0.isDeleted }.map(\.id)
    var changes = [Change]()
    var moves = [Change]()
    for state in states {
      let stored = graph.image(of: state.id)
      // A new object has no base.
      let base = if let stored { stored.revision } else { Revision(0) }
      if state.isDeleted {
        if stored != nil { changes.append(Change(.delete, state.id, base: base)) }
        continue
      }
      // The other values of a fault are unknown.
      guard state.id.isTemporary || stored != nil else { continue }
      let locals = gone.reduce(state.pending) { $0.withoutReferences(to: $1) }
      let placing = edits(locals.filter { isPlacedByMembers($0.key) })
      let others = edits(locals.filter { !isPlacedByMembers($0.key) })
      if state.id.isTemporary {
        changes.append(Change(.insert, state.id, edits: others))
      } else if !others.isEmpty {
        changes.append(Change(.update, state.id, base: base, edits: others))
      }
      if !placing.isEmpty { moves.append(Change(.update, state.id, base: base, edits: placing)) }
    }
    return changes + moves
  }
}

extension [PropertyNumber: ObjectState.PropertyEdit] {
  fileprivate func withoutReferences(to id: ObjectID) -> Self {
    compactMapValues { local in
      local.value.objectID == id ? ObjectState.PropertyEdit(value: .null) : local.withoutMember(id)
    }
  }
}

extension ObjectState {
  /// All unanswered and unsaved edits, including those of the parent contexts.
  var pending: [PropertyNumber: PropertyEdit] {
    var all = [PropertyNumber: PropertyEdit]()
    if let parentState { all = parentState.pending }
    for edits in sent.map(\.edits) + [edits] { all.merge(edits) { $0.merged(with: $1) } }
    return all
  }
}

extension ObjectChange {
  /// The change with some ids replaced.
  fileprivate func replacingIDs(_ names: [ObjectID: ObjectID], _ model: Model) -> ObjectChange {
    guard !names.isEmpty else { return self }
    var change = self
    change.id = names[id] ?? id
    (change.before, change.after) = (before?.replacingIDs(names, model), after?.replacingIDs(names, model))
    change.edits = edits.map { $0.replacingIDs(names, model) }
    return change
  }
}

extension ObjectImage {
  fileprivate func replacingIDs(_ names: [ObjectID: ObjectID], _ model: Model) -> ObjectImage {
    var image = self
    image.id = names[id] ?? id
    guard let entity = model.entity(id.entity) else {
      assertionFailure("a planned object has an entity: \(id)")
      return image
    }
    for property in entity.storedProperties {
      image[property] = image[property].replacingIDs(names, property)
    }
    return image
  }
}

extension Edit {
  fileprivate func replacingIDs(_ names: [ObjectID: ObjectID], _ model: Model) -> Edit {
    func named(_ ids: [ObjectID]) -> [ObjectID] { ids.map { names[$0] ?? $0 } }
    switch action {
    case .set(let value):
      return model.property(property).map { Edit(property, .set(value.replacingIDs(names, $0))) } ?? self
    case .members(let added, let removed):
      return Edit(property, .members(added: named(added).sorted(), removed: named(removed).sorted()))
    case .place(let ids, let anchor): return Edit(property, .place(named(ids), after: anchor.map { names[$0] ?? $0 }))
    case .splice: return self
    }
  }
}

extension Value {
  /// Unordered members are sorted by id.
  fileprivate func replacingIDs(_ names: [ObjectID: ObjectID], _ property: Property) -> Value {
    switch self {
    case .object(let id): return .object(names[id] ?? id)
    case .objects(let ids):
      let named = ids.map { names[$0] ?? $0 }
      return .objects(property.relationship?.isOrdered == true ? named : named.sorted())
    default: return self
    }
  }
}
