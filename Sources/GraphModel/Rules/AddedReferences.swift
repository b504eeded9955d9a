/// The objects that gain a reference to an object in a transaction. Entries are appended to a list and indexed on the
/// first lookup, because most transactions need no lookup.
final class AddedReferences {
  private var noted = [(reference: TransactionPlanner.Reference, id: ObjectID)]()
  private var filed = [TransactionPlanner.Reference: [ObjectID]]()

  func append(_ id: ObjectID, to reference: TransactionPlanner.Reference) { noted.append((reference, id)) }

  /// The objects that gained the reference, in order.
  subscript(reference: TransactionPlanner.Reference) -> [ObjectID] {
    if noted.isEmpty, filed.isEmpty { return [] }
    for entry in noted { filed[entry.reference, default: []].append(entry.id) }
    noted.removeAll(keepingCapacity: true)
    return filed[reference] ?? []
  }
}
