import CoreDataStore
import GraphModel

/// The to-manys of rows. The store has a many-to-many once, so that an object whose list must have members can need the
/// lists of others: the new object is inserted with its owners, and their rows record the members.
extension RowChanges {
  /// A row that several others have in lists whose inverse is a to-one: it was a to-many in the version of the store.
  struct SharedMember {
    let key: RowKey
    /// The to-one.
    let property: Property
    let owners: [RowKey]
  }

  /// Removes members from all lists but that of their first owner, if they can have one owner only.
  static func separateShared(
    _ members: inout [PropertyNumber: [RowKey: [RowKey]]], _ model: Model
  ) -> [SharedMember] {
    var shared = [SharedMember]()
    for (number, lists) in members.sorted(by: { $0.key < $1.key }) {
      guard let relationship = model.property(number)?.relationship else { continue }
      let inverse = model.inverse(of: relationship)
      guard inverse.relationship?.isToMany == false else { continue }
      var owners = [RowKey: [RowKey]]()
      for (owner, list) in lists.sorted(by: { $0.key < $1.key }) {
        for member in list { owners[member, default: []].append(owner) }
      }
      for (member, all) in owners.sorted(by: { $0.key < $1.key }) where all.count > 1 {
        shared.append(SharedMember(key: member, property: inverse, owners: all))
        for owner in all.dropFirst() { members[number]?[owner]?.removeAll { $0 == member } }
      }
    }
    return shared
  }

  /// The owners of members, for lists whose members must have one and do not record it themselves.
  static func owners(
    in members: [PropertyNumber: [RowKey: [RowKey]]], _ model: Model
  ) -> [PropertyNumber: [RowKey: [RowKey]]] {
    var owners = [PropertyNumber: [RowKey: [RowKey]]]()
    for (number, lists) in members {
      guard let relationship = model.property(number)?.relationship else { continue }
      let inverse = model.inverse(of: relationship)
      guard inverse.requiresObject, members[inverse.number] == nil else { continue }
      var found = [RowKey: [RowKey]]()
      for (owner, list) in lists.sorted(by: { $0.key < $1.key }) {
        for member in list { found[member, default: []].append(owner) }
      }
      owners[inverse.number] = found
    }
    return owners
  }

  /// The rows with an owner that exists, for lists whose members have one owner each.
  static func owned(
    in members: [PropertyNumber: [RowKey: [RowKey]]], _ existing: Set<RowKey>, _ model: Model
  ) -> [PropertyNumber: Set<RowKey>] {
    var owned = [PropertyNumber: Set<RowKey>]()
    for (number, lists) in members {
      guard let relationship = model.property(number)?.relationship,
        model.inverse(of: relationship).relationship?.isToMany == false
      else { continue }
      owned[number] = Set(lists.filter { existing.contains($0.key) }.values.joined())
    }
    return owned
  }

  /// The edits that change a list as the app has changed it: members that it has added, removed or moved. Everything
  /// else that others have made of the list stays. No edits are necessary if those of other rows have their effect.
  /// - Parameters:
  ///   - members: the members in the app that have an object.
  ///   - present: the members in the graph, if the list has an order.
  func listEdits(
    _ property: Property, from sent: ImportMapping.Sent, to members: [ObjectID], present: [ObjectID]?,
    _ mapping: ImportMapping
  ) -> [Edit] {
    guard let relationship = property.relationship else { preconditionFailure("only a relationship has members") }
    let members = ListReorderer.unique(members)
    var (earlier, removed, added) = ([ObjectID](), [ObjectID](), Set(members))
    for key in sent.rows {
      guard let id = mapping.rows[key]?.id else { continue }
      let member = ObjectID(key: id, entity: relationship.destination)
      earlier.append(member)
      if added.remove(member) == nil, leaves(key, property, relationship) { removed.append(member) }
    }
    let isOrdered = relationship.isOrdered
    let change = Edit(property.number, .members(added: isOrdered ? [] : added.sorted(), removed: removed.sorted()))
    let edits = removed.isEmpty && (isOrdered || added.isEmpty) ? [] : [change]
    if !isOrdered { return edits }
    // Members that others have removed do not return, and nothing is placed behind them.
    let remaining = Set(present ?? earlier).subtracting(removed).union(added)
    var (anchors, last) = ([ObjectID: ObjectID](), ObjectID?.none)
    for member in members {
      if remaining.contains(member) { last = member }
      anchors[member] = last
    }
    // Without the order that was sent, all members are placed.
    let placed = if case .list = sent { earlier } else { [ObjectID]() }
    return edits
      + ListReorderer.runs(from: placed, to: members).compactMap { run in
        let objects = run.objects.filter(remaining.contains)
        if objects.isEmpty { return nil }
        return Edit(property.number, .place(objects, after: run.after.flatMap { anchors[$0] }))
      }
  }

  /// Whether an object leaves a list in which the app no longer has its row. An object with one owner leaves the list
  /// of the earlier one by joining another, which need not be in the same commit.
  func leaves(_ key: ImportMapping.Key, _ property: Property, _ relationship: Relationship) -> Bool {
    let inverse = model.inverse(of: relationship)
    // An object that stays without its row can't be without a required owner.
    guard let row = rowKey(key), existing.contains(row) else { return !inverse.requiresObject }
    if inverse.relationship?.isToMany == true { return true }
    return owned[property.number].map { $0.contains(row) } == false
  }

  /// The lists that an object must have when it is inserted.
  func requiredLists(of row: SourceRow) -> [(property: Property, content: SourceRow.Content)] {
    var required = lists(of: row).filter { $0.property.requiresMember }
    for property in row.entity.relationships {
      guard let lists = owners[property.number] else { continue }
      let owners = lists[row.key, default: []]
      if property.relationship?.isToMany == true {
        required.append((property, .members(owners)))
      } else if !row.fields.contains(where: { $0.property.number == property.number }) {
        required.append((property, .reference(owners.first)))
      }
    }
    return required
  }

  /// The lists that an object can have when it is inserted. An update would set the time of its last change.
  func optionalLists(of row: SourceRow) -> [(property: Property, content: SourceRow.Content)] {
    lists(of: row).filter { list in
      !list.property.requiresMember && !separated[row.key, default: []].contains(list.property.number)
    }
  }

  func lists(of row: SourceRow) -> [(property: Property, content: SourceRow.Content)] {
    row.entity.relationships.compactMap { property in
      members[property.number].map { lists in (property, .members(lists[row.key, default: []])) }
    }
  }
}
