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

  /// The owners of members, for lists whose members must have one.
  static func owners(
    in members: [PropertyNumber: [RowKey: [RowKey]]], _ model: Model
  ) -> [PropertyNumber: [RowKey: [RowKey]]] {
    var owners = [PropertyNumber: [RowKey: [RowKey]]]()
    for (number, lists) in members {
      guard let relationship = model.property(number)?.relationship else { continue }
      let inverse = model.inverse(of: relationship)
      guard inverse.requiresMember, members[inverse.number] == nil else { continue }
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
  /// else that others have made of the list stays.
  /// - Parameter members: the members in the app that have an object.
  func listEdits(
    _ property: Property, from sent: ImportMapping.Sent, to members: [ObjectID], _ mapping: ImportMapping
  ) -> [Edit] {
    guard let relationship = property.relationship else { preconditionFailure("only a relationship has members") }
    let members = ListReorderer.unique(members)
    var (earlier, removed, present) = ([ObjectID](), [ObjectID](), Set(members))
    for key in sent.rows {
      guard let id = mapping.rows[key]?.id else { continue }
      let member = ObjectID(key: id, entity: relationship.destination)
      earlier.append(member)
      if !present.contains(member), leaves(key, property, relationship) { removed.append(member) }
    }
    if !relationship.isOrdered {
      present.subtract(earlier)
      let action = Edit.Action.members(added: present.sorted(), removed: removed.sorted())
      return present.isEmpty && removed.isEmpty ? [] : [Edit(property.number, action)]
    }
    let removal = removed.isEmpty ? [] : [Edit(property.number, .members(added: [], removed: removed.sorted()))]
    // Without the order that was sent, all members are placed.
    let placed = if case .list = sent { earlier } else { [ObjectID]() }
    return removal
      + ListReorderer.runs(from: placed, to: members).map { Edit(property.number, .place($0.objects, after: $0.after)) }
  }

  /// Whether an object leaves a list in which the app no longer has its row. An object with one owner leaves the list of
  /// the earlier one by joining another, which need not be in the same commit.
  private func leaves(_ key: ImportMapping.Key, _ property: Property, _ relationship: Relationship) -> Bool {
    let inverse = model.inverse(of: relationship)
    if inverse.relationship?.isToMany == true { return true }
    // An object that stays without its row can't be without a required owner.
    guard let row = rowKey(key), existing.contains(row) else { return inverse.isOptional }
    return owned[property.number].map { $0.contains(row) } == false
  }

  /// The lists that an object must have when it is inserted.
  func requiredLists(of row: SourceRow) -> [(property: Property, content: SourceRow.Content)] {
    var required = lists(of: row).filter { $0.property.requiresMember }
    for property in row.entity.relationships {
      guard let lists = owners[property.number] else { continue }
      required.append((property, .members(lists[row.key, default: []])))
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
