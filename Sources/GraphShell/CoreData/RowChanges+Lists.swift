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
