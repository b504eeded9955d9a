/// The objects that gain a reference to an object in a transaction. Entries are appended to a list and indexed on the
/// first lookup, because most transactions need no lookup.
final class AddedReferences {
  private var appended = [(reference: DraftGraph.Reference, id: ObjectID)]()
  private var index = [DraftGraph.Reference: [ObjectID]]()

  func append(_ id: ObjectID, to reference: DraftGraph.Reference) { appended.append((reference, id)) }

  /// The objects that gained the reference, in order.
  subscript(reference: DraftGraph.Reference) -> [ObjectID] {
    if appended.isEmpty, index.isEmpty { return [] }
    for entry in appended { index[entry.reference, default: []].append(entry.id) }
    appended.removeAll(keepingCapacity: true)
    return index[reference, default: []]
  }
}
